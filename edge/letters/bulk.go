package letters

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"boxoffice/edge/mail"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/outreach"
)

// followLife is how long the mailed link that makes an address a follower may be used.
const followLife = 7 * 24 * time.Hour

// unsubscribe returns the two addresses by which a reader ends an organization's bulk mail: a page
// for people and a path for mail programs.
func (h *Writer) unsubscribe(org int64, email string) mail.Unsubscribe {
	token := h.Secrets.UnsubscribeToken(org, order.NormalEmail(email))
	// Browsers do not send the part of a link after "#", so it appears in no log.
	return mail.Unsubscribe{Page: h.BaseURL + "/unsubscribe#token=" + token, Post: h.BaseURL + "/api/v1/community/unsubscribe/" + token}
}

// writeFollowing makes the mail that asks an address whether it wants to follow an organization.
// Anybody may enter anybody's address, so these mails are counted and limited.
func (h *Writer) writeFollowing(ctx context.Context, l *mailqueue.Mail, to mail.Envelope) (*mail.Message, error) {
	o, err := h.Accounts.Organization(ctx, l.Org)
	if err != nil || o == nil {
		return nil, err
	}
	if err := h.Mail.Admit(ctx, l, mailqueue.Unpaid{Recipient: order.NormalEmail(l.To), About: o.ID}); err != nil {
		return nil, err
	}
	token := h.Secrets.FollowToken(o.ID, time.Now().Add(followLife).Unix(), order.NormalEmail(l.To), l.Name)
	return written(mail.Following(to, o.Name, h.BaseURL+"/follow#token="+token, h.unsubscribe(o.ID, l.To)), nil)
}

// writePublished makes the mail about a new event to a follower of its organization. It makes none
// if the follower has left since, or if the event is not public any more.
func (h *Writer) writePublished(ctx context.Context, l *mailqueue.Mail, to mail.Envelope) (*mail.Message, error) {
	p, err := h.Pages.Event(ctx, l.Event)
	if err != nil {
		return nil, err
	}
	d := p.Event.Details
	suppressed, err := h.Outreach.Suppressed(ctx, d.Org, order.NormalEmail(l.To))
	if err != nil || suppressed || !mailqueue.IsForEverybody(&p.Event) {
		return nil, err
	}
	if err := h.admitOwn(ctx, l, d.Org); err != nil {
		return nil, err
	}
	e := h.EventMail(d, &p.Event, p.Org.Name)
	return written(mail.EventPublished(to, e, h.BaseURL+"/e/"+d.Slug, h.unsubscribe(d.Org, l.To)), nil)
}

// writeBroadcast makes an organizer's mail to a person who attends an event. It makes none if the
// person has had this broadcast already or has unsubscribed; it notes the latter. It takes the links out
// of a mail by an organization that has not earned trust yet.
func (h *Writer) writeBroadcast(ctx context.Context, l *mailqueue.Mail, to mail.Envelope) (*mail.Message, error) {
	id, err := uuid.Parse(l.Broadcast)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err)
	}
	waiting, err := h.Outreach.IsWaiting(ctx, id, l.To)
	if err != nil || !waiting {
		return nil, err
	}
	b, err := h.Outreach.Broadcast(ctx, id)
	if err != nil {
		return nil, err
	}
	suppressed, err := h.Outreach.Suppressed(ctx, b.Org, l.To)
	if err != nil {
		return nil, err
	}
	if suppressed {
		return nil, h.noteBroadcast(ctx, l, outreach.Suppressed)
	}
	p, err := h.Pages.Event(ctx, b.Event)
	if err != nil {
		return nil, err
	}
	if err := h.admitOwn(ctx, l, b.Org); err != nil {
		return nil, err
	}
	// An organization that has not earned trust yet may send no links.
	links, err := h.Mail.MayLink(ctx, b.Org)
	if err != nil {
		return nil, err
	}
	if !links {
		b.Subject, b.Body = mail.Unlinked(b.Subject), mail.UnlinkedHTML(b.Body)
	}
	e := h.EventMail(p.Event.Details, &p.Event, p.Org.Name)
	reply := "reply+" + h.Secrets.ReplyAddress(id, l.To)
	return written(mail.Broadcast(to, e, b.Subject, b.Body, reply, h.unsubscribe(b.Org, l.To)), nil)
}

// admitOwn counts a mail that an organization sends on its own account, and returns an error if the
// organization or the recipient has had too many.
func (h *Writer) admitOwn(ctx context.Context, l *mailqueue.Mail, org int64) error {
	return h.Mail.Admit(ctx, l, mailqueue.Unpaid{Recipient: order.NormalEmail(l.To), Organization: org, Own: true})
}

// noteBroadcast records whether a broadcast was sent to one person (outreach.Sent) or not
// (outreach.Suppressed).
func (h *Writer) noteBroadcast(ctx context.Context, l *mailqueue.Mail, status string) error {
	id, err := uuid.Parse(l.Broadcast)
	if err != nil {
		return fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err)
	}
	return h.Outreach.NoteRecipient(ctx, id, l.To, status)
}
