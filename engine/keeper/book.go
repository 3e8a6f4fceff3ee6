package keeper

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/paged"
)

// Held is one open reservation: what a keeper has set aside for an order.
type Held struct {
	Claim    Claim  `cbor:"1,keyasint"`
	At       int64  `cbor:"2,keyasint"` // unix milliseconds
	Quantity int64  `cbor:"3,keyasint"`
	Customer uint64 `cbor:"4,keyasint"`
}

// Book is what a keeper remembers of the reservation protocol with one ledger: the open
// reservations, and which serials have ended. Serials are never used again, so a message about an
// ended one comes late and has no effect.
type Book struct {
	// index has the place of each order's reservation in held. An order has at most one.
	held  paged.Rows[Held]
	index map[engine.OrderID]int32
	ended serials
	floor Serial

	barred    serials              // volatile, as are the fields below: serials that ended before their Reserve came
	inquiries paged.Queue[inquiry] // reservations to ask about, by due time
	rest      int64                // no inquiry is sent before this, unix milliseconds
	confirmed map[Claim]struct{}
}

// inquiry is a reservation that the keeper asks its ledger about at the time due (unix
// milliseconds), unless the ledger has confirmed it by then.
type inquiry struct {
	claim Claim
	due   int64
}

// NewBook returns an empty book.
func NewBook() Book {
	return Book{
		index:     make(map[engine.OrderID]int32),
		ended:     make(serials),
		barred:    make(serials),
		confirmed: make(map[Claim]struct{}),
	}
}

// ClaimState is what a book knows of a claim.
type ClaimState uint8

// These are the states that a claim may have in a book.
const (
	Unknown  ClaimState = iota // never seen
	Open                       // reserved, not ended
	Replaces                   // the same order is held under an earlier serial
	Ended                      // committed, released, replaced by a later serial, or below the floor; any message about it comes late
	Barred                     // released before its Reserve came; it must not be reserved any more
)

// Look returns the state of a claim. For Open and Replaces it also returns what is held. The order
// of the cases matters: a serial that has ended stays so, even if the same order is held again.
func (b *Book) Look(c Claim) (ClaimState, Held) {
	var h Held
	i, held := b.index[c.Order]
	if held {
		h = b.held.At(int(i))
	}
	switch {
	case held && h.Claim.Serial == c.Serial:
		return Open, h
	case c.Serial < b.floor || b.ended.has(c.Serial) || held && h.Claim.Serial > c.Serial:
		return Ended, Held{}
	case b.barred.has(c.Serial):
		return Barred, Held{}
	case held:
		return Replaces, h
	default:
		return Unknown, Held{}
	}
}

// isSuperseded reports whether a claim counts as ended only because its order is held under a later
// serial. Nothing else in the book says that this claim is over.
func (b *Book) isSuperseded(c Claim) bool {
	i, held := b.index[c.Order]
	return held && b.held.At(int(i)).Claim.Serial > c.Serial && c.Serial >= b.floor && !b.ended.has(c.Serial) && !b.barred.has(c.Serial)
}

// Due returns when the next inquiry is due in unix milliseconds, or 0 if there is none.
func (b *Book) Due() int64 {
	if b.inquiries.Len() == 0 {
		return 0
	}
	return max(b.inquiries.At(0).due, b.rest)
}

// mostLooked is how many entries of the queue one Inquire looks at, at most. It is more than MaxInquire,
// because most entries are about reservations that have ended, and are skipped.
const mostLooked = 8 * MaxInquire

// Inquire returns the reservations to ask the ledger about now, and the volatile fact that notes the question.
// The fact is nil if no inquiry is due. There is a fact without reservations if all that were due have ended or
// were confirmed.
func (b *Book) Inquire(now int64) ([]Claim, *InquiredFact) {
	var ask []Claim
	n := 0
	for b.rest <= now && n < min(b.inquiries.Len(), mostLooked) && len(ask) < MaxInquire {
		q := b.inquiries.At(n)
		if q.due > now {
			break
		}
		n++
		if b.isWanted(q.claim) {
			ask = append(ask, q.claim)
		}
	}
	if n == 0 {
		return nil, nil
	}
	return ask, &InquiredFact{N: n, At: now}
}

// isWanted reports whether a claim is still open and unconfirmed, so that it must be asked about.
func (b *Book) isWanted(c Claim) bool {
	if _, ok := b.confirmed[c]; ok {
		return false
	}
	i, ok := b.index[c.Order]
	return ok && b.held.At(int(i)).Claim == c
}

