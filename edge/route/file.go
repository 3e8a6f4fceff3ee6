package route

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"time"
)

// File is the file that came with a request. It is deleted from the node's disk after the handler has
// returned, so a handler that keeps the file must move it to another place.
type File struct {
	Name string // as it was sent, without folders and control characters
	Type string // the declared media type in lower case, without its parameters
	Path string // where the file is on the disk
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
	Query  func(name string) string // returns a parameter of the query; "" if it is absent
}

// Bound says how many bytes a file may have. Beyond is the refusal of a longer file; nil means FILE_TOO_LARGE.
type Bound struct {
	Bytes  int64
	Beyond error
}

// Judge returns how long a file may be, or refuses the file because of its type, its first bytes or the
// fields before it. It runs before the rest of the file is read.
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
	Inline bool      // true: browsers may show the content; false: they save it
	Size   int64     // bytes; UnknownSize: the answer is sent while it is made, without ranges, Tag and At
	Tag    string    // entity tag with its quotes; different bytes have different tags
	At     time.Time // when the content changed last
	Cache  string    // Cache-Control
	// Open returns a reader of length bytes, beginning at offset. ctx does not end with the handler, because
	// the bytes are read later. It ends if the server stops and, for a known Size, if a piece takes too long.
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
		in, err := admitRequest[In](p, c, src)
		if err != nil {
			return err
		}
		content, err := f(c, in)
		c.Content = content
		return err
	}
	return h
}

// Types returns the media types of an operation that was made by Bytes, for the OpenAPI document. It returns
// nil for an operation that answers with JSON.
func (h Handler) Types() []string { return h.types }
