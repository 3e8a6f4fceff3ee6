package view

import (
	"boxoffice/edge/api"
	"boxoffice/engine"
	"boxoffice/engine/waitlist"
)

// WaitlistEntry returns the record of an entry in an event's waitlist. eventID is the public id of
// the event.
func WaitlistEntry(p *waitlist.Placed, eventID string) *api.WaitlistEntry {
	e := &p.Entry
	v := &api.WaitlistEntry{
		ID: e.ID.String(), EventID: eventID, Email: e.Email, Name: e.Name, Quantity: e.Quantity,
		Status: e.Status, OfferedAt: api.At(e.OfferedAt), OfferExpiresAt: api.At(e.ExpiresAt), CreatedAt: api.At(e.At),
	}
	// An entry that waits for any ticket type shows the type that it was last offered, if there is
	// one.
	if typ := max(e.Type, e.Given); typ != 0 {
		v.TicketTypeID = new(engine.NumberedID(e.ID.Event(), typ).String())
	}
	if p.Position > 0 {
		v.Position = &p.Position
	}
	return v
}
