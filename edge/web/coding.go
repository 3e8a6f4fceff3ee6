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

// The codings, the best one first. Brotli sees repetitions at a distance of megabytes, and gzip only repetitions
// within the last 32 KB: the drawing of an arena takes 75 KB by brotli and 132 KB by gzip.
const (
	Brotli Coding = "br"
	Gzip   Coding = "gzip"
)

var codings = []Coding{Brotli, Gzip}

// brotliLevel is the compression level. Higher levels take many times as long and save only a few percent.
const brotliLevel = 5

// ChooseCoding returns the best coding that a reader accepts, or "" if it accepts none of ours.
func ChooseCoding(h *fasthttp.RequestHeader) Coding {
	for _, c := range codings {
		if h.HasAcceptEncoding(string(c)) {
			return c
		}
	}
	return ""
}

// Pack returns the body compressed in the coding, or the body itself if the coding is "".
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

// Tag returns the entity tag of the coded form of an answer, given the tag of its plain form. The two forms
// need different tags, because their bytes differ.
func (c Coding) Tag(plain string) string {
	if c == "" {
		return plain
	}
	return strings.TrimSuffix(plain, `"`) + "-" + string(c) + `"`
}

// plainTag returns the entity tag of the plain form of an answer, given the tag of any of its forms.
func plainTag(tag string) string {
	for _, c := range codings {
		tag = strings.Replace(tag, "-"+string(c)+`"`, `"`, 1)
	}
	return tag
}

// IsUnchanged reports whether a reader already has the answer with the tag (RFC 9110, 13.1.2): whether its
// If-None-Match names the tag of any form of the answer, or is "*". It treats weak and strong tags alike,
// because a proxy that compresses answers makes their tags weak. has is the tag that the 304 must repeat.
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
				break // The list of tags ends here, or the header is malformed.
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
