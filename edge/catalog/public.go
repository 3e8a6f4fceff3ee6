package catalog

import (
	"context"
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
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/readmodel"
)

// eventNamed is the number of the event that a page's address names: by its
// slug, or by its id or number. No slug looks like one of these.
func (h *Handlers) eventNamed(c *route.Call, name string) (int64, error) {
	_, isNumber := route.ReadNumber(name)
	if _, err := engine.ParseID(name); isNumber || err == nil {
		number, _, err := h.Known.ReadID(c.Context, name)
		return number, err
	}
	return live.CachePage(c.Context, h.Pages, "slug/"+name, func() (int64, error) {
		e, err := h.Read.EventBySlug(c.Context, name)
		if err != nil {
			return 0, live.NotFoundAs(err, engine.EventNotFound)
		}
		return e.Number, nil
	})
}

func (h *Handlers) eventPage(c *route.Call, in *api.BySlug) (*api.Event, error) {
	number, err := h.eventNamed(c, in.Slug)
	if err != nil {
		return nil, err
	}
	p, err := h.Pages.Event(c.Context, number)
	if err != nil {
		return nil, err
	}
	if !live.Visible(c, &p.Event.Record) {
		return nil, &engine.Refusal{Code: engine.EventNotFound}
	}
	v := h.publicEvent(p)
	if v.TicketTypes, err = h.typesView(c, p, false); err != nil {
		return nil, err
	}
	return v, nil
}

// publicEvent is an event as everybody sees it, without its ticket types.
func (h *Handlers) publicEvent(p *live.Page) *api.Event {
	t := p.Event.Details
	v := view.Event(&p.Event.Record)
	v.OrganizationID, v.Organizer, v.Velocity = "", &p.Org, nil
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
		open := slices.Contains(event.Public, p.Event.Status) && event.Sellable(t.Category)
		v.BookingOpen = &open
	}
	return v
}

// hostedURL is where the public finds a file: one that the service hosts is
// stored by its path alone.
func (h *Handlers) hostedURL(link string) string {
	if strings.HasPrefix(link, route.HostedPrefix) {
		return h.BaseURL + link
	}
	return link
}

// publicBranding is what the public sees of an event's branding.
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

// cardBytes is what a card counts for in the cache, roughly.
const cardBytes = 1 << 10

