package mail

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	captureMax    = 1_000    // mails that a Capture keeps
	captureBuffer = 32 << 10 // bytes; a mail is written in hundreds of pieces
)

// Capture is a Sender that puts each mail into a file in its directory instead of sending it. It keeps the
// newest captureMax mails and deletes older ones, so nothing else may use the directory.
type Capture struct {
	dir    string
	origin Origin

	mu   sync.Mutex
	kept []string        // names of the files, oldest first, also of those that Drop has deleted
	ids  map[string]bool // ids of the messages in these files
	last time.Time       // the time in the newest file name that was given
}

// OpenCapture returns a Capture of the mails in dir. It makes the directory if there is none, readable only
// for the process's user, and deletes files that an earlier process did not finish.
func OpenCapture(dir string, origin Origin) (*Capture, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("mail directory: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, partial))
	if err != nil {
		return nil, fmt.Errorf("mail directory: %w", err)
	}
	for _, path := range left {
		_ = os.Remove(path) // left by a process that was killed while writing
	}
	c := &Capture{dir: dir, origin: origin, ids: make(map[string]bool)}
	if c.kept, err = c.listFileNames(); err != nil {
		return nil, fmt.Errorf("mail directory: %w", err)
	}
	slices.Reverse(c.kept)
	for _, name := range c.kept {
		c.ids[idIn(name)] = true
	}
	return c, nil
}

// idIn returns the id of the message in the file with that name.
func idIn(name string) string {
	_, id, _ := strings.Cut(strings.TrimSuffix(name, ".eml"), "-")
	return id
}

// File names sort by time. A file gets its name only when it is complete.
const (
	stampLayout = "20060102T150405.000000000Z"
	partial     = ".partial-*"
)

var namePattern = regexp.MustCompile(`^\d{8}T\d{6}\.\d{9}Z-[0-9A-Za-z_-]{1,64}\.eml$`)

// Send writes the message to a file. It does not write a message whose id is among the kept ones: the sender
// repeats a message after a crash between Send and its note of it. It keeps the newest captureMax messages and
// deletes older ones.
func (c *Capture) Send(_ context.Context, m Message) error {
	msg, err := c.origin.renderMessage(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ids[m.ID] {
		return nil
	}
	f, err := os.CreateTemp(c.dir, partial) // mode 0600
	if err != nil {
		return &Failure{Reason: "capture", cause: err}
	}
	name := c.makeFileName(m.ID)
	whole := bufio.NewWriterSize(f, captureBuffer)
	_, err = msg.WriteTo(whole)
	err = errors.Join(err, whole.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(c.dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return &Failure{Reason: "capture", cause: err}
	}
	c.kept, c.ids[m.ID] = append(c.kept, name), true
	for len(c.kept) > captureMax {
		_ = os.Remove(filepath.Join(c.dir, c.kept[0])) // it may have been deleted already
		delete(c.ids, idIn(c.kept[0]))
		c.kept = c.kept[1:]
	}
	return nil
}

// Drop deletes the mails that contain one of the words, in upper or lower case, in the recipient, the
// subject, the text, the HTML or the calendar file. Empty words are ignored.
func (c *Capture) Drop(words ...string) error {
	names, err := c.listFileNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		m, err := c.Read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		text := strings.ToLower(strings.Join([]string{m.To, m.Header.Get("To"), m.Subject, m.Text, m.HTML, m.Calendar}, "\n"))
		if slices.ContainsFunc(words, func(w string) bool { return w != "" && strings.Contains(text, strings.ToLower(w)) }) {
			_ = os.Remove(filepath.Join(c.dir, name)) // it may have been deleted already
		}
	}
	return nil
}

// makeFileName makes a file name that sorts after all names that this Capture has made before.
func (c *Capture) makeFileName(id string) string {
	now := time.Now().UTC()
	if !now.After(c.last) {
		now = c.last.Add(1)
	}
	c.last = now
	return now.Format(stampLayout) + "-" + id + ".eml"
}

// listFileNames returns the file names of the mails, newest first.
func (c *Capture) listFileNames() ([]string, error) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, &Failure{Reason: "capture", cause: err}
	}
	names := make([]string, 0, len(entries))
	for _, e := range slices.Backward(entries) {
		if namePattern.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Captured is a captured mail with its parts decoded, as its reader would see them.
type Captured struct {
	Name    string    // the name of the mail's file
	At      time.Time // when it was captured
	Header  netmail.Header
	To      string // the address, without the name
	Kind    string
	Subject string
	Text    string
	HTML    string
	// Pictures are the pictures that the HTML shows, by their cid.
	Pictures map[string][]byte
	Calendar string // the calendar file; "" if the mail has none
}

// List returns up to limit of the newest mails, newest first, without their bodies. It fails if one of them cannot be
// read, unless that mail has been deleted since it was listed.
func (c *Capture) List(limit int) ([]Captured, error) {
	names, err := c.listFileNames()
	if err != nil {
		return nil, err
	}
	out := make([]Captured, 0, min(limit, len(names)))
	for _, name := range names[:min(limit, len(names))] {
		m, err := c.read(name, false)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has been deleted since
		}
		if err != nil {
			return nil, err
		}
		out = append(out, *m)
	}
	return out, nil
}

// Read returns one mail. If there is no mail with that name, or there cannot be one, the error is
// fs.ErrNotExist.
func (c *Capture) Read(name string) (*Captured, error) { return c.read(name, true) }

// read returns the captured mail with a name, with its texts, pictures and calendar file only if bodies is set. It
// returns fs.ErrNotExist, also for a name that no captured mail can have.
func (c *Capture) read(name string, bodies bool) (*Captured, error) {
	if !namePattern.MatchString(name) {
		return nil, fs.ErrNotExist
	}
	f, err := os.Open(filepath.Join(c.dir, name)) //nolint:gosec // a name of ours: no separator is in it
	if err != nil {
		return nil, fmt.Errorf("captured mail: %w", err)
	}
	defer func() { _ = f.Close() }()
	msg, err := netmail.ReadMessage(f)
	if err != nil {
		return nil, fmt.Errorf("captured mail: %w", err)
	}
	m := &Captured{Name: name, Header: msg.Header, Kind: msg.Header.Get(kindHeader)}
	stamp, _, _ := strings.Cut(name, "-")
	if m.At, err = time.Parse(stampLayout, stamp); err != nil {
		return nil, fmt.Errorf("captured mail: %w", err)
	}
	if m.Subject, err = new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject")); err != nil {
		return nil, fmt.Errorf("captured mail: %w", err)
	}
	to, err := msg.Header.AddressList("To")
	if err != nil {
		return nil, fmt.Errorf("captured mail: %w", err)
	}
	m.To = to[0].Address
	if bodies {
		err = m.readBodies(msg)
	}
	return m, err
}

