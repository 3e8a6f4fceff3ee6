package keeper

// Proceeds are what an organization has earned with an event. A ledger tells its newest totals to
// the organization's wallet of the currency, and repeats them until ProceedsSeen names their
// revision. The wallet keeps the newest totals, so a repeat changes nothing. Money is in minor
// units.
type Proceeds struct {
	Event    int64  `cbor:"1,keyasint"`
	Revision uint64 `cbor:"2,keyasint"` // number that rises with every change of the totals
	Sales    int64  `cbor:"3,keyasint"` // sales after the platform's share is taken off, minor units
	Refunds  int64  `cbor:"4,keyasint"`
	Cleared  int64  `cbor:"5,keyasint"` // the part of sales minus refunds that has cleared; the rest is pending
}

// ProceedsSeen acknowledges Proceeds.
type ProceedsSeen struct{ Revision uint64 }

// Command makes the types above commands (engine.Command).
func (Proceeds) Command()     {}
func (ProceedsSeen) Command() {}

// Pending returns what is not cleared. It is below zero if more has gone back than has come in.
func (p *Proceeds) Pending() int64 { return p.Sales - p.Refunds - p.Cleared }
