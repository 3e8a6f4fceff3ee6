package readmodel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/proceeds"
	"boxoffice/engine/promo"
	"boxoffice/engine/waitlist"
	"boxoffice/engine/wallet"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
)

// Writer writes facts into the tables. It belongs to one follower, which calls it in one transaction after another,
// never in two at once. It keeps its memory from call to call.
type Writer struct {
	index   map[engine.OrderID]int32 // by order: its place in orders
	orders  []changed                // the orders that the batches touch, in the order of their first facts
	later   []laterFact              // facts about orders that have to be read from the table first
	scans   []scan
	ledgers ledgers
	// created and minted are the new orders and tickets, which a rush makes by the thousand, and which go by
	// COPY. batch has the other statements.
	batch   *pgx.Batch // statements for SendBatch
	created rows
	minted  rows
}

// NewWriter makes a writer that has no facts yet.
func NewWriter() *Writer { return &Writer{index: make(map[engine.OrderID]int32)} }

// changed is an order that has facts in the batches being written.
type changed struct {
	was *order.Order // as it is in the table; nil when it is not there
	now *order.Order
	// record is the encoding of now, if the fact contained it. It is nil if now is still to be encoded.
	record    []byte
	completed bool
	erased    bool // somebody's name and address were taken out of it
}

// laterFact is a fact about an order that has to be read from the table first. order is the order's index in
// Writer.orders.
type laterFact struct {
	order int32
	fact  engine.Fact
}

// scan is what a gate did with a ticket: it admitted it, or took that back, and then there is no time and no gate.
type scan struct {
	ticket TicketKey
	at     int64
	gate   string
}

// Apply writes the facts of some batches, within the follower's transaction. First it collects in memory what
// changes, so that an order with many facts is read and written once.
func (w *Writer) Apply(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
	w.reset()
	for i := range batches {
		for j := range batches[i].Records {
			if err := w.applyRecord(&batches[i].Records[j]); err != nil {
				return fmt.Errorf("readmodel: batch %d of writer %d: %w", batches[i].Seq, batches[i].Writer, err)
			}
		}
	}
	// Facts about older orders can be folded only once their rows are read.
	if err := w.loadOrders(ctx, tx); err != nil {
		return err
	}
	// New rows come before changes, because a fact may be about an order or ticket of the same batch.
	if err := w.insert(ctx, tx); err != nil {
		return err
	}
	if err := w.update(); err != nil {
		return err
	}
	if w.batch.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, w.batch).Close(); err != nil {
		return fmt.Errorf("readmodel: %w", err)
	}
	return nil
}

// reset forgets the facts of the last call, and keeps the memory.
func (w *Writer) reset() {
	clear(w.index)
	clear(w.orders) // lets the facts go
	clear(w.later)
	clear(w.scans)
	w.orders, w.later, w.scans = w.orders[:0], w.later[:0], w.scans[:0]
	w.ledgers.reset()
	w.batch = &pgx.Batch{}
}

// ignored are the facts that change no row. They are not even decoded, which saves most of the work in a rush.
var ignored = map[engine.Kind][]engine.FactType{
	engine.KindEvent: {
		(*ledger.OrderClosed)(nil).FactType(), (*admission.CheckInDenied)(nil).FactType(), (*ledger.OrderRecalled)(nil).FactType(),
		(*proceeds.Cleared)(nil).FactType(), (*event.PersonErased)(nil).FactType(),
		(*admission.GatePassed)(nil).FactType(), (*admission.PassageUndone)(nil).FactType(),
		(*waitlist.Joined)(nil).FactType(), (*waitlist.OfferMade)(nil).FactType(), (*waitlist.Claimed)(nil).FactType(),
		(*waitlist.EntryEnded)(nil).FactType(), (*waitlist.CalledFact)(nil).FactType(), (*waitlist.SetFact)(nil).FactType(),
	},
	engine.KindInventory: {(*inventory.Awaited)(nil).FactType(), keeper.TypeReserved, keeper.TypeCommitted, keeper.TypeReleased, keeper.TypeReturned},
	engine.KindPromo:     {keeper.TypeReserved, keeper.TypeReleased},
	engine.KindWallet:    {keeper.TypeReserved, keeper.TypeCommitted, keeper.TypeReleased},
}

