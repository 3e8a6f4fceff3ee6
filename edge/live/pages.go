package live

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/course"
	"boxoffice/engine/event"
	"boxoffice/persistence"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/courses"
	"boxoffice/persistence/program"
	"boxoffice/persistence/promos"
	"boxoffice/persistence/readmodel"
)

const (
	pageLife   = time.Second      // how old a cached public page may be
	outageLife = 10 * time.Minute // how long a page is kept while the database is away, if there is room
	keptLife   = time.Hour        // how long a page that never changes is kept, if there is room
	cacheSize  = 64 << 20         // most bytes of cached pages
	// pageBytes is about how many bytes a page takes, as the cache counts it.
	pageBytes = 4 << 10
)

// Pages caches public reads on this node for a second, and longer while the database is
// unreachable, so that an on-sale's reads touch neither Postgres nor the actors. Its methods may be
// called by any goroutine.
type Pages struct {
	PagesDeps
	cache *ristretto.Cache[string, kept]
	// searches and reads admit public reads to the database.
	searches, reads *readGate
	listed          atomic.Uint64 // counts the writes on this node that change what lists show
	// forgotten counts by key how often a page was to be made again. A page is shown while its count
	// is still the one from before it was read, so that a page which was being made at that moment is
	// not shown either. Keys that share a count make each other's pages again, which does no harm.
	forgotten [4096]atomic.Uint32
	seed      maphash.Seed
}

// PagesDeps are the stores that pages are read from.
type PagesDeps struct {
	Read     *readmodel.Model
	Accounts *accounts.Store
	Program  *program.Store
	Courses  *courses.Store
	Promos   *promos.Store
	Settled  func(context.Context) error // waits until the read model has everything that is committed
}

// OpenPages makes Pages with an empty cache. Close ends it.
func OpenPages(d PagesDeps) (*Pages, error) {
	cache, err := ristretto.NewCache(&ristretto.Config[string, kept]{
		NumCounters: 100_000, MaxCost: cacheSize, BufferItems: 64, IgnoreInternalCost: true,
	})
	if err != nil {
		return nil, err
	}
	return &Pages{PagesDeps: d, cache: cache, searches: searchGate(), reads: pageGate(), seed: maphash.MakeSeed()}, nil
}

// Close ends the cache.
func (p *Pages) Close() { p.cache.Close() }

// CachePage returns what the cache has under a key, or calls make and keeps the result. While the
// database is unreachable it returns the last result: an old page is better than none.
func CachePage[T any](ctx context.Context, p *Pages, key string, make func() (T, error)) (T, error) {
	return CacheFor(ctx, p, pageLife, key, make)
}

// CacheFor does what CachePage does, but lets a page be as old as fresh instead of a second.
func CacheFor[T any](ctx context.Context, p *Pages, fresh time.Duration, key string, make func() (T, error)) (T, error) {
	return cacheBehind(ctx, p, p.reads, term{pageBytes, fresh, outageLife}, key, make)
}

// KeepPage does what CachePage does, for a page of about size bytes that never changes as long as it has this key.
func KeepPage[T any](ctx context.Context, p *Pages, size int64, key string, make func() (T, error)) (T, error) {
	return cacheBehind(ctx, p, p.reads, term{size, keptLife, keptLife}, key, make)
}

// CacheSearch does what CachePage does, for a list of about size bytes that takes a search. It makes the list again
// after any write on this node that changes what lists show.
func CacheSearch[T any](ctx context.Context, p *Pages, size int64, key string, make func() (T, error)) (T, error) {
	return cacheBehind(ctx, p, p.searches, term{size, pageLife, pageLife}, strconv.FormatUint(p.listed.Load(), 10)+"/"+key, make)
}

// term says how long a page is kept.
type term struct {
	size  int64         // bytes, roughly
	fresh time.Duration // how old a page may be when it is shown
	kept  time.Duration // how old a page may be while the database is unreachable
}

// kept is a page in the cache.
type kept struct {
	page      any
	old       time.Time // after this time the page is shown only while the database is unreachable
	forgotten uint32    // forgottenOf of its key before the page was made
}

