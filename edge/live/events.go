// Package live keeps in a node's memory what the areas of the edge read most often: which events
// exist (Events), public pages (Pages), and stock and seat maps (Feed). So most reads ask neither
// Postgres nor an actor. Pages and Feed have to be closed.
package live

import (
	"context"
	"errors"
	"strconv"

	"github.com/puzpuzpuz/xsync/v4"

	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/readmodel"
)

// Identity has what never changes about an event: its public id and the number of its organization.
type Identity struct {
	PublicID engine.EventID
	Org      int64
}

// Events remembers which events exist and which organizations they belong to. Its methods may be
// called by any goroutine. It starts no goroutine.
type Events struct {
	read  *readmodel.Model
	known *xsync.Map[int64, Identity]
}

// NewEvents makes an Events that knows no event yet.
func NewEvents(read *readmodel.Model) *Events {
	return &Events{read: read, known: xsync.NewMap[int64, Identity]()}
}

// Find returns the identity of an event, or refuses with EVENT_NOT_FOUND if the event does not exist. Asking
// the actor of an event that does not exist would create the actor, so Find asks the read model first. It
// remembers the events that exist, and does not ask for them again.
func (e *Events) Find(ctx context.Context, number int64) (Identity, error) {
	if k, ok := e.known.Load(number); ok {
		return k, nil
	}
	r, err := e.read.EventByNumber(ctx, number)
	if errors.Is(err, readmodel.ErrNotFound) {
		return Identity{}, &engine.Refusal{Code: engine.EventNotFound}
	}
	if err != nil {
		return Identity{}, err
	}
	return e.Remember(number, r.Details), nil
}

// Remember stores the identity of an event that exists, such as one that was just created, and
// returns it.
func (e *Events) Remember(number int64, t *event.Details) Identity {
	k := Identity{PublicID: t.PublicID, Org: t.Org}
	e.known.Store(number, k)
	return k
}

// PublicID returns the event id that answers show. If this node does not know the event yet
// (Find, Remember), it returns the event's number.
func (e *Events) PublicID(number int64) string {
	if k, ok := e.known.Load(number); ok {
		return k.PublicID.String()
	}
	return strconv.FormatInt(number, 10)
}

// ReadID reads an event id from a path or a body, which is the public UUID or the number
// (docs/rules.md, Conventions). It refuses with EVENT_NOT_FOUND if there is no such event.
func (e *Events) ReadID(ctx context.Context, id string) (int64, Identity, error) {
	notFound := &engine.Refusal{Code: engine.EventNotFound}
	number, ok := route.ReadNumber(id)
	var public engine.EventID
	if !ok {
		var err error
		if public, err = engine.ParseID(id); err != nil {
			return 0, Identity{}, notFound
		}
		number = public.Event()
	}
	if number < 1 {
		return 0, Identity{}, notFound
	}
	k, err := e.Find(ctx, number)
	if err != nil {
		return 0, Identity{}, err
	}
	if !ok && k.PublicID != public {
		return 0, Identity{}, notFound
	}
	return number, k, nil
}

// FindNamed returns the number of the event that a page's address names by its slug, its public id
// or its number. No slug looks like an id or a number.
func (p *Pages) FindNamed(ctx context.Context, known *Events, name string) (int64, error) {
	_, isNumber := route.ReadNumber(name)
	if _, err := engine.ParseID(name); isNumber || err == nil {
		number, _, err := known.ReadID(ctx, name)
		return number, err
	}
	return CachePage(ctx, p, "slug/"+name, func() (int64, error) {
		e, err := p.Read.EventBySlug(ctx, name)
		if err != nil {
			return 0, NotFoundAs(err, engine.EventNotFound)
		}
		return e.Number, nil
	})
}

// FindVisible returns the number and the page of the event that an id in a path or body names, if
// the caller may see the event. Otherwise it refuses with EVENT_NOT_FOUND.
func (p *Pages) FindVisible(c *route.Call, known *Events, id string) (int64, *Page, error) {
	number, _, err := known.ReadID(c.Context, id)
	if err != nil {
		return 0, nil, err
	}
	page, err := p.VisibleEvent(c, number)
	return number, page, err
}

// VisibleEvent returns an event's page if the caller may see the event (Visible). Otherwise it
// refuses with EVENT_NOT_FOUND.
func (p *Pages) VisibleEvent(c *route.Call, number int64) (*Page, error) {
	page, err := p.Event(c.Context, number)
	if err == nil && !Visible(c, &page.Event.Record) {
		return nil, &engine.Refusal{Code: engine.EventNotFound}
	}
	return page, err
}

// FindOwn reads an event id and makes sure that the event belongs to the caller's organization, and
// that the caller may do the operation there. An event of another organization is refused with
// EVENT_NOT_FOUND.
func (e *Events) FindOwn(c *route.Call, id string) (int64, error) {
	number, k, err := e.ReadID(c.Context, id)
	if err != nil {
		return 0, err
	}
	g, ok := c.Principal.Grant(k.Org)
	if !ok {
		return 0, &engine.Refusal{Code: engine.EventNotFound}
	}
	return number, route.ActFor(c, g)
}