// rowless are the kinds whose facts change no row at all. Orders carry their seats and dates, and a waiting room has
// no row for a visitor.
var rowless = []engine.Kind{engine.KindSeatmap, engine.KindCalendar, engine.KindQueue}

// applyRecord takes the facts of one record, which are all of one stream. It skips kinds of actors that have no rows
// (rowless) and types of facts that change none (ignored).
func (w *Writer) applyRecord(r *journal.Record) error {
	if slices.Contains(rowless, r.Ref.Kind) {
		return nil
	}
	wanted := func(t engine.FactType) bool { return !slices.Contains(ignored[r.Ref.Kind], t) }
	for f, err := range follower.Select(r, wanted) {
		if err != nil {
			return err
		}
		if err := w.takeFact(r.Ref, f.Fact, f.Body); err != nil {
			return err
		}
	}
	return nil
}

// takeFact notes what a fact changes, or queues the statement that changes it. Body is the fact as it was
// journaled. A fact of a type without a rule is an error.
func (w *Writer) takeFact(ref engine.Ref, f engine.Fact, body []byte) error {
	switch f := f.(type) {
	case *order.Created:
		w.index[f.Order.ID] = int32(len(w.orders))
		w.orders = append(w.orders, changed{now: f.Order, record: recordIn(body)})
	case *order.Completed:
		w.foldFact(f.ID, f).completed = true
	case *order.RefundDecided:
		w.foldFact(f.ID, f)
		if f.Serial != 0 && len(f.Tickets) > 0 {
			w.endTickets(ref.ID, f.Tickets)
		}
	case *order.TicketTransferred:
		w.foldFact(f.ID, f)
		w.ticketMoved(f)
	case *order.Erased:
		w.foldFact(f.ID, f).erased = true
	case order.Fact:
		w.foldFact(f.OrderID(), f)
	case *admission.CheckedIn:
		w.scans = append(w.scans, scan{TicketKey{ref.ID, f.Ticket}, f.At, f.Gate})
	case *admission.CheckInUndone:
		w.scans = append(w.scans, scan{ticket: TicketKey{ref.ID, f.Ticket}})
	case *event.Created, *event.Updated, *event.Moved, *event.Removed:
		return w.eventFact(ref.ID, f)
	case *event.Offered:
		w.queueOffered(f)
	case *inventory.Created, *inventory.Updated:
		return w.typeFact(ref, f)
	case *promo.Created, *promo.Updated, *promo.DisabledFact, *promo.Removed, *keeper.CommittedFact, *keeper.ReturnedFact:
		return w.promoFact(ref, f)
	case *wallet.Entered:
		w.ledgers.add(ref, &f.Entry)
	case *wallet.Told:
		for i := range f.Entries {
			w.ledgers.add(ref, &f.Entries[i])
		}
	default:
		return fmt.Errorf("%w: %T", errNoRule, f)
	}
	return nil
}

// errNoRule reports a fact that takeFact has no case for and that is not ignored.
var errNoRule = errors.New("the read model has no rule for a fact")

// orderField begins the CBOR of an order.Created: a map of one pair with key 1, whose value is the order.
const orderField = "\xa1\x01"

// recordIn returns the encoded order within the body of an order.Created, which saves encoding it again. It returns
// nil if the body has another form.
func recordIn(body []byte) []byte {
	if len(body) < len(orderField) || string(body[:len(orderField)]) != orderField {
		return nil
	}
	return body[len(orderField):]
}

// foldFact applies a fact to its order: at once if the order is in memory, and otherwise after loadOrders has read
// it.
func (w *Writer) foldFact(id engine.OrderID, f engine.Fact) *changed {
	i, ok := w.index[id]
	// The order was made before these batches. Until its row is read, "was" holds only its id.
	if !ok {
		i = int32(len(w.orders))
		w.index[id] = i
		w.orders = append(w.orders, changed{was: &order.Order{ID: id}})
	}
	o := &w.orders[i]
	if o.now == nil {
		w.later = append(w.later, laterFact{i, f})
		return o
	}
	// The encoded record is of the order before this fact.
	o.now, o.record = order.Fold(o.now, f), nil
	return o
}

