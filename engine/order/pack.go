package order

import (
	"encoding/binary"
	"errors"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// The ledger keeps an order as one text. The garbage collector then finds no pointers to follow in
// it, however many orders are open, and a snapshot takes over the texts as they are (paged.Texts).
//
// A record is the number of its fields, followed by the fields: varints, hashes of eight bytes, and
// texts and lists, each after its length. Fields are only ever appended, never moved or dropped. A
// text from before a field existed is read without that field.
//
// A field that is appended from now on is written after its length in bytes (a text is so anyway; packLater
// does it for any other field). A release that does not know the field skips it by that length. So an event may
// move from a node of a newer release to one of an older release, as in a rolling restart. An order that the
// older node packs again lacks the field.

// ErrPacked says that a string is not a packed order.
var ErrPacked = errors.New("order: a packed order is broken")

// packing goes through the fields of an order and either writes or reads each of them. One list of
// fields serves both, so that the two can't differ.
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

// Unpack returns the order of a packed string, or ErrPacked if it is none. The order's texts share the string's
// memory.
func Unpack(s string) (*Order, error) {
	p := packing{in: s, reading: true}
	o := new(Order)
	if o.packed(&p); p.broken || p.in != "" {
		return nil, ErrPacked
	}
	return o, nil
}

// UnpackHead returns an order with only its id, serial, fingerprint and status. It is quicker than Unpack. s
// must be a packed order: errors are not reported.
func UnpackHead(s string) (o Order) {
	p := packing{in: s, reading: true}
	p.beginRecord(orderFields)
	o.packedHead(&p)
	return o
}

// These say how many fields a record is packed with (countFields): all (...Fields), or only the first ones if the later
// ones are unset. Every record has those of plain...; a refund that somebody has asked for has those of askedRefund,
// and one of money that is apart (isApart) has those of apartRefund.
const (
	orderFields = 34
	plainOrder  = 24
	lineFields  = 10
	plainLine   = 7

	refundFields = 11
	apartRefund  = 10
	askedRefund  = 8
	plainRefund  = 7

	askFields = 10
	plainAsk  = 9
)

// countFields returns how many of its fields a refund is packed with.
func (r *Refund) countFields() uint64 {
	switch {
	case r.Note != "":
		return refundFields
	case r.isApart():
		return apartRefund
	case r.Ask != nil:
		return askedRefund
	}
	return plainRefund
}

// countFields returns how many of its fields an ask is packed with.
func (a *Ask) countFields() uint64 {
	if a.Asker != 0 {
		return askFields
	}
	return plainAsk
}

// countFields returns how many of its fields an order is packed with.
func (o *Order) countFields() uint64 {
	if o.Discount != 0 || o.Promo != nil || o.Digital || o.Holders != nil || o.Issue != nil || o.WaivedAt != 0 || o.Rescheduled != nil || o.Language != "" || o.Extensions != 0 || o.ExtendedBy != nil {
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

// packed goes through an order's fields. Together with packedHead it is the only list of them. The
// order of the calls is the format: it must never change.
func (o *Order) packed(p *packing) {
	n := p.fieldsToGo(o.countFields(), orderFields)
	outer := p.beginRecord(n)
	o.packedHead(p)
	p.packText(&o.Email)
	p.packText(&o.Name)
	p.hash(&o.Customer)
	packList(p, &o.Lines, (*Line).packed)
	p.packText(&o.Currency)
	p.packNumber(&o.Subtotal)
	p.packNumber(&o.Fees)
	p.packNumber(&o.Absorbed)
	p.packNumber(&o.Total)
	p.packNumber(&o.CreatedAt)
	p.packNumber(&o.ExpiresAt)
	p.packNumber(&o.UpdatedAt)
	p.packNumber(&o.EndedAt)
	first := uint64(o.FirstTicket)
	p.packUnsigned(&first)
	o.FirstTicket = uint32(first) //nolint:gosec // it was a uint32 when it was packed
	packList(p, &o.Attempts, (*Attempt).packed)
	packList(p, &o.Refunds, (*Refund).packed)
	p.packFlag(&o.Extended)
	p.packNumber(&o.PlacedUntil)
	p.hash(&o.Client)
	packOptional(p, &o.Shopper, (*Shopper).packed)
	if n > plainOrder {
		packLater(p, func(p *packing) { packOptional(p, &o.Promo, (*Promo).packed) })
		packLater(p, func(p *packing) { p.packNumber(&o.Discount) })
		packLater(p, func(p *packing) { p.packFlag(&o.Digital) })
		packLater(p, func(p *packing) { packList(p, &o.Holders, (*Holder).packed) })
		packLater(p, func(p *packing) { packOptional(p, &o.Issue, (*Issue).packed) })
		packLater(p, func(p *packing) { p.packNumber(&o.WaivedAt) })
		packLater(p, func(p *packing) { packList(p, &o.Rescheduled, (*Rescheduled).packed) })
		p.packText(&o.Language)
		packLater(p, func(p *packing) { p.packNumber(&o.Extensions) })
		packLater(p, func(p *packing) { packList(p, &o.ExtendedBy, func(by *uint64, p *packing) { p.hash(by) }) })
	}
	p.endRecord(outer)
}

// packed goes through the fields of an order's promo code.
func (r *Promo) packed(p *packing) {
	outer := p.beginRecord(5)
	packRef(&r.Ref, p)
	p.packText(&r.Code)
	packOptional(p, &r.Terms, packDiscount)
	p.endRecord(outer)
}

// packRef goes through the three fields of a Ref.
func packRef(r *engine.Ref, p *packing) {
	kind := uint64(r.Kind)
	p.packUnsigned(&kind)
	r.Kind = engine.Kind(kind) //nolint:gosec // it was a Kind when it was packed
	p.packNumber(&r.Home)
	p.packNumber(&r.ID)
}

// packed goes through the fields of an order that the organization issued.
func (s *Issue) packed(p *packing) {
	outer := p.beginRecord(8)
	p.packFlag(&s.Comp)
	p.packText(&s.Reference)
	p.packFlag(&s.Quiet)
	p.packNumber(&s.Fee)
	p.packText(&s.Note)
	packRef(&s.Wallet, p)
	p.endRecord(outer)
}

// packed goes through the fields of a ticket's holder.
func (h *Holder) packed(p *packing) {
	outer := p.beginRecord(4)
	ticket, version := uint64(h.Ticket), uint64(h.Version)
	p.packUnsigned(&ticket)
	p.packUnsigned(&version)
	h.Ticket, h.Version = uint32(ticket), byte(version) //nolint:gosec // they were of these types when packed
	p.packText(&h.Email)
	p.packText(&h.Name)
	p.endRecord(outer)
}

// packed goes through the fields of a ticket that was moved to another date.
func (r *Rescheduled) packed(p *packing) {
	outer := p.beginRecord(5)
	ticket := uint64(r.Ticket)
	p.packUnsigned(&ticket)
	r.Ticket = uint32(ticket) //nolint:gosec // it was a uint32 when it was packed
	packVisit(&r.Visit, p)
	packBooking(&r.From, p)
	p.packUnsigned((*uint64)(&r.Serial))
	p.packFlag(&r.Settled)
	p.endRecord(outer)
}

// packBooking goes through the fields of a booking.
func packBooking(b *keeper.Booking, p *packing) {
	outer := p.beginRecord(5)
	date, line := int64(b.Date), int64(b.Line)
	p.packNumber(&date)
	p.packNumber(&line)
	b.Date, b.Line = keeper.Day(date), int(line) //nolint:gosec // they were of these types when packed
	p.packText(&b.Slot)
	p.packNumber(&b.Units)
	p.packFlag(&b.Within)
	p.endRecord(outer)
}

// packVisit goes through the fields of a visit.
func packVisit(v *keeper.Visit, p *packing) {
	outer := p.beginRecord(7)
	date := int64(v.Date)
	p.packNumber(&date)
	v.Date = keeper.Day(date)
	p.packText(&v.Slot)
	p.packText(&v.Label)
	p.packNumber(&v.Start)
	p.packNumber(&v.End)
	packLater(p, func(p *packing) { p.packNumber(&v.Opens) })
	packLater(p, func(p *packing) { p.packNumber(&v.Closes) })
	p.endRecord(outer)
}

// packTerms goes through the fields of a line's terms. RefundHours takes two of them, because it may be nil.
func packTerms(t *keeper.Terms, p *packing) {
	outer := p.beginRecord(5)
	p.packFlag(&t.Bound)
	p.packFlag(&t.Refundable)
	p.packNumber(&t.RefundDeadline)
	hours, bounded := int64(0), t.RefundHours != nil
	if bounded {
		hours = *t.RefundHours
	}
	p.packFlag(&bounded)
	if p.packNumber(&hours); p.reading && bounded {
		t.RefundHours = &hours
	}
	p.endRecord(outer)
}

func packDiscount(d *keeper.Discount, p *packing) {
	outer := p.beginRecord(5)
	p.packText(&d.Code)
	p.packFlag(&d.Percentage)
	p.packNumber(&d.Value)
	p.packNumber(&d.MinOrder)
	packList(p, &d.Types, func(id *engine.TypeID, p *packing) { p.packID(id) })
	p.endRecord(outer)
}

func (o *Order) packedHead(p *packing) {
	p.packID(&o.ID)
	p.packUnsigned((*uint64)(&o.Serial))
	p.hash(&o.Fingerprint)
	p.packText(&o.Status)
}

func (s *Shopper) packed(p *packing) {
	outer := p.beginRecord(2)
	p.packText(&s.Holder)
	p.hash(&s.Principal)
	p.endRecord(outer)
}

// packed goes through a line's fields. The last three are left out of a line that has none of them.
func (l *Line) packed(p *packing) {
	n := p.fieldsToGo(l.countFields(), lineFields)
	outer := p.beginRecord(n)
	p.packNumber(&l.Type)
	p.packText(&l.Name)
	p.packNumber(&l.Quantity)
	p.packNumber(&l.UnitPrice)
	p.packText(&l.AttendeeName)
	p.packText(&l.AttendeeEmail)
	packList(p, &l.Seats, func(s *string, p *packing) { p.packText(s) })
	if n > plainLine {
		packLater(p, func(p *packing) { p.packNumber(&l.Discount) })
		packLater(p, func(p *packing) { packOptional(p, &l.Visit, packVisit) })
		packLater(p, func(p *packing) { packOptional(p, &l.Terms, packTerms) })
	}
	p.endRecord(outer)
}

// packed goes through an attempt's fields.
func (a *Attempt) packed(p *packing) {
	outer := p.beginRecord(9)
	p.packText(&a.Reference)
	p.packText(&a.Provider)
	p.packText(&a.Status)
	p.packNumber(&a.Amount)
	p.packNumber(&a.Received)
	p.packText(&a.URL)
	p.packNumber(&a.At)
	p.packText(&a.ProviderID)
	packLater(p, a.Deposit.packed)
	p.endRecord(outer)
}

// packed goes through a deposit's fields.
func (d *Deposit) packed(p *packing) {
	outer := p.beginRecord(7)
	p.packText(&d.Currency)
	p.packText(&d.Address)
	p.packText(&d.Amount)
	p.packText(&d.Network)
	p.packText(&d.ExtraID)
	p.packNumber(&d.ValidUntil)
	p.packText(&d.Arrived)
	p.endRecord(outer)
}

// packed goes through a refund's fields. It ends after the last group of fields in which the refund has a field
// that is set (countFields).
func (r *Refund) packed(p *packing) {
	n := p.fieldsToGo(r.countFields(), refundFields)
	outer := p.beginRecord(n)
	p.packText(&r.Reference)
	p.packNumber(&r.Amount)
	p.packText(&r.Reason)
	p.packText(&r.Status)
	p.packText(&r.ProviderRef)
	p.packNumber(&r.At)
	p.packNumber(&r.ProcessedAt)
	if n > plainRefund {
		packLater(p, func(p *packing) { packOptional(p, &r.Ask, (*Ask).packed) })
	}
	if n > askedRefund {
		packLater(p, func(p *packing) { p.packText(&r.Currency) })
		packLater(p, func(p *packing) { p.packText(&r.Deposit) })
	}
	if n > apartRefund {
		p.packText(&r.Note)
	}
	p.endRecord(outer)
}

// packed goes through an ask's fields. Asker is left out if it is 0.
func (a *Ask) packed(p *packing) {
	n := p.fieldsToGo(a.countFields(), askFields)
	outer := p.beginRecord(n)
	packList(p, &a.Tickets, func(n *uint32, p *packing) {
		wide := uint64(*n)
		p.packUnsigned(&wide)
		*n = uint32(wide) //nolint:gosec // it was a uint32 when it was packed
	})
	p.packText(&a.By)
	p.packText(&a.Message)
	packList(p, &a.Evidence, func(s *string, p *packing) { p.packText(s) })
	p.packText(&a.Note)
	p.packNumber(&a.DecidedAt)
	p.packFlag(&a.Manual)
	p.packUnsigned((*uint64)(&a.Serial))
	p.packFlag(&a.Returned)
	if n > plainAsk {
		packLater(p, func(p *packing) { p.hash(&a.Asker) })
	}
	p.endRecord(outer)
}

// fieldsToGo returns how many fields of a record to go through: used when it is written, all when it is read.
func (p *packing) fieldsToGo(used, all uint64) uint64 {
	if p.reading {
		return all
	}
	return used
}

// beginRecord starts a record in which this release knows the given number of fields. It returns the
// surrounding record, which has to be passed to endRecord.
func (p *packing) beginRecord(fields uint64) (outer record) {
	outer = p.record
	if !p.reading {
		p.out = binary.AppendUvarint(p.out, fields)
		return outer
	}
	there := p.readLength()
	p.record = record{left: min(there, fields), unknown: there - min(there, fields)}
	return outer
}

// endRecord ends a record, and skips the fields that this release does not know.
func (p *packing) endRecord(outer record) {
	for ; p.unknown > 0 && !p.broken; p.unknown-- {
		p.readBytes(p.readLength())
	}
	p.record = outer
}

// packLater goes through a field that earlier releases do not know. The field is written or read after its length.
func packLater(p *packing, each func(p *packing)) {
	if !p.reading {
		var field packing
		each(&field)
		p.out = append(binary.AppendUvarint(p.out, uint64(len(field.out))), field.out...)
	} else if p.isReading() {
		field := packing{in: p.readBytes(p.readLength()), reading: true, broken: p.broken, record: record{left: 1}}
		each(&field)
		p.broken = field.broken || field.in != ""
	}
}

// isReading reports whether a field is to be read, and counts it as read. A field after the record's end keeps
// its value.
func (p *packing) isReading() bool {
	if !p.reading || p.left == 0 {
		return false
	}
	p.left--
	return true
}

func (p *packing) packUnsigned(n *uint64) {
	if !p.reading {
		p.out = binary.AppendUvarint(p.out, *n)
	} else if p.isReading() {
		*n = p.readLength()
	}
}

func (p *packing) packNumber(n *int64) {
	zigzag := uint64(*n)<<1 ^ uint64(*n>>63)
	p.packUnsigned(&zigzag)
	*n = int64(zigzag>>1) ^ -int64(zigzag&1)
}

func (p *packing) hash(n *uint64) {
	if !p.reading {
		p.out = binary.LittleEndian.AppendUint64(p.out, *n)
	} else if p.isReading() {
		var b [8]byte
		copy(b[:], p.readBytes(8))
		*n = binary.LittleEndian.Uint64(b[:])
	}
}

func (p *packing) packID(id *engine.OrderID) {
	if !p.reading {
		p.out = append(p.out, id[:]...)
	} else if p.isReading() {
		copy(id[:], p.readBytes(uint64(len(id))))
	}
}

func (p *packing) packText(s *string) {
	if !p.reading {
		p.out = append(binary.AppendUvarint(p.out, uint64(len(*s))), *s...)
	} else if p.isReading() {
		*s = p.readBytes(p.readLength())
	}
}

func (p *packing) packFlag(b *bool) {
	var n uint64
	if *b {
		n = 1
	}
	p.packUnsigned(&n)
	*b = n != 0
}

// packList goes through a list: first its length, and then its elements. It calls each for every element.
func packList[T any](p *packing, of *[]T, each func(*T, *packing)) {
	n := uint64(len(*of))
	if p.packUnsigned(&n); n > uint64(len(p.in)) && p.reading {
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

// packOptional goes through a record that may be missing.
func packOptional[T any](p *packing, of **T, each func(*T, *packing)) {
	there := *of != nil
	if p.packFlag(&there); !there {
		return
	}
	if p.reading {
		*of = new(T)
	}
	each(*of, p)
}

// readLength reads a varint. If there is none, it returns 0 and marks the record as broken.
func (p *packing) readLength() uint64 {
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

// readBytes reads n bytes. If fewer are left, it returns "" and marks the record as broken.
func (p *packing) readBytes(n uint64) string {
	if n > uint64(len(p.in)) {
		p.broken, p.in = true, ""
		return ""
	}
	s := p.in[:n]
	p.in = p.in[n:]
	return s
}
