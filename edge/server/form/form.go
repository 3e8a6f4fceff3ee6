// Package form reads uploads: multipart bodies that bring a file, within bounds of bytes, time and
// places, onto the node's disk.
package form

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"strings"
	"time"
	"unicode"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// These bound a multipart body, apart from its file.
const (
	maxParts  = 20
	maxField  = 4 << 10 // bytes of a text field
	maxName   = 200     // characters of a file's name
	formSlack = 1 << 20 // bytes that fields and borders may take
)

// A body must not only keep the rate of Steady. It must also come within the sum of uploadTime and the
// time in which a line of uploadRate (1 Mbit/s) sends the bytes that the file may have.
const (
	uploadTime = 2 * time.Minute
	uploadRate = 128 << 10 // bytes a second
)

// Form is what a request with a file brought.
type Form struct {
	File   *route.File
	Fields map[string]string
	Sum    [sha256.Size]byte // over all of the parts, without the multipart borders
}

// Source is where a form comes from.
type Source struct {
	ContentType string
	Body        io.Reader
	Query       func(name string) string // query parameters of the request
	Dir         string                   // where the file is written
	Now         func() time.Time
	FindRoom    func() error // returns a refusal once the disk is full
}

// Read reads a multipart body, and writes its file to a temporary file. The caller calls Remove once the request
// is answered, unless there was an error. The error is UNSUPPORTED_MEDIA_TYPE if the body is not multipart, the
// error of judge or the refusal of FindRoom if there is one, the refusal of spoolPart if the file is longer than judge
// allows, an os.PathError if the disk fails, or else VALIDATION_ERROR.
func Read(from *Source, judge func(*route.Part) (route.Bound, error)) (*Form, error) {
	media, params, err := mime.ParseMediaType(from.ContentType)
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" {
		return nil, engine.Refuse(engine.UnsupportedMedia, nil)
	}
	body := &boundedBody{source: from, left: formSlack, until: from.Now().Add(uploadTime)}
	f := &Form{Fields: map[string]string{}}
	var judged error // judge's error, which is returned as it is
	err = f.readParts(multipart.NewReader(body, params["boundary"]), from.Dir, func(file *route.File, head []byte) (route.Bound, error) {
		bound, err := judge(&route.Part{File: file, Head: head, Fields: f.Fields, Query: from.Query})
		judged = err
		body.allowBytes(bound.Bytes)
		return bound, err
	})
	if err == nil {
		_, err = io.Copy(io.Discard, body) // reads the rest, because an upload that is cut off after its form counts as cut off
	}
	if err != nil {
		f.Remove()
		if judged != nil {
			return nil, judged
		}
		return nil, unreadableForm(err)
	}
	if f.File == nil {
		return nil, route.Invalid(route.Issue{Path: "file", Code: route.IssueRequired, Message: "is required: a part with a filename"})
	}
	return f, nil
}

// boundedBody is the body of an upload. It ends after as many bytes as the form may have; until the file has
// been judged, these are few (formSlack). Reading it fails once the disk is full, or once the time is over.
type boundedBody struct {
	source *Source
	left   int64
	until  time.Time
}

// allowBytes lets the body have this many more bytes, and the time that a slow line takes for them.
func (b *boundedBody) allowBytes(bytes int64) {
	b.left += bytes
	b.until = b.until.Add(time.Duration(bytes/uploadRate) * time.Second)
}

