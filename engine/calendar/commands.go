package calendar

import (
	"cmp"

	"boxoffice/engine"
)

// The commands of a calendar besides the keeper's.
type (
	// Configure sets what the organizer wants. A slot with an ID, or with the label and
	// times of one that is there, keeps its id; one that is left out is removed, or paused
	// while it has bookings. *Record.
	Configure struct{ Config Config }
	// Get reads the calendar. *Record.
	Get struct {
		Counts bool // with what is taken from today on
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
