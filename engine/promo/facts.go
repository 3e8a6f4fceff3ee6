package promo

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// These are a promo code's own fact types. It also has the fact types that every keeper has (keeper.Facts).
const (
	typeCreated  engine.FactType = 1
	typeUpdated  engine.FactType = 2
	typeDisabled engine.FactType = 3
	typeRemoved  engine.FactType = 4
)

// These facts are journaled. At is unix milliseconds.
type (
	// Created makes the code.
	Created struct {
		Details *Details `cbor:"1,keyasint"`
		At      int64    `cbor:"2,keyasint"`
	}
	// Updated replaces the code's terms.
	Updated struct {
		Details *Details `cbor:"1,keyasint"`
		At      int64    `cbor:"2,keyasint"`
	}
	// DisabledFact ends the use of a code that orders have used or reserved.
	DisabledFact struct {
		At int64 `cbor:"1,keyasint"`
	}
	// Removed ends a code that no order has used or reserved.
	Removed struct {
		At int64 `cbor:"1,keyasint"`
	}
)

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*Created) FactType() engine.FactType      { return typeCreated }
func (*Updated) FactType() engine.FactType      { return typeUpdated }
func (*DisabledFact) FactType() engine.FactType { return typeDisabled }
func (*Removed) FactType() engine.FactType      { return typeRemoved }

// Facts lists the facts that go to the journal, with their numbers and their public names.
var Facts = append([]engine.FactDef{
	{Type: typeCreated, Name: "promo_code.created", New: func() engine.Fact { return new(Created) }},
	{Type: typeUpdated, Name: "promo_code.updated", New: func() engine.Fact { return new(Updated) }},
	{Type: typeDisabled, Name: "promo_code.disabled", New: func() engine.Fact { return new(DisabledFact) }},
	{Type: typeRemoved, Name: "promo_code.removed", New: func() engine.Fact { return new(Removed) }},
}, keeper.Facts("promo_code")...)
