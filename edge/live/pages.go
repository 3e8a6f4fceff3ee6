package live

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/readmodel"
)

const (
	pageLife  = time.Second // a cached public page may be this old
	cacheSize = 64 << 20    // bytes of cached pages
	// pageBytes is what a page counts for in the cache, roughly.
	pageBytes = 4 << 10
)

// Pages are public reads that this node keeps for a second: an on-sale's reads touch
// neither Postgres nor the actors. Its methods may be called by any goroutine.
type Pages struct {
	PagesDeps
	cache *ristretto.Cache[string, any]
	// searches and reads admit public reads to the database.
	searches, reads *readGate
	listed          atomic.Uint64 // how often this node has changed what lists show
}

// PagesDeps is what pages are made of.
type PagesDeps struct {
	Read     *readmodel.Model
	Accounts *accounts.Store
	Settled  func(context.Context) error // waits until the read model has what is committed
}

// OpenPages begins with an empty cache. Close ends it.
func OpenPages(d PagesDeps) (*Pages, error) {
	cache, err := ristretto.NewCache(&ristretto.Config[string, any]{
		NumCounters: 100_000, MaxCost: cacheSize, BufferItems: 64, IgnoreInternalCost: true,
	})
	if err != nil {
		return nil, err
	}
	return &Pages{PagesDeps: d, cache: cache, searches: searchGate(), reads: pageGate()}, nil
}

// Close ends the cache.
func (p *Pages) Close() { p.cache.Close() }

// CachePage is what the cache has under a key, or is made and kept.
func CachePage[T any](ctx context.Context, p *Pages, key string, make func() (T, error)) (T, error) {
	return cacheBehind(ctx, p, p.reads, pageBytes, key, make)
}

// CacheSearch is CachePage for a list of about so many bytes that has to be searched for.
// It is made anew once this node has changed what lists show.
func CacheSearch[T any](ctx context.Context, p *Pages, size int64, key string, make func() (T, error)) (T, error) {
	return cacheBehind(ctx, p, p.searches, size, strconv.FormatUint(p.listed.Load(), 10)+"/"+key, make)
}

func cacheBehind[T any](ctx context.Context, p *Pages, g *readGate, size int64, key string, make func() (T, error)) (T, error) {
	if v, ok := p.cache.Get(key); ok {
		if t, ok := v.(T); ok {
			return t, nil
		}
	}
	t, err := computed(ctx, g, make)
	if err == nil {
		p.cache.SetWithTTL(key, t, size, pageLife)
	}
	return t, err
}

// Page is an event with its ticket types, as the read model has them.
type Page struct {
	Event readmodel.Event
	Types []readmodel.TicketType
	Org   api.Organizer
}

func pageKey(number int64) string { return "event/" + strconv.FormatInt(number, 10) }

// Event reads an event and its types through the cache.
func (p *Pages) Event(ctx context.Context, number int64) (*Page, error) {
	return CachePage(ctx, p, pageKey(number), func() (*Page, error) {
		e, err := p.Read.EventByNumber(ctx, number)
		if err != nil {
			return nil, NotFoundAs(err, engine.EventNotFound)
		}
		page := &Page{Event: e}
		if page.Types, err = p.Read.TicketTypes(ctx, number); err != nil {
			return nil, err
		}
		o, err := p.Accounts.Organization(ctx, e.Details.Org)
		if err != nil {
			return nil, err
		}
		if o != nil {
			page.Org = api.Organizer{ID: strconv.FormatInt(o.ID, 10), Name: o.Name, Slug: o.Slug}
		}
		return page, nil
	})
}

// Refresh makes what an organizer has written visible to whoever reads next: it waits
// until the read model has it, as far as the deadline allows, and forgets this node's
// page of the event and its lists.
func (p *Pages) Refresh(ctx context.Context, number int64) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := p.Settled(ctx); err != nil {
		return // a page that lags is better than an error for what is done
	}
	p.cache.Wait() // a page that is being kept now is older
	p.cache.Del(pageKey(number))
	p.listed.Add(1)
}

// NotFoundAs makes a refusal of the read model's "not found".
func NotFoundAs(err error, code engine.Code) error {
	if errors.Is(err, readmodel.ErrNotFound) {
		return &engine.Refusal{Code: code}
	}
	return err
}

// Visible says whether the caller may see an event: the public sees what is
// published, or was until it ended, and is not private, the organization
// everything.
func Visible(c *route.Call, e *event.Record) bool {
	if route.SeesMore(c, e.Details.Org) {
		return true
	}
	return (slices.Contains(event.Public, e.Status) || event.Ended(e.Status)) && e.Details.Visibility != "private"
}
