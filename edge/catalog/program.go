package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"boxoffice/cluster"
	"boxoffice/edge/route"
	"boxoffice/edge/route/format"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/program"
)

// An event's program is its schedule, its sections and the settings of its page. The program is stored in tables and
// not in the event's actor.

// findOpen reads the id of an event that the caller may change. An event that has ended is refused with
// INVALID_STATUS_TRANSITION, as its actor would refuse an edit.
func (h *Handlers) findOpen(c *route.Call, id string) (int64, *event.Record, error) {
	number, err := h.Known.FindOwn(c, id)
	if err != nil {
		return 0, nil, err
	}
	e, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), event.Get{})
	if err != nil {
		return 0, nil, err
	}
	if event.Ended(e.Status) {
		return 0, nil, engine.Refuse(engine.InvalidTransition, event.Transition{From: e.Status, To: e.Status, Allowed: []string{}})
	}
	return number, e, nil
}

// rowID makes the id of what a request adds to an event. Every attempt with the same Idempotency-Key gets the same
// id, so that a repeat adds nothing.
func rowID(c *route.Call, event int64) uuid.UUID {
	command := c.CommandID()
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(command[:], uint64(event)))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8 of RFC 9562
	return id
}

// readRowID reads the id of a row in a path. A text that is no UUID cannot be the id of a row, so it gets the
// same refusal as a row that does not exist: none.
func readRowID(text string, none *engine.Refusal) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || !format.ValidUUID(text) {
		return uuid.UUID{}, none
	}
	return id, nil
}

// refusalOf turns the errors of the program's store into refusals: none for a missing row, and CONFLICT for too many
// rows. It returns other errors unchanged.
func refusalOf(err error, none *engine.Refusal) error {
	switch {
	case errors.Is(err, program.ErrNotFound):
		return none
	case errors.Is(err, program.ErrTooMany):
		return engine.Refuse(engine.Conflict, rowLimit{program.MaxRows})
	}
	return err
}

// rowLimit holds the details of CONFLICT for an event that has as many sessions or sections as it may have.
type rowLimit struct {
	Max int `json:"max"`
}

// tellOfChange makes the event's actor journal that something changed which is not in its record, so that the public
// fact event.updated is sent. It also refreshes the cached page.
func (h *Handlers) tellOfChange(c *route.Call, number int64) error {
	_, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), event.Touch{})
	if err != nil {
		return fmt.Errorf("tell of a change of event %d: %w", number, err)
	}
	h.Pages.Refresh(c.Context, number)
	return nil
}
