package route

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"reflect"
	"time"
)

// File is the file that came with a request. It is on the node's disk until the handler returns; a
// handler that keeps the file moves it away.
type File struct {
	Name string // as it was sent, without folders and control characters
	Type string // the declared media type in lower case, without its parameters
	Path string // where it is on the disk
	Size int64  // bytes
	Sum  [sha256.Size]byte
}

// HeadBytes is how much of a file is read before it is judged: enough to tell its type.
const HeadBytes = 3 << 10

// Part is what is known of a file when its part of the form begins.
type Part struct {
	*File
	Head   []byte                   // the file's first bytes, up to HeadBytes
	Fields map[string]string        // the text fields before the file
	Query  func(name string) string // parameters of the path
}

// Bound is how many bytes a file may have, and what refuses one that has more; nil: FILE_TOO_LARGE.
type Bound struct {
	Bytes  int64
	Beyond error
}

// Judge bounds a file, or refuses it for what its beginning tells.
type Judge func(*Call, *Part) (Bound, error)

// Upload makes a Handler of f for a multipart/form-data request. The file is in the part named file
// and reaches f as Call.File. Fields of In may have the tag part, for text fields beside the file.
// A file of more bytes than judge allows is refused while it is read.
func Upload[In, Out any](judge Judge, f func(*Call, *In) (Out, error)) Handler {
	h := Handle(f)
	h.Judge = judge
	return h
}

// TakesFile reports whether the operation takes a file.
func (h Handler) TakesFile() bool { return h.Judge != nil }

// Content is an answer that is not JSON: bytes, with what a client should know about them.
type Content struct {
	Type   string    // media type
	Name   string    // file name for a client that saves it
	Inline bool      // browsers may show it; else they save it
	Size   int64     // bytes; UnknownSize: the answer is sent as it is made, without ranges, Tag and At
	Tag    string    // entity tag with its quotes; it differs when the bytes differ
	At     time.Time // last change
	Cache  string    // Cache-Control
	// Open reads length bytes from an offset on. ctx ends with the answer.
	Open func(ctx context.Context, offset, length int64) (io.ReadCloser, error)
}

// UnknownSize is the size of a Content that is made while it is sent.
const UnknownSize = -1

// Bytes makes a Handler of f, which answers with a Content of one of the given media types.
func Bytes[In any](types []string, f func(*Call, *In) (*Content, error)) Handler {
	h := Handle(f)
	p := h.plan
	h.types = types
	h.serve = func(c *Call, src Source, _ *bytes.Buffer) error {
		in := new(In)
		if issues := p.read(reflect.ValueOf(in).Elem(), c, src); len(issues) > 0 {
			return Invalid(issues...)
		}
		content, err := f(c, in)
		c.Content = content
		return err
	}
	return h
}

// Types are the media types of an operation that does not answer with JSON, for the document; nil
// for one that does.
func (h Handler) Types() []string { return h.types }