// byIndex makes the further statements of a transaction find rows by index. Postgres may keep a plan that it made
// while the tables were small, and which would scan them when they are large.
const byIndex = `
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)`

// loadOrders reads the orders that have facts in these batches and were created before, and folds those facts
// (later). It returns an error if such an order is not in the table.
func (w *Writer) loadOrders(ctx context.Context, tx pgx.Tx) error {
	if len(w.later) == 0 {
		return nil
	}
	var ids [][16]byte
	for i := range w.orders {
		if o := &w.orders[i]; o.now == nil {
			ids = append(ids, o.was.ID)
		}
	}
	b := &pgx.Batch{}
	b.Queue(byIndex)
	b.Queue(`SELECT record FROM orders WHERE id = ANY($1)`, ids).Query(func(rows pgx.Rows) error {
		var record []byte
		_, err := pgx.ForEachRow(rows, []any{&record}, func() error {
			o := new(order.Order)
			if err := codec.Unmarshal(record, o); err != nil {
				return err
			}
			at := &w.orders[w.index[o.ID]]
			at.was, at.now = o, o
			return nil
		})
		return err
	})
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("readmodel: read orders: %w", err)
	}
	for _, l := range w.later {
		o := &w.orders[l.order]
		if o.now == nil {
			return fmt.Errorf("readmodel: %T of order %s, which was never created", l.fact, o.was.ID)
		}
		o.now = order.Fold(o.now, l.fact)
	}
	return nil
}

// insert adds the orders and tickets that are new, by COPY. An order that was created and completed in the same
// batches is inserted as completed.
func (w *Writer) insert(ctx context.Context, tx pgx.Tx) error {
	w.created.reset()
	w.minted.reset()
	for i := range w.orders {
		o := &w.orders[i]
		if o.was == nil {
			if err := w.created.addOrder(o); err != nil {
				return err
			}
		}
		if o.completed {
			// The size decides how many rows are made, so a damaged record must not be believed.
			if !o.now.HasSoundSize() {
				return fmt.Errorf("readmodel: order %s has too many tickets", o.now.ID)
			}
			w.minted.addTickets(o.now)
		}
	}
	const orderColumns = "id, event_id, customer, total, created_at, updated_at, status, currency, email, record"
	if err := w.created.insert(ctx, tx, "orders", orderColumns); err != nil {
		return err
	}
	return w.minted.insert(ctx, tx, "tickets", "event_id, type_id, order_id, serial, status")
}

// addOrder adds an order's row, with the columns in the order that insert names.
func (r *rows) addOrder(o *changed) (err error) {
	if o.record == nil {
		if o.record, err = codec.Marshal(o.now); err != nil {
			return err
		}
	}
	n := o.now
	r.beginRow(10)
	r.uuid(n.ID)
	r.int8(n.ID.Event())
	r.int8(int64(n.Buyer()))
	r.int8(n.Total)
	r.time(n.CreatedAt)
	r.time(n.UpdatedAt)
	r.int2(statusNumber(n.Status))
	r.text(n.Currency)
	r.text(n.Email)
	r.bytes(o.record)
	return nil
}

// statusNumber returns the number that stands for a status in the orders' rows.
func statusNumber(status string) int16 { return int16(slices.Index(orderStatuses, status)) }

// addTickets adds the tickets of a completed order.
func (r *rows) addTickets(o *order.Order) {
	serial := int32(o.FirstTicket)
	for i := range o.Lines {
		for range o.Lines[i].Quantity {
			r.beginRow(5)
			r.int8(o.ID.Event())
			r.int8(o.Lines[i].Type)
			r.uuid(o.ID)
			r.int4(serial)
			r.int2(ticketIssued)
			serial++
		}
	}
}

// update queues what was collected besides the new orders and tickets: changed orders, erased addresses, payments,
// refunds, the entries of wallets, and what the gates have scanned. It comes after insert, in the same
// transaction.
func (w *Writer) update() error {
	if err := w.updateOrders(); err != nil {
		return err
	}
	w.eraseAddresses()
	w.upsertPayments()
	w.upsertRefunds()
	w.ledgers.insert(w.batch)
	w.updateScanned()
	return nil
}

