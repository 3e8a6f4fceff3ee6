package holders

import (
	"slices"

	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/readmodel"
)

// downloadTicket returns the link to what a ticket delivers, and counts the download. It
// looks the ticket's holder up each time, so that a person who has passed the ticket on
// cannot open it any more. Courses have pages of their own (edge/learning).
func (h *Handlers) downloadTicket(c *route.Call, in *api.DownloadTicket) (*api.Delivery, error) {
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	t, err := h.openLiveTicket(c, in.TicketID)
	if err != nil {
		return nil, err
	}
	p, err := h.Pages.Event(c.Context, t.Event)
	if err != nil {
		return nil, err
	}
	e := p.Event.Details
	if event.ProductType(e.Category) != event.ProductDigital || e.Category == event.Course {
		return nil, &engine.Refusal{Code: engine.NotDownloadable}
	}
	var link, note string
	if i := slices.IndexFunc(p.Types, func(of readmodel.TicketType) bool { return of.Ref.ID == t.Line.Type }); i >= 0 {
		link, note = letters.Delivery(e, &p.Types[i].Details)
	}
	stored, viewer := link, secrets.Viewer{Event: t.Event, Serial: t.Serial, Version: t.Holder.Version}
	if err := h.Files.Sign(c.Context, e.Org, viewer, c.Now, &link); err != nil {
		return nil, err
	}
	// The download is counted only if there is something to open, because it ends the right to
	// withdraw from the purchase.
	if link == "" {
		return nil, &engine.Refusal{Code: engine.NoFile}
	}
	if _, err := h.Downloads.Count(c.Context, t.Event, t.Serial, c.Now); err != nil {
		return nil, err
	}
	// Sign replaces the link of a file that we host by one that ends soon. It leaves every other
	// link as the organizer wrote it.
	if link != stored {
		return &api.Delivery{URL: link, Note: view.Optional(note), Kind: "file"}, nil
	}
	return &api.Delivery{URL: link, Note: view.Optional(note), Kind: "external"}, nil
}

// openLiveTicket finds a ticket for the session of its holder. A ticket that was given back or has
// another holder by now is answered as missing.
func (h *Handlers) openLiveTicket(c *route.Call, text string) (*orders.Held, error) {
	t, err := h.Orders.OpenTicket(c, text)
	if err != nil {
		return nil, err
	}
	// OpenTicket reads the ledger, which may know more than the read model. Holds below asks the
	// read model.
	if err := h.Settled(c.Context); err != nil {
		return nil, err
	}
	holds, err := h.Read.Holds(c.Context, t.Event, t.Serial, t.Holder.Version)
	if err == nil && !holds {
		err = &engine.Refusal{Code: engine.TicketNotFound}
	}
	return t, err
}
