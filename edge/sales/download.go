package sales

import (
	"slices"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/readmodel"
)

// fileLinkLife is how long a link to a ticket's file holds.
const fileLinkLife = 15 * time.Minute

// downloadTicket opens what a ticket delivers for who holds it, asked anew each time.
func (h *Handlers) downloadTicket(c *route.Call, in *api.DownloadTicket) (*api.Delivery, error) {
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	t, err := h.openLiveTicket(c, in.TicketID)
	if err != nil {
		return nil, err
	}
	p, err := h.Pages.Event(c.Context, t.event)
	if err != nil {
		return nil, err
	}
	e := p.Event.Details
	if event.ProductType(e.Category) != event.ProductDigital || e.Category == event.Course {
		return nil, &engine.Refusal{Code: engine.NotDownloadable}
	}
	var link, note string
	if i := slices.IndexFunc(p.Types, func(of readmodel.TicketType) bool { return of.Ref.ID == t.line.Type }); i >= 0 {
		link, note = letters.Delivery(e, &p.Types[i].Details)
	}
	if link == "" {
		return nil, &engine.Refusal{Code: engine.NoFile}
	}
	if _, err := h.Downloads.Count(c.Context, t.event, t.serial, c.Now); err != nil {
		return nil, err
	}
	if media, ours := h.Letters.HostedFile(link); ours {
		viewer := secrets.Viewer{Event: t.event, Serial: t.serial, Version: t.holder.Version}
		link = h.BaseURL + h.Secrets.MediaLink(media, viewer, c.Now.Add(fileLinkLife))
		return &api.Delivery{URL: link, Note: view.Optional(note), Kind: "file"}, nil
	}
	return &api.Delivery{URL: link, Note: view.Optional(note), Kind: "external"}, nil
}

// openLiveTicket finds a ticket for the session of who holds it. One that is worth
// nothing does not exist.
func (h *Handlers) openLiveTicket(c *route.Call, text string) (*held, error) {
	t, err := h.openTicket(c, text)
	if err != nil {
		return nil, err
	}
	if err := h.Settled(c.Context); err != nil {
		return nil, err
	}
	holds, err := h.Read.Holds(c.Context, t.event, t.serial, t.holder.Version)
	if err == nil && !holds {
		err = &engine.Refusal{Code: engine.TicketNotFound}
	}
	return t, err
}
