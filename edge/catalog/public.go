package catalog

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/route/format"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
)

// eventPage shows an event as everybody sees it, found by its slug: with its ticket types, their stock and the lowest
// price, with its slots if it is a reservation calendar, and with what everybody may see of its course if it has one.
func (h *Handlers) eventPage(c *route.Call, in *api.BySlug) (*api.Event, error) {
	number, err := h.Pages.FindNamed(c.Context, h.Known, in.Slug)
	if err != nil {
		return nil, err
	}
	p, err := h.Pages.VisibleEvent(c, number)
	if err != nil {
		return nil, err
	}
	v, err := h.publicEvent(p)
	if err != nil {
		return nil, err
	}
	if v.ProductType == event.ProductReservation {
		booked, err := h.Pages.Calendar(c.Context, h.Node, number)
		if err != nil && !isRefused(err, engine.NotFound) {
			return nil, err
		}
		v.Reservation = reservationView(booked, false)
	}
	if p.Course != nil {
		showPublicCourse(v, p.Course)
	}
	price, total := lowestPrice(&p.Event)
	v.LowestPrice, v.LowestPriceTotal = showText(price), showText(total)
	if v.TicketTypes, err = h.typesView(c, p, false); err != nil {
		return nil, err
	}
	return v, nil
}

// publicEvent returns an event as everybody may see it, without its ticket types. It leaves out what is for the
// organization alone, and the link of a digital product, which only its buyers may see. It adds the organizer, the
// schedule, the sections and the page's looks, and shows each hosted file by its full address. A reservation
// calendar has no start and end; its BookingOpen tells whether booking is open.
func (h *Handlers) publicEvent(p *live.Page) (*api.Event, error) {
	t := p.Event.Details
	v := view.Event(&p.Event.Record)
	// These fields are for the organization alone. Only buyers may see the link of a digital product.
	v.OrganizationID, v.Organizer, v.Velocity, v.RotatingOnly, v.InsideLimit = "", h.organizerView(&p.Org), nil, nil, nil
	v.OnlineLink, v.OnlineLinkNote = api.Shown(h.hostedURL(t.OnlineLink)), api.Hidden{}
	if v.ProductType == event.ProductDigital {
		v.OnlineLink = api.Hidden{}
	}
	v.CoverImage, v.CoverVideo = view.Optional(h.hostedURL(t.CoverImage)), view.Optional(h.hostedURL(t.CoverVideo))
	v.Gallery = slices.Clone(v.Gallery) // the page is shared
	for i := range v.Gallery {
		v.Gallery[i] = h.hostedURL(v.Gallery[i])
	}
	v.Entities = slices.Clone(v.Entities)
	for i := range v.Entities {
		e := &v.Entities[i]
		e.ImageURL, e.Link = h.hostedURL(e.ImageURL), h.hostedURL(e.Link)
	}
	v.Branding = publicBranding(t.Branding)
	if v.ProductType == event.ProductReservation {
		v.StartDate, v.EndDate = nil, nil
		v.BookingOpen = new(bookingOpen(&p.Event.Record))
	}
	v.Schedule, v.Sections = sessionViews(p.Told.Sessions), sectionViews(p.Told.Sections)
	for i := range v.Schedule {
		v.Schedule[i].SpeakerAvatar = h.hostedLink(v.Schedule[i].SpeakerAvatar)
	}
	page, err := pageOf(p.Told.Customization)
	if err != nil {
		return nil, fmt.Errorf("page of event %d: %w", p.Event.Number, err)
	}
	v.Page, page.SEOImage = page, h.hostedLink(page.SEOImage)
	return v, nil
}

// showText makes a text a field that everybody sees, with null for none. (The zero Hidden would leave the field
// out.)
func showText(s *string) api.Hidden {
	if s == nil {
		return api.Shown("")
	}
	return api.Shown(*s)
}

