package letters

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"boxoffice/edge/hosted"
	"boxoffice/edge/mail"
	"boxoffice/edge/route/format"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/readmodel"
)

// writeEvent makes a mail about a change or a cancellation of an event to a person who has tickets
// of it. It makes no mail about a change that was taken back, that no reader would see, or whose event
// has been cancelled since. If the time was moved, the mail says until when buyers may ask for their
// money back.
func (h *Writer) writeEvent(ctx context.Context, l *mailqueue.Mail, to mail.Envelope) (*mail.Message, error) {
	e, err := h.Read.EventByNumber(ctx, l.Event)
	if err != nil {
		return nil, err
	}
	o, err := h.Accounts.Organization(ctx, e.Details.Org)
	if err != nil {
		return nil, err
	}
	organizer := ""
	if o != nil {
		organizer = o.Name
	}
	// Mails of a cancellation to buyers count against no organization, because every buyer must be told. Mails
	// of changes do count: an organizer could change an event as often as they like. So do mails to people to
	// whom the organization gave tickets.
	count := mailqueue.Unpaid{Recipient: order.NormalEmail(l.To), Own: l.Given}
	if l.Given || l.Template == mailqueue.EventChanged {
		count.Organization = e.Details.Org
	}
	if err := h.Mail.Admit(ctx, l, count); err != nil {
		return nil, err
	}
	now := h.EventMail(e.Details, &e, organizer)
	if now.Cover, err = h.coverOf(ctx, e.Details); err != nil {
		return nil, err
	}
	if l.Template == mailqueue.EventCancelled {
		now.CancelReason = cmp.Or(now.CancelReason, l.Reason) // older nodes keep it in the letter alone
		return h.writeCancelled(ctx, l, to, now)
	}
	about, err := h.orderOf(ctx, l)
	if err != nil {
		return nil, err
	}
	// There is no mail if the event has been changed back or cancelled since.
	if l.Was == nil || *l.Was == mailqueue.KnownOf(e.Details) || e.Status == event.StatusCancelled {
		return nil, nil //nolint:nilnil // what was to be told is not so any more
	}
	// If the event's time has changed, buyers may ask for their money back for a while. The mail says until when.
	until := time.Time{}
	if ends := e.Details.MoneyBackUntil(l.Sold); ends > time.Now().UnixMilli() && l.Sold != 0 && l.Was.StartAt != e.Details.StartAt {
		until = clockOf(ends, e.Details.Timezone)
	}
	was := *e.Details
	w := l.Was
	was.Title, was.StartAt, was.EndAt, was.Timezone = w.Title, w.StartAt, w.EndAt, w.Timezone
	was.VenueName, was.VenueAddress, was.VenueCity, was.VenueCountry = w.Venue, w.Address, w.City, w.Country
	if was.VenueType = "physical"; w.Online {
		was.VenueType = "online"
	}
	// The old event is described in the same way as the present one. If a reader would see no difference, there
	// is no mail.
	before := h.EventMail(&was, &e, organizer)
	if before.Title == now.Title && before.When(to.Language) == now.When(to.Language) && before.Where(to.Language) == now.Where(to.Language) {
		return nil, nil //nolint:nilnil // what has changed is shown of no such product
	}
	return written(mail.EventChanged(to, before, now, about, until, h.RefundsURL()), nil)
}

// orderOf returns the order of a buyer who gets a mail about an event, or nil for a reader who has
// not bought.
func (h *Writer) orderOf(ctx context.Context, l *mailqueue.Mail) (*mail.Order, error) {
	id, err := engine.ParseID(l.Order)
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // its reader has not bought
	}
	o, err := h.Read.Order(ctx, id)
	if err != nil {
		return nil, err
	}
	return h.aboutOrder(o), nil
}

// aboutOrder returns what mails about an event show of an order: the number, the link and the total.
func (h *Writer) aboutOrder(o *order.Order) *mail.Order {
	return &mail.Order{Number: secrets.OrderNumber(o.ID), URL: h.orderURL(o.ID, time.Now()), Total: money(o.Total, o.Currency)}
}

// EventMail makes what mails say about an event from the event's details and record. It leaves out the cover
// and what depends on an order.
func (h *Writer) EventMail(t *event.Details, e *readmodel.Event, organizer string) *mail.Event {
	product := event.ProductType(t.Category)
	m := &mail.Event{
		ID: t.PublicID.String(), Revision: int(e.Revision), Changed: time.UnixMilli(e.UpdatedAt), //nolint:gosec // counts from 1
		Title: t.Title, Organizer: organizer,
		Venue: t.VenueName, Address: t.VenueAddress, City: t.VenueCity, Country: t.VenueCountry,
		Digital: product == event.ProductDigital, Course: t.Category == event.Course, RotatingOnly: t.RotatingOnly, Cancelled: e.Status == event.StatusCancelled, CancelReason: t.CancelReason,
	}
	m.Hall = t.HasHall()
	m.Online = !m.Digital && t.VenueType != "physical"
	if m.Online { // a digital product is delivered by its ticket types (Delivery)
		m.Link, m.Note = h.absolute(t.OnlineLink), t.OnlineNote
	}
	if product == event.ProductEvent {
		m.Start, m.End, m.Doors = clockOf(t.StartAt, t.Timezone), clockOf(t.EndAt, t.Timezone), clockOf(t.DoorsAt, t.Timezone)
	}
	return m
}

// coverOf returns the address of an event's cover picture for letters about its orders. It returns
// "" if we do not host the picture, or if the organization's letters may have no links.
func (h *Writer) coverOf(ctx context.Context, d *event.Details) (string, error) {
	id, ours := hosted.ReadLink(h.BaseURL, d.CoverImage)
	if !ours {
		// A picture on another server would tell that server who reads the letter.
		return "", nil
	}
	if links, err := h.Mail.MayLink(ctx, d.Org); err != nil || !links {
		return "", err
	}
	return fmt.Sprintf("%s%s%d/og.jpg", h.BaseURL, format.HostedPrefix, id), nil
}
