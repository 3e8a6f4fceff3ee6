package route

import (
	"net/http"

	"boxoffice/engine"
)

// Group holds what some rows of an area share, and the rows themselves, which say only what
// differs. A row's path is appended to the group's Prefix, and its errors to the group's; a field
// that a row leaves out is taken from its group.
type Group struct {
	Prefix string // the beginning of each row's path, e.g. /api/v1/webhooks
	Tag    string
	Auth   Auth
	Read   Scopes // the scopes that a GET needs
	Write  Scopes // the scopes that any other method needs
	Tier   Tier
	Errors []engine.Code
	// AtGates is Op.AtGates of all rows of the group.
	AtGates bool
	Rows    []Op
}

// Table returns the rows of the groups, completed: with what each takes from its group, with the status 200 if
// the row names none, and with the Idempotency Replay if it is a write that names none (completeRow).
func Table(groups ...Group) []Op {
	var ops []Op
	for i := range groups {
		for _, op := range groups[i].Rows {
			groups[i].completeRow(&op)
			ops = append(ops, op)
		}
	}
	return ops
}

// completeRow fills in what a row takes from its group, where the row says nothing itself. It puts the group's prefix
// before the row's path, and the group's errors before the row's. A row that says no status answers 200, and a row that
// writes and does not say how it knows its repeats is Replay.
func (g *Group) completeRow(op *Op) {
	op.Path = g.Prefix + op.Path
	op.Errors = append(append([]engine.Code{}, g.Errors...), op.Errors...)
	setUnsaid(&op.Tag, g.Tag)
	setUnsaid(&op.Auth, g.Auth)
	setUnsaid(&op.Tier, g.Tier)
	setUnsaid(&op.Status, http.StatusOK)
	setUnsaid(&op.AtGates, g.AtGates)
	if op.Writes() {
		setUnsaid(&op.Scope, g.Write)
		setUnsaid(&op.Idempotency, Replay)
	} else {
		setUnsaid(&op.Scope, g.Read)
	}
}

// setUnsaid sets a field to value if the row leaves the field out.
func setUnsaid[T comparable](field *T, value T) {
	var unsaid T
	if *field == unsaid {
		*field = value
	}
}
