package edge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/readmodel"
)

// Public reads are answered from this node's memory: pages from a cache that
// lives for a second, stock from the feed of committed facts. An on-sale's reads
// touch neither Postgres nor the actors.

// cached is a page of the cache, or made and kept.
func cached[T any](ctx context.Context, d *Desk, key string, make func() (T, error)) (T, error) {
	return cachedBehind(ctx, d, d.pageReads, pageBytes, key, make)
}

// cachedBehind is cached for pages of about so many bytes that are made behind a gate.
func cachedBehind[T any](ctx context.Context, d *Desk, g *readGate, size int64, key string, make func() (T, error)) (T, error) {
	if v, ok := d.pages.Get(key); ok {
		if t, ok := v.(T); ok {
			return t, nil
		}
	}
	t, err := computed(ctx, g, make)
	if err == nil {
		d.pages.SetWithTTL(key, t, size, pageLife)
	}
	return t, err
}

// What pages count for in the cache, roughly, in bytes.
const (
	pageBytes = 4 << 10
	cardBytes = 1 << 10
)

// page is an event with its ticket types, as the read model has them.
type page struct {
	event readmodel.Event
	types []readmodel.TicketType
	org   api.Organizer
}

func pageKey(number int64) string { return "event/" + strconv.FormatInt(number, 10) }

// eventPageOf reads an event and its types through the cache.
func (d *Desk) eventPageOf(ctx context.Context, number int64) (*page, error) {
	return cached(ctx, d, pageKey(number), func() (*page, error) {
		e, err := d.Read.EventByNumber(ctx, number)
		if err != nil {
			return nil, notFoundAs(err, engine.EventNotFound)
		}
		p := &page{event: e}
		if p.types, err = d.Read.TicketTypes(ctx, number); err != nil {
			return nil, err
		}
		o, err := d.Accounts.Organization(ctx, e.Details.Org)
		if err != nil {
			return nil, err
		}
		if o != nil {
			p.org = api.Organizer{ID: strconv.FormatInt(o.ID, 10), Name: o.Name, Slug: o.Slug}
		}
		return p, nil
	})
}

// notFoundAs makes a refusal of the read model's "not found".
func notFoundAs(err error, code engine.Code) error {
	if errors.Is(err, readmodel.ErrNotFound) {
		return &engine.Refusal{Code: code}
	}
	return err
}

// visible says whether the caller may see an event: the public sees what is
// published, or was until it ended, and is not private, the organization
// everything.
func visible(c *route.Call, e *event.Record) bool {
	if route.SeesMore(c, e.Details.Org) {
		return true
	}
	return (slices.Contains(event.Public, e.Status) || event.Ended(e.Status)) && e.Details.Visibility != "private"
}

// eventNamed is the number of the event that a page's address names: by its
// slug, or by its id or number. No slug looks like one of these.
func (d *Desk) eventNamed(c *route.Call, name string) (int64, error) {
	_, isNumber := route.ReadNumber(name)
	if _, err := engine.ParseID(name); isNumber || err == nil {
		number, _, err := d.Known.ReadID(c.Context, name)
		return number, err
	}
	return cached(c.Context, d, "slug/"+name, func() (int64, error) {
		e, err := d.Read.EventBySlug(c.Context, name)
		if err != nil {
			return 0, notFoundAs(err, engine.EventNotFound)
		}
		return e.Number, nil
	})
}

func (d *Desk) eventPage(c *route.Call, in *api.BySlug) (*api.Event, error) {
	number, err := d.eventNamed(c, in.Slug)
	if err != nil {
		return nil, err
	}
	p, err := d.eventPageOf(c.Context, number)
	if err != nil {
		return nil, err
	}
	if !visible(c, &p.event.Record) {
		return nil, &engine.Refusal{Code: engine.EventNotFound}
	}
	v := d.publicEvent(p)
	if v.TicketTypes, err = d.typesView(c, p, false); err != nil {
		return nil, err
	}
	return v, nil
}

// publicEvent is an event as everybody sees it, without its ticket types.
func (d *Desk) publicEvent(p *page) *api.Event {
	t := p.event.Details
	v := view.Event(&p.event.Record)
	v.OrganizationID, v.Organizer, v.Velocity = "", &p.org, nil
	v.OnlineLink, v.OnlineLinkNote = api.Shown(d.hostedURL(t.OnlineLink)), api.Hidden{}
	if v.ProductType == event.ProductDigital {
		v.OnlineLink = api.Hidden{}
	}
	v.CoverImage, v.CoverVideo = optional(d.hostedURL(t.CoverImage)), optional(d.hostedURL(t.CoverVideo))
	v.Gallery = slices.Clone(v.Gallery) // the page is shared
	for i := range v.Gallery {
		v.Gallery[i] = d.hostedURL(v.Gallery[i])
	}
	v.Entities = slices.Clone(v.Entities)
	for i := range v.Entities {
		e := &v.Entities[i]
		e.ImageURL, e.Link = d.hostedURL(e.ImageURL), d.hostedURL(e.Link)
	}
	v.Branding = publicBranding(t.Branding)
	if v.ProductType == event.ProductReservation {
		v.StartDate, v.EndDate = nil, nil
		open := slices.Contains(event.Public, p.event.Status) && event.Sellable(t.Category)
		v.BookingOpen = &open
	}
	return v
}

