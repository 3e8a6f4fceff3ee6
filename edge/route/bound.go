package route

import (
	"slices"

	"boxoffice/engine"
)

// Binding is what a gate's key is bound to: it may call the rows that are AtGates, for its events.
type Binding struct {
	Events []int64
	Gate   string // what its scans are counted for
}

// EventNamed is a request of a row AtGates whose path does not name the event.
type EventNamed interface{ NamedEvent() string }

// eventParam is the parameter of the path that names the event of a row AtGates.
const eventParam = "id"

// RefuseAwayFromGates refuses a bound key on a row that is not AtGates. Such a row may be of the whole
// organization, or of everybody, and a key that any device at a door has is for neither.
func RefuseAwayFromGates(op *Op, p *Principal) error {
	if p.Bound == nil || op.AtGates {
		return nil
	}
	return &engine.Refusal{
		Code: engine.Forbidden, Message: "The key of a gate checks in to its events and does nothing else.", Details: Reason{Reason: "GATE_KEY"},
	}
}

// refuseOtherEvent refuses a bound key the request for an event that it is not bound to. For the key,
// that event does not exist. Whether an id is right in all its parts is for the handler to find out.
func refuseOtherEvent(c *Call, src Source, in any) error {
	if c.Principal.Bound == nil {
		return nil
	}
	if err := RefuseAwayFromGates(c.Op, &c.Principal); err != nil {
		return err
	}
	named, ok := src.Param(eventParam)
	if !ok {
		if request, isNamed := in.(EventNamed); isNamed {
			named = request.NamedEvent()
		}
	}
	number, ok := ReadNumber(named)
	if id, err := engine.ParseID(named); !ok && err == nil {
		number = id.Event()
	}
	if !slices.Contains(c.Principal.Bound.Events, number) {
		return &engine.Refusal{Code: engine.EventNotFound}
	}
	return nil
}
