package keeper

import (
	"fmt"

	"boxoffice/engine"
)

// Held is one open reservation. It is never changed, only replaced.
type Held struct {
	Claim    Claim  `cbor:"1,keyasint"`
	At       int64  `cbor:"2,keyasint"` // unix milliseconds
	Quantity int64  `cbor:"3,keyasint"`
	Customer uint64 `cbor:"4,keyasint"`
}

// Book is a keeper's open reservations and the serials that have ended.
type Book struct {
	held  []*Held
	index map[engine.OrderID]int32
	ended serials
	floor Serial

	barred    serials   // volatile from here on: ended before their Reserve came
	inquiries []inquiry // by due time
	confirmed map[Claim]struct{}
}

// inquiry is a reservation to ask about when due, unless confirmed by then.
type inquiry struct {
	claim Claim
	due   int64
}

// NewBook is an empty book.
func NewBook() Book {
	return Book{
		index:     make(map[engine.OrderID]int32),
		ended:     make(serials),
		barred:    make(serials),
		confirmed: make(map[Claim]struct{}),
	}
}

// Standing is what a book says of a claim.
type Standing uint8

// What a book may say of a claim.
const (
	Unknown  Standing = iota // never seen
	Open                     // reserved, not ended
	Replaces                 // the same order is held under an earlier serial
	Ended                    // committed, released or given up: any message about it is late
	Barred                   // to be released before it was reserved: it must not be any more
)

// Standing judges a claim. For Open and Replaces it returns what is held.
func (b *Book) Standing(c Claim) (Standing, *Held) {
	var h *Held
	if i, ok := b.index[c.Order]; ok {
		h = b.held[i]
	}
	switch {
	case h != nil && h.Claim.Serial == c.Serial:
		return Open, h
	case c.Serial < b.floor || b.ended.has(c.Serial) || h != nil && h.Claim.Serial > c.Serial:
		return Ended, nil
	case b.barred.has(c.Serial):
		return Barred, nil
	case h != nil:
		return Replaces, h
	default:
		return Unknown, nil
	}
}

// Due is when the next inquiry is due in unix milliseconds, or 0 for never.
func (b *Book) Due() int64 {
	if len(b.inquiries) == 0 {
		return 0
	}
	return b.inquiries[0].due
}

// Inquire returns the reservations to ask about at now and the volatile fact
// that says so, or nil when none is due.
func (b *Book) Inquire(now int64) ([]Claim, *InquiredFact) {
	var ask []Claim
	n := 0
	for _, q := range b.inquiries {
		if q.due > now || len(ask) == MaxInquire {
			break
		}
		n++
		if b.wants(q.claim) {
			ask = append(ask, q.claim)
		}
	}
	if n == 0 {
		return nil, nil
	}
	return ask, &InquiredFact{N: n, At: now}
}

// wants says whether the claim is still open and unconfirmed.
func (b *Book) wants(c Claim) bool {
	if _, ok := b.confirmed[c]; ok {
		return false
	}
	i, ok := b.index[c.Order]
	return ok && b.held[i].Claim == c
}

// Reserve applies a ReservedFact and returns the reservation it replaced.
func (b *Book) Reserve(f *ReservedFact) (replaced *Held) {
	h := &Held{Claim: f.Claim, At: f.At, Quantity: f.Quantity, Customer: f.Customer}
	if i, ok := b.index[f.Claim.Order]; ok {
		replaced = b.held[i]
		b.held[i] = h
		b.end(replaced.Claim)
	} else {
		b.index[f.Claim.Order] = int32(len(b.held))
		b.held = append(b.held, h)
	}
	b.inquire(f.Claim, inquireAt(f.At))
	b.raise(f.Floor)
	return replaced
}