// readBodies reads the texts, the pictures and the calendar file of the message into m.
func (m *Captured) readBodies(msg *netmail.Message) error {
	m.Pictures = make(map[string][]byte)
	if err := m.readParts(msg.Header.Get("Content-Type"), msg.Body); err != nil {
		return fmt.Errorf("captured mail: %w", err)
	}
	return nil
}

// readParts reads the parts of a multipart body, also those that are nested. contentType holds its boundary.
func (m *Captured) readParts(contentType string, body io.Reader) error {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return err
	}
	parts := multipart.NewReader(body, params["boundary"])
	for {
		part, err := parts.NextPart() // decodes quoted-printable
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := m.readPart(part); err != nil {
			return err
		}
	}
}

// readPart reads one part into the field of m for its type: HTML, plain text, calendar file or PNG picture. It reads
// the parts of a part that is itself multipart, and ignores parts of other types.
func (m *Captured) readPart(part *multipart.Part) error {
	contentType := part.Header.Get("Content-Type")
	media, _, _ := strings.Cut(contentType, ";")
	if strings.HasPrefix(media, "multipart/") {
		return m.readParts(contentType, part)
	}
	var r io.Reader = part
	if part.Header.Get("Content-Transfer-Encoding") == "base64" {
		r = base64.NewDecoder(base64.StdEncoding, part)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	switch text := strings.ReplaceAll(string(body), "\r\n", "\n"); media {
	case "text/html":
		m.HTML = text
	case "text/plain":
		m.Text = text
	case "text/calendar":
		m.Calendar = text
	case "image/png":
		m.Pictures[strings.Trim(part.Header.Get("Content-ID"), "<>")] = body
	}
	return nil
}
