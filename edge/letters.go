package edge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/mail"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/readmodel"
)

// letterSecret is the label that letters' secrets are sealed under.
const letterSecret = "letter"

// Carry writes a letter's mail, as things stand when it is sent, and sends it. It
// is the mail queue's Send.
func (d *Desk) Carry(ctx context.Context, l *mailqueue.Mail) (sent bool, err error) {
	m, err := d.write(ctx, l)
	if err != nil || m == nil {
		return false, err
	}
	err = d.Sender.Send(ctx, *m)
	if f, ok := errors.AsType[*mail.Failure](err); ok { // only its own words are fit to be kept
		if err = errors.New(f.Error()); f.Permanent {
			err = fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err)
		}
	}
	return err == nil, err
}

// write finds what a letter is about and makes the mail; nil when there is nothing
// to say any more.
func (d *Desk) write(ctx context.Context, l *mailqueue.Mail) (*mail.Message, error) {
	to := mail.Envelope{ID: l.ID, To: l.To, Name: l.Name}
	switch l.Template {
	case mailqueue.LoginCode:
		code, err := d.Secrets.Open(letterSecret, []byte(l.ID), l.Secret)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err) // sealed under another master key
		}
		return written(mail.LoginCode(to, string(code)), nil)
	case mailqueue.PasswordReset:
		return d.writeReset(ctx, to, l.Queued)
	case mailqueue.EmailConfirmation:
		return d.writeConfirmation(ctx, to, l.Queued)
	case mailqueue.AccountTaken:
		return written(mail.AccountTaken(to), nil)
	case mailqueue.PasswordChanged:
		return written(mail.PasswordChanged(to), nil)
	case mailqueue.TwoFactorChanged:
		return written(mail.TwoFactorChanged(to, l.On), nil)
	case mailqueue.Invitation:
		return written(mail.Invitation(to, l.Organization, l.Role), nil)
	case mailqueue.WebhookDisabled:
		return written(mail.WebhookDisabled(to, l.Organization, l.Endpoint, strconv.FormatInt(l.Webhook, 10), l.Gone), nil)
	case mailqueue.OrderConfirmation, mailqueue.AttendeeTickets, mailqueue.OrderCancelled, mailqueue.RefundDue, mailqueue.RefundProcessed:
		return d.writeOrder(ctx, l, to)
	case mailqueue.EventChanged, mailqueue.EventCancelled:
		return d.writeEvent(ctx, l, to)
	}
	return nil, fmt.Errorf("%w: no mail %q", mailqueue.ErrUndeliverable, l.Template)
}

func written(m mail.Message, err error) (*mail.Message, error) { return &m, err }

// writeReset makes the mail for who has an account and has not asked too often.
// The token is the letter's, so that another attempt brings the same link.
func (d *Desk) writeReset(ctx context.Context, to mail.Envelope, asked time.Time) (*mail.Message, error) {
	token := d.Secrets.ResetToken(to.ID)
	u, err := d.Accounts.RequestReset(ctx, to.To, sha256.Sum256([]byte(token)), asked)
	if err != nil || u == nil {
		return nil, err
	}
	to.Name = u.Name()
	// The part of a link behind # is sent to no server, so it is in no log.
	return written(mail.PasswordReset(to, d.BaseURL+"/password/reset#token="+token), nil)
}

// writeConfirmation makes the mail for who has an account whose address is not
// proven yet, in the way of writeReset. It does not say the name that was
// registered: whoever reads it may not be who typed it.
func (d *Desk) writeConfirmation(ctx context.Context, to mail.Envelope, asked time.Time) (*mail.Message, error) {
	token := d.Secrets.ConfirmationToken(to.ID)
	u, err := d.Accounts.RequestConfirmation(ctx, to.To, sha256.Sum256([]byte(token)), asked)
	if err != nil || u == nil {
		return nil, err
	}
	return written(mail.EmailConfirmation(to, d.BaseURL+"/email/confirm#token="+token), nil)
}

// writeOrder makes a mail to the buyer of an order.
func (d *Desk) writeOrder(ctx context.Context, l *mailqueue.Mail, to mail.Envelope) (*mail.Message, error) {
	id, err := engine.ParseID(l.Order)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err)
	}
	read, err := d.Read.Order(ctx, id)
	if err != nil {
		return nil, err
	}
	p, err := d.eventPageOf(ctx, id.Event())
	if err != nil {
		return nil, err
	}
	o := &read.Order
	to.To, to.Name = o.Email, o.Name
	about := mail.Order{Number: secrets.OrderNumber(id), URL: d.orderURL(id, time.Now())}
	e := d.eventMail(p.event.Details, &p.event, p.org.Name)
	if due, err := d.admitOrder(ctx, l, o, p.event.Details.Org); err != nil || !due {
		return nil, err
	}
	switch l.Template { //nolint:exhaustive // the mails to the buyer of an order
	case mailqueue.OrderConfirmation:
		if err := d.bought(ctx, &about, o, p); err != nil {
			return nil, err
		}
		return written(mail.OrderConfirmation(to, &about, e))
	case mailqueue.AttendeeTickets:
		return d.writeAttendee(ctx, l, o, e)
	case mailqueue.OrderCancelled:
		return written(mail.OrderCancelled(to, &about, e), nil)
	case mailqueue.RefundDue:
		return written(mail.RefundDue(to, &about, e, amount(l.Amount, o.Currency), l.Reason), nil)
	}
	if l.Refund >= len(o.Refunds) {
		return nil, fmt.Errorf("%w: order %s has no refund %d", mailqueue.ErrUndeliverable, id, l.Refund)
	}
	return written(mail.RefundProcessed(to, &about, e, amount(o.Refunds[l.Refund].Amount, o.Currency)), nil)
}

