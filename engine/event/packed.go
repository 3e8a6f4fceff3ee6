package event

import (
	"encoding/binary"
	"errors"

	"boxoffice/engine"
)

// The ledger keeps an order as one text: the garbage collector then has nothing to
// look into, however many orders are open, and a snapshot copies them as they are
// (paged.Texts).
//
// A record is the number of its fields and the fields: varints, hashes of eight
// bytes, texts and lists behind their length. Fields are appended, never moved
// or dropped: what was packed before a field was there is read without it.
//
// A field that is appended from now on stands behind its length in bytes (a text
// does already; later writes any other). A release that does not know the
// field skips it by that length, so that an event may move from a node of a newer
// release to one of an older one, as in a rolling restart. What the older node
// packs again lacks the field.

// errPacked says that a string is not a packed order.
var errPacked = errors.New("event: a packed order is broken")

// packing goes over an order's fields, to write them or to read them.
type packing struct {
	out     []byte
	in      string
	reading bool
	broken  bool
	record  // the one being gone over
}

// record says how much of a record is still to be read.
type record struct {
	left    uint64 // fields that this release knows
	unknown uint64 // fields after those, which only newer releases know
}

// pack appends the order's bytes.
func (o *Order) pack(b []byte) []byte {
	p := packing{out: b}
	o.packed(&p)
	return p.out
}

// unpack returns the order of a packed string, whose memory its texts share.
func unpack(s string) (*Order, error) {
	p := packing{in: s, reading: true}
	o := new(Order)
	if o.packed(&p); p.broken || p.in != "" {
		return nil, errPacked
	}
	return o, nil
}

// packedHead is an order with its first fields only.
func packedHead(s string) (o Order) {
	p := packing{in: s, reading: true}
	p.begin(orderFields)
	o.packedHead(&p)
	return o
}

const orderFields = 24

// packed is, with packedHead, the one list of an order's fields.
func (o *Order) packed(p *packing) {
	outer := p.begin(orderFields)
	o.packedHead(p)
	p.text(&o.Email)
	p.text(&o.Name)
	p.hash(&o.Customer)
	list(p, &o.Lines, (*OrderLine).packed)
	p.text(&o.Currency)
	p.number(&o.Subtotal)
	p.number(&o.Fees)
	p.number(&o.Absorbed)
	p.number(&o.Total)
	p.number(&o.CreatedAt)
	p.number(&o.ExpiresAt)
	p.number(&o.UpdatedAt)
	p.number(&o.EndedAt)
	first := uint64(o.FirstTicket)
	p.unsigned(&first)
	o.FirstTicket = uint32(first) //nolint:gosec // it was one
	list(p, &o.Attempts, (*Attempt).packed)
	list(p, &o.Refunds, (*Refund).packed)
	p.flag(&o.Extended)
	p.number(&o.PlacedUntil)
	p.hash(&o.Client)
	optional(p, &o.Shopper, (*Shopper).packed)
	p.end(outer)
}

func (o *Order) packedHead(p *packing) {
	p.id(&o.ID)
	p.unsigned((*uint64)(&o.Serial))
	p.hash(&o.Fingerprint)
	p.text(&o.Status)
}

func (s *Shopper) packed(p *packing) {
	outer := p.begin(2)
	p.text(&s.Holder)
	p.hash(&s.Principal)
	p.end(outer)
}

func (l *OrderLine) packed(p *packing) {
	outer := p.begin(7)
	p.number(&l.Type)
	p.text(&l.Name)
	p.number(&l.Quantity)
	p.number(&l.UnitPrice)
	p.text(&l.AttendeeName)
	p.text(&l.AttendeeEmail)
	list(p, &l.Seats, func(s *string, p *packing) { p.text(s) })
	p.end(outer)
}

func (a *Attempt) packed(p *packing) {
	outer := p.begin(7)
	p.text(&a.Reference)
	p.text(&a.Provider)
	p.text(&a.Status)
	p.number(&a.Amount)
	p.number(&a.Received)
	p.text(&a.URL)
	p.number(&a.At)
	p.end(outer)
}