// Reserve applies a ReservedFact. It returns the reservation of the same order that the new one has
// replaced, if there was one.
func (b *Book) Reserve(f *ReservedFact) (old Held, replaced bool) {
	h := Held{Claim: f.Claim, At: f.At, Quantity: f.Quantity, Customer: f.Customer}
	i, replaced := b.index[f.Claim.Order]
	if replaced {
		old = b.held.At(int(i))
		b.held.Set(int(i), h)
		b.endClaim(old.Claim)
	} else {
		b.index[f.Claim.Order] = int32(b.held.Len())
		b.held.Append(h)
	}
	b.planInquiry(f.Claim, inquireAt(f.At))
	b.raiseFloor(f.Floor)
	return old, replaced
}

// End applies the end of a reservation, and returns what it had held, if it was open. The serial
// counts as ended in any case.
func (b *Book) End(c Claim, floor Serial) (h Held, open bool) {
	i, ok := b.index[c.Order]
	if ok {
		h = b.held.At(int(i))
	}
	if open = ok && h.Claim == c; open {
		// Remove puts the last reservation at i, so the index of its order changes. That may be
		// the same order, so its own entry goes last.
		b.index[b.held.Remove(int(i)).Claim.Order] = i
		delete(b.index, c.Order)
	}
	b.endClaim(c)
	b.raiseFloor(floor)
	return h, open
}

// endClaim notes that a claim's serial has ended.
func (b *Book) endClaim(c Claim) {
	delete(b.confirmed, c)
	b.ended.add(c.Serial)
}

// raiseFloor notes the ledger's floor. Everything below the floor has ended, so single serials
// below it need not be remembered.
func (b *Book) raiseFloor(floor Serial) {
	if floor <= b.floor {
		return
	}
	// Serials are forgotten by whole words, so there is nothing to forget until the floor enters another word.
	if floor>>serialBits != b.floor>>serialBits {
		b.ended.forget(floor)
		b.barred.forget(floor)
	}
	b.floor = floor
}

// applyBarred applies a BarredFact.
func (b *Book) applyBarred(f *BarredFact) { b.barred.add(f.Claim.Serial) }

// applyConfirmed applies a ConfirmedFact.
func (b *Book) applyConfirmed(f *ConfirmedFact) {
	for _, c := range f.Claims {
		if b.isWanted(c) {
			b.confirmed[c] = struct{}{}
		}
	}
}

// applyInquired applies an InquiredFact. Reservations that were asked about get a new inquiry
// later, in case no answer comes.
func (b *Book) applyInquired(f *InquiredFact) {
	// If this many were due, there are probably many more, and the ledger must not get them all at once.
	if f.N >= MaxInquire {
		b.rest = f.At + inquireRest
	}
	for range f.N {
		q := b.inquiries.At(0)
		b.inquiries.Drop(1)
		if b.isWanted(q.claim) {
			b.planInquiry(q.claim, inquireAt(f.At))
		}
	}
}

// inquireAt returns when to ask about a reservation that was made, or asked about, at a time. It
// rounds up to the grain, so that many inquiries fall on one moment and a keeper wakes seldom.
func inquireAt(at int64) int64 {
	due := at + InquireAfterMillis + inquireGrain - 1
	return due - due%inquireGrain
}

// planInquiry adds an inquiry about a claim to the queue, which stays sorted by due time. The new
// one mostly belongs at the end, and elsewhere only if a clock has jumped.
func (b *Book) planInquiry(c Claim, due int64) {
	one := inquiry{c, due}
	b.inquiries.Push(one)
	for i := b.inquiries.Len() - 1; i > 0 && b.inquiries.At(i-1).due > due; i-- {
		b.inquiries.Set(i, b.inquiries.At(i-1))
		b.inquiries.Set(i-1, one)
	}
}

// Held returns an order's open reservation.
func (b *Book) Held(id engine.OrderID) (h Held, open bool) {
	i, open := b.index[id]
	if open {
		h = b.held.At(int(i))
	}
	return h, open
}

// Len returns the number of open reservations.
func (b *Book) Len() int { return b.held.Len() }

// Quantity returns the sum of what is reserved.
func (b *Book) Quantity() int64 {
	var sum int64
	for h := range b.held.All() {
		sum += h.Quantity
	}
	return sum
}

// Each calls f for every open reservation, in no fixed order.
func (b *Book) Each(f func(Held)) {
	for h := range b.held.All() {
		f(h)
	}
}

