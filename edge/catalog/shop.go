package catalog

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/persistence/readmodel"
)

// shopOp is the operation in the calls of the pages that the server writes: a Call needs an operation, and these pages
// are no rows of the route table.
var shopOp = route.Op{ID: "shopPage", Method: fasthttp.MethodGet, Auth: route.Public, Tier: route.TierPublic}

// newShopCall makes the call of a page that everybody may see. Its context must be used for everything that the page
// reads: it ends at the deadline, and makes the page wait where other public reads wait for the database
// (live.Pages). The caller must call End.
func newShopCall(ctx context.Context, now time.Time) *route.Call {
	c := route.NewCall(ctx, &shopOp, now)
	c.Principal = route.Principal{Kinds: route.Public}
	return c
}

// ShopEvent returns an event as everybody may see it, for its page.
func (h *Handlers) ShopEvent(ctx context.Context, slug string, now time.Time) (*api.Event, error) {
	c := newShopCall(ctx, now)
	defer c.End()
	return h.eventPage(c, &api.BySlug{Slug: slug})
}

// ShopEmbed returns an event as ShopEvent does, and the origins whose pages may show it in a frame.
func (h *Handlers) ShopEmbed(ctx context.Context, slug string, now time.Time) (*api.Event, []string, error) {
	e, err := h.ShopEvent(ctx, slug, now)
	if err != nil {
		return nil, nil, err
	}
	id, err := engine.ParseID(e.ID)
	if err != nil {
		return nil, nil, err
	}
	c := newShopCall(ctx, now)
	defer c.End()
	p, err := h.Pages.VisibleEvent(c, id.Event())
	if err != nil {
		return nil, nil, err
	}
	return e, p.Frames, nil
}

// ShopCard returns an event as everybody may see it, by its id and without its ticket types.
func (h *Handlers) ShopCard(ctx context.Context, id string, now time.Time) (*api.Event, error) {
	c := newShopCall(ctx, now)
	defer c.End()
	_, p, err := h.Pages.FindVisible(c, h.Known, id)
	if err != nil {
		return nil, err
	}
	return h.publicEvent(p)
}

const pathsTime = time.Minute // how long ShopPaths may take; it lists up to 50,000 paths

// ShopPaths lists the paths of at most limit pages that search engines may find: first the pages of events, in
// the order of their starts, and then the pages of their organizers. Half of the paths are for events, because
// there can be as many organizers as events. It takes pathsTime at most.
func (h *Handlers) ShopPaths(ctx context.Context, limit int, now time.Time) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, pathsTime)
	defer cancel()
	events, err := h.Read.DiscoverEvents(ctx, readmodel.Discovery{Now: now.UnixMilli(), Limit: limit / 2})
	if err != nil {
		return nil, err
	}
	paths, organizers := make([]string, 0, 2*len(events)), make(map[int64]bool)
	for i := range events {
		paths = append(paths, "/e/"+events[i].Details.Slug)
		organizers[events[i].Details.Org] = true
	}
	slugs, err := h.Pages.Accounts.SlugsOf(ctx, slices.Collect(maps.Keys(organizers)))
	if err != nil {
		return nil, err
	}
	for _, slug := range slugs {
		paths = append(paths, "/by/"+slug)
	}
	return paths, nil
}