// Read reads the next bytes, or returns the refusal of FindRoom or tooSlow.
func (b *boundedBody) Read(p []byte) (int, error) {
	if err := b.source.FindRoom(); err != nil {
		return 0, err
	}
	if b.source.Now().After(b.until) {
		return 0, tooSlow
	}
	if b.left <= 0 {
		return 0, io.EOF
	}
	n, err := b.source.Body.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// unreadableForm returns the error for a body that could not be read to its end.
func unreadableForm(err error) error {
	var refusal *engine.Refusal
	var disk *os.PathError
	switch {
	case errors.As(err, &refusal), errors.As(err, &disk):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return tooSlow
	}
	return route.Invalid(route.Issue{Code: route.IssueFormat, Message: "the body must be whole multipart/form-data"})
}

// tooSlow refuses a body that did not come in steadily.
var tooSlow = &engine.Refusal{Code: engine.Validation, Message: "The request did not arrive in time."}

// readParts reads the parts of the form: at most one file, under the name "file", which it writes into dir, and text
// fields, each at most once and with at most maxField bytes. It refuses a form with more than maxParts parts. At the
// end it sets f.Sum, a hash of all names and contents in their order, which is the same for a repeated request.
func (f *Form) readParts(r *multipart.Reader, dir string, judge judge) error {
	h := sha256.New()
	note := func(text string) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	for n := 0; ; n++ {
		part, err := r.NextPart()
		if err == io.EOF { //nolint:errorlint // the reader returns it bare
			h.Sum(f.Sum[:0])
			return nil
		}
		if err != nil {
			return err
		}
		if n == maxParts {
			return route.Invalid(route.Issue{Code: route.IssueMaxItems, Message: fmt.Sprintf("the form has more than %d parts", maxParts)})
		}
		name, fileName := part.FormName(), part.FileName()
		note(name)
		note(fileName)
		if fileName != "" {
			if name != "file" {
				return route.Invalid(route.Issue{Path: name, Code: route.IssueUnsupported, Message: "takes no file; a file is sent as file"})
			}
			if f.File != nil {
				return route.Invalid(route.Issue{Path: "file", Code: route.IssueDuplicate, Message: "must be the only file"})
			}
			if err := f.spoolPart(part, dir, judge); err != nil {
				return err
			}
			note(f.File.Type)
			note(string(f.File.Sum[:]))
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, maxField+1))
		if err != nil {
			return err
		}
		if _, twice := f.Fields[name]; twice {
			return route.Invalid(route.Issue{Path: name, Code: route.IssueDuplicate, Message: "must be given once"})
		}
		if len(value) > maxField {
			return route.Invalid(route.Issue{Path: name, Code: route.IssueMaxLength, Message: fmt.Sprintf("must have at most %d bytes", maxField)})
		}
		note(string(value))
		f.Fields[name] = string(value)
	}
}

// judge decides from the beginning of a file's part whether the file is taken, and how large it may be.
type judge func(f *route.File, head []byte) (route.Bound, error)

// spoolPart writes the part's bytes to a file, unless judge refuses the file by the part's beginning. For a file that is
// longer than judge allows, it returns the refusal that judge has named (Bound.Beyond), or else FILE_TOO_LARGE.
func (f *Form) spoolPart(part *multipart.Part, dir string, judge judge) error {
	media, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
	file := &route.File{Name: cleanName(part.FileName()), Type: media}
	head := make([]byte, route.HeadBytes)
	n, err := io.ReadFull(part, head)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) { //nolint:errorlint // ReadFull returns it bare
		return err
	}
	bound, err := judge(file, head[:n])
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(dir, "upload-*")
	if err != nil {
		return err
	}
	file.Path, f.File = out.Name(), file
	h, whole := sha256.New(), io.MultiReader(bytes.NewReader(head[:n]), part)
	file.Size, err = io.CopyBuffer(io.MultiWriter(out, h), io.LimitReader(whole, bound.Bytes+1), make([]byte, 64<<10))
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil && file.Size > bound.Bytes {
		if err = bound.Beyond; err == nil {
			err = &engine.Refusal{Code: engine.FileTooLarge, Details: map[string]int64{"maxBytes": bound.Bytes}}
		}
	}
	h.Sum(file.Sum[:0])
	return err
}

// Remove removes the file, unless the handler has moved it away.
func (f *Form) Remove() {
	if f.File != nil {
		_ = os.Remove(f.File.Path) // it may have been moved
	}
}

// cleanName returns a file's name without characters that could lead out of a folder, end a header or
// reverse the direction of a line of text. It keeps only what follows the last slash, and of a long name the
// last maxName characters. If nothing is left, the name is "file".
func cleanName(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar || strings.ContainsRune(`"<>:|?*`, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	name = strings.TrimLeft(strings.TrimSpace(name), ".")
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[len(runes)-maxName:]) // the end of the name tells the type
	}
	if name == "" {
		return "file"
	}
	return name
}
