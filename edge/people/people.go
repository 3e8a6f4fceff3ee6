// Package people is the area of those around an event: what guests say,
// complain of and ask, and what an organization knows of its customers.
package people

import (
	"context"

	"github.com/google/uuid"

	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/route/format"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/community"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/outreach"
	"boxoffice/persistence/readmodel"
)

// Deps is what the handlers work with.
type Deps struct {
	Read      *readmodel.Model
	Accounts  *accounts.Store
	Attendees *attendees.Store
	Settled   func(context.Context) error // waits until the read model has everything that is committed
	Known     *live.Events
	Pages     *live.Pages
	Letters   *letters.Writer
	Community *community.Store
	Outreach  *outreach.Store
	Mail      *mailqueue.Queue
	Secrets   *secrets.Master
	// LimitsScale multiplies how many messages a buyer may write.
	LimitsScale float64
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }

// rowID makes the id of what a request makes. Every attempt with the same Idempotency-Key gets the same id, so that
// a repeat makes nothing more, and nobody can choose an id.
func (h *Handlers) rowID(c *route.Call) uuid.UUID {
	name := h.Secrets.Request(c.Scope())
	id := uuid.UUID(name[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8 of RFC 9562
	return id
}

// readRowID reads the id of a row in a path. A text that is no UUID can be no row's id, so it is refused with none
// too.
func readRowID(text string, none *engine.Refusal) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || !format.ValidUUID(text) {
		return uuid.UUID{}, none
	}
	return id, nil
}

// pageOf makes a page of a list whose cursors are numbers. The list has one row more than the limit if there is
// another page.
func pageOf[Row, View any](list []Row, limit int, show func(*Row) View, number func(*Row) int64) *api.List[View] {
	return api.PageOf(len(list), limit, func(i int) View { return show(&list[i]) },
		func(last int) *string { return route.CursorOf(number(&list[last])) })
}
