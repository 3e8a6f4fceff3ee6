// Package all is the only list of kinds. The host, the audit, the read model and the tests find here how the
// states, facts and snapshots of each kind are made.
package all

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/calendar"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/promo"
	"boxoffice/engine/queue"
	"boxoffice/engine/seatmap"
	"boxoffice/engine/wallet"
)

// Kinds lists every kind of actor.
var Kinds = []engine.KindDef{event.Def, inventory.Def, wallet.Def, seatmap.Def, promo.Def, calendar.Def, queue.Def}

// Kind returns a kind's row. It returns an error for an unknown kind, which comes from a newer
// node.
func Kind(k engine.Kind) (*engine.KindDef, error) {
	for i := range Kinds {
		if Kinds[i].Kind == k {
			return &Kinds[i], nil
		}
	}
	return nil, fmt.Errorf("engine: no kind %d", k)
}

// NewFact returns a zero fact of a type, for decoding. It returns an error for an unknown type,
// which comes from a newer node.
func NewFact(k engine.Kind, t engine.FactType) (engine.Fact, error) {
	kind, err := Kind(k)
	if err != nil {
		return nil, err
	}
	for i := range kind.Facts {
		if kind.Facts[i].Type == t {
			return kind.Facts[i].New(), nil
		}
	}
	return nil, fmt.Errorf("engine: %s has no fact type %d", k, t)
}