// hostedURL is where the public finds a file: one that the service hosts is
// stored by its path alone.
func (d *Desk) hostedURL(link string) string {
	if strings.HasPrefix(link, route.HostedPrefix) {
		return d.BaseURL + link
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

func (d *Desk) discoverEvents(c *route.Call, in *api.Discover) (*api.List[api.Card], error) {
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
	key := fmt.Sprintf("discover/%d/%d/%q", d.listed.Load(), in.Limit, []string{
		q.Query, q.Category, q.ProductType, strconv.FormatBool(q.Course), q.City, q.Country, q.Venue,
		strconv.FormatInt(q.From, 10), strconv.FormatInt(q.To, 10), in.Cursor,
	})
	size := int64(in.Limit+1) * cardBytes
	return cachedBehind(c.Context, d, d.searches, size, key, func() (*api.List[api.Card], error) {
		return d.discover(c.Context, q, in.Limit)
	})
}

// discover makes a page of discovery with at most limit cards. It is shared by
// callers: nobody changes it.
func (d *Desk) discover(ctx context.Context, q readmodel.Discovery, limit int) (*api.List[api.Card], error) {
	events, err := d.Read.DiscoverEvents(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &api.List[api.Card]{Items: make([]api.Card, 0, limit)}
	for i := range events[:min(len(events), limit)] {
		out.Items = append(out.Items, d.card(&events[i]))
	}
	if len(events) > limit {
		last := readmodel.StartOf(&events[limit-1])
		out.NextCursor = route.CursorOf(last.At, last.Number)
	}
	return out, nil
}

func (d *Desk) listOwnEvents(c *route.Call, in *api.ListOwn) (*api.List[*api.Event], error) {
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
	events, err := d.Read.OrganizerEvents(c.Context, org, filterOf(&in.EventFilter), below, in.Limit+1)
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
func (d *Desk) card(e *readmodel.Event) api.Card {
	t := e.Details
	v := api.Card{
		ID: t.PublicID.String(), Slug: t.Slug, Title: t.Title, ShortDesc: optional(t.ShortDesc), Category: t.Category,
		ProductType: event.ProductType(t.Category), Status: e.Status, StartDate: api.At(t.StartAt), EndDate: api.At(t.EndAt),
		Timezone: t.Timezone, VenueName: optional(t.VenueName), VenueCity: optional(t.VenueCity),
		Country: optional(t.VenueCountry), CoverImage: optional(d.hostedURL(t.CoverImage)), Currency: t.Currency,
	}
	if v.ProductType == event.ProductReservation {
		v.StartDate, v.EndDate = nil, nil
	}
	if e.From != readmodel.NoPrice {
		price := decimal(e.From)
		v.LowestPrice = &price
	}
	return v
}

func (d *Desk) listTicketTypes(c *route.Call, in *api.ByID) (*api.TicketTypes, error) {
	number, _, err := d.Known.ReadID(c.Context, in.ID)
	if err != nil {
		return nil, err
	}
	p, err := d.eventPageOf(c.Context, number)
	if err != nil {
		return nil, err
	}
	if !visible(c, &p.event.Record) {
		return nil, &engine.Refusal{Code: engine.EventNotFound}
	}
	types, err := d.typesView(c, p, route.SeesMore(c, p.event.Details.Org))
	if err != nil {
		return nil, err
	}
	return &api.TicketTypes{Items: types}, nil // all of them: there are at most maxTypes
}

// typesView shows the types with their live stock: all to their organization,
// those that are not hidden to the public. Of an event that has ended nothing is
// left.
func (d *Desk) typesView(c *route.Call, p *page, own bool) ([]api.TicketType, error) {
	room, err := d.room(c, p)
	if err != nil {
		return nil, err
	}
	out := make([]api.TicketType, 0, len(p.types))
	for i := range p.types {
		t := &p.types[i]
		if t.Details.Hidden && !own {
			continue
		}
		left, err := d.left(c.Context, t.Ref)
		if err != nil {
			return nil, err
		}
		r := inventory.Record{Ref: t.Ref, Details: t.Details, Available: left}
		if r.Details.Quantity != inventory.Unlimited {
			r.Sold = r.Details.Quantity - left
			r.Available = min(left, room)
		}
		if event.Ended(p.event.Status) {
			r.Available = 0
		}
		v := view.TicketType(&r, p.event.Details, own)
		if r.Details.Quantity == inventory.Unlimited {
			v.Sold = nil // the feed does not count what has no end
		}
		out = append(out, *v)
	}
	return out, nil
}

// left is a ticket type's live stock: from the feed, and the first time from the
// actor.
func (d *Desk) left(ctx context.Context, ref engine.Ref) (int64, error) {
	if left, ok := d.Stock.Get(ref); ok {
		return left, nil
	}
	return d.Stock.Load(ref, func() (int64, error) {
		if err := d.Node.Follow(ctx, ref.Event); err != nil {
			return 0, err
		}
		r, err := cluster.AskFor[inventory.Record](ctx, d.Node, ref, inventory.Get{})
		if err != nil {
			return 0, err
		}
		return r.Available, nil
	})
}

// room is how many tickets of all types the event's capacity still admits.
func (d *Desk) room(c *route.Call, p *page) (int64, error) {
	if p.event.Details.Capacity == event.NoCapacity {
		return math.MaxInt64, nil
	}
	return cached(c.Context, d, "room/"+strconv.FormatInt(p.event.Number, 10), func() (int64, error) {
		r, err := cluster.AskFor[event.Record](c.Context, d.Node, engine.EventRef(p.event.Number), event.Get{})
		if err != nil {
			return 0, err
		}
		return r.Room, nil
	})
}
