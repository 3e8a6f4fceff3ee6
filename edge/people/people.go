// Package people is the area of the people around an event. It has the reviews, reports and
// messages of guests, the followers of an organization and its broadcasts to attendees, and what an
// organization knows of its customers: orders, notes and tags. It keeps no state of its own, so
// nothing has to be stopped.
package people

import (
	"context"

	"github.com/google/uuid"

	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
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

// Deps are the stores and services that the handlers work with.
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
	// LimitsScale multiplies messagesAnHour. 1 leaves that limit unchanged.
	LimitsScale float64
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }

// rowID makes the id of the row that a request creates. It derives the id from a secret and the request's scope
// (route.Call.Scope). So every attempt with the same Idempotency-Key makes the same row, and nobody can choose
// an id.
func (h *Handlers) rowID(c *route.Call) uuid.UUID {
	name := h.Secrets.Request(c.Scope())
	id := uuid.UUID(name[:16])
	// This marks the id as a UUID of version 8, the version for ids of a private scheme (RFC 9562).
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}

// readRowID reads the id of a row from a path. A text that is no UUID cannot be the id of any row,
// so it gets the refusal for a missing row.
func readRowID(text string, none *engine.Refusal) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	// uuid.Parse also accepts other spellings, which are no ids here.
	if err != nil || !format.ValidUUID(text) {
		return uuid.UUID{}, none
	}
	return id, nil
}

// pageOf makes a page of a list whose cursors are numbers. The caller has read up to limit+1 rows,
// and the row beyond the limit means that there is another page. show makes the view of a row.
// number returns the number of a row, which the cursor of the next page names.
func pageOf[Row, View any](list []Row, limit int, show func(*Row) View, number func(*Row) int64) *api.List[View] {
	return api.PageOf(len(list), limit, func(i int) View { return show(&list[i]) },
		func(last int) *string { return cursors.Of(number(&list[last])) })
}
