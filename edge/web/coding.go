package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/valyala/fasthttp"
)

// Coding is a content coding of an answer (RFC 9110, 8.4.1), as Content-Encoding names it. The zero
// value leaves the answer as it is.
type Coding string

// The codings, the best one first. Brotli sees repetitions at any distance, and gzip only those of
// the last 32 KB: the drawing of an arena takes 75 KB by brotli and 132 KB by gzip.
const (
	Brotli Coding = "br"
	Gzip   Coding = "gzip"
)

var codings = []Coding{Brotli, Gzip}

// brotliLevel is the level above which brotli takes many times as long for a few percent.
const brotliLevel = 5

// ChooseCoding returns the best coding that a reader accepts.
func ChooseCoding(h *fasthttp.RequestHeader) Coding {
	for _, c := range codings {
		if h.HasAcceptEncoding(string(c)) {
			return c
		}
	}
	return ""
}

// Pack returns the body in the coding.
func (c Coding) Pack(body []byte) []byte {
	var packed bytes.Buffer
	var w io.WriteCloser
	switch c {
	case Brotli:
		w = brotli.NewWriterLevel(&packed, brotliLevel)
	case Gzip:
		w = gzip.NewWriter(&packed)
	default:
		return body
	}
	_, _ = w.Write(body) // writing to a buffer never fails
	_ = w.Close()
	return packed.Bytes()
}

// Tag returns the entity tag of the coded form of what has a tag: other bytes must have another tag.
func (c Coding) Tag(plain string) string {
	if c == "" {
		return plain
	}
	return strings.TrimSuffix(plain, `"`) + "-" + string(c) + `"`
}

// plainTag returns the entity tag of the plain form of what has a tag.
func plainTag(tag string) string {
	for _, c := range codings {
		tag = strings.Replace(tag, "-"+string(c)+`"`, `"`, 1)
	}
	return tag
}

// IsUnchanged reports whether a reader has what has the tag already (RFC 9110, 13.1.2): its
// If-None-Match names the tag, or is "*". Tags are compared weakly, because a proxy that compresses
// answers makes their tags weak, and the plain and the coded forms of an answer are the same to a
// reader. has is the tag of the form that the reader has, for the 304.
func IsUnchanged(h *fasthttp.RequestHeader, tag string) (has string, is bool) {
	plain := plainTag(tag)
	for _, line := range h.PeekAll(fasthttp.HeaderIfNoneMatch) {
		for rest := string(line); ; {
			rest = strings.TrimLeft(rest, " \t,")
			if strings.HasPrefix(rest, "*") {
				return tag, true
			}
			rest = strings.TrimPrefix(rest, "W/")
			if !strings.HasPrefix(rest, `"`) {
				break // the list ends here, or is none
			}
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				break
			}
			if one := rest[:end+2]; plainTag(one) == plain {
				return one, true
			}
			rest = rest[end+2:]
		}
	}
	return "", false
}