func cacheBehind[T any](ctx context.Context, p *Pages, g *readGate, term term, key string, make func() (T, error)) (T, error) {
	if t, ok := cached[T](p, key, time.Now()); ok {
		return t, nil
	}
	t, err := computeOnce(ctx, g, func() (T, error) {
		if t, ok := cached[T](p, key, time.Now()); ok { // another caller made it while we waited
			return t, nil
		}
		forgotten := p.forgottenOf(key).Load()
		t, err := make()
		if err == nil {
			p.cache.SetWithTTL(key, kept{t, time.Now().Add(term.fresh), forgotten}, term.size, term.kept)
		}
		return t, err
	})
	if err != nil && persistence.Outage(err) {
		if t, ok := cached[T](p, key, time.Time{}); ok {
			return t, nil
		}
	}
	return t, err
}

// cached returns the page under a key, if the page is still fresh at the given time and was not forgotten since it was
// made. At the zero time every page is fresh.
func cached[T any](p *Pages, key string, at time.Time) (t T, ok bool) {
	k, ok := p.cache.Get(key)
	if !ok || !at.Before(k.old) || k.forgotten != p.forgottenOf(key).Load() {
		return t, false
	}
	t, ok = k.page.(T)
	return t, ok
}

// Page is an event with its ticket types, as the read model has them.
type Page struct {
	Event  readmodel.Event
	Types  []readmodel.TicketType
	Org    api.Organizer
	Frames []string         // origins whose pages may frame the event
	Told   *program.Program // the schedule, the sections and the page's settings
	Course *course.Content  // the content of an online course; nil for other events
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
		if page.Told, err = p.Program.Read(ctx, number); err != nil {
			return nil, err
		}
		if e.Details.Category == event.Course {
			if page.Course, err = p.Courses.Read(ctx, number); err != nil {
				return nil, err
			}
		}
		o, err := p.Accounts.Profile(ctx, e.Details.Org)
		if err != nil {
			return nil, err
		}
		if o != nil {
			page.Org, page.Frames = OrganizerOf(o), o.EmbedOrigins
		}
		return page, nil
	})
}

// OrganizerOf returns what the public sees of an organization. The link to the logo is as the organization stored it,
// which may be a path on this server.
func OrganizerOf(o *accounts.Profile) api.Organizer {
	return api.Organizer{
		ID: strconv.FormatInt(o.ID, 10), Name: o.Name, Slug: o.Slug, Description: view.Optional(o.Description),
		Website: view.Optional(o.Website), LogoURL: view.Optional(o.LogoURL), SocialLinks: view.Object(o.SocialLinks), Verified: o.Verified,
	}
}

// settleWait is how long an organizer's write waits for the read model.
const settleWait = 2 * time.Second

// Refresh makes what an organizer has written visible to the next reader: it waits until the read
// model has it, as far as settleWait allows, and forgets this node's page of the event and its lists.
// A page that lags longer is better than an error, because the write is done.
func (p *Pages) Refresh(ctx context.Context, number int64) {
	ctx, cancel := context.WithTimeout(ctx, settleWait)
	defer cancel()
	_ = p.Settled(ctx)
	p.Forget(pageKey(number))
	p.listed.Add(1)
}

// Forget forgets the page under a key, so that it is made again for the next reader.
func (p *Pages) Forget(key string) { p.forgottenOf(key).Add(1) }

// forgottenOf returns the counter of how often the page under a key was forgotten.
func (p *Pages) forgottenOf(key string) *atomic.Uint32 {
	return &p.forgotten[maphash.String(p.seed, key)%uint64(len(p.forgotten))]
}

// NotFoundAs turns the read model's "not found" into a refusal with the given code.
func NotFoundAs(err error, code engine.Code) error {
	if errors.Is(err, readmodel.ErrNotFound) {
		return &engine.Refusal{Code: code}
	}
	return err
}

// Visible reports whether the caller may see an event. The organization sees everything; the public
// sees events that are published, or were until they ended, and that are not private.
func Visible(c *route.Call, e *event.Record) bool {
	if route.SeesMore(c, e.Details.Org) {
		return true
	}
	return (slices.Contains(event.Public, e.Status) || event.Ended(e.Status)) && e.Details.Visibility != "private"
}
