package order

import (
	"encoding/binary"
	"errors"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// The ledger keeps an order as one text. So the garbage collector finds no pointers to follow,
// however many orders are open, and a snapshot copies the texts as they are (paged.Texts).
//
// A record is the number of its fields followed by the fields: varints, hashes of eight bytes, and
// texts and lists, each after its length. Fields are appended, never moved or dropped. A text from
// before a field existed is read without that field.
//
// A field that is appended from now on is written after its length in bytes (a text is anyway;
// later writes any other field). A release that does not know the field skips it by that length. So
// an event may move from a node of a newer release to one of an older release, as in a rolling
// restart. An order that the older node packs again lacks the field.

// ErrPacked says that a string is not a packed order.
var ErrPacked = errors.New("order: a packed order is broken")

// packing goes through an order's fields, either to write or to read them.
type packing struct {
	out     []byte
	in      string
	reading bool
	broken  bool
	record  // the record that is being written or read
}

// record says how much of a record is still to be read.
type record struct {
	left    uint64 // fields left that this release knows
	unknown uint64 // fields after those, which only newer releases know
}

// Pack appends the order's bytes.
func (o *Order) Pack(b []byte) []byte {
	p := packing{out: b}
	o.packed(&p)
	return p.out
}

// Unpack returns the order of a packed string. The order's texts share the string's memory.
func Unpack(s string) (*Order, error) {
	p := packing{in: s, reading: true}
	o := new(Order)
	if o.packed(&p); p.broken || p.in != "" {
		return nil, ErrPacked
	}
	return o, nil
}

// UnpackHead returns an order with only its first fields.
func UnpackHead(s string) (o Order) {
	p := packing{in: s, reading: true}
	p.begin(orderFields)
	o.packedHead(&p)
	return o
}

// These are the numbers of fields that a record may have, and that every record has. A plain order
// does not pay for the other fields, because fields are written only up to the last one in use.
const (
	orderFields = 33
	plainOrder  = 24
	lineFields  = 10
	plainLine   = 7

	refundFields = 10
	askedRefund  = 8
	plainRefund  = 7
)

// countFields returns how many of its fields a refund is packed with.
func (r *Refund) countFields() uint64 {
	switch {
	case r.isApart():
		return refundFields
	case r.Ask != nil:
		return askedRefund
	}
	return plainRefund
}

// countFields returns how many of its fields an order is packed with.
func (o *Order) countFields() uint64 {
	if o.Discount != 0 || o.Promo != nil || o.Digital || o.Holders != nil || o.Issue != nil || o.WaivedAt != 0 || o.Rescheduled != nil || o.Language != "" || o.Extensions != 0 {
		return orderFields
	}
	return plainOrder
}

// countFields returns how many of its fields a line is packed with.
func (l *Line) countFields() uint64 {
	if l.Discount != 0 || l.Visit != nil || l.Terms != nil {
		return lineFields
	}
	return plainLine
}

// packed goes through an order's fields. With packedHead it is the only list of them.
func (o *Order) packed(p *packing) {
	n := p.fields(o.countFields(), orderFields)
	outer := p.begin(n)
	o.packedHead(p)
	p.text(&o.Email)
	p.text(&o.Name)
	p.hash(&o.Customer)
	list(p, &o.Lines, (*Line).packed)
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
	o.FirstTicket = uint32(first) //nolint:gosec // it was a uint32 when it was packed
	list(p, &o.Attempts, (*Attempt).packed)
	list(p, &o.Refunds, (*Refund).packed)
	p.flag(&o.Extended)
	p.number(&o.PlacedUntil)
	p.hash(&o.Client)
	optional(p, &o.Shopper, (*Shopper).packed)
	if n > plainOrder {
		later(p, func(p *packing) { optional(p, &o.Promo, (*Promo).packed) })
		later(p, func(p *packing) { p.number(&o.Discount) })
		later(p, func(p *packing) { p.flag(&o.Digital) })
		later(p, func(p *packing) { list(p, &o.Holders, (*Holder).packed) })
		later(p, func(p *packing) { optional(p, &o.Issue, (*Issue).packed) })
		later(p, func(p *packing) { p.number(&o.WaivedAt) })
		later(p, func(p *packing) { list(p, &o.Rescheduled, (*Rescheduled).packed) })
		p.text(&o.Language)
		later(p, func(p *packing) { p.number(&o.Extensions) })
	}
	p.end(outer)
}

func (r *Promo) packed(p *packing) {
	outer := p.begin(5)
	packRef(&r.Ref, p)
	p.text(&r.Code)
	optional(p, &r.Terms, packDiscount)
	p.end(outer)
}

// packRef goes through the three fields of a Ref.
func packRef(r *engine.Ref, p *packing) {
	kind := uint64(r.Kind)
	p.unsigned(&kind)
	r.Kind = engine.Kind(kind) //nolint:gosec // it was a Kind when it was packed
	p.number(&r.Home)
	p.number(&r.ID)
}

func (s *Issue) packed(p *packing) {
	outer := p.begin(8)
	p.flag(&s.Comp)
	p.text(&s.Reference)
	p.flag(&s.Quiet)
	p.number(&s.Fee)
	p.text(&s.Note)
	packRef(&s.Wallet, p)
	p.end(outer)
}

func (h *Holder) packed(p *packing) {
	outer := p.begin(4)
	ticket, version := uint64(h.Ticket), uint64(h.Version)
	p.unsigned(&ticket)
	p.unsigned(&version)
	h.Ticket, h.Version = uint32(ticket), byte(version) //nolint:gosec // they were of these types when packed
	p.text(&h.Email)
	p.text(&h.Name)
	p.end(outer)
}

func (r *Rescheduled) packed(p *packing) {
	outer := p.begin(5)
	ticket := uint64(r.Ticket)
	p.unsigned(&ticket)
	r.Ticket = uint32(ticket) //nolint:gosec // it was a uint32 when it was packed
	packVisit(&r.Visit, p)
	packBooking(&r.From, p)
	p.unsigned((*uint64)(&r.Serial))
	p.flag(&r.Settled)
	p.end(outer)
}

func packBooking(b *keeper.Booking, p *packing) {
	outer := p.begin(5)
	date, line := int64(b.Date), int64(b.Line)
	p.number(&date)
	p.number(&line)
	b.Date, b.Line = keeper.Day(date), int(line) //nolint:gosec // they were of these types when packed
	p.text(&b.Slot)
	p.number(&b.Units)
	p.flag(&b.Within)
	p.end(outer)
}

func packVisit(v *keeper.Visit, p *packing) {
	outer := p.begin(7)
	date := int64(v.Date)
	p.number(&date)
	v.Date = keeper.Day(date)
	p.text(&v.Slot)
	p.text(&v.Label)
	p.number(&v.Start)
	p.number(&v.End)
	later(p, func(p *packing) { p.number(&v.Opens) })
	later(p, func(p *packing) { p.number(&v.Closes) })
	p.end(outer)
}

func packTerms(t *keeper.Terms, p *packing) {
	outer := p.begin(5)
	p.flag(&t.Bound)
	p.flag(&t.Refundable)
	p.number(&t.RefundDeadline)
	hours, bounded := int64(0), t.RefundHours != nil
	if bounded {
		hours = *t.RefundHours
	}
	p.flag(&bounded)
	if p.number(&hours); p.reading && bounded {
		t.RefundHours = &hours
	}
	p.end(outer)
}

func packDiscount(d *keeper.Discount, p *packing) {
	outer := p.begin(5)
	p.text(&d.Code)
	p.flag(&d.Percentage)
	p.number(&d.Value)
	p.number(&d.MinOrder)
	list(p, &d.Types, func(id *engine.TypeID, p *packing) { p.id(id) })
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

func (l *Line) packed(p *packing) {
	n := p.fields(l.countFields(), lineFields)
	outer := p.begin(n)
	p.number(&l.Type)
	p.text(&l.Name)
	p.number(&l.Quantity)
	p.number(&l.UnitPrice)
	p.text(&l.AttendeeName)
	p.text(&l.AttendeeEmail)
	list(p, &l.Seats, func(s *string, p *packing) { p.text(s) })
	if n > plainLine {
		later(p, func(p *packing) { p.number(&l.Discount) })
		later(p, func(p *packing) { optional(p, &l.Visit, packVisit) })
		later(p, func(p *packing) { optional(p, &l.Terms, packTerms) })
	}
	p.end(outer)
}

func (a *Attempt) packed(p *packing) {
	outer := p.begin(9)
	p.text(&a.Reference)
	p.text(&a.Provider)
	p.text(&a.Status)
	p.number(&a.Amount)
	p.number(&a.Received)
	p.text(&a.URL)
	p.number(&a.At)
	p.text(&a.ProviderID)
	later(p, a.Deposit.packed)
	p.end(outer)
}

func (d *Deposit) packed(p *packing) {
	outer := p.begin(7)
	p.text(&d.Currency)
	p.text(&d.Address)
	p.text(&d.Amount)
	p.text(&d.Network)
	p.text(&d.ExtraID)
	p.number(&d.ValidUntil)
	p.text(&d.Arrived)
	p.end(outer)
}

func (r *Refund) packed(p *packing) {
	n := p.fields(r.countFields(), refundFields)
	outer := p.begin(n)
	p.text(&r.Reference)
	p.number(&r.Amount)
	p.text(&r.Reason)
	p.text(&r.Status)
	p.text(&r.ProviderRef)
	p.number(&r.At)
	p.number(&r.ProcessedAt)
	if n > plainRefund {
		later(p, func(p *packing) { optional(p, &r.Ask, (*Ask).packed) })
	}
	if n > askedRefund {
		later(p, func(p *packing) { p.text(&r.Currency) })
		later(p, func(p *packing) { p.text(&r.Deposit) })
	}
	p.end(outer)
}

func (a *Ask) packed(p *packing) {
	outer := p.begin(9)
	list(p, &a.Tickets, func(n *uint32, p *packing) {
		wide := uint64(*n)
		p.unsigned(&wide)
		*n = uint32(wide) //nolint:gosec // it was a uint32 when it was packed
	})
	p.text(&a.By)
	p.text(&a.Message)
	list(p, &a.Evidence, func(s *string, p *packing) { p.text(s) })
	p.text(&a.Note)
	p.number(&a.DecidedAt)
	p.flag(&a.Manual)
	p.unsigned((*uint64)(&a.Serial))
	p.flag(&a.Returned)
	p.end(outer)
}

// fields returns how many fields of a record to go through: to write it, those that are in use; to
// read it, all.
func (p *packing) fields(used, all uint64) uint64 {
	if p.reading {
		return all
	}
	return used
}

// begin starts a record in which this release knows the given number of fields. It returns the surrounding
// record, which has to be passed to end.
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

// later goes through a field that was appended when releases were out that do not know it. The
// field is written or read after its length.
func later(p *packing, each func(p *packing)) {
	if !p.reading {
		var field packing
		each(&field)
		p.out = append(binary.AppendUvarint(p.out, uint64(len(field.out))), field.out...)
	} else if p.isReading() {
		field := packing{in: p.take(p.length()), reading: true, broken: p.broken, record: record{left: 1}}
		each(&field)
		p.broken = field.broken || field.in != ""
	}
}

// isReading reports whether a field is to be read. A field behind the record's end keeps its value.
func (p *packing) isReading() bool {
	if !p.reading || p.left == 0 {
		return false
	}
	p.left--
	return true
}

func (p *packing) unsigned(n *uint64) {
	if !p.reading {
		p.out = binary.AppendUvarint(p.out, *n)
	} else if p.isReading() {
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
	} else if p.isReading() {
		var b [8]byte
		copy(b[:], p.take(8))
		*n = binary.LittleEndian.Uint64(b[:])
	}
}

func (p *packing) id(id *engine.OrderID) {
	if !p.reading {
		p.out = append(p.out, id[:]...)
	} else if p.isReading() {
		copy(id[:], p.take(uint64(len(id))))
	}
}

func (p *packing) text(s *string) {
	if !p.reading {
		p.out = append(binary.AppendUvarint(p.out, uint64(len(*s))), *s...)
	} else if p.isReading() {
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

// list goes through a list, and calls each for its elements.
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
		p.record = record{left: 1} // for an element that is not a record
		each(&(*of)[i], p)
		p.record = outer
	}
}

// optional goes through a record that may be missing.
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

// take reads n bytes.
func (p *packing) take(n uint64) string {
	if n > uint64(len(p.in)) {
		p.broken, p.in = true, ""
		return ""
	}
	s := p.in[:n]
	p.in = p.in[n:]
	return s
}
