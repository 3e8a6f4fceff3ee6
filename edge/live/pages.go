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
	pageLife   = time.Second      // how old a cached public page may be when it is shown
	outageLife = 10 * time.Minute // how long a page is kept while the database is away, if there is room
	keptLife   = time.Hour        // how long a page that never changes is kept, if there is room
	cacheSize  = 64 << 20         // the most bytes of cached pages
	// pageBytes is the size in bytes for which the cache counts a page of unknown size.
	pageBytes = 4 << 10
)

// Pages caches public reads on this node, most of them for a second, and longer while the database is
// unreachable. So most reads during a rush ask neither Postgres nor the actors. Its methods may be
// called by any goroutine.
type Pages struct {
	PagesDeps
	cache *ristretto.Cache[string, kept]
	// searches and reads limit how many public reads ask the database at once.
	searches, reads *readGate
	listed          atomic.Uint64 // how often Refresh was called; part of the keys of lists, so that a change makes all lists again
	// forgotten counts how often Forget was called, by a hash of the key. A page is shown only
	// while its count is the same as before the page was made. So a page that was being made during
	// Forget is not shown either. Keys with the same hash forget each other's pages, which does no
	// harm.
	forgotten [4096]atomic.Uint32
	seed      maphash.Seed
}

// PagesDeps are the stores that pages are read from, and Settled, which waits for the read model.
type PagesDeps struct {
	Read     *readmodel.Model
	Accounts *accounts.Store
	Program  *program.Store
	Courses  *courses.Store
	Promos   *promos.Store
	Settled  func(context.Context) error // waits until the read model has everything that is committed
}

// OpenPages makes Pages with an empty cache. The caller has to call Close.
func OpenPages(d PagesDeps) (*Pages, error) {
	cache, err := ristretto.NewCache(&ristretto.Config[string, kept]{
		NumCounters: 100_000, MaxCost: cacheSize, BufferItems: 64, IgnoreInternalCost: true,
	})
	if err != nil {
		return nil, err
	}
	return &Pages{PagesDeps: d, cache: cache, searches: searchGate(), reads: pageGate(), seed: maphash.MakeSeed()}, nil
}

// Close ends the cache and its goroutines.
func (p *Pages) Close() { p.cache.Close() }

// CachePage returns what the cache has under a key, or calls make and caches the result for
// pageLife. If make fails because the database is unreachable, it returns the last result, if the cache
// still has it and it was not forgotten; it is then at most outageLife old.
func CachePage[T any](ctx context.Context, p *Pages, key string, make func() (T, error)) (T, error) {
	return CacheFor(ctx, p, pageLife, key, make)
}

// CacheFor is like CachePage, but a page may be up to fresh old when it is shown.
func CacheFor[T any](ctx context.Context, p *Pages, fresh time.Duration, key string, make func() (T, error)) (T, error) {
	return cacheBehind(ctx, p, p.reads, term{pageBytes, fresh, outageLife}, key, make)
}

// KeepPage is like CachePage, for a page of about size bytes whose content never changes under its
// key. It is cached for keptLife.
func KeepPage[T any](ctx context.Context, p *Pages, size int64, key string, make func() (T, error)) (T, error) {
	return cacheBehind(ctx, p, p.reads, term{size, keptLife, keptLife}, key, make)
}

// CacheSearch is like CachePage, for a list of about size bytes whose making takes a search in the database. It
// keeps no older list for the time that the database is unreachable. After a call of Refresh on this node every
// list is made again.
func CacheSearch[T any](ctx context.Context, p *Pages, size int64, key string, make func() (T, error)) (T, error) {
	return cacheBehind(ctx, p, p.searches, term{size, pageLife, pageLife}, strconv.FormatUint(p.listed.Load(), 10)+"/"+key, make)
}

// term says how large a page is and how long it is kept.
type term struct {
	size  int64         // bytes, roughly
	fresh time.Duration // how old a page may be when it is shown
	kept  time.Duration // how old it may be while the database is unreachable
}

