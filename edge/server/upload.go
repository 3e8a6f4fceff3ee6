package server

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

	"github.com/valyala/fasthttp"

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

// A body has an absolute deadline beside the rate that it must keep (steadyBody): what a slow line
// of 1 Mbit/s takes for the bytes that it may have, and some more.
const (
	uploadTime = 2 * time.Minute
	uploadRate = 128 << 10 // bytes a second
)

// upload is what a request with a file brought.
type upload struct {
	file   *route.File
	fields map[string]string
	sum    [sha256.Size]byte // over all of the parts, without the multipart borders
}

// uploadKey is the key under which a request carries its upload from the reading to the handler.
type uploadKey struct{}

func uploadOf(ctx *fasthttp.RequestCtx) *upload {
	u, _ := ctx.UserValue(uploadKey{}).(*upload)
	return u
}

// takeFile reads a multipart body, and writes its file onto the disk. The caller
// removes it once the request is answered.
func (s *Server) takeFile(ctx *fasthttp.RequestCtx, c *route.Call) (*upload, error) {
	done, err := s.uploads.takeUpload(c)
	if err != nil {
		return nil, err
	}
	defer done()
	media, params, err := mime.ParseMediaType(string(ctx.Request.Header.ContentType()))
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" || !isPlain(&ctx.Request.Header) {
		return nil, engine.Refuse(engine.UnsupportedMedia, nil)
	}
	stream := ctx.Request.BodyStream() // Body would read all of it into memory
	if stream == nil {
		stream = bytes.NewReader(ctx.Request.Body())
	}
	body := &formBody{from: stream, server: s, op: c.Op, left: formSlack, until: s.cfg.Now().Add(uploadTime)}
	u := &upload{fields: map[string]string{}}
	query := func(name string) string { return string(ctx.QueryArgs().Peek(name)) }
	err = u.read(multipart.NewReader(body, params["boundary"]), s.cfg.UploadDir, func(f *route.File, head []byte) (route.Bound, error) {
		bound, err := c.Op.Handler.Judge(c, &route.Part{File: f, Head: head, Fields: u.fields, Query: query})
		body.allowBytes(bound.Bytes)
		return bound, err
	})
	if err == nil {
		_, err = io.Copy(io.Discard, body) // if it was cut off after its form, the upload counts as cut off
	}
	if err != nil {
		u.remove()
		return nil, unreadableForm(err)
	}
	if u.file == nil {
		return nil, route.Invalid(route.Issue{Path: "file", Code: route.IssueRequired, Message: "is required: a part with a filename"})
	}
	return u, nil
}

// formBody is the body of an upload. It ends after as many bytes as the form may have; before its
// file has been judged, these are few. Reading it fails once the disk is full, or time is up.
type formBody struct {
	from   io.Reader
	server *Server
	op     *route.Op
	left   int64
	until  time.Time
}

// allowBytes lets the body have more bytes, and the time that they take.
func (b *formBody) allowBytes(bytes int64) {
	b.left += bytes
	b.until = b.until.Add(time.Duration(bytes/uploadRate) * time.Second)
}

// Read reads on, or refuses.
func (b *formBody) Read(p []byte) (int, error) {
	if err := b.server.findRoom(b.op); err != nil {
		return 0, err
	}
	if b.server.cfg.Now().After(b.until) {
		return 0, tooSlow
	}
	if b.left <= 0 {
		return 0, io.EOF
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// unreadableForm is the error for a client whose body could not be read to its end.
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

// read reads the parts of the form.
func (u *upload) read(r *multipart.Reader, dir string, judge judge) error {
	h := sha256.New()
	note := func(text string) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	for n := 0; ; n++ {
		part, err := r.NextPart()
		if err == io.EOF { //nolint:errorlint // the reader returns it bare
			h.Sum(u.sum[:0])
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
			if u.file != nil {
				return route.Invalid(route.Issue{Path: "file", Code: route.IssueDuplicate, Message: "must be the only file"})
			}
			if err := u.spoolPart(part, dir, judge); err != nil {
				return err
			}
			note(u.file.Type)
			note(string(u.file.Sum[:]))
			continue
		}
		value, err := io.ReadAll(io.LimitReader(part, maxField+1))
		if err != nil {
			return err
		}
		if _, twice := u.fields[name]; twice {
			return route.Invalid(route.Issue{Path: name, Code: route.IssueDuplicate, Message: "must be given once"})
		}
		if len(value) > maxField {
			return route.Invalid(route.Issue{Path: name, Code: route.IssueMaxLength, Message: fmt.Sprintf("must have at most %d bytes", maxField)})
		}
		note(string(value))
		u.fields[name] = string(value)
	}
}

// judge bounds a file by what its part begins with.
type judge func(f *route.File, head []byte) (route.Bound, error)

// spoolPart writes the part's bytes to a file, unless its beginning tells already that it is not taken.
func (u *upload) spoolPart(part *multipart.Part, dir string, judge judge) error {
	media, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
	f := &route.File{Name: cleanName(part.FileName()), Type: media}
	head := make([]byte, route.HeadBytes)
	n, err := io.ReadFull(part, head)
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) { //nolint:errorlint // ReadFull returns it bare
		return err
	}
	bound, err := judge(f, head[:n])
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(dir, "upload-*")
	if err != nil {
		return err
	}
	f.Path, u.file = out.Name(), f
	h, whole := sha256.New(), io.MultiReader(bytes.NewReader(head[:n]), part)
	f.Size, err = io.CopyBuffer(io.MultiWriter(out, h), io.LimitReader(whole, bound.Bytes+1), make([]byte, 64<<10))
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil && f.Size > bound.Bytes {
		if err = bound.Beyond; err == nil {
			err = &engine.Refusal{Code: engine.FileTooLarge, Details: map[string]int64{"maxBytes": bound.Bytes}}
		}
	}
	h.Sum(f.Sum[:0])
	return err
}

// remove removes the file, unless the handler has moved it away.
func (u *upload) remove() {
	if u.file != nil {
		_ = os.Remove(u.file.Path) // it may have been moved
	}
}

// cleanName is a file's name without characters that could lead out of a folder, end a header or
// reverse the direction of a line of text.
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