// admitOrder says whether a letter about an order is due still, and counts its mail
// if nobody pays for that. Attendees are told even if the buyer's own mail has to wait.
func (d *Desk) admitOrder(ctx context.Context, l *mailqueue.Mail, o *event.Order, org int64) (due bool, err error) {
	to, unpaid := o.Email, o.Total == 0
	switch l.Template { //nolint:exhaustive // the others follow from a payment
	case mailqueue.OrderConfirmation:
		if o.Status != event.Completed {
			return false, nil // its tickets are void by now
		}
		if err := d.tellAttendees(ctx, o); err != nil {
			return false, err
		}
		if o.Name != "" {
			if err := d.Accounts.NoteBuyer(ctx, route.NormalEmail(o.Email), o.Name); err != nil {
				return false, err
			}
		}
	case mailqueue.AttendeeTickets:
		if o.Status != event.Completed {
			return false, nil
		}
		to, unpaid = l.To, true
	case mailqueue.OrderCancelled:
		unpaid = true // whatever it would have cost
	default:
		return true, nil
	}
	if !unpaid {
		return true, nil
	}
	who := mailqueue.Unpaid{Recipient: route.NormalEmail(to)}
	// The velocity rules bound what guests order, and not what the organization orders
	// itself (Client 0), nor whom the lines name.
	if o.Client == 0 || l.Template == mailqueue.AttendeeTickets && o.Total == 0 {
		who.Organization = org
	}
	return true, d.Mail.Admit(ctx, l, who)
}

// orderURL is where the buyer of an order sees it, with a token that opens it for
// some time from now on, even if the one of the order has ended.
func (d *Desk) orderURL(id engine.OrderID, now time.Time) string {
	return d.BaseURL + "/orders/" + id.String() + "?token=" + d.Secrets.RenewedToken(id, now.Add(tokenAfterEnd))
}

// bought adds what an order's confirmation says beside its number: its lines, its
// sums and its tickets.
func (d *Desk) bought(ctx context.Context, m *mail.Order, o *event.Order, p *page) error {
	where, err := d.whereOf(ctx, o)
	if err != nil {
		return err
	}
	m.Fees, m.Total, m.Count = amount(o.Fees, o.Currency), amount(o.Total, o.Currency), int(o.Tickets())
	for i := range o.Lines {
		l := &o.Lines[i]
		line := mail.Line{Name: l.Name, Quantity: l.Quantity, Price: amount(l.UnitPrice, o.Currency)}
		if t := slices.IndexFunc(p.types, func(t readmodel.TicketType) bool { return t.Ref.ID == l.Type }); t >= 0 {
			line.Link, line.Note = d.delivery(p.event.Details, &p.types[t].Details)
		}
		m.Lines = append(m.Lines, line)
	}
	codes := d.Secrets.Event(o.ID.Event())
	records := view.Tickets(o, d.Known.PublicID(o.ID.Event()), codes, where)
	for i := range records[:min(len(records), mail.MaxTickets)] {
		m.Tickets = append(m.Tickets, ticketMail(&records[i], codes, o.FirstTicket+uint32(i)))
	}
	return nil
}

// ticketMail is a ticket as mails show it.
func ticketMail(r *api.TicketRecord, codes *secrets.Codes, serial uint32) mail.Ticket {
	t := mail.Ticket{Type: r.TierName, Code: codes.Code(serial, secrets.Version), Short: codes.Short(serial)}
	if r.Holder.Name != nil {
		t.Holder = *r.Holder.Name
	}
	if r.Seat != nil {
		t.Section, t.Row, t.Seat = r.Seat.Section, r.Seat.Row, cmp.Or(r.Seat.Label, r.Seat.ID)
	}
	return t
}

// tellAttendees puts out a letter with their tickets for everybody whom the lines of
// an order name beside its buyer: one for each address and order, ever.
func (d *Desk) tellAttendees(ctx context.Context, o *event.Order) error {
	told := map[string]bool{"": true, route.NormalEmail(o.Email): true}
	for i := range o.Lines {
		to := route.NormalEmail(o.Lines[i].AttendeeEmail)
		if told[to] {
			continue
		}
		told[to] = true
		if err := d.Mail.Add(ctx, mailqueue.Mail{
			Template: mailqueue.AttendeeTickets, Subject: o.ID.String() + "/" + to, Order: o.ID.String(), To: o.Lines[i].AttendeeEmail, Name: o.Lines[i].AttendeeName,
		}); err != nil {
			return err
		}
	}
	return nil
}

