package keeper

// Proceeds are what an organization has earned by an event: a ledger tells the newest
// totals to the organization's wallet of the currency, again until ProceedsSeen names
// their revision. The wallet keeps the newest, so that a repeat changes nothing. Money is
// minor units.
type Proceeds struct {
	Event    int64  `cbor:"1,keyasint"`
	Revision uint64 `cbor:"2,keyasint"` // rises with every change
	Sales    int64  `cbor:"3,keyasint"` // after what the platform keeps of them
	Refunds  int64  `cbor:"4,keyasint"`
	Cleared  int64  `cbor:"5,keyasint"` // of sales less refunds; the rest is pending
}

// ProceedsSeen acknowledges Proceeds.
type ProceedsSeen struct{ Revision uint64 }

// Command marks the commands.
func (Proceeds) Command()     {}
func (ProceedsSeen) Command() {}

// Pending is what is not cleared. It is below zero when more has gone back than came in.
func (p *Proceeds) Pending() int64 { return p.Sales - p.Refunds - p.Cleared }
