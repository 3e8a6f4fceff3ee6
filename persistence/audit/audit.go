// Package audit checks the journal: it replays every stream from its first fact, or, if the journal
// has dropped that, from the snapshot that contains the dropped facts. It checks every kind's invariants,
// and compares the totals of each event's streams with one another. It only reads. `boxoffice audit` and the tests call it.
package audit

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// Journal is the part of a journal that the audit reads. It is an interface so that tests can audit
// journals of their own.
type Journal interface {
	Load(ctx context.Context, stream, after int64) iter.Seq2[journal.Record, error]
	Streams(ctx context.Context) iter.Seq2[journal.Stream, error]
	Records(ctx context.Context) (int64, error)
	// Base returns the state with which a stream begins, after its fact seq; seq is 0 if there is
	// none.
	Base(ctx context.Context, stream int64) (seq int64, state []byte, err error)
}

// Report is what an audit found. Its counts are over all events.
type Report struct {
	Streams, Facts  int64
	Records         int64 // the records with those facts
	Events          int64
	Tickets         int64    // issued and not refunded
	Sold, Held      int64    // units of all ticket types that are sold, and that are held or reserved without being sold
	Orphans         int64    // units and seats of reservations without an order, which presumed abort will release
	Seats           int64    // seats of sold orders, without those that went back, and of unpaid orders
	Findings        []string // what is wrong; empty if nothing is
	FindingsOmitted int64    // findings beyond those listed
}

// maxFindings bounds the list of findings: one fault can cause a finding in every stream.
const maxFindings = 100

// find adds a finding to the report. If the list is full, it only counts the finding.
func (r *Report) find(format string, args ...any) {
	if len(r.Findings) == maxFindings {
		r.FindingsOmitted++
		return
	}
	r.Findings = append(r.Findings, fmt.Sprintf(format, args...))
}

// Clean reports whether the audit found nothing wrong.
func (r *Report) Clean() bool { return len(r.Findings) == 0 }

// Run audits every stream, one event at a time. It returns an error only if it can't read or decode the
// journal; the report says what else is wrong with the facts.
func Run(ctx context.Context, j Journal) (*Report, error) {
	r := &Report{}
	there, err := j.Records(ctx) // counted first, because a live journal grows in the meantime
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	var streams []journal.Stream
	for s, err := range j.Streams(ctx) {
		if err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
		streams = append(streams, s)
	}
	// The streams of one event are sorted next to one another, so that Run can audit one event
	// after another: the states of a whole journal would not fit into memory.
	slices.SortFunc(streams, func(a, b journal.Stream) int {
		return cmp.Or(cmp.Compare(a.Ref.Home, b.Ref.Home), cmp.Compare(a.Ref.Kind, b.Ref.Kind), cmp.Compare(a.Ref.ID, b.Ref.ID))
	})
	for len(streams) > 0 {
		n := 1
		for n < len(streams) && streams[n].Ref.Home == streams[0].Ref.Home {
			n++
		}
		if err := r.auditEvent(ctx, j, streams[:n]); err != nil {
			return nil, err
		}
		streams = streams[n:]
	}
	// Records that no stream has are records that a replay loses. The comparison makes sense only
	// for a clean report, because a stream with a gap is not replayed to its end.
	if r.Clean() && r.Records < there {
		r.find("journal: of %d records %d are found by stream", there, r.Records)
	}
	return r, nil
}

// auditEvent replays the streams of one event and compares their totals. Streams of an organization, such as
// its wallets', are among them if it has the same number as the event; these are only checked by themselves.
func (r *Report) auditEvent(ctx context.Context, j Journal, streams []journal.Stream) error {
	var ledger *event.State
	var stocks []*inventory.State
	var refs []engine.Ref
	var seats *seatmap.State
	var whole bool // whether the ledger has all of its facts
	seated := make(seatOrders)
	for _, s := range streams {
		state, base, err := r.replayStream(ctx, j, s, seated.applyFact)
		if err != nil {
			return err
		}
		switch state := state.(type) {
		case *event.State:
			ledger, whole = state, base == 0
			r.Events++
		case *inventory.State:
			stocks = append(stocks, state)
			refs = append(refs, s.Ref)
		case *seatmap.State:
			seats = state
		}
	}
	if ledger == nil {
		return nil
	}
	r.Tickets += int64(ledger.Tickets())
	orders := make(map[engine.OrderID]*order.Order)
	ledger.Orders(func(o *order.Order) { orders[o.ID] = o })
	for i, stock := range stocks {
		r.compareStock(ledger, orders, refs[i], stock)
	}
	r.balanceSeats(streams[0].Ref.Home, seated, seats, whole)
	return nil
}

