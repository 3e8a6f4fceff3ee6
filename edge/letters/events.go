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

// writeEvent makes a mail to somebody who has tickets of an event.
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
	// Every buyer is told of a cancellation, so those mails count against no organization. Mails of changes
	// do: an organizer could change an event as often as they like.
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
	if l.Was == nil || *l.Was == mailqueue.KnownOf(e.Details) || e.Status == event.StatusCancelled {
		return nil, nil //nolint:nilnil // what was to be told is not so any more
	}
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
	before := h.EventMail(&was, &e, organizer)
	if before.Title == now.Title && before.When(to.Language) == now.When(to.Language) && before.Where(to.Language) == now.Where(to.Language) {
		return nil, nil //nolint:nilnil // what has changed is shown of no such product
	}
	return written(mail.EventChanged(to, before, now, about, until, h.RefundsURL()), nil)
}

// orderOf is the order of a buyer who gets a mail about an event; nil to anybody else.
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

// aboutOrder is what the mails about an event tell its buyer of an order.
func (h *Writer) aboutOrder(o *order.Order) *mail.Order {
	return &mail.Order{Number: secrets.OrderNumber(o.ID), URL: h.orderURL(o.ID, time.Now()), Total: money(o.Total, o.Currency)}
}

// EventMail is what mails tell of an event, by a record of it.
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

// coverOf is the address of an event's cover in letters about its orders; "" if it has none that we host,
// or if its organization's letters may have no links.
func (h *Writer) coverOf(ctx context.Context, d *event.Details) (string, error) {
	id, ours := hosted.ReadLink(h.BaseURL, d.CoverImage)
	if !ours {
		return "", nil // what another server has would tell it who reads the letter
	}
	if links, err := h.Mail.MayLink(ctx, d.Org); err != nil || !links {
		return "", err
	}
	return fmt.Sprintf("%s%s%d/og.jpg", h.BaseURL, format.HostedPrefix, id), nil
}
