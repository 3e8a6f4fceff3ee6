package catalog

import (
	"context"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/persistence/readmodel"
)

// maxMapped is how many addresses one map of a site may have.
const maxMapped = 50_000

// shopOp is what the server does to write a page, for what judges by operations.
var shopOp = route.Op{ID: "shopPage", Method: fasthttp.MethodGet, Auth: route.Public, Tier: route.TierPublic}

// ShopEvent is an event as everybody may see it, for its page.
func (h *Handlers) ShopEvent(ctx context.Context, slug string, now time.Time) (*api.Event, error) {
	c := route.NewCall(ctx, &shopOp, now)
	defer c.End()
	c.Principal = route.Principal{Kinds: route.Public}
	return h.eventPage(c, &api.BySlug{Slug: slug})
}

// ShopCard is an event as everybody may see it, by its id and without its ticket types.
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

// ShopSlugs names the events that are to be found, those that end first before others.
func (h *Handlers) ShopSlugs(ctx context.Context, now time.Time) ([]string, error) {
	events, err := h.Read.DiscoverEvents(ctx, readmodel.Discovery{Now: now.UnixMilli(), Limit: maxMapped})
	if err != nil {
		return nil, err
	}
	slugs := make([]string, len(events))
	for i := range events {
		slugs[i] = events[i].Details.Slug
	}
	return slugs, nil
}