// writeAttendee makes the mail with those tickets of an order that are an attendee's.
func (d *Desk) writeAttendee(ctx context.Context, l *mailqueue.Mail, o *event.Order, e *mail.Event) (*mail.Message, error) {
	where, err := d.whereOf(ctx, o)
	if err != nil {
		return nil, err
	}
	codes, about := d.Secrets.Event(o.ID.Event()), new(mail.Order)
	records := view.Tickets(o, d.Known.PublicID(o.ID.Event()), codes, where)
	for i := range records {
		if route.NormalEmail(records[i].Holder.Email) != route.NormalEmail(l.To) {
			continue
		}
		if about.Count++; about.Count <= mail.MaxTickets {
			about.Tickets = append(about.Tickets, ticketMail(&records[i], codes, o.FirstTicket+uint32(i)))
		}
	}
	return written(mail.AttendeeTickets(mail.Envelope{ID: l.ID, To: l.To, Name: l.Name}, about, e))
}

// delivery is the link of a ticket type and what its buyers need there, as far as a
// mail may have them: a file that we host for buyers, and its PIN, are behind the
// order's link alone. A type of a digital product that has no link of its own is
// delivered by the event's.
func (d *Desk) delivery(e *event.Details, t *inventory.Details) (link, note string) {
	link, note = t.AccessURL, t.AccessNote
	if link == "" && event.ProductType(e.Category) == event.ProductDigital {
		link, note = e.OnlineLink, cmp.Or(note, e.OnlineNote)
	}
	if d.hosted(link) {
		return "", ""
	}
	return link, note
}

// hosted says whether a link is to a file of ours.
func (d *Desk) hosted(link string) bool {
	return strings.HasPrefix(link, "/") || d.BaseURL != "" && strings.HasPrefix(link, d.BaseURL+"/media/")
}

// writeEvent makes a mail to somebody who has tickets of an event.
func (d *Desk) writeEvent(ctx context.Context, l *mailqueue.Mail, to mail.Envelope) (*mail.Message, error) {
	e, err := d.Read.EventByNumber(ctx, l.Event)
	if err != nil {
		return nil, err
	}
	o, err := d.Accounts.Organization(ctx, e.Details.Org)
	if err != nil {
		return nil, err
	}
	organizer := ""
	if o != nil {
		organizer = o.Name
	}
	now := d.eventMail(e.Details, &e, organizer)
	if l.Template == mailqueue.EventCancelled {
		return written(mail.EventCancelled(to, now, l.Reason), nil)
	}
	if l.Was == nil || *l.Was == mailqueue.KnownOf(e.Details) || e.Status == event.StatusCancelled {
		return nil, nil //nolint:nilnil // what was to be told is not so any more
	}
	was := *e.Details
	w := l.Was
	was.Title, was.StartAt, was.EndAt, was.Timezone = w.Title, w.StartAt, w.EndAt, w.Timezone
	was.VenueName, was.VenueAddress, was.VenueCity, was.VenueCountry = w.Venue, w.Address, w.City, w.Country
	if was.VenueType = "physical"; w.Online {
		was.VenueType = "online"
	}
	return written(mail.EventChanged(to, d.eventMail(&was, &e, organizer), now), nil)
}

// eventMail is what mails tell of an event, by a record of it.
func (d *Desk) eventMail(t *event.Details, e *readmodel.Event, organizer string) *mail.Event {
	product := event.ProductType(t.Category)
	m := &mail.Event{
		ID: t.PublicID.String(), Revision: int(e.Revision), Changed: time.UnixMilli(e.UpdatedAt), //nolint:gosec // counts from 1
		Title: t.Title, Organizer: organizer,
		Venue: t.VenueName, Address: t.VenueAddress, City: t.VenueCity, Country: t.VenueCountry,
		Digital: product == event.ProductDigital,
	}
	m.Hall = !m.Digital && t.VenueType != "online"
	m.Online = !m.Digital && t.VenueType != "physical"
	if m.Online { // what delivers a digital product is its ticket types' (delivery)
		m.Link, m.Note = d.absolute(t.OnlineLink), t.OnlineNote
	}
	if product == event.ProductEvent {
		m.Start, m.End, m.Doors = clockOf(t.StartAt, t.Timezone), clockOf(t.EndAt, t.Timezone), clockOf(t.DoorsAt, t.Timezone)
	}
	return m
}

// clockOf is a moment in unix milliseconds on the clocks of a zone; zero for none.
func clockOf(ms int64, zone string) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		location = time.UTC
	}
	return time.UnixMilli(ms).In(location)
}

// absolute is a link to a file of ours as buyers reach it.
func (d *Desk) absolute(link string) string {
	if strings.HasPrefix(link, "/") {
		return d.BaseURL + link
	}
	return link
}

// amount is money as mails show it; "" for nothing.
func amount(minor int64, currency string) string {
	if minor == 0 {
		return ""
	}
	return view.Decimal(minor) + " " + currency
}
