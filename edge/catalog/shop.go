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

// shopOp stands for the pages that the server writes, which are no rows of the route table, because a Call needs an
// operation.
var shopOp = route.Op{ID: "shopPage", Method: fasthttp.MethodGet, Auth: route.Public, Tier: route.TierPublic}

// ShopEvent returns an event as everybody may see it, for its page.
func (h *Handlers) ShopEvent(ctx context.Context, slug string, now time.Time) (*api.Event, error) {
	c := route.NewCall(ctx, &shopOp, now)
	defer c.End()
	c.Principal = route.Principal{Kinds: route.Public}
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
	p, err := h.Pages.Event(ctx, id.Event())
	if err != nil {
		return nil, nil, err
	}
	return e, p.Frames, nil
}

// ShopCard returns an event as everybody may see it, by its id and without its ticket types.
func (h *Handlers) ShopCard(ctx context.Context, id string, now time.Time) (*api.Event, error) {
	c := route.NewCall(ctx, &shopOp, now)
	defer c.End()
	c.Principal = route.Principal{Kinds: route.Public}
	_, p, err := h.Pages.FindVisible(c, h.Known, id)
	if err != nil {
		return nil, err
	}
	return h.publicEvent(p)
}

// ShopPaths lists the paths of at most limit pages that search engines may find: first the pages of events, in the
// order of their starts, and then the pages of their organizers. Half of the paths are for events, because there can
// be as many organizers as events.
func (h *Handlers) ShopPaths(ctx context.Context, limit int, now time.Time) ([]string, error) {
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
