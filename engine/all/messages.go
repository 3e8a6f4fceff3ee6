package all

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Commands lists every command, for it may come from another node. Its name there
// is the type's, such as "event.Place": renamed, it is another command to a node
// of another release.
var Commands = collect([]engine.Command{engine.Wake{}}, func(m *engine.Messages) []engine.Command { return m.Commands })

// Replies lists every reply but the refusals, which all kinds share.
var Replies = collect(nil, func(m *engine.Messages) []engine.Reply { return m.Replies })

// Details lists the details of refusals.
var Details = collect(nil, func(m *engine.Messages) []any { return m.Details })

// FormerNames are the names that types had in the release before. For one release
// they are sent under these names, and understood under both. Of two former names
// of one type the first is sent.
var FormerNames = map[string][]string{
	"keeper.OutOfStock": {"inventory.Stock", "event.Full"},
	"keeper.NotOnSale":  {"inventory.Closed", "event.Blocked"},
	"keeper.OfType":     {"inventory.Which", "event.Which"},
	"keeper.Issues":     {"event.Issues"},
}

// collect lists one sort of message: those of no kind, then those of each kind.
func collect[T any](first []T, of func(*engine.Messages) []T) []T {
	for i := range Kinds {
		first = append(first, of(&Kinds[i].Messages)...)
	}
	return slices.Concat(first, of(&keeper.Messages))
}
