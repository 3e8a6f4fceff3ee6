package letters

import (
	"context"
	"fmt"
	"time"

	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
)

// writeWaitlist makes a mail to a person who waits for tickets or has waited: to confirm the address, that the
// person is on the list, that tickets are offered, or that an offer has expired. It makes no mail once the event has
// ended, nor about an offer whose time is over.
func (h *Writer) writeWaitlist(ctx context.Context, l *mailqueue.Mail, to mail.Envelope) (*mail.Message, error) {
	id, err := engine.ParseID(l.Order)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err)
	}
	p, err := h.Pages.Event(ctx, id.Event())
	if err != nil {
		return nil, err
	}
	over := l.Template == mailqueue.WaitlistOffered && time.Now().UnixMilli() >= l.Until
	if over || event.Ended(p.Event.Status) {
		return nil, nil //nolint:nilnil // what was to be told is not so any more
	}
	who := mailqueue.Unpaid{Recipient: order.NormalEmail(l.To)}
	if l.Template == mailqueue.WaitlistConfirm {
		who.About = p.Event.Details.Org
	}
	if err := h.Mail.Admit(ctx, l, who); err != nil {
		return nil, err
	}
	e := h.EventMail(p.Event.Details, &p.Event, p.Org.Name)
	// Browsers do not send the part of a link after "#", so it appears in no log.
	url := h.BaseURL + "/waitlist#token=" + h.Secrets.WaitlistToken(id)
	switch l.Template { //nolint:exhaustive // these are the letters of a waitlist
	case mailqueue.WaitlistConfirm:
		token, err := h.Secrets.Open(CodeSecret, []byte(l.ID), l.Secret)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err)
		}
		url = h.BaseURL + "/waitlist/confirm#token=" + string(token)
		return written(mail.WaitlistConfirm(to, typeName(p, l.Type), l.Count, url, h.unsubscribe(p.Event.Details.Org, l.To), e), nil)
	case mailqueue.WaitlistJoined:
		return written(mail.WaitlistJoined(to, typeName(p, l.Type), l.Count, url, e), nil)
	case mailqueue.WaitlistOffered:
		return written(mail.WaitlistOffered(to, l.Tier, l.Count, money(l.Amount, l.Currency), clockOf(l.Until, p.Event.Details.Timezone), url, e), nil)
	default:
		return written(mail.WaitlistExpired(to, h.BaseURL+"/e/"+p.Event.Details.Slug, e), nil)
	}
}

// typeName returns the name of an event's ticket type, or "" if the event has no such type or hides
// it.
func typeName(p *live.Page, number int64) string {
	for i := range p.Types {
		if t := &p.Types[i]; t.Ref.ID == number && !t.Details.Hidden {
			return t.Details.Name
		}
	}
	return ""
}
