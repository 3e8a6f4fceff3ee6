package web

import (
	"strings"

	"github.com/valyala/fasthttp"
)

// zippedTag ends the entity tag of a gzipped answer.
const zippedTag = `-gzip"`

// ZippedTag returns the entity tag of the gzipped form of what has a tag.
func ZippedTag(tag string) string { return strings.TrimSuffix(tag, `"`) + zippedTag }

// IsUnchanged reports whether a reader has what has the tag already (RFC 9110, 13.1.2): its
// If-None-Match names the tag, or is "*". Tags are compared weakly, because a proxy that compresses
// answers makes their tags weak, and the plain and the gzipped form of an answer are the same to a
// reader. has is the tag of the form that the reader has, for the 304.
func IsUnchanged(h *fasthttp.RequestHeader, tag string) (has string, is bool) {
	plain := strings.Replace(tag, zippedTag, `"`, 1)
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
			if one := rest[:end+2]; one == plain || one == ZippedTag(plain) {
				return one, true
			}
			rest = rest[end+2:]
		}
	}
	return "", false
}