// kept is a page in the cache.
type kept struct {
	page      any
	old       time.Time // after this time the page is shown only while the database is unreachable
	forgotten uint32    // the key's count in Pages.forgotten before the page was made
}

// cacheBehind returns the page that the cache has under a key, as long as the page is fresh. Otherwise it calls
// make and caches the result, but no error; a public read first waits at the gate g. If another caller has made
// the page while this one waited at the gate, cacheBehind returns that page. If make fails because the database
// is unreachable, cacheBehind returns an older page, if the cache still has one that was not forgotten.
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

// cached returns what the cache has under a key, if the page is still fresh at the given time, was not
// forgotten, and is of the type T. With the zero time, its age does not matter.
func cached[T any](p *Pages, key string, at time.Time) (t T, ok bool) {
	k, ok := p.cache.Get(key)
	if !ok || !at.Before(k.old) || k.forgotten != p.forgottenOf(key).Load() {
		return t, false
	}
	t, ok = k.page.(T)
	return t, ok
}

// Page is an event with its ticket types, as the read model has them, and with what else an event's
// page shows.
type Page struct {
	Event  readmodel.Event
	Types  []readmodel.TicketType
	Org    api.Organizer
	Frames []string         // origins whose pages may show the event in a frame
	Told   *program.Program // the program: what the page tells besides the event's record
	Course *course.Content  // nil unless the event is an online course
}

func pageKey(number int64) string { return "event/" + strconv.FormatInt(number, 10) }

// Event returns an event's page through the cache, or refuses with EVENT_NOT_FOUND. It does not
// check whether the caller may see the event (VisibleEvent).
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

// OrganizerOf returns what the public sees of an organization. The address of the logo is as the
// organization wrote it.
func OrganizerOf(o *accounts.Profile) api.Organizer {
	return api.Organizer{
		ID: strconv.FormatInt(o.ID, 10), Name: o.Name, Slug: o.Slug, Description: view.Optional(o.Description),
		Website: view.Optional(o.Website), LogoURL: view.Optional(o.LogoURL), SocialLinks: view.Object(o.SocialLinks), Verified: o.Verified,
	}
}

// settleWait is how long an organizer's write waits for the read model.
const settleWait = 2 * time.Second

// Refresh makes what an organizer has changed about an event visible to this node's next readers.
// It waits until the read model has the change, at most settleWait, and forgets the event's page
// and all lists. If the read model takes longer, readers see the old page for a moment, because the
// change is made and must not be answered with an error.
func (p *Pages) Refresh(ctx context.Context, number int64) {
	ctx, cancel := context.WithTimeout(ctx, settleWait)
	defer cancel()
	_ = p.Settled(ctx)
	p.Forget(pageKey(number))
	p.listed.Add(1)
}

// Forget drops the page under a key, so that the next reader gets a new one.
func (p *Pages) Forget(key string) { p.forgottenOf(key).Add(1) }

// forgottenOf returns the counter of Forget for a key.
func (p *Pages) forgottenOf(key string) *atomic.Uint32 {
	return &p.forgotten[maphash.String(p.seed, key)%uint64(len(p.forgotten))]
}

// NotFoundAs turns the read model's ErrNotFound into a refusal with the given code. It passes other
// errors on.
func NotFoundAs(err error, code engine.Code) error {
	if errors.Is(err, readmodel.ErrNotFound) {
		return &engine.Refusal{Code: code}
	}
	return err
}

// Visible reports whether the caller may see an event. Callers of the organization who may see more than the public
// (route.SeesMore) see everything. Everyone else sees events that are published, or were until they ended, and that
// are not private.
func Visible(c *route.Call, e *event.Record) bool {
	if route.SeesMore(c, e.Details.Org) {
		return true
	}
	return slices.Contains(event.Shown, e.Status) && e.Details.Visibility != "private"
}
