package all

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Commands lists every command, because any of them may come from another node. A command's name on
// a link is that of its type, such as "event.Place": after a renaming it would be another command
// to a node of another release.
var Commands = collect([]engine.Command{engine.Wake{}}, func(m *engine.Messages) []engine.Command { return m.Commands })

// Replies lists every reply except refusals, which all kinds share.
var Replies = collect(nil, func(m *engine.Messages) []engine.Reply { return m.Replies })

// Details lists the details of refusals.
var Details = collect(nil, func(m *engine.Messages) []any { return m.Details })

// FormerNames are the names that types had in the previous release. For one release, these types
// are sent under the former names and understood under both. If a type has two former names, it is
// sent under the first.
var FormerNames = map[string][]string{
	"keeper.OutOfStock": {"inventory.Stock", "event.Full"},
	"keeper.NotOnSale":  {"inventory.Closed", "event.Blocked"},
	"keeper.OfType":     {"inventory.Which", "event.Which"},
	"keeper.Issues":     {"event.Issues"},
}

// collect lists the messages of one sort: the first ones, which belong to no kind, then those of
// each kind, then those of the keepers' protocol.
func collect[T any](first []T, of func(*engine.Messages) []T) []T {
	for i := range Kinds {
		first = append(first, of(&Kinds[i].Messages)...)
	}
	return slices.Concat(first, of(&keeper.Messages))
}
