package keeper

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"boxoffice/engine"
)

// Books are the books of a keeper that serves the orders of many events, such as a wallet or an
// organization's promo code. Each ledger has a book of its own, because serials and floors have a
// meaning only within one ledger. NewBooks makes them.
type Books map[int64]*Book // by event

// NewBooks returns an empty set of books.
func NewBooks() Books { return make(Books) }

// Of returns the book of an event's ledger. If there is none, it returns an empty book and does not keep it.
func (s Books) Of(event int64) *Book {
	if b := s[event]; b != nil {
		return b
	}
	b := NewBook()
	return &b
}

// ownBook returns the book of an event's ledger. If there is none, it makes one and keeps it. Only
// Apply may do that, because decisions change nothing.
func (s Books) ownBook(event int64) *Book {
	b := s.Of(event)
	s[event] = b
	return b
}

// listEvents lists the events whose ledgers have a book, in a fixed order.
func (s Books) listEvents() []int64 { return slices.Sorted(maps.Keys(s)) }

// LedgerOf returns the event whose ledger sent a command of the protocol: the order's own event. mine is false
// for all other commands, and for a Confirmed without claims.
func LedgerOf(c engine.Command) (event int64, mine bool) {
	switch c := c.(type) {
	case Reserve:
		return c.Order.Event(), true
	case Commit:
		return c.Order.Event(), true
	case Release:
		return c.Order.Event(), true
	case Return:
		return c.Order.Event(), true
	case Confirmed:
		if len(c.Claims) > 0 {
			return c.Claims[0].Order.Event(), true
		}
	}
	return 0, false
}

// Reserve applies a ReservedFact. It returns the reservation that the new one has replaced, if there was one.
func (s Books) Reserve(f *ReservedFact) (old Held, replaced bool) {
	return s.ownBook(f.Claim.Order.Event()).Reserve(f)
}

// End applies the end of a reservation, and returns what it had held, if it was open.
func (s Books) End(c Claim, floor Serial) (h Held, open bool) {
	return s.ownBook(c.Order.Event()).End(c, floor)
}

// Apply applies the protocol's volatile facts, and reports whether the fact was one of them.
func (s Books) Apply(f engine.Fact) bool {
	switch f := f.(type) {
	case *LedgerInquiredFact:
		s.ownBook(f.Event).applyInquired(f.Inquired)
	case *BarredFact:
		s.ownBook(f.Claim.Order.Event()).applyBarred(f)
	case *ConfirmedFact:
		if len(f.Claims) > 0 {
			s.ownBook(f.Claims[0].Order.Event()).applyConfirmed(f)
		}
	default:
		return false
	}
	return true
}

// Next returns when the next inquiry is due, or the zero time for never.
func (s Books) Next() time.Time {
	var due int64
	for _, b := range s {
		if at := b.Due(); at != 0 && (due == 0 || at < due) {
			due = at
		}
	}
	if due == 0 {
		return time.Time{}
	}
	return time.UnixMilli(due)
}

// DecideWake asks each ledger about its reservations that have been unconfirmed for InquireAfterMillis.
func (s Books) DecideWake(self engine.Ref, now int64) engine.Decision {
	var d engine.Decision
	for _, event := range s.listEvents() {
		claims, inquired := s[event].Inquire(now)
		if inquired == nil {
			continue
		}
		d.Facts = append(d.Facts, &LedgerInquiredFact{Event: event, Inquired: inquired})
		if len(claims) > 0 {
			d.Sends = append(d.Sends, engine.Send{To: engine.EventRef(event), Cmd: Inquire{Keeper: self, Claims: claims}})
		}
	}
	return d
}

// Quantity returns the sum of what is reserved.
func (s Books) Quantity() int64 {
	var sum int64
	for _, b := range s {
		sum += b.Quantity()
	}
	return sum
}

// Each calls f for every open reservation, for the audit.
func (s Books) Each(f func(Held)) {
	for _, event := range s.listEvents() {
		s[event].Each(f)
	}
}

// Freeze returns the books for a snapshot, ordered by event. It leaves out books that contain nothing from the
// journal: a replay of the facts would not make them, and a snapshot must give the same state as a replay.
func (s Books) Freeze() (events []int64, books []FrozenBook) {
	for _, event := range s.listEvents() {
		if f := s[event].Freeze(); !f.isBlank() {
			events, books = append(events, event), append(books, f)
		}
	}
	return events, books
}

// ThawBooks returns the books that a snapshot describes. Both lists have the same length.
func ThawBooks(events []int64, books []FrozenBook) Books {
	s := NewBooks()
	for i, event := range events {
		b := Thaw(books[i])
		s[event] = &b
	}
	return s
}

// Check returns the first broken invariant of the books, or nil.
func (s Books) Check() error {
	for _, event := range s.listEvents() {
		if err := s[event].Check(); err != nil {
			return fmt.Errorf("event %d: %w", event, err)
		}
	}
	return nil
}
