package calendar

import (
	"cmp"

	"boxoffice/engine"
)

// These are the commands of a calendar besides a keeper's.
type (
	// Configure replaces the configuration. A slot keeps its id if it names the ID of an existing slot, or has
	// the label and times of one. An existing slot that is left out is removed or, if it has bookings from
	// today on, stays and is paused. The answer is a *Record.
	Configure struct{ Config Config }
	// Get reads the calendar. The answer is a *Record.
	Get struct {
		Counts bool // whether to return what is taken
	}
)

// Command makes the types above commands (engine.Command).
func (Configure) Command() {}
func (Get) Command()       {}

// Def describes this kind of actor to the engine (engine/all): its facts, its messages, and how a state is made.
var Def = engine.KindDef{
	Kind: engine.KindCalendar, Facts: Facts, New: New, Frozen: func() any { return new(Frozen) }, Thaw: Thaw,
	Messages: engine.Messages{
		Commands: []engine.Command{Configure{}, Get{}},
		Replies:  []engine.Reply{&Record{}},
	},
}

// compareCounts puts counts in the order of their dates, and of their slots within one.
func compareCounts(a, b Count) int {
	return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Slot, b.Slot))
}