// FrozenBook is a book's snapshot. It lacks what is volatile: inquiries are planned again, and
// reservations count as unconfirmed.
type FrozenBook struct {
	Held  []*Held              `cbor:"1,keyasint,omitempty"` // open reservations in old snapshots; newer snapshots have Pages
	Ended paged.Column[uint64] `cbor:"2,keyasint"`           // pairs of a word's number and its bits, one bit for each serial that has ended
	Floor Serial               `cbor:"3,keyasint"`
	Pages []HeldPage           `cbor:"4,keyasint"`
}

// isBlank reports whether the book contains nothing that came from the journal.
func (f *FrozenBook) isBlank() bool { return f.Floor == 0 && len(f.Pages) == 0 && len(f.Ended) == 0 }

// HeldPage is a list of reservations in a snapshot, encoded as one string of bytes, 48 for each.
type HeldPage []Held

// heldSize is the size of an encoded reservation.
const heldSize = len(engine.OrderID{}) + 4*8

// MarshalBinary encodes the page.
func (p HeldPage) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, len(p)*heldSize)
	for i := range p {
		h := &p[i]
		b = append(b, h.Claim.Order[:]...)
		for _, n := range [...]uint64{uint64(h.Claim.Serial), uint64(h.At), uint64(h.Quantity), h.Customer} { //nolint:gosec // bit by bit
			b = binary.LittleEndian.AppendUint64(b, n)
		}
	}
	return b, nil
}

// UnmarshalBinary decodes the page. It returns an error if the length is wrong.
func (p *HeldPage) UnmarshalBinary(b []byte) error {
	if len(b)%heldSize != 0 {
		return fmt.Errorf("keeper: a page of reservations has %d bytes", len(b))
	}
	*p = make(HeldPage, len(b)/heldSize)
	for i := range *p {
		h := &(*p)[i]
		b = b[copy(h.Claim.Order[:], b):]
		next := func() uint64 {
			n := binary.LittleEndian.Uint64(b)
			b = b[8:]
			return n
		}
		h.Claim.Serial = Serial(next())
		h.At, h.Quantity, h.Customer = int64(next()), int64(next()), next() //nolint:gosec // bit by bit
	}
	return nil
}

// Freeze returns a copy of everything that is not volatile.
func (b *Book) Freeze() FrozenBook {
	f := FrozenBook{Ended: b.ended.freeze(), Floor: b.floor}
	for _, page := range b.held.Freeze() {
		f.Pages = append(f.Pages, page)
	}
	return f
}

// Thaw returns the book that a snapshot describes. No reservation counts as confirmed, so each of
// them is asked about again.
func Thaw(f FrozenBook) Book {
	b := NewBook()
	for _, h := range f.Held {
		b.thaw(*h)
	}
	for _, page := range f.Pages {
		for _, h := range page {
			b.thaw(h)
		}
	}
	for _, q := range sortInquiries(b.held.All()) {
		b.inquiries.Push(q)
	}
	for i := 0; i+1 < len(f.Ended); i += 2 {
		b.ended[f.Ended[i]] = f.Ended[i+1]
	}
	b.floor = f.Floor
	return b
}

// thaw adds one reservation from a snapshot.
func (b *Book) thaw(h Held) {
	b.index[h.Claim.Order] = int32(b.held.Len())
	b.held.Append(h)
}

// sortInquiries returns the inquiries about reservations, sorted by due time.
func sortInquiries(held iter.Seq[Held]) []inquiry {
	var qs []inquiry
	for h := range held {
		qs = append(qs, inquiry{h.Claim, inquireAt(h.At)})
	}
	slices.SortStableFunc(qs, func(a, b inquiry) int { return cmp.Compare(a.due, b.due) })
	return qs
}

// Check returns the first broken invariant of the book, or nil.
func (b *Book) Check() error {
	if b.held.Len() != len(b.index) {
		return fmt.Errorf("book: %d held, %d indexed", b.held.Len(), len(b.index))
	}
	for i := range b.held.Len() {
		h := b.held.At(i)
		if j, ok := b.index[h.Claim.Order]; !ok || int(j) != i {
			return fmt.Errorf("book: order %s is indexed at %d, not %d", h.Claim.Order, j, i)
		}
		if b.ended.has(h.Claim.Serial) {
			return fmt.Errorf("book: order %s is held and ended", h.Claim.Order)
		}
		if h.Quantity < 1 {
			return fmt.Errorf("book: order %s holds %d", h.Claim.Order, h.Quantity)
		}
	}
	return nil
}
