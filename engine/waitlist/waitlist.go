// Package waitlist is the line of those who wait for an event's sold-out ticket types: the entries,
// what becomes of them, and which types must sell to nobody else. An offer to an entry is an order,
// so the ledger makes it (engine/ledger): it holds its stock for the offer's window, under the id of
// its entry.
//
// Invariants: a ticket type is guarded (sells only to those who wait) exactly while an entry waits that could
// take its units; an entry is offered something only once. Limits: at most MaxAlive entries wait or are offered
// something, and at most maxEnded that have ended are remembered.
package waitlist

import (
	"cmp"
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Statuses of an entry (docs/rules.md, Statuses).
const (
	StatusUnconfirmed = "unconfirmed" // only in the answer to an unproven Join; no entry has this status

	StatusWaiting   = "waiting"
	StatusOffered   = "offered"
	StatusClaimed   = "claimed"
	StatusExpired   = "expired"
	StatusCancelled = "cancelled"
)

// Limits of a line.
const (
	MaxAlive    = 20_000
	maxEnded    = 20_000
	MaxQuantity = 10
	// MaxOfNetwork is how many entries a network may have in the line. Those that have let an offer
	// run out go on counting.
	MaxOfNetwork = 5
)

// These are the bounds of what an organizer may set, in minutes.
const (
	DefaultOfferMinutes = 12 * 60
	MinOfferMinutes     = 15
	MaxOfferMinutes     = 72 * 60
)

// resendMillis is after how many milliseconds a guard that was not acknowledged is told again. retryMillis is
// after how many milliseconds a refused offer is tried again, if its ticket type has made no new offer to the
// ledger.
const (
	resendMillis = 2_000
	retryMillis  = 5_000
)

// Entry is a person's place in the line. It is replaced by a changed copy and never changed,
// because snapshots share it. Times are unix milliseconds.
type Entry struct {
	ID        engine.OrderID `cbor:"1,keyasint"`           // id of the entry, and of the order that offers something to it
	Number    uint64         `cbor:"2,keyasint"`           // counts the entries from 1
	Type      int64          `cbor:"3,keyasint,omitempty"` // number of the ticket type; 0 stands for any type with a waitlist
	Quantity  int64          `cbor:"4,keyasint"`
	Email     string         `cbor:"5,keyasint"`
	Name      string         `cbor:"6,keyasint"`
	Customer  uint64         `cbor:"7,keyasint"` // hash of the address
	At        int64          `cbor:"8,keyasint"`
	Status    string         `cbor:"9,keyasint"`
	Called    bool           `cbor:"10,keyasint,omitempty"` // whether the organizer wants the entry to be offered something
	Given     int64          `cbor:"11,keyasint,omitempty"` // number of the ticket type that was offered last
	OfferedAt int64          `cbor:"12,keyasint,omitempty"`
	ExpiresAt int64          `cbor:"13,keyasint,omitempty"` // when the offer expires
	EndedAt   int64          `cbor:"14,keyasint,omitempty"`
	Client    uint64         `cbor:"15,keyasint,omitempty"` // hash of the network that the entry came from; 0 if it is not known
	Language  string         `cbor:"16,keyasint,omitempty"` // language of the person, as in order.Order
}

// alive reports whether the entry is still in line or is offered something.
func (e *Entry) alive() bool { return e.Status == StatusWaiting || e.Status == StatusOffered }

// Takes reports whether the entry would accept units of a ticket type.
func (e *Entry) Takes(o *keeper.Offer) bool {
	return CanWait(o) && (e.Type == o.Keeper.ID || e.Type == 0 && o.Waitlist)
}

// CanWait reports whether units of a ticket type can be set aside for the waitlist. Seats can't,
// because the seat map decides which of them come free.
func CanWait(o *keeper.Offer) bool { return o.Revision > 0 && !o.Seated }

// Guard is what a ticket type is told: whether somebody waits for it (On). Whenever that changes, the Revision
// rises.
type Guard struct {
	Type     int64  `cbor:"1,keyasint"`
	On       bool   `cbor:"2,keyasint"`
	Revision uint64 `cbor:"3,keyasint"`
}

// guard is a Guard with what a crash may forget.
type guard struct {
	Guard
	seen bool  // whether the ticket type has acknowledged it
	told int64 // when the ticket type was told, unix milliseconds
}

// who identifies an entry by its customer and what they wait for.
type who struct {
	customer uint64
	typ      int64
}

// ask is the last try to offer units of a ticket type to somebody. It keeps the same units from
// being offered to two entries.
type ask struct {
	entry    engine.OrderID
	revision uint64 // the revision of the keeper.Offer that caused this try
	at       int64  // unix milliseconds
}

// Line is an event's waitlist. An event for which nobody has ever waited has a nil Line, and many
// methods take that.
type Line struct {
	Auto         bool
	OfferMinutes int64

	entries []*Entry // the entries that are alive, and those that ended last, by number
	joined  uint64   // how many entries there have ever been
	index   map[engine.OrderID]*Entry
	alive   map[who]*Entry
	units   map[int64]int64 // units that are waited for, by ticket type
	waiting int
	guards  []guard // what each ticket type was told, by its number

	due   bool // whether the line has to be looked at; volatile, as are the fields below
	asks  map[int64]ask
	holds []engine.OrderID // entries whose callers wait until the types are guarded
}

// New returns the line of an event for which nobody has ever waited.
func New() *Line {
	return &Line{
		Auto: true, OfferMinutes: DefaultOfferMinutes,
		index: make(map[engine.OrderID]*Entry), alive: make(map[who]*Entry), units: make(map[int64]int64), asks: make(map[int64]ask),
	}
}

// Find returns the entry with an id, or nil.
func (l *Line) Find(id engine.OrderID) *Entry {
	if l == nil {
		return nil
	}
	return l.index[id]
}

// findAlive returns the entry with which a customer is in line for a ticket type, or nil.
func (l *Line) findAlive(customer uint64, typ int64) *Entry {
	if l == nil {
		return nil
	}
	return l.alive[who{customer, typ}]
}

// Offered returns how many entries are offered something.
func (l *Line) Offered() int {
	if l == nil {
		return 0
	}
	return len(l.alive) - l.waiting
}

// isFull reports whether nobody else may join.
func (l *Line) isFull() bool { return l != nil && len(l.alive) >= MaxAlive }

// nextNumber returns the number of the next entry.
func (l *Line) nextNumber() uint64 {
	if l == nil {
		return 1
	}
	return l.joined + 1
}

// eachWaiting calls f for the waiting entries, the oldest first, until f returns false.
func (l *Line) eachWaiting(f func(*Entry) bool) {
	if l.waiting == 0 {
		return
	}
	for _, e := range l.entries {
		if e.Status == StatusWaiting && !f(e) {
			return
		}
	}
}

// listPage returns at most limit entries after a number, each with its place among the waiting entries,
// from 1; 0 if it does not wait.
func (l *Line) listPage(after uint64, limit int) []Placed {
	var out []Placed
	place := 0
	for _, e := range l.entries {
		if e.Status == StatusWaiting {
			place++
		}
		if e.Number <= after {
			continue
		}
		if len(out) == limit {
			break
		}
		p := Placed{Entry: *e}
		if e.Status == StatusWaiting {
			p.Position = place
		}
		out = append(out, p)
	}
	return out
}

// findPosition returns an entry's place among the waiting entries, from 1; 0 if it does not wait.
func (l *Line) findPosition(of *Entry) int {
	if of.Status != StatusWaiting {
		return 0
	}
	place := 1
	l.eachWaiting(func(e *Entry) bool {
		if e.Number < of.Number {
			place++
		}
		return e.Number < of.Number
	})
	return place
}

// Reserved returns how much of an event's capacity is kept for the waiting entries: what is set aside for them,
// but at most as many units as they want.
func (l *Line) Reserved(offers map[int64]keeper.Offer) int64 {
	if l == nil || l.waiting == 0 {
		return 0
	}
	var sum, wanted int64
	for i := range l.guards {
		if g := &l.guards[i]; g.On {
			sum += min(offers[g.Type].Free, l.units[g.Type]+l.units[0])
		}
	}
	for _, n := range l.units {
		wanted += n
	}
	return min(sum, wanted)
}

// put adds an entry, or replaces the entry with the same id, and keeps the counts. It may forget ended entries, and makes
// the line want to be looked at.
func (l *Line) put(e *Entry) {
	if was := l.index[e.ID]; was == nil {
		l.entries = append(l.entries, e)
		l.joined = max(l.joined, e.Number)
	} else {
		l.count(was, -1)
		i, _ := slices.BinarySearchFunc(l.entries, was.Number, func(e *Entry, n uint64) int { return cmp.Compare(e.Number, n) })
		l.entries[i] = e
	}
	l.index[e.ID] = e
	l.count(e, 1)
	l.forget()
	l.due = true
}

// count adds an entry to the counts, with n = 1, or takes it off them, with n = -1: entries and units that wait, and
// the one living entry of a customer for a ticket type (alive).
func (l *Line) count(e *Entry, n int) {
	if e.Status == StatusWaiting {
		l.waiting += n
		l.units[e.Type] += int64(n) * e.Quantity
		if l.units[e.Type] == 0 {
			delete(l.units, e.Type)
		}
	}
	if of := (who{e.Customer, e.Type}); e.alive() && n > 0 {
		l.alive[of] = e
	} else if n < 0 && l.alive[of] == e {
		delete(l.alive, of)
	}
}

// forget drops the oldest half of the ended entries if there are too many.
func (l *Line) forget() {
	over := len(l.entries) - len(l.alive) - maxEnded
	if over <= 0 {
		return
	}
	over += maxEnded / 2
	kept := make([]*Entry, 0, len(l.entries)-over)
	for _, e := range l.entries {
		if over > 0 && !e.alive() {
			over--
			delete(l.index, e.ID)
			continue
		}
		kept = append(kept, e)
	}
	l.entries = kept
}

// Stir makes the event's next Wake look at the line.
func (l *Line) Stir() {
	if l != nil {
		l.due = true
	}
}

// Judge updates the guards from the entries and the ticket types. A guard that changes gets a higher revision, and is to
// be told to its type. It makes the line want to be looked at in any case.
func (l *Line) Judge(offers map[int64]keeper.Offer) {
	if l == nil {
		return
	}
	for typ, o := range offers {
		on := CanWait(&o) && (l.units[typ] > 0 || l.units[0] > 0 && o.Waitlist)
		i, has := slices.BinarySearchFunc(l.guards, typ, func(g guard, t int64) int { return cmp.Compare(g.Type, t) })
		switch {
		case !has && on:
			l.guards = slices.Insert(l.guards, i, guard{Guard: Guard{Type: typ, On: true, Revision: 1}})
		case has && l.guards[i].On != on:
			l.guards[i] = guard{Guard: Guard{Type: typ, On: on, Revision: l.guards[i].Revision + 1}}
		}
	}
	l.due = true
}

// isGuarded reports whether all ticket types that an entry waits for have acknowledged that they sell
// to nobody else. seen is an acknowledgement that is not applied yet, or nil.
func (l *Line) isGuarded(e *Entry, offers map[int64]keeper.Offer, seen *keeper.AwaitSeen) bool {
	for _, o := range offers {
		if !e.Takes(&o) {
			continue
		}
		g := l.findGuard(o.Keeper.ID)
		if g == nil || !g.On || !g.seen && !g.isSeen(seen) {
			return false
		}
	}
	return true
}

// findGuard returns what a ticket type is told about people who wait for it, or nil if nobody has waited for it so
// far. l may be nil.
func (l *Line) findGuard(typ int64) *guard {
	if l == nil {
		return nil
	}
	for i := range l.guards {
		if l.guards[i].Type == typ {
			return &l.guards[i]
		}
	}
	return nil
}

func (g *guard) isSeen(c *keeper.AwaitSeen) bool {
	return c != nil && c.Keeper.ID == g.Type && c.Revision == g.Revision
}

// listUntold returns the guards that are to be told at a time.
func (l *Line) listUntold(now int64) []Guard {
	var out []Guard
	for _, g := range l.guards {
		if !g.seen && (g.told == 0 || now >= g.told+resendMillis) {
			out = append(out, g.Guard)
		}
	}
	return out
}

// listHeld returns the entries whose callers may be answered once the acknowledgement seen is applied.
func (l *Line) listHeld(offers map[int64]keeper.Offer, seen *keeper.AwaitSeen) []*Entry {
	var out []*Entry
	for _, id := range l.holds {
		if e := l.index[id]; e != nil && (e.Status != StatusWaiting || l.isGuarded(e, offers, seen)) {
			out = append(out, e)
		}
	}
	return out
}

// isReady reports whether free units of a ticket type may be offered to somebody now. If there was a try before, it must
// have come to its end, because its entry is older and must get the units first. Also, the type must have told the
// ledger something new since that try, or the try must be retryMillis old.
func (l *Line) isReady(o *keeper.Offer, now int64, pending func(engine.OrderID) bool) bool {
	a, asked := l.asks[o.Keeper.ID]
	return o.Free > 0 && (!asked || !pending(a.entry) && (o.Revision > a.revision || now >= a.at+retryMillis))
}

// Due returns when the line wants to be looked at, in unix milliseconds: 1 (at once) if something has changed, else the
// time to tell a ticket type again that has not acknowledged, or to try again to offer units that are free; 0 for
// never.
func (l *Line) Due(offers map[int64]keeper.Offer) int64 {
	if l == nil {
		return 0
	}
	if l.due {
		return 1
	}
	next := int64(0)
	consider := func(at int64) {
		if next == 0 || at < next {
			next = at
		}
	}
	for i := range l.guards {
		if g := &l.guards[i]; !g.seen {
			consider(g.told + resendMillis)
		}
	}
	if l.waiting > 0 {
		for typ, a := range l.asks {
			if offers[typ].Free > 0 {
				consider(a.at + retryMillis)
			}
		}
	}
	return next
}

// Check returns the first broken invariant, or nil: entries are in the order of their numbers, the counts are right, and
// of the ticket types in offers exactly those are guarded for which somebody may wait (CanWait) and does.
func (l *Line) Check(offers map[int64]keeper.Offer) error {
	if l == nil {
		return nil
	}
	waiting, alive, units := 0, 0, make(map[int64]int64)
	for i, e := range l.entries {
		if l.index[e.ID] != e || i > 0 && e.Number <= l.entries[i-1].Number {
			return fmt.Errorf("waitlist: entry %d is out of place", e.Number)
		}
		if e.Status == StatusWaiting {
			waiting++
			units[e.Type] += e.Quantity
		}
		if e.alive() {
			alive++
		}
	}
	if waiting != l.waiting || alive != len(l.alive) || len(l.index) != len(l.entries) {
		return fmt.Errorf("waitlist: %d of %d wait, counted %d of %d", waiting, alive, l.waiting, len(l.alive))
	}
	for typ, o := range offers {
		on := CanWait(&o) && (units[typ] > 0 || units[0] > 0 && o.Waitlist)
		if g := l.findGuard(typ); (g != nil && g.On) != on {
			return fmt.Errorf("waitlist: ticket type %d is guarded %t, not %t", typ, !on, on)
		}
	}
	return nil
}

// OfCustomer lists the entries of an address, by its hash.
func (l *Line) OfCustomer(customer uint64) (entries []*Entry) {
	if l == nil {
		return nil
	}
	for _, e := range l.entries {
		if e.Customer == customer {
			entries = append(entries, e)
		}
	}
	return entries
}

// Erase replaces a customer's address by a pseudonym, and drops the name. The hash of the address stays.
func (l *Line) Erase(customer uint64, pseudonym string) {
	for _, e := range l.OfCustomer(customer) {
		c := *e
		c.Email, c.Name = pseudonym, ""
		l.put(&c)
	}
}
