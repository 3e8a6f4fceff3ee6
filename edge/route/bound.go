package route

import (
	"slices"

	"boxoffice/engine"
)

// Binding is what a gate's key is bound to: the key may call only rows that are AtGates, and only for these events.
type Binding struct {
	Events []int64
	Gate   string // the gate's name, under which its scans are counted
}

// EventNamed is a request of a row AtGates whose path does not name the event.
type EventNamed interface{ NamedEvent() string }

// eventParam is the parameter of the path that names the event of a row AtGates.
const eventParam = "id"

// RefuseAwayFromGates refuses a request with a bound key if the row is not AtGates; otherwise it returns nil.
// Any other row may show the whole organization's data, and every device at a door has the key.
func RefuseAwayFromGates(op *Op, p *Principal) error {
	if p.Bound == nil || op.AtGates {
		return nil
	}
	return &engine.Refusal{
		Code: engine.Forbidden, Message: "The key of a gate checks in to its events and does nothing else.", Details: Reason{Reason: "GATE_KEY"},
	}
}

// refuseOtherEvent refuses a request with a bound key unless the row is AtGates (RefuseAwayFromGates) and the
// request names one of the key's events. For another event, or none, it answers EVENT_NOT_FOUND, as if there were
// no such event. It takes only the event's number from an id in the request; the handler checks the rest of the id.
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
