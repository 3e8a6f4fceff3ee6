// Package postbox is a mail server of the harness's own. It takes every mail that nodes
// send, outlives the nodes, and remembers of each to whom it went, of what kind it is,
// when it came, and one part of its text. Close returns when no connection is left.
package postbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"

	"boxoffice/loadtest/rig"
)

// Mail is a mail that came.
type Mail struct {
	To, Kind, ID string // ID is the Message-ID: the same for a mail that was sent again
	At           time.Time
	Found        string // what the box's pattern found in its text; "": nothing
}

// Box is a running mail server. Its methods may be called by any goroutine.
type Box struct {
	addr    string
	pattern *regexp.Regexp
	server  *smtp.Server
	serving sync.WaitGroup

	mu    sync.Mutex
	mails map[string][]Mail // the mails by kind, in the order in which they came
	to    map[string][]Mail // the same mails by recipient

	refused map[string]int // how often mails were sent to addresses that do not exist
}

// kindHeader is where the service says of what kind a mail is.
const kindHeader = "X-Boxoffice-Mail"

// Open starts a box. It keeps of each mail's text what the first group of the pattern
// matches; without a pattern, nothing.
func Open(ctx context.Context, pattern *regexp.Regexp) (*Box, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("postbox: %w", err)
	}
	b := &Box{addr: ln.Addr().String(), pattern: pattern, mails: make(map[string][]Mail), to: make(map[string][]Mail), refused: make(map[string]int)}
	b.server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{box: b}, nil }))
	b.server.Domain = "localhost"
	b.server.ErrorLog = log.New(io.Discard, "", 0)  // nodes that are killed close no connection
	b.serving.Go(func() { _ = b.server.Serve(ln) }) // it returns when Close closes the listener
	return b, nil
}

// Env is what a node needs in its environment to send its mail here.
func (b *Box) Env() []string {
	return []string{"BOXOFFICE_SMTP_URL=smtp+plain://" + b.addr, "BOXOFFICE_MAIL_FROM=Load Test <tickets@load.test>"}
}

// Close ends the server and its connections.
func (b *Box) Close() error {
	err := b.server.Close()
	b.serving.Wait()
	if err != nil {
		return fmt.Errorf("postbox: %w", err)
	}
	return nil
}

// To are the mails of a kind that came to an address, the oldest first.
func (b *Box) To(address, kind string) (of []Mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.to[address] {
		if m.Kind == kind {
			of = append(of, m)
		}
	}
	return of
}

// Of returns the mails of a kind, in the order in which they came. The caller must not change the slice: the box
// only appends to it.
func (b *Box) Of(kind string) []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mails[kind]
}

// Refuse makes mail to an address bounce from now on, as if the mailbox did not exist.
func (b *Box) Refuse(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused[address] = 0
}

// Refused returns how often a mail to an address has bounced.
func (b *Box) Refused(address string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused[address]
}

// waitPause is the pause between two looks for a mail.
const waitPause = 10 * time.Millisecond

// Wait waits until a mail of a kind has come to an address, and returns the first.
func (b *Box) Wait(ctx context.Context, address, kind string) (Mail, error) {
	for {
		if all := b.To(address, kind); len(all) > 0 {
			return all[0], nil
		}
		if err := rig.Pause(ctx, waitPause); err != nil {
			return Mail{}, fmt.Errorf("postbox: no %s for %s: %w", kind, address, err)
		}
	}
}

// session is what one connection sends, one mail after the other. to is the recipient of the mail that is being
// sent.
type session struct {
	box *Box
	to  string
}

// Mail accepts every sender.
func (s *session) Mail(string, *smtp.MailOptions) error { return nil }

// Rcpt accepts a recipient, or refuses the address for good with the code 550, which a node takes for a bounce.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	if n, gone := s.box.refused[to]; gone {
		s.box.refused[to] = n + 1
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such mailbox"}
	}
	s.to = to
	return nil
}

// Data remembers a mail. A mail that can't be read is refused, so that the node's log says so.
func (s *session) Data(r io.Reader) error {
	// The time is taken before the text is read, so that the reading does not make a mail late.
	at := time.Now()
	msg, err := mail.ReadMessage(r)
	if err != nil {
		return fmt.Errorf("postbox: %w", err)
	}
	m := Mail{To: s.to, Kind: msg.Header.Get(kindHeader), ID: msg.Header.Get("Message-ID"), At: at}
	if s.box.pattern != nil {
		text, err := readText(msg.Header.Get("Content-Type"), msg.Body)
		if err != nil {
			return fmt.Errorf("postbox: %w", err)
		}
		if found := s.box.pattern.FindStringSubmatch(text); found != nil {
			m.Found = found[1]
		}
	}
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	s.box.mails[m.Kind] = append(s.box.mails[m.Kind], m)
	s.box.to[m.To] = append(s.box.to[m.To], m)
	return nil
}

func (s *session) Reset()        { s.to = "" }
func (s *session) Logout() error { return nil }

// readText returns the first plain text of a body, also from within parts of parts, or "" if there is none.
func readText(contentType string, body io.Reader) (string, error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return "", err
	}
	if media == "text/plain" {
		text, err := io.ReadAll(body)
		return string(text), err
	}
	if !strings.HasPrefix(media, "multipart/") {
		return "", nil
	}
	for parts := multipart.NewReader(body, params["boundary"]); ; {
		part, err := parts.NextPart() // NextPart decodes quoted-printable
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if text, err := readText(part.Header.Get("Content-Type"), part); text != "" || err != nil {
			return text, err
		}
	}
}