// compareStock compares a ticket type's stock with the tickets and orders of its event. The two are
// different actors, so one may not have heard yet what the other has decided. Units that an order
// has bought are therefore committed in the stock, or still reserved for that order. Units that a
// refund gives back count as sold until the stock has taken them back.
func (r *Report) compareStock(ledger *event.State, orders map[engine.OrderID]*order.Order, ref engine.Ref, stock *inventory.State) {
	var settling, held int64
	stock.Open(func(h keeper.Held) {
		held += h.Quantity
		// If the order was sold under this claim, its stock has only not heard of it yet, and the
		// units count as sold. Without such an order, the reservation is an orphan.
		o := orders[h.Claim.Order]
		switch {
		case o == nil || o.Serial != h.Claim.Serial:
			r.Orphans += h.Quantity
		case o.Sold():
			settling += h.Quantity
		}
	})
	r.Sold += stock.Sold() + settling
	r.Held += held - settling
	// The stock has at least the live tickets, and at most these and the ones on their way back.
	live, sold := ledger.TicketsOf(ref.ID), stock.Sold()+settling
	if back := countReturning(orders, ref.ID); sold < live || sold > live+back {
		r.find("%s: %d tickets issued, %d units sold", ref.Name(), live, sold)
	}
	// An unpaid order must find its units when the payment arrives.
	for _, o := range orders {
		if !o.Unpaid() {
			continue
		}
		for i := range o.Lines {
			if o.Lines[i].Type == ref.ID && !stock.Holds(keeper.Claim{Order: o.ID, Serial: o.Serial}, o.Lines[i].Quantity) {
				r.find("%s: unpaid order %s has no reservation of %d", ref.Name(), o.ID, o.Lines[i].Quantity)
			}
		}
	}
}

// countReturning counts the tickets of a type that granted refunds have ended, but that the stock
// may not have taken back yet.
func countReturning(orders map[engine.OrderID]*order.Order, ticketType int64) (units int64) {
	for _, o := range orders {
		for i := range o.Refunds {
			if r := &o.Refunds[i]; r.Approved() && !r.Ask.Returned {
				for _, ticket := range r.Ask.Tickets {
					if line, _, ok := o.LineOf(ticket); ok && o.Lines[line].Type == ticketType {
						units++
					}
				}
			}
		}
	}
	return units
}

// readBase returns the state with which a stream begins, and the seq of the last fact in it. That
// is an empty state, or a snapshot if the facts before it were dropped. It returns a nil state,
// after a finding, if the snapshot can't be read.
func (r *Report) readBase(ctx context.Context, j Journal, s journal.Stream, kind *engine.KindDef) (engine.State, int64, error) {
	seq, frozen, err := j.Base(ctx, s.ID)
	if err != nil {
		return nil, 0, fmt.Errorf("audit %s: %w", s.Ref.Name(), err)
	}
	if seq == 0 {
		return kind.New(s.Ref), 0, nil
	}
	v := kind.Frozen()
	if err := codec.Unmarshal(frozen, v); err != nil {
		r.find("%s: the snapshot at %d: %v", s.Ref.Name(), seq, err)
		return nil, 0, nil
	}
	state, err := kind.Thaw(s.Ref, v)
	if err != nil {
		r.find("%s: the snapshot at %d: %v", s.Ref.Name(), seq, err)
		return nil, 0, nil
	}
	return state, seq, nil
}

// replayStream applies a stream's facts after its base, to the last one, and checks the state. It passes to see every
// fact that the journal still has, also those that the base contains. It returns a nil state, after a finding, if the
// base can't be read or if facts are missing, because the facts after a gap can't be applied.
func (r *Report) replayStream(ctx context.Context, j Journal, s journal.Stream, see func(engine.Fact)) (state engine.State, base int64, err error) {
	kind, err := all.Kind(s.Ref.Kind)
	if err != nil {
		return nil, 0, fmt.Errorf("audit: %w", err)
	}
	r.Streams++
	state, base, err = r.readBase(ctx, j, s, kind)
	if state == nil || err != nil {
		return nil, base, err
	}
	next, epoch := int64(1), int32(0)
	// The facts are read from the first one that the journal still has, including those that the
	// base contains, so that see gets them all.
	for rec, err := range j.Load(ctx, s.ID, 0) {
		if err != nil {
			return nil, 0, fmt.Errorf("audit %s: %w", s.Ref.Name(), err)
		}
		if next == 1 && rec.First <= base+1 { // the facts before it have been dropped
			next = rec.First
		}
		if rec.First != next {
			r.find("%s: facts %d-%d follow %d", s.Ref.Name(), rec.First, rec.Last, next-1)
			return nil, base, nil
		}
		// Each claim raises the epoch. A lower epoch after a higher one means that the fence let a stale
		// activation write.
		if rec.Epoch < epoch {
			r.find("%s: epoch %d follows %d at fact %d", s.Ref.Name(), rec.Epoch, epoch, rec.First)
		}
		next, epoch = rec.Last+1, rec.Epoch
		facts, err := codec.Facts(s.Ref.Kind, rec.Bytes)
		if err != nil {
			return nil, 0, fmt.Errorf("audit %s: %w", s.Ref.Name(), err)
		}
		if int64(len(facts)) != rec.Last-rec.First+1 {
			r.find("%s: record %d-%d holds %d facts", s.Ref.Name(), rec.First, rec.Last, len(facts))
			return nil, base, nil
		}
		// A fact up to the base is in the state already.
		for i, f := range facts {
			if rec.First+int64(i) > base {
				state.Apply(f)
			}
			see(f)
		}
		r.Facts += int64(len(facts))
		r.Records++
	}
	if err := state.Check(); err != nil {
		r.find("%s: %v", s.Ref.Name(), err)
	}
	return state, base, nil
}