// organizerView shows an organization as an event's page does.
func (h *Handlers) organizerView(o *api.Organizer) *api.Organizer {
	v := *o // the page is shared
	v.LogoURL = h.hostedLink(v.LogoURL)
	return &v
}

// hostedLink does what hostedURL does, for a link that may be missing.
func (h *Handlers) hostedLink(link *string) *string {
	if link == nil {
		return nil
	}
	return new(h.hostedURL(*link))
}

// hostedURL returns where the public finds a file. A file that the service hosts is stored by its path alone, so
// that the service can move to another address.
func (h *Handlers) hostedURL(link string) string {
	if strings.HasPrefix(link, format.HostedPrefix) {
		return h.BaseURL + link
	}
	return link
}

// publicBranding returns the parts of an event's branding that the public sees. The rest may be anything that
// the organizer has stored there, so only parts known to be public are let through.
func publicBranding(b []byte) api.JSON {
	var seen struct {
		CourseType          api.JSON `json:"courseType,omitzero"`
		CertificateTemplate api.JSON `json:"certificateTemplate,omitzero"`
		RequireIDCheck      api.JSON `json:"requireIdCheck,omitzero"`
	}
	if json.Unmarshal(view.Object(b), &seen) != nil {
		return api.JSON("{}")
	}
	out, err := json.Marshal(seen)
	if err != nil {
		return api.JSON("{}")
	}
	return out
}

// listTicketTypes lists the ticket types of an event. Callers of its organization with the scope tickets:read also
// see hidden types, presale codes and what types deliver.
func (h *Handlers) listTicketTypes(c *route.Call, in *api.ByID) (*api.TicketTypes, error) {
	_, p, err := h.Pages.FindVisible(c, h.Known, in.ID)
	if err != nil {
		return nil, err
	}
	types, err := h.typesView(c, p, route.SeesMore(c, p.Event.Details.Org))
	if err != nil {
		return nil, err
	}
	return &api.TicketTypes{Items: types}, nil // all of them: an event has at most event.MaxTypes
}

// typesView shows the types with their live stock: all of them to their organization, and to the public those
// that are not hidden. A type with a limit has no more left than the event's capacity still admits; a type
// without one shows no number of sales. Once the event has ended, nothing is left.
func (h *Handlers) typesView(c *route.Call, p *live.Page, own bool) ([]api.TicketType, error) {
	room, err := h.findRoomLeft(c, p)
	if err != nil {
		return nil, err
	}
	out := make([]api.TicketType, 0, len(p.Types))
	for i := range p.Types {
		t := &p.Types[i]
		if t.Details.Hidden && !own {
			continue
		}
		left, err := h.Feed.Left(c.Context, t.Ref)
		if err != nil {
			return nil, err
		}
		r := inventory.Record{Ref: t.Ref, Details: t.Details, Available: left}
		if r.Details.Quantity != inventory.Unlimited {
			r.Sold = r.Details.Quantity - left
			r.Available = min(left, room)
		}
		if event.Ended(p.Event.Status) {
			r.Available = 0
		}
		v := view.TicketType(&r, p.Event.Details, own)
		if r.Details.Quantity == inventory.Unlimited {
			v.Sold = nil // The feed counts no sales of an unlimited type.
		}
		out = append(out, *v)
	}
	return out, nil
}

// findRoomLeft returns how many tickets of all types together the event's capacity still admits. The actor is asked
// at most once for as long as a page is cached.
func (h *Handlers) findRoomLeft(c *route.Call, p *live.Page) (int64, error) {
	if p.Event.Details.Capacity == event.NoCapacity {
		return math.MaxInt64, nil
	}
	return live.CachePage(c.Context, h.Pages, "capacity/"+strconv.FormatInt(p.Event.Number, 10), func() (int64, error) {
		r, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(p.Event.Number), event.Get{})
		if err != nil {
			return 0, err
		}
		return r.Room, nil
	})
}
