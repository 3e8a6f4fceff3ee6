package calendar

import (
	"cmp"

	"boxoffice/engine"
)

// These are the commands of a calendar besides a keeper's.
type (
	// Configure replaces the configuration. A slot keeps its id if it names the ID of an existing
	// slot, or has the label and times of one. An existing slot that is left out is removed, or
	// paused while it has bookings. *Record.
	Configure struct{ Config Config }
	// Get reads the calendar. *Record.
	Get struct {
		Counts bool // whether to return what is taken
	}
)

// Command marks the commands.
func (Configure) Command() {}
func (Get) Command()       {}

// Def is the kind's row of the list of kinds.
var Def = engine.KindDef{
	Kind: engine.KindCalendar, Facts: Facts, New: New, Frozen: func() any { return new(Frozen) }, Thaw: Thaw,
	Messages: engine.Messages{
		Commands: []engine.Command{Configure{}, Get{}},
		Replies:  []engine.Reply{&Record{}},
	},
}

func compareCounts(a, b Count) int {
	return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Slot, b.Slot))
}