// updateScanned queues what the gates did with tickets, for each ticket only the last. A ticket that was refunded
// keeps that status and gets only the time and the gate, for example if a device without a network reports late
// that it let somebody in before.
func (w *Writer) updateScanned() {
	if len(w.scans) == 0 {
		return
	}
	const change = `
UPDATE tickets t SET checked_in_at = s.at, gate = s.gate,
  status = CASE WHEN t.status = $3::smallint THEN t.status WHEN s.at IS NULL THEN $1::smallint ELSE $2::smallint END
FROM unnest($4::bigint[], $5::int[], $6::timestamptz[], $7::text[]) AS s(event_id, serial, at, gate)
WHERE t.event_id = s.event_id AND t.serial = s.serial`
	n := len(w.scans)
	events, serials, at, gates := make([]int64, 0, n), make([]int32, 0, n), make([]*time.Time, 0, n), make([]*string, 0, n)
	done := make(map[TicketKey]bool, n)
	for _, s := range slices.Backward(w.scans) {
		if done[s.ticket] {
			continue
		}
		done[s.ticket] = true
		events, serials, at = append(events, s.ticket.Event), append(serials, int32(s.ticket.Serial)), append(at, moment(s.at))
		var gate *string
		if s.at != 0 {
			name := text(s.gate)
			gate = &name
		}
		gates = append(gates, gate)
	}
	// These statements come after byIndex, which holds for the rest of the transaction.
	w.batch.Queue(byIndex)
	w.batch.Queue(change, ticketIssued, ticketCheckedIn, ticketRefunded, events, serials, at, gates)
}

// endTickets queues that tickets are refunded.
func (w *Writer) endTickets(event int64, serials []uint32) {
	ended := make([]int32, len(serials))
	for i, serial := range serials {
		ended[i] = int32(serial) //nolint:gosec // few tickets
	}
	w.batch.Queue(`UPDATE tickets SET status = $1 WHERE event_id = $2 AND serial = ANY($3)`, ticketRefunded, event, ended)
}

// eraseAddresses queues the addresses, of buyers and of later holders, in orders from which a person was erased.
// updateOrders does not write these columns.
func (w *Writer) eraseAddresses() {
	for i := range w.orders {
		o := w.orders[i].now
		if !w.orders[i].erased {
			continue
		}
		w.batch.Queue(`UPDATE orders SET email = $2 WHERE id = $1`, [16]byte(o.ID), text(o.Email))
		for _, h := range o.Holders {
			w.batch.Queue(moveTicket, o.ID.Event(), int64(h.Ticket), key(order.NormalEmail(h.Email)))
		}
	}
}

// updateOrders queues the changed orders as an insert whose rows all conflict with those that are there. Such a
// statement needs no plan that could be a bad one: it finds each row by its key.
func (w *Writer) updateOrders() error {
	const change = `
INSERT INTO orders AS o (id, event_id, customer, total, created_at, updated_at, status, currency, email, record)
SELECT n.id, 0, 0, n.total, n.updated_at, n.updated_at, n.status, '', '', n.record
FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::smallint[], $5::bytea[]) AS n(id, total, updated_at, status, record)
ON CONFLICT (id) DO UPDATE
SET total = excluded.total, updated_at = excluded.updated_at, status = excluded.status, record = excluded.record`
	var ids [][16]byte
	var totals []int64
	var updated []time.Time
	var statuses []int16
	var records [][]byte
	for i := range w.orders {
		o := &w.orders[i]
		if o.was == nil {
			continue
		}
		record, err := codec.Marshal(o.now)
		if err != nil {
			return err
		}
		ids, totals, updated = append(ids, o.now.ID), append(totals, o.now.Total), append(updated, time.UnixMilli(o.now.UpdatedAt))
		statuses, records = append(statuses, statusNumber(o.now.Status)), append(records, record)
	}
	if len(ids) > 0 {
		w.batch.Queue(change, ids, totals, updated, statuses, records)
	}
	return nil
}