func (h *Handlers) discoverEvents(c *route.Call, in *api.Discover) (*api.List[api.Card], error) {
	q := readmodel.Discovery{Filter: filterOf(&in.EventFilter), Now: c.Now.UnixMilli(), Limit: in.Limit + 1}
	if !in.DateFrom.IsZero() {
		q.From = in.DateFrom.UnixMilli()
	}
	if !in.DateTo.IsZero() {
		q.To = in.DateTo.UnixMilli()
	}
	after, err := route.ReadCursor(in.Cursor, route.LastMoment, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if after != nil {
		q.After = readmodel.Start{At: after[0], Number: after[1]}
	}
	key := fmt.Sprintf("discover/%d/%q", in.Limit, []string{
		q.Query, q.Category, q.ProductType, strconv.FormatBool(q.Course), q.City, q.Country, q.Venue,
		strconv.FormatInt(q.From, 10), strconv.FormatInt(q.To, 10), in.Cursor,
	})
	size := int64(in.Limit+1) * cardBytes
	return live.CacheSearch(c.Context, h.Pages, size, key, func() (*api.List[api.Card], error) {
		return h.discover(c.Context, q, in.Limit)
	})
}

// discover makes a page of discovery with at most limit cards. It is shared by
// callers: nobody changes it.
func (h *Handlers) discover(ctx context.Context, q readmodel.Discovery, limit int) (*api.List[api.Card], error) {
	events, err := h.Read.DiscoverEvents(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &api.List[api.Card]{Items: make([]api.Card, 0, limit)}
	for i := range events[:min(len(events), limit)] {
		out.Items = append(out.Items, h.card(&events[i]))
	}
	if len(events) > limit {
		last := readmodel.StartOf(&events[limit-1])
		out.NextCursor = route.CursorOf(last.At, last.Number)
	}
	return out, nil
}

func (h *Handlers) listOwnEvents(c *route.Call, in *api.ListOwn) (*api.List[*api.Event], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	before, err := route.ReadCursor(in.Cursor, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	var below int64
	if before != nil {
		below = before[0]
	}
	events, err := h.Read.OrganizerEvents(c.Context, org, filterOf(&in.EventFilter), below, in.Limit+1)
	if err != nil {
		return nil, err
	}
	out := &api.List[*api.Event]{Items: make([]*api.Event, 0, in.Limit)}
	for i := range events[:min(len(events), in.Limit)] {
		out.Items = append(out.Items, view.Event(&events[i].Record))
	}
	if len(events) > in.Limit {
		out.NextCursor = route.CursorOf(events[in.Limit-1].Number)
	}
	return out, nil
}

func filterOf(f *api.EventFilter) readmodel.Filter {
	return readmodel.Filter{
		Query: f.Q, Category: f.Category, ProductType: f.ProductType, Course: f.Course,
		City: f.City, Country: f.Country, Venue: f.Venue,
	}
}

// card is an event as discovery shows it.
func (h *Handlers) card(e *readmodel.Event) api.Card {
	t := e.Details
	v := api.Card{
		ID: t.PublicID.String(), Slug: t.Slug, Title: t.Title, ShortDesc: view.Optional(t.ShortDesc), Category: t.Category,
		ProductType: event.ProductType(t.Category), Status: e.Status, StartDate: api.At(t.StartAt), EndDate: api.At(t.EndAt),
		Timezone: t.Timezone, VenueName: view.Optional(t.VenueName), VenueCity: view.Optional(t.VenueCity),
		Country: view.Optional(t.VenueCountry), CoverImage: view.Optional(h.hostedURL(t.CoverImage)), Currency: t.Currency,
	}
	if v.ProductType == event.ProductReservation {
		v.StartDate, v.EndDate = nil, nil
	}
	if e.From != readmodel.NoPrice {
		price := view.Decimal(e.From)
		v.LowestPrice = &price
	}
	return v
}

func (h *Handlers) listTicketTypes(c *route.Call, in *api.ByID) (*api.TicketTypes, error) {
	number, _, err := h.Known.ReadID(c.Context, in.ID)
	if err != nil {
		return nil, err
	}
	p, err := h.Pages.Event(c.Context, number)
	if err != nil {
		return nil, err
	}
	if !live.Visible(c, &p.Event.Record) {
		return nil, &engine.Refusal{Code: engine.EventNotFound}
	}
	types, err := h.typesView(c, p, route.SeesMore(c, p.Event.Details.Org))
	if err != nil {
		return nil, err
	}
	return &api.TicketTypes{Items: types}, nil // all of them: there are at most maxTypes
}

// typesView shows the types with their live stock: all to their organization,
// those that are not hidden to the public. Of an event that has ended nothing is
// left.
func (h *Handlers) typesView(c *route.Call, p *live.Page, own bool) ([]api.TicketType, error) {
	room, err := h.room(c, p)
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
			v.Sold = nil // the feed does not count what has no end
		}
		out = append(out, *v)
	}
	return out, nil
}

// room is how many tickets of all types the event's capacity still admits.
func (h *Handlers) room(c *route.Call, p *live.Page) (int64, error) {
	if p.Event.Details.Capacity == event.NoCapacity {
		return math.MaxInt64, nil
	}
	return live.CachePage(c.Context, h.Pages, "room/"+strconv.FormatInt(p.Event.Number, 10), func() (int64, error) {
		r, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(p.Event.Number), event.Get{})
		if err != nil {
			return 0, err
		}
		return r.Room, nil
	})
}
