package catalog

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

// cardBytes is about how many bytes a card takes in the cache. The cache limits its memory by such estimates.
const cardBytes = 1 << 10

// discoverEvents lists the public events that match a filter.
func (h *Handlers) discoverEvents(c *route.Call, in *api.Discover) (*api.List[api.Card], error) {
	return h.listCards(c, &in.EventFilter, readmodel.Discovery{Filter: filterOf(&in.EventFilter)})
}

// searchEvents lists the public events that a text is found in. The cursor carries a rank only when the list is
// ordered by relevance.
func (h *Handlers) searchEvents(c *route.Call, in *api.Search) (*api.List[api.Card], error) {
	d := readmodel.Discovery{Filter: filterOf(&in.EventFilter)}
	d.Search, d.Query = d.Query, ""
	d.Ranked = d.Search != "" && in.Sort == "relevance"
	return h.listCards(c, &in.EventFilter, d)
}

// listCards answers a page of discovery. It completes d with the dates and the page that the filter asks for.
func (h *Handlers) listCards(c *route.Call, f *api.EventFilter, d readmodel.Discovery) (*api.List[api.Card], error) {
	// We read one card more than the page has. If there is one, another page follows.
	d.Between, d.Now, d.Limit = betweenOf(f), c.Now.UnixMilli(), f.Limit+1
	var err error
	if d.After, err = readPlace(f.Cursor, d.Ranked); err != nil {
		return nil, err
	}
	// The key has every value of the request that changes the page. Two searches that mean the same share one.
	key := fmt.Sprintf("discover/%d/%q", f.Limit, []string{
		d.Query, readmodel.NormalSearch(d.Search), strconv.FormatBool(d.Search != ""), d.Category, d.ProductType, strconv.FormatBool(d.Course), d.City, d.Country, d.Venue,
		strconv.FormatInt(d.From, 10), strconv.FormatInt(d.To, 10), strconv.FormatBool(d.Ranked), f.Cursor,
	})
	size := int64(f.Limit+1) * cardBytes
	return live.CacheSearch(c.Context, h.Pages, size, key, func() (*api.List[api.Card], error) {
		return h.discover(c.Context, d, f.Limit)
	})
}

// readPlace reads a cursor of discovery. Without one it returns the zero place, which is before the first event.
func readPlace(cursor string, ranked bool) (readmodel.Place, error) {
	limits := []int64{cursors.LastMoment, math.MaxInt64}
	if ranked {
		limits = append(limits, math.MaxInt64)
	}
	after, err := cursors.Read(cursor, limits...)
	if err != nil || after == nil {
		return readmodel.Place{}, err
	}
	// A cursor has the start in unix milliseconds, the event's number, and for a ranked
	// list the rank.
	p := readmodel.Place{At: after[0], Number: after[1]}
	if ranked {
		p.Rank = after[2]
	}
	return p, nil
}

// placeCursor writes a place as a cursor that readPlace reads. The event's number decides between events that
// start at the same time.
func placeCursor(p readmodel.Place, ranked bool) *string {
	if ranked {
		return cursors.Of(p.At, p.Number, p.Rank)
	}
	return cursors.Of(p.At, p.Number)
}

// discover makes a page of discovery with at most limit cards. The cache gives the page to many callers, so none of
// them may change it.
func (h *Handlers) discover(ctx context.Context, d readmodel.Discovery, limit int) (*api.List[api.Card], error) {
	events, err := h.Read.DiscoverEvents(ctx, d)
	if err != nil {
		return nil, err
	}
	return api.PageOf(len(events), limit, func(i int) api.Card { return h.card(&events[i]) },
		func(last int) *string { return placeCursor(readmodel.PlaceOf(&events[last]), d.Ranked) }), nil
}

// listOwnEvents lists an organization's events that match a filter, in every status, the newest first.
func (h *Handlers) listOwnEvents(c *route.Call, in *api.ListOwn) (*api.List[*api.Event], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	return view.ListByNumber(in.Cursor, in.Limit, func(below int64, limit int) ([]readmodel.Event, error) {
		return h.Read.OrganizerEvents(c.Context, org, filterOf(&in.EventFilter), betweenOf(&in.EventFilter), below, limit)
	}, func(e readmodel.Event) int64 { return e.Number }, func(e readmodel.Event) *api.Event { return view.Event(&e.Record) })
}

// filterOf turns a request's filter into the read model's. It removes the spaces around typed texts, because
// keyboards that complete words add one at the end. A text of spaces alone then counts as no search.
func filterOf(f *api.EventFilter) readmodel.Filter {
	return readmodel.Filter{
		Query: strings.TrimSpace(f.Q), Category: f.Category, ProductType: f.ProductType, Course: f.Course,
		City: strings.TrimSpace(f.City), Country: f.Country, Venue: strings.TrimSpace(f.Venue),
	}
}

// betweenOf returns the span of dates that a filter asks for, in unix milliseconds. A bound of 0 means no bound.
func betweenOf(f *api.EventFilter) (b readmodel.Between) {
	if !f.DateFrom.IsZero() {
		b.From = f.DateFrom.UnixMilli()
	}
	if !f.DateTo.IsZero() {
		b.To = f.DateTo.UnixMilli()
	}
	return b
}

// card shows an event as lists of discovery do. The event of a reservation calendar has no dates of its own, so the
// card says instead whether it can be booked.
func (h *Handlers) card(e *readmodel.Event) api.Card {
	t := e.Details
	v := api.Card{
		ID: t.PublicID.String(), Slug: t.Slug, Title: t.Title, ShortDesc: view.Optional(t.ShortDesc), Category: t.Category,
		ProductType: event.ProductType(t.Category), Status: e.Status, StartDate: api.At(t.StartAt), EndDate: api.At(t.EndAt),
		Timezone: t.Timezone, VenueName: view.Optional(t.VenueName), VenueCity: view.Optional(t.VenueCity),
		Country: view.Optional(t.VenueCountry), CoverImage: view.Optional(h.hostedURL(t.CoverImage)), Currency: t.Currency,
	}
	if v.ProductType == event.ProductReservation {
		v.StartDate, v.EndDate, v.BookingOpen = nil, nil, new(bookingOpen(&e.Record))
	}
	v.LowestPrice, v.LowestPriceTotal = lowestPrice(e)
	if v.LowestPrice != nil {
		v.HighestTotal = new(view.Decimal(order.PriceTotal(e.To, t.AbsorbFees), t.Currency))
	}
	return v
}

// bookingOpen reports whether the dates of a reservation calendar can be booked, by the status of its event.
func bookingOpen(e *event.Record) bool {
	return slices.Contains(event.Public, e.Status)
}

// lowestPrice returns the lowest price of an event, as lists show it, and what a buyer pays for it with fees. Both
// are nil if nothing can be bought, now or later.
func lowestPrice(e *readmodel.Event) (price, total *string) {
	if e.From == readmodel.NoPrice {
		return nil, nil
	}
	currency := e.Details.Currency
	return new(view.Decimal(e.From, currency)), new(view.Decimal(order.PriceTotal(e.From, e.Details.AbsorbFees), currency))
}
