package letters

import (
	"context"
	"fmt"

	"boxoffice/edge/mail"
	"boxoffice/edge/web"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
)

// writeRoom makes a mail with a link to a place in a waiting room (QueuePlace), or with the link by
// which its reader joins the room (QueueConfirm). It makes no mail once the event has ended. The text that the
// link has to carry comes sealed with the letter; if this text cannot be opened, the mail is undeliverable.
func (h *Writer) writeRoom(ctx context.Context, l *mailqueue.Mail, to mail.Envelope) (*mail.Message, error) {
	p, err := h.Pages.Event(ctx, l.Event)
	if err != nil {
		return nil, err
	}
	if event.Ended(p.Event.Status) {
		return nil, nil //nolint:nilnil // there is no room any more
	}
	carried, err := h.Secrets.Open(CodeSecret, []byte(l.ID), l.Secret)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err) // it was sealed under another master key
	}
	if err := h.Mail.Admit(ctx, l, mailqueue.Unpaid{Recipient: order.NormalEmail(l.To), About: p.Event.Details.Org}); err != nil {
		return nil, err
	}
	room := h.BaseURL + "/e/" + p.Event.Details.Slug + "/queue"
	// Browsers do not send the part of a link after "#", so it appears in no log. The page without scripts cannot
	// read that part, so its link has the same text in the query.
	query := web.MailedRoom + "&" + string(carried)
	link := mail.RoomLink{URL: room + "#" + query, Plain: room + "/plain?" + query}
	end, e := h.unsubscribe(p.Event.Details.Org, l.To), h.EventMail(p.Event.Details, &p.Event, p.Org.Name)
	if l.Template == mailqueue.QueueConfirm {
		return written(mail.QueueConfirm(to, link, end, e), nil)
	}
	return written(mail.QueuePlace(to, link, end, e), nil)
}
