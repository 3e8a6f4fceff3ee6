// Package wallet is the kind of an organization's money in one currency: it owns the balance, what
// is still pending, and the ledger whose entries add up to both. It is a keeper of the reservation
// protocol (engine/keeper) for the fees of tickets that the organization issues itself: a fee is
// reserved while the order is placed, and debited when the order is completed. The edge and the
// ledgers of orders send it commands. It wakes to ask about reservations that no ledger has
// confirmed, and has no goroutine.
//
// Entries are numbered 1, 2, 3... in their wallet. An entry has the id of the movement that it is
// about: a credit, a debit, or a pending credit that is later cleared or voided. A movement is
// remembered for 24 hours after its last entry, and a pending credit until it ends; the read model
// has the whole ledger.
//
// What events earn comes as running totals of each event (keeper.Proceeds), whose differences
// become entries. Money that goes back after it was paid out makes the balance negative.
//
// Invariants: balance and pending are the sums of the ledger; nothing is debited that is not available; a fee
// is reserved only if the balance covers it and all others that are reserved; a movement that is remembered
// happens once, however often it is sent. Limits: an amount, and what a wallet holds including its pending
// credits, is at most MaxAmount; all credits of a wallet's life come to at most maxLife; there are at most
// about maxRecent movements of 24 hours and as many pending credits, and new ones beyond that are refused as
// OVERLOADED.
package wallet

import (
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

const (
	// MaxAmount bounds an amount and a wallet, in minor units.
	MaxAmount = 1_000_000_000_000_000
	// maxLife bounds the sum of all credits, so that no sum overflows.
	maxLife = 1_000 * MaxAmount
	// maxRecent bounds what is remembered, at about 200 bytes each.
	maxRecent = 1_000_000
	// knownMillis is how long a movement is remembered after its last entry.
	knownMillis = 24 * 3600 * 1000
)

// EntryID identifies a movement. The edge derives it from the request's idempotency key, or draws
// it at random.
type EntryID = engine.ID

// These are the reasons that the engine and the edge know. Other reasons are the caller's words.
const (
	Payout = "payout" // for debits that are paid out to the organization
	TopUp  = "top_up" // for credits that the platform's administrator makes
	// IssueFee is for debits for tickets that the organization issues itself.
	IssueFee = "issue_fee"
)

// EntryKind says what an entry does.
type EntryKind uint8

// The kinds of entries. Numbers are stored.
const (
	Credited EntryKind = 1 // adds to the balance
	Pended   EntryKind = 2 // adds to what is pending
	Cleared  EntryKind = 3 // moves from pending to the balance
	Voided   EntryKind = 4 // removes from pending
	Debited  EntryKind = 5 // takes from the balance
	Sold     EntryKind = 6 // adds an event's sales to what is pending
	Refunded EntryKind = 7 // takes from what is pending of an event, and then from the balance
	Clearing EntryKind = 8 // moves an event's sales from pending to the balance
)

// String returns the kind's name as answers show it.
func (k EntryKind) String() string {
	switch k {
	case Credited:
		return "credit"
	case Pended:
		return "pending_credit"
	case Cleared:
		return "cleared"
	case Voided:
		return "voided"
	case Debited:
		return "debit"
	case Sold:
		return "sale"
	case Refunded:
		return "refund"
	case Clearing:
		return "clearing"
	default:
		return "unknown"
	}
}

// Entry is one line of the wallet's ledger. Money is in minor units.
type Entry struct {
	ID        EntryID   `cbor:"1,keyasint"` // id of the movement
	Kind      EntryKind `cbor:"2,keyasint"`
	Number    int64     `cbor:"3,keyasint"` // number of the entry in the wallet, from 1
	Amount    int64     `cbor:"4,keyasint"` // minor units, above 0
	Balance   int64     `cbor:"5,keyasint"` // minor units after the entry
	Pending   int64     `cbor:"6,keyasint"` // minor units that are pending after the entry
	Reason    string    `cbor:"7,keyasint,omitempty"`
	Reference string    `cbor:"8,keyasint,omitempty"`
	Note      string    `cbor:"9,keyasint,omitempty"`
	By        string    `cbor:"10,keyasint,omitempty"` // who asked for it
	At        int64     `cbor:"11,keyasint"`           // unix milliseconds; never before the previous entry
}

// PaysOut reports whether the entry pays money out to the organization.
func (e *Entry) PaysOut() bool { return e.Kind == Debited && e.Reason == Payout }

// State is a wallet's memory.
type State struct {
	ref     engine.Ref
	last    stamp // stamp of the last entry
	entries int64 // number of entries

	credited int64 // sums of what commands and fees have entered, minor units; credited includes pending credits
	voided   int64
	debited  int64
	paid     int64 // part of debited that was paid out

	open   []*movement // pending credits, by number
	recent []*movement // movements of the last 24 hours, by time; a pending credit that has ended is in it twice
	known  map[EntryID]*movement

	books keeper.Books // fees of orders that are being placed
	held  int64        // sum of the reserved fees

	proceeds map[int64]keeper.Proceeds // newest totals, by event
}

// New returns the empty state of a wallet.
func New(ref engine.Ref) engine.State {
	return &State{ref: ref, known: make(map[EntryID]*movement), books: keeper.NewBooks(), proceeds: make(map[int64]keeper.Proceeds)}
}

// Record describes a wallet, as its actor answers. Money is in minor units.
type Record struct {
	Ref            engine.Ref
	Balance        int64
	Pending        int64
	LifetimePayout int64
	Entries        int64
}

func (s *State) makeRecord() *Record {
	return &Record{Ref: s.ref, Balance: s.last.Balance, Pending: s.last.Pending, LifetimePayout: s.paid, Entries: s.entries}
}

// Next returns when the state wants its next Wake, to ask about reservations that nobody has confirmed. It
// returns the zero time for never.
func (s *State) Next() time.Time { return s.books.Next() }

// availableBalance returns the part of the balance that is not reserved.
func (s *State) availableBalance() int64 { return s.last.Balance - s.held }

// currencyCode returns the code of the wallet's currency.
func (s *State) currencyCode() string {
	c, _ := engine.CurrencyNumbered(s.ref.ID)
	return c.Code
}
