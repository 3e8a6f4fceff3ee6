// Package mail owns what mails say and how they are sent: their texts (one template per
// language and one builder per mail), the tickets' QR codes and calendar files in them, and two Senders: SMTP
// for a real server, and Capture for files that a developer reads at /dev/mail.
// persistence/mailqueue decides which mails are due, and makes sure that each is sent.
//
// Names that a stranger typed go through cleanLabel first, so that nobody can use our mails for
// advertising. Bodies, addresses and codes are never logged.
package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"regexp"
	"strings"

	gomail "github.com/wneessen/go-mail"
)

// Sender delivers a message or returns why it could not. It is safe for concurrent use. Another attempt may
// help after any error, except after a *Failure that is Permanent.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// Failure is a message that was not delivered. Its text contains no mail address: servers often quote one in
// their replies, and errors are logged.
type Failure struct {
	Reason    string // the step that failed and, if no connection was made, also why
	Code      int    // the server's SMTP code; 0 if it did not answer
	Permanent bool   // another attempt would fail too
	Bounced   bool   // the server refuses mail for this address, for good
	cause     error
}

// Error names the step that failed and the server's code, without quoting the server.
func (f *Failure) Error() string {
	if f.Code != 0 {
		return fmt.Sprintf("mail: %s: SMTP %d", f.Reason, f.Code)
	}
	return "mail: " + f.Reason
}

// Unwrap returns the cause, which must not be logged.
func (f *Failure) Unwrap() error { return f.cause }

// Origin is the address that mails come from.
type Origin struct{ address netmail.Address }

// ParseOrigin reads an address such as "Boxoffice <tickets@example.org>".
func ParseOrigin(s string) (Origin, error) {
	a, err := netmail.ParseAddress(s)
	if err != nil {
		return Origin{}, fmt.Errorf("sender of mail %q: %w", s, err)
	}
	return Origin{address: *a}, nil
}

// addressDomain returns the part of the address after the "@".
func (o Origin) addressDomain() string {
	_, domain, _ := strings.Cut(o.address.Address, "@")
	return domain
}

var idPattern = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

var errAddress = errors.New("not a bare mail address")

// renderMessage makes the mail that a Sender sends or captures. If m is invalid, the error is a permanent
// *Failure.
func (o Origin) renderMessage(m Message) (*gomail.Msg, error) {
	to, err := netmail.ParseAddress(m.To)
	if err == nil && (to.Address != m.To || oneLine(m.To) != m.To) {
		err = errAddress
	}
	if err != nil {
		return nil, &Failure{Reason: "bad address", Permanent: true, cause: err}
	}
	if !idPattern.MatchString(m.ID) {
		return nil, &Failure{Reason: "bad id", Permanent: true}
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.SetAddrHeaderFromMailAddress(gomail.HeaderFrom, &o.address)
	msg.SetAddrHeaderFromMailAddress(gomail.HeaderTo, &netmail.Address{Name: oneLine(m.ToName), Address: to.Address})
	msg.Subject(oneLine(m.Subject))
	msg.SetDate()
	msg.SetMessageIDWithValue(m.ID + "@" + o.addressDomain())
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: asks for no vacation notices
	msg.SetGenHeader("X-Auto-Response-Suppress", "All")
	msg.SetGenHeader(kindHeader, oneLine(m.Kind))
	if m.ReplyTo != "" {
		reply := m.ReplyTo
		if !strings.Contains(reply, "@") {
			reply += "@" + o.addressDomain()
		}
		msg.SetAddrHeaderFromMailAddress(gomail.HeaderReplyTo, &netmail.Address{Address: oneLine(reply)})
	}
	if m.Unsubscribe != "" {
		msg.SetGenHeader("List-Unsubscribe", "<"+oneLine(m.Unsubscribe)+">")
		msg.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click") // RFC 8058
		msg.SetGenHeader("Precedence", "bulk")
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	return msg, encloseFiles(msg, &m)
}

// encloseFiles adds a message's pictures and its calendar file.
func encloseFiles(msg *gomail.Msg, m *Message) error {
	var errs []error
	for _, p := range m.Pictures {
		errs = append(errs, msg.EmbedReader(p.Name+".png", bytes.NewReader(p.PNG),
			gomail.WithFileContentID("<"+p.contentID()+">"), gomail.WithFileContentType("image/png")))
	}
	if m.Calendar != nil {
		errs = append(errs, msg.AttachReader("event.ics", bytes.NewReader(m.Calendar.Body),
			gomail.WithFileContentType(gomail.ContentType("text/calendar; charset=utf-8; method="+m.Calendar.Method))))
	}
	if err := errors.Join(errs...); err != nil {
		return &Failure{Reason: "bad enclosure", Permanent: true, cause: err}
	}
	return nil
}

const kindHeader = "X-Boxoffice-Mail"
