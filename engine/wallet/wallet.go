// Package wallet is the kind of an organization's money in one currency: it owns
// the balance, what is still pending, and the ledger whose entries come to both.
// It is a keeper of the reservation protocol (engine/keeper) for the fees of tickets that
// the organization issues itself: a fee is reserved while the order is placed, and debited
// when it is completed. The edge asks it, and orders' ledgers do; it wakes to ask about
// reservations that no ledger has confirmed, and holds no goroutine.
//
// An entry is numbered 1, 2, 3... in its wallet and bears the id of the movement
// it is about: a credit, a debit, or a pending credit with what became of it,
// cleared or voided. A movement is known for 24 hours after its last entry, and a
// pending credit until it ends; the read model has the whole ledger.
//
// What events earn comes as running totals of each (keeper.Proceeds), whose differences are
// entries. Money that has gone back after it was paid out makes the balance negative.
//
// Invariants: balance and pending are the sums of the ledger; nothing is debited that is
// not there; what is reserved is never more than the balance; a movement that is known happens once, however often it is sent.
// Limits: an amount, and what a wallet holds with its pending credits, is at most
// MaxAmount; all credits of a wallet's life come to at most maxLife; of movements
// of 24 hours, and of pending credits, there are at most about maxRecent each, and
// new ones beyond are refused as OVERLOADED.
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
	// maxRecent bounds what is remembered, of about 200 bytes each.
	maxRecent = 1_000_000
	// knownMillis is how long a movement is known after its last entry.
	knownMillis = 24 * 3600 * 1000
)

// EntryID identifies a movement; it is derived from the idempotency key, or
// random.
type EntryID = engine.ID

// Reasons that the engine and the edge know. Others are the caller's words.
const (
	Payout = "payout" // of the debits that are paid out to the organization
	TopUp  = "top_up" // of the credits that the platform's administrator makes
	// IssueFee is of the debits for tickets that the organization issues itself.
	IssueFee = "issue_fee"
)

// EntryKind says what an entry does.
type EntryKind uint8

// The kinds of entries. Numbers are stored.
const (
	Credited EntryKind = 1 // to the balance
	Pended   EntryKind = 2 // to what is pending
	Cleared  EntryKind = 3 // from pending to the balance
	Voided   EntryKind = 4 // from pending to nowhere
	Debited  EntryKind = 5 // from the balance
	Sold     EntryKind = 6 // to what is pending: an event's sales
	Refunded EntryKind = 7 // from what is pending of an event, and beyond that from the balance
	Clearing EntryKind = 8 // of an event's sales, from pending to the balance
)

// String is the kind's name as answers show it.
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

// Entry is one line of the ledger. Money is minor units.
type Entry struct {
	ID        EntryID   `cbor:"1,keyasint"` // of the movement
	Kind      EntryKind `cbor:"2,keyasint"`
	Number    int64     `cbor:"3,keyasint"` // 1, 2, 3... in the wallet
	Amount    int64     `cbor:"4,keyasint"` // above 0
	Balance   int64     `cbor:"5,keyasint"` // after it
	Pending   int64     `cbor:"6,keyasint"` // after it
	Reason    string    `cbor:"7,keyasint,omitempty"`
	Reference string    `cbor:"8,keyasint,omitempty"`
	Note      string    `cbor:"9,keyasint,omitempty"`
	By        string    `cbor:"10,keyasint,omitempty"` // who asked for it
	At        int64     `cbor:"11,keyasint"`           // unix milliseconds; never before the entry before it
}

// PaysOut reports whether the entry pays money out to the organization.
func (e *Entry) PaysOut() bool { return e.Kind == Debited && e.Reason == Payout }

// State is a wallet's memory.
type State struct {
	ref     engine.Ref
	last    stamp // of the last entry
	entries int64 // how many there are

	credited int64 // sums of the ledger; pending credits are credited
	voided   int64
	debited  int64
	paid     int64 // out, of what is debited

	open   []*movement // pending credits, by number
	recent []*movement // of the last 24 hours, by time; one that ended since stands twice
	known  map[EntryID]*movement

	books keeper.Books // fees of orders that are being placed
	held  int64        // the sum of them

	proceeds map[int64]keeper.Proceeds // by event, the newest
}

// New is the empty state of a wallet.
func New(ref engine.Ref) engine.State {
	return &State{ref: ref, known: make(map[EntryID]*movement), books: keeper.NewBooks(), proceeds: make(map[int64]keeper.Proceeds)}
}

// Record is a wallet as its actor answers for it. Money is minor units.
type Record struct {
	Ref            engine.Ref
	Balance        int64
	Pending        int64
	LifetimePayout int64
	Entries        int64
}

func (s *State) record() *Record {
	return &Record{Ref: s.ref, Balance: s.last.Balance, Pending: s.last.Pending, LifetimePayout: s.paid, Entries: s.entries}
}

// Next is when the state wants a Wake: to ask about reservations that nobody has
// confirmed.
func (s *State) Next() time.Time { return s.books.Next() }

// available is what the balance has left beside what is reserved.
func (s *State) available() int64 { return s.last.Balance - s.held }

// currency is the code of the wallet's currency.
func (s *State) currency() string {
	c, _ := engine.CurrencyNumbered(s.ref.ID)
	return c.Code
}
