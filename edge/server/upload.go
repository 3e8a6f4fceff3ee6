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

// maxUploads is how many files are received at a time.
const maxUploads = 64

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
func (s *Server) takeFile(ctx *fasthttp.RequestCtx, op *route.Op) (*upload, error) {
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	default:
		return nil, &engine.Refusal{Code: engine.Overloaded, Message: "Too many files are being uploaded; try again shortly."}
	}
	media, params, err := mime.ParseMediaType(string(ctx.Request.Header.ContentType()))
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" || len(ctx.Request.Header.ContentEncoding()) > 0 {
		return nil, engine.Refuse(engine.UnsupportedMedia, nil)
	}
	limit := min(op.Handler.FileLimit(), s.cfg.MaxFile)
	body := ctx.Request.BodyStream() // Body would read all of it into memory
	if body == nil {
		body = bytes.NewReader(ctx.Request.Body())
	}
	body = &spoolable{io.LimitReader(body, limit+formSlack), s, op}
	u := &upload{fields: map[string]string{}}
	err = u.read(multipart.NewReader(body, params["boundary"]), s.cfg.UploadDir, limit)
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

// spoolable is the body of an upload; reading it fails once the disk is full.
type spoolable struct {
	io.Reader
	server *Server
	op     *route.Op
}

// Read reads on, or refuses if the disk is full.
func (b *spoolable) Read(p []byte) (int, error) {
	if err := b.server.findRoom(b.op); err != nil {
		return 0, err
	}
	return b.Reader.Read(p)
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
func (u *upload) read(r *multipart.Reader, dir string, limit int64) error {
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
			if err := u.spool(part, dir, limit); err != nil {
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

// spool writes the part's bytes to a file.
func (u *upload) spool(part *multipart.Part, dir string, limit int64) error {
	out, err := os.CreateTemp(dir, "upload-*")
	if err != nil {
		return err
	}
	media, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
	u.file = &route.File{Name: cleanName(part.FileName()), Type: media, Path: out.Name()}
	h := sha256.New()
	u.file.Size, err = io.CopyBuffer(io.MultiWriter(out, h), io.LimitReader(part, limit+1), make([]byte, 64<<10))
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil && u.file.Size > limit {
		err = &engine.Refusal{Code: engine.FileTooLarge, Details: map[string]int64{"maxBytes": limit}}
	}
	h.Sum(u.file.Sum[:0])
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