func (r *Refund) packed(p *packing) {
	outer := p.begin(7)
	p.text(&r.Reference)
	p.number(&r.Amount)
	p.text(&r.Reason)
	p.text(&r.Status)
	p.text(&r.ProviderRef)
	p.number(&r.At)
	p.number(&r.ProcessedAt)
	p.end(outer)
}

// begin starts a record of which this release knows so many fields. It returns the
// record around it, which end goes back to.
func (p *packing) begin(fields uint64) (outer record) {
	outer = p.record
	if !p.reading {
		p.out = binary.AppendUvarint(p.out, fields)
		return outer
	}
	there := p.length()
	p.record = record{left: min(there, fields), unknown: there - min(there, fields)}
	return outer
}

// end ends a record, and skips the fields that this release does not know.
func (p *packing) end(outer record) {
	for ; p.unknown > 0 && !p.broken; p.unknown-- {
		p.take(p.length())
	}
	p.record = outer
}

// later goes over a field that was appended after releases were out that do not
// know it: each writes or reads it behind its length.
func later(p *packing, each func(p *packing)) {
	if !p.reading {
		var field packing
		each(&field)
		p.out = append(binary.AppendUvarint(p.out, uint64(len(field.out))), field.out...)
	} else if p.reads() {
		field := packing{in: p.take(p.length()), reading: true, broken: p.broken, record: record{left: 1}}
		each(&field)
		p.broken = field.broken || field.in != ""
	}
}

// reads says whether a field is to be read. One that the record ends before is
// left as it is.
func (p *packing) reads() bool {
	if !p.reading || p.left == 0 {
		return false
	}
	p.left--
	return true
}

func (p *packing) unsigned(n *uint64) {
	if !p.reading {
		p.out = binary.AppendUvarint(p.out, *n)
	} else if p.reads() {
		*n = p.length()
	}
}

func (p *packing) number(n *int64) {
	zigzag := uint64(*n)<<1 ^ uint64(*n>>63)
	p.unsigned(&zigzag)
	*n = int64(zigzag>>1) ^ -int64(zigzag&1)
}

func (p *packing) hash(n *uint64) {
	if !p.reading {
		p.out = binary.LittleEndian.AppendUint64(p.out, *n)
	} else if p.reads() {
		var b [8]byte
		copy(b[:], p.take(8))
		*n = binary.LittleEndian.Uint64(b[:])
	}
}

func (p *packing) id(id *engine.OrderID) {
	if !p.reading {
		p.out = append(p.out, id[:]...)
	} else if p.reads() {
		copy(id[:], p.take(uint64(len(id))))
	}
}

func (p *packing) text(s *string) {
	if !p.reading {
		p.out = append(binary.AppendUvarint(p.out, uint64(len(*s))), *s...)
	} else if p.reads() {
		*s = p.take(p.length())
	}
}

func (p *packing) flag(b *bool) {
	var n uint64
	if *b {
		n = 1
	}
	p.unsigned(&n)
	*b = n != 0
}

// list goes over a list whose elements are gone over by each.
func list[T any](p *packing, of *[]T, each func(*T, *packing)) {
	n := uint64(len(*of))
	if p.unsigned(&n); n > uint64(len(p.in)) && p.reading {
		p.broken = true
		return
	}
	if p.reading && n > 0 {
		*of = make([]T, n)
	}
	for i := range *of {
		outer := p.record
		p.record = record{left: 1} // for an element that is no record
		each(&(*of)[i], p)
		p.record = outer
	}
}

// optional goes over a record that may be missing.
func optional[T any](p *packing, of **T, each func(*T, *packing)) {
	there := *of != nil
	if p.flag(&there); !there {
		return
	}
	if p.reading {
		*of = new(T)
	}
	each(*of, p)
}

// length reads a varint.
func (p *packing) length() uint64 {
	var n uint64
	for shift := 0; shift < 64 && shift/7 < len(p.in); shift += 7 {
		c := p.in[shift/7]
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			p.in = p.in[shift/7+1:]
			return n
		}
	}
	p.broken, p.in = true, ""
	return 0
}

// take reads so many bytes.
func (p *packing) take(n uint64) string {
	if n > uint64(len(p.in)) {
		p.broken, p.in = true, ""
		return ""
	}
	s := p.in[:n]
	p.in = p.in[n:]
	return s
}