// End applies the end of a reservation and returns what it had held.
func (b *Book) End(c Claim, floor Serial) *Held {
	var h *Held
	if i, ok := b.index[c.Order]; ok && b.held[i].Claim == c {
		h = b.held[i]
		last := len(b.held) - 1
		b.held[i] = b.held[last]
		b.index[b.held[i].Claim.Order] = i
		b.held[last] = nil
		b.held = b.held[:last]
		delete(b.index, c.Order)
	}
	b.end(c)
	b.raise(floor)
	return h
}

func (b *Book) end(c Claim) {
	delete(b.confirmed, c)
	b.ended.add(c.Serial)
}

// raise forgets the ended serials below the ledger's floor.
func (b *Book) raise(floor Serial) {
	if floor <= b.floor {
		return
	}
	if floor>>serialBits != b.floor>>serialBits {
		b.ended.forget(floor)
		b.barred.forget(floor)
	}
	b.floor = floor
}

// Bar applies a BarredFact.
func (b *Book) Bar(f *BarredFact) { b.barred.add(f.Claim.Serial) }

// Confirm applies a ConfirmedFact.
func (b *Book) Confirm(f *ConfirmedFact) {
	for _, c := range f.Claims {
		if b.wants(c) {
			b.confirmed[c] = struct{}{}
		}
	}
}

// Inquired applies an InquiredFact: those asked about are asked again later.
func (b *Book) Inquired(f *InquiredFact) {
	asked := b.inquiries[:f.N]
	b.inquiries = b.inquiries[f.N:]
	for _, q := range asked {
		if b.wants(q.claim) {
			b.inquire(q.claim, inquireAt(f.At))
		}
	}
}

// inquireAt is when to ask about what was reserved or asked about at a time.
// Many fall on one moment, so that a keeper wakes seldom.
func inquireAt(at int64) int64 {
	due := at + InquireAfterMillis + inquireGrain - 1
	return due - due%inquireGrain
}

// inquire has the claim asked about when due. It is the last in the queue,
// unless a clock has jumped.
func (b *Book) inquire(c Claim, due int64) {
	b.inquiries = append(b.inquiries, inquiry{c, due})
	for i := len(b.inquiries) - 1; i > 0 && b.inquiries[i-1].due > due; i-- {
		b.inquiries[i-1], b.inquiries[i] = b.inquiries[i], b.inquiries[i-1]
	}
}

// Len is the number of open reservations.
func (b *Book) Len() int { return len(b.held) }

// Quantity is the sum of what is reserved.
func (b *Book) Quantity() int64 {
	var sum int64
	for _, h := range b.held {
		sum += h.Quantity
	}
	return sum
}

// Each calls f for every open reservation, in no promised order.
func (b *Book) Each(f func(*Held)) {
	for _, h := range b.held {
		f(h)
	}
}

// FrozenBook is a book's snapshot.
type FrozenBook struct {
	Held  []*Held               `cbor:"1,keyasint"`
	Ended engine.Column[uint64] `cbor:"2,keyasint"` // word, bits, word, bits, ...
	Floor Serial                `cbor:"3,keyasint"`
}

// Freeze copies what is not volatile.
func (b *Book) Freeze() FrozenBook {
	return FrozenBook{Held: append([]*Held(nil), b.held...), Ended: b.ended.freeze(), Floor: b.floor}
}

// Thaw is the book of a snapshot; every reservation is to be confirmed anew.
func Thaw(f FrozenBook) Book {
	b := NewBook()
	for _, h := range f.Held {
		b.index[h.Claim.Order] = int32(len(b.held))
		b.held = append(b.held, h)
		b.inquiries = append(b.inquiries, inquiry{h.Claim, inquireAt(h.At)})
	}
	sortInquiries(b.inquiries)
	for i := 0; i+1 < len(f.Ended); i += 2 {
		b.ended[f.Ended[i]] = f.Ended[i+1]
	}
	b.floor = f.Floor
	return b
}

// Check returns the first broken invariant of the book.
func (b *Book) Check() error {
	if len(b.held) != len(b.index) {
		return fmt.Errorf("book: %d held, %d indexed", len(b.held), len(b.index))
	}
	for i, h := range b.held {
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
