package readmodel_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/promo"
	"boxoffice/engine/wallet"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/readmodel"
)

// story lets one event see every fact that the read model takes in, and returns
// the orders as their actor last told of them.
func story(w *world) map[engine.OrderID]*order.Order {
	told := make(map[engine.OrderID]*order.Order)
	tell := func(o *order.Order) { told[o.ID] = o }
	show := w.event(1)
	w.ticketType(show, 11)
	w.ticketType(show, 12, func(d *inventory.Details) { d.Price, d.Type = 0, "free" })
	w.publish(show)
	w.do(engine.EventRef(show), engine.Wake{})

	tell(w.place(show, 3, 12))                                       // free: completed at once
	tell(w.place(show, 1, 11))                                       // pending
	cancelled := w.place(show, 2, 11)                                // cancelled after an attempt
	w.begin(cancelled)                                               //
	tell(w.tell(cancelled, ledger.CancelOrder{Order: cancelled.ID})) //
	for range 5 {                                                    // paid
		o := w.place(show, 2, 11, 12)
		tell(w.report(o, w.begin(o), order.AttemptSucceeded, o.Total))
	}
	w.settled() // the rest finds its orders in the table
	short := w.place(show, 1, 11)
	tell(w.report(short, w.begin(short), order.AttemptUnderpaid, 1))
	twice := w.place(show, 1, 11)
	first, second := w.begin(twice), ""
	w.report(twice, first, order.AttemptFailed, 0)
	second = w.begin(twice)
	w.settled()
	w.report(twice, second, order.AttemptProcessing, 0)
	w.report(twice, second, order.AttemptSucceeded, twice.Total)
	late := w.place(show, 1, 11)
	paid := w.begin(late)
	w.do(engine.EventRef(show), admission.Scan{Ticket: 2, Gate: "North\x00", Device: "d1"})
	w.settled()
	w.do(engine.EventRef(show), admission.Scan{Ticket: 2, Gate: "South", Device: "d2"}) // denied
	r := w.do(engine.EventRef(show), event.Get{}).(*event.Record)
	renamed := *r.Details
	renamed.Title, renamed.EndAt = "Renamed", renamed.EndAt+1000
	w.do(engine.EventRef(show), event.Update{Details: renamed, Revision: r.Revision})
	w.later(31 * time.Minute) // pending orders expire, the underpaid one is pinned or not
	w.do(engine.EventRef(show), event.Move{To: event.StatusDraft})
	w.report(late, paid, order.AttemptSucceeded, late.Total) // too late: goes back
	tell(w.tell(late, ledger.ReportRefund{Order: late.ID, Reference: paid, Status: order.RefundProcessed, ProviderRef: "rf_1"}))
	for id := range told {
		if r, ok := w.do(engine.EventRef(show), ledger.GetOrder{Order: id}).(*ledger.OrderReply); ok && r.Order != nil {
			told[id] = r.Order
		}
	}
	for _, o := range []*order.Order{twice, short} {
		tell(w.tell(o, ledger.GetOrder{Order: o.ID}))
	}
	w.later(time.Minute)
	w.do(engine.PromoRef(7, 1), promo.Create{Details: promo.Details{Discount: keeper.Discount{Code: "FANS", Value: 100}, ValidUntil: w.now.Add(time.Hour).UnixMilli()}})
	money := engine.WalletRef(7, "USD")
	w.enter(money, wallet.Credit{ID: movement(1), Amount: 500, Pending: true})
	w.enter(money, wallet.Clear{ID: movement(1)})
	w.settled()
	w.enter(money, wallet.Debit{ID: movement(2), Amount: 300, Reason: wallet.Payout})
	w.enter(money, wallet.Debit{ID: movement(3), Amount: 100, Reason: wallet.Payout})
	return told
}

// TestSaysWhatTheActorsSay compares the read model with the actors' own records.
func TestSaysWhatTheActorsSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := story(w)
	w.settled()
	statuses := make(map[string]int)
	for id, o := range told {
		got, err := w.model.Order(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, o, got)
		statuses[o.Status]++
		if o.Status != order.StatusCompleted {
			continue
		}
		tickets, err := w.model.Tickets(t.Context(), id.Event(), o.FirstTicket, int(o.Tickets()))
		require.NoError(t, err)
		require.Len(t, tickets, int(o.Tickets()))
		last := tickets[len(tickets)-1]
		require.Equal(t, o.FirstTicket, tickets[0].Serial)
		require.Equal(t, o.Lines[len(o.Lines)-1].Type, last.Type)
		require.Equal(t, o.Email, last.HolderEmail)
		require.Equal(t, o.EndedAt, last.IssuedAt)
		if len(o.Lines) == 2 {
			require.Equal(t, []string{"Ada Lovelace", "Grace Hopper"}, []string{tickets[0].HolderName, last.HolderName})
			require.Equal(t, []int64{4500, 0}, []int64{tickets[0].Price, last.Price})
		}
	}
	require.Equal(t, 7, statuses[order.StatusCompleted], "%v", statuses)
	require.Equal(t, 1, statuses[order.StatusCancelled], "%v", statuses)
	require.Equal(t, 1, statuses[order.StatusRefunded], "%v", statuses)

	tickets, err := w.model.Tickets(t.Context(), 1, 2, 2)
	require.NoError(t, err)
	require.Equal(t, []uint32{2, 3}, []uint32{tickets[0].Serial, tickets[1].Serial})
	require.Equal(t, "checked_in", tickets[0].Status)
	require.Equal(t, "North\uFFFD", tickets[0].Gate)
	require.Equal(t, start.UnixMilli(), tickets[0].CheckedInAt)
	require.Equal(t, "issued", tickets[1].Status)

	record := w.do(engine.EventRef(1), event.Get{}).(*event.Record)
	record.Room = 0 // which is as of now
	got, err := w.model.EventByNumber(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, *record, got.Record)
	require.Equal(t, "Renamed", got.Details.Title)
}

// TestRebuild builds everything again from the facts.
func TestRebuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	story(w)
	w.settled()
	for table, rows := range w.dump() {
		require.NotEmpty(t, rows, table)
	}
	w.rebuilt()
}

// rebuilt clears the read model, and has a follower build it as it was.
func (w *world) rebuilt() {
	t := w.t
	t.Helper()
	live := w.dump()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	require.NoError(t, w.follow.Stop(ctx))
	require.NoError(t, readmodel.Clear(ctx, w.pool, journal.NewReader(w.pool)))
	for table, rows := range w.dump() {
		require.Empty(t, rows, table)
	}
	again := w.follower()
	again.Start(w.journal)
	require.Eventually(t, func() bool { // what is read back comes without a signal
		return reflect.DeepEqual(live, w.dump())
	}, within, 10*time.Millisecond)
	require.NoError(t, again.Stop(ctx))
	require.Equal(t, live, w.dump())
}

var tables = []string{"events", "ticket_types", "orders", "tickets", "payments", "refunds", "wallets", "wallet_entries", "promo_codes"}

// dump is every row of the read model as text.
func (w *world) dump() map[string][]string {
	w.t.Helper()
	all := make(map[string][]string)
	for _, table := range tables {
		rows, err := w.pool.Query(w.t.Context(), `SELECT t::text FROM `+table+` t ORDER BY 1`)
		require.NoError(w.t, err)
		all[table], err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(w.t, err)
	}
	return all
}

func TestPayments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	show := w.event(1)
	w.ticketType(show, 11)
	w.publish(show)
	var references []string
	var orders []*order.Order
	for range 3 {
		o := w.place(show, 1, 11)
		orders, references = append(orders, o), append(references, w.begin(o))
		w.now = w.now.Add(time.Second)
	}
	w.settled()
	ctx := t.Context()
	due := func(at time.Time) []string {
		list, err := w.model.PaymentsDue(ctx, at, 10)
		require.NoError(t, err)
		var refs []string
		for _, p := range list {
			refs = append(refs, p.Reference)
		}
		return refs
	}
	require.Empty(t, due(start.Add(readmodel.FirstCheck-time.Second)))
	require.Equal(t, references[:2], due(start.Add(readmodel.FirstCheck+time.Second)))
	p, err := w.model.Payment(ctx, references[1])
	require.NoError(t, err)
	require.Equal(t, readmodel.Payment{
		Order: orders[1].ID, Reference: references[1], Provider: "paystack", Status: order.AttemptPending, Amount: 4725,
		At: start.Add(time.Second).UnixMilli(),
	}, p)
	_, err = w.model.Payment(ctx, "none")
	require.ErrorIs(t, err, readmodel.ErrNotFound)

	require.NoError(t, w.model.CheckPayment(ctx, references[0], start.Add(time.Hour)))
	require.NoError(t, w.model.CheckPayment(ctx, references[1], time.Time{}))
	w.report(orders[2], references[2], order.AttemptSucceeded, orders[2].Total)
	w.settled()
	require.NoError(t, w.model.CheckPayment(ctx, references[2], start)) // a sweep that was still asking
	require.Empty(t, due(start.Add(readmodel.FirstCheck+time.Minute)))
	require.Equal(t, references[:1], due(start.Add(time.Hour)))

	w.later(32 * time.Minute) // expired here, perhaps paid there
	w.report(orders[0], references[0], order.AttemptSucceeded, 1)
	w.settled()
	require.Equal(t, references[:2], due(w.now), "expiry made both due again")
	refunds, err := w.model.RefundsDue(ctx, w.now, 10)
	require.NoError(t, err)
	require.Len(t, refunds, 1)
	require.Equal(t, readmodel.Refund{
		Order: orders[0].ID, Provider: "paystack",
		Refund: order.Refund{Reference: references[0], Amount: 1, Reason: "underpaid", Status: order.RefundProcessing, At: w.now.UnixMilli()},
	}, refunds[0])
	for _, first := range []bool{true, false} { // two nodes that have both found it due
		mine, err := w.model.ClaimRefund(ctx, &refunds[0], w.now.Add(time.Minute))
		require.NoError(t, err)
		require.Equal(t, first, mine)
	}
	dueRefunds := func(at time.Time) []readmodel.Refund {
		t.Helper()
		list, err := w.model.RefundsDue(ctx, at, 10)
		require.NoError(t, err)
		return list
	}
	require.Empty(t, dueRefunds(w.now), "who has taken it looks at it")
	require.Len(t, dueRefunds(w.now.Add(time.Minute)), 1, "or has died meanwhile")
	require.NoError(t, w.model.CheckRefund(ctx, orders[0].ID, 0, readmodel.RefundCheck{Next: w.now.Add(time.Hour), Failures: 3, Stuck: true}))
	w.tell(orders[0], ledger.ReportRefund{Order: orders[0].ID, Reference: references[0], Status: order.RefundFailed, ProviderRef: "r-1"})
	w.settled()
	require.Empty(t, dueRefunds(w.now), "a fact about it undoes no pause")
	require.Equal(t, 3, dueRefunds(w.now.Add(time.Hour))[0].Failures)
	b, err := w.model.RefundBacklog(ctx)
	require.NoError(t, err)
	require.Equal(t, [2]int64{1, 1}, [2]int64{b.Open, b.Stuck})
	w.tell(orders[0], ledger.ReportRefund{Order: orders[0].ID, Reference: references[0], Status: order.RefundProcessed})
	w.settled()
	require.Empty(t, dueRefunds(w.now.Add(2*time.Hour)))
	b, err = w.model.RefundBacklog(ctx)
	require.NoError(t, err)
	require.Zero(t, b)
}

func TestTicketTypesAndStock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	show := w.event(1)
	tier := w.ticketType(show, 12, func(d *inventory.Details) { d.SortOrder = 1 })
	hidden := w.ticketType(show, 11, func(d *inventory.Details) {
		d.SortOrder, d.Hidden, d.Quantity, d.Price = 2, true, inventory.Unlimited, 1
	})
	w.publish(show)
	w.settled()
	for ref, want := range map[engine.Ref]int64{tier: 1000, hidden: inventory.Unlimited} {
		left, err := w.stock.Load(ref, func() (int64, error) { return w.do(ref, inventory.Get{}).(*inventory.Record).Available, nil })
		require.NoError(t, err)
		require.Equal(t, want, left)
	}

	o := w.place(show, 4, 12)
	w.place(show, 3, 12)
	w.tell(o, ledger.CancelOrder{Order: o.ID})
	w.settled()
	left, _ := w.stock.Get(tier)
	require.EqualValues(t, 997, left)

	r := w.do(tier, inventory.Get{}).(*inventory.Record)
	changed := r.Details
	changed.Name, changed.Quantity = "Renamed", 500
	require.IsType(t, r, w.do(tier, inventory.Update{Details: changed, Revision: r.Revision}))
	w.settled()
	left, _ = w.stock.Get(tier)
	require.EqualValues(t, 497, left)
	types, err := w.model.TicketTypes(t.Context(), show)
	require.NoError(t, err)
	require.Len(t, types, 2)
	require.Equal(t, readmodel.TicketType{Ref: tier, Details: changed, CreatedAt: start.UnixMilli(), Revision: 2}, types[0])
	require.Equal(t, hidden, types[1].Ref)
	e, err := w.model.EventByNumber(t.Context(), show)
	require.NoError(t, err)
	require.EqualValues(t, 4500, e.From, "hidden types don't count")
}

func TestFindEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	day := 24 * time.Hour
	dated := func(in, length time.Duration) func(*event.Details) {
		return func(d *event.Details) {
			d.StartAt, d.EndAt = start.Add(in).UnixMilli(), start.Add(in+length).UnixMilli()
		}
	}
	w.event(1, dated(2*day, time.Hour), func(d *event.Details) { d.Title, d.VenueCity, d.VenueCountry = "100% Jazz_Night", "São Paulo", "BR" })
	w.event(2, dated(day, 5*day), func(d *event.Details) { d.ShortDesc, d.VenueName = "jazz for all", "Blue Hall" })
	w.event(3, func(d *event.Details) {
		d.Category, d.EndAt, d.StartAt = "online-course", 0, start.Add(-day).UnixMilli()
	})
	w.event(4, func(d *event.Details) { d.Category = "reservations" }, dated(-9*day, day))
	w.event(5, dated(2*day, time.Hour), func(d *event.Details) { d.Title, d.Visibility = "Unlisted", "unlisted" })
	w.event(6, dated(2*day, time.Hour)) // stays a draft
	w.event(7, dated(2*day, time.Hour), func(d *event.Details) { d.Org = 8 })
	for n := int64(1); n <= 7; n++ {
		w.ticketType(n, 100+n, func(d *inventory.Details) { d.Price = n })
		switch n {
		case 6:
		case 3, 4: // nobody can publish these any more
			w.publishedBefore(n)
		default:
			w.publish(n)
		}
	}
	w.event(8)
	require.IsType(t, new(event.Record), w.do(engine.EventRef(8), event.Delete{}))
	w.settled()

	discover := func(d readmodel.Discovery) []int64 {
		t.Helper()
		d.Now = start.UnixMilli()
		if d.Limit == 0 {
			d.Limit = 100
		}
		list, err := w.model.DiscoverEvents(ctx, d)
		require.NoError(t, err)
		return numbers(list)
	}
	filter := func(f readmodel.Filter) []int64 { t.Helper(); return discover(readmodel.Discovery{Filter: f}) }
	require.Equal(t, []int64{4, 3, 2, 1, 7}, discover(readmodel.Discovery{}))
	require.Equal(t, []int64{2, 1}, filter(readmodel.Filter{Query: "JAZZ"}))
	require.Equal(t, []int64{1}, filter(readmodel.Filter{Query: "0% j"}))
	require.Equal(t, []int64{1}, filter(readmodel.Filter{Query: "z_n"}))
	require.Empty(t, filter(readmodel.Filter{Query: "a%s"}))
	require.Empty(t, filter(readmodel.Filter{Query: "\x00"}))
	require.Equal(t, []int64{4}, filter(readmodel.Filter{Category: "reservations"}))
	require.Equal(t, []int64{3}, filter(readmodel.Filter{ProductType: event.ProductDigital}))
	require.Equal(t, []int64{3}, filter(readmodel.Filter{Course: true}))
	require.Equal(t, []int64{1}, filter(readmodel.Filter{City: "são p"}))
	require.Equal(t, []int64{1}, filter(readmodel.Filter{Country: "br"}))
	require.Equal(t, []int64{2}, filter(readmodel.Filter{Venue: "hall"}))
	require.Equal(t, []int64{4, 3, 2}, discover(readmodel.Discovery{Between: readmodel.Between{From: start.Add(3 * day).UnixMilli()}}))
	require.Equal(t, []int64{4, 3, 2}, discover(readmodel.Discovery{Between: readmodel.Between{To: start.Add(36 * time.Hour).UnixMilli()}}))
	require.Equal(t, []int64{4, 3, 2, 1, 7}, discover(readmodel.Discovery{Between: readmodel.Between{From: start.Add(2 * day).UnixMilli(), To: start.Add(2 * day).UnixMilli()}}))

	var paged []int64
	var after readmodel.Place
	for {
		list, err := w.model.DiscoverEvents(ctx, readmodel.Discovery{Now: start.UnixMilli(), After: after, Limit: 2})
		require.NoError(t, err)
		if len(list) == 0 {
			break
		}
		require.LessOrEqual(t, len(list), 2)
		require.Equal(t, list[0].Number, list[0].From)
		paged, after = append(paged, numbers(list)...), readmodel.PlaceOf(&list[len(list)-1])
	}
	require.Equal(t, []int64{4, 3, 2, 1, 7}, paged)

	own, err := w.model.OrganizerEvents(ctx, 7, readmodel.Filter{}, readmodel.Between{}, 0, 3)
	require.NoError(t, err)
	require.Equal(t, []int64{6, 5, 4}, numbers(own))
	own, err = w.model.OrganizerEvents(ctx, 7, readmodel.Filter{Query: "jazz"}, readmodel.Between{}, 4, 3)
	require.NoError(t, err)
	require.Equal(t, []int64{2, 1}, numbers(own))

	for _, find := range []func() (readmodel.Event, error){
		func() (readmodel.Event, error) { return w.model.EventByNumber(ctx, 6) },
		func() (readmodel.Event, error) { return w.model.EventBySlug(ctx, "event-6") },
		func() (readmodel.Event, error) { return w.model.EventByPublicID(ctx, publicID(6)) },
	} {
		e, err := find()
		require.NoError(t, err)
		require.EqualValues(t, 6, e.Number)
		require.Equal(t, event.StatusDraft, e.Status)
		require.Equal(t, publicID(6), e.Details.PublicID)
	}
	for _, find := range []func() (readmodel.Event, error){
		func() (readmodel.Event, error) { return w.model.EventByNumber(ctx, 8) },
		func() (readmodel.Event, error) { return w.model.EventBySlug(ctx, "event-8") },
		func() (readmodel.Event, error) {
			return w.model.EventByPublicID(ctx, engine.NewID(6, make([]byte, 10)))
		},
	} {
		_, err := find()
		require.ErrorIs(t, err, readmodel.ErrNotFound)
	}
	_, err = w.model.Order(ctx, engine.NewID(1, make([]byte, 10)))
	require.ErrorIs(t, err, readmodel.ErrNotFound)
}

func numbers(list []readmodel.Event) []int64 {
	var all []int64
	for i := range list {
		all = append(all, list[i].Number)
	}
	return all
}

// TestTakesAnyText has Postgres given what it does not store as text.
func TestTakesAnyText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := "a\x00b"
	long := make([]byte, 20_000)
	for i := range long {
		long[i] = byte('a' + i*i%23)
	}
	show := w.event(1, func(d *event.Details) {
		d.Slug, d.Title, d.ShortDesc, d.Category, d.VenueCity, d.VenueCountry, d.VenueName = string(long), bad, bad, bad, bad, bad, bad
	})
	w.ticketType(show, 11, func(d *inventory.Details) { d.Name = bad })
	w.publish(show)
	r := w.do(engine.EventRef(show), ledger.Place{
		Order: engine.NewID(show, []byte("abcdefghij")), Email: bad, Name: bad, Lines: []order.Line{{Type: 11, Quantity: 1}},
	})
	o := w.ordered(r)
	w.begin(o)
	w.settled()
	got, err := w.model.Order(t.Context(), o.ID)
	require.NoError(t, err)
	require.Equal(t, bad, got.Email, "the record keeps what was said")
	e, err := w.model.EventBySlug(t.Context(), string(long))
	require.NoError(t, err)
	require.Equal(t, bad, e.Details.Title)
}

// TestReferencesThatCollide has two orders paid at once under one reference, as a
// release that shortened references could make them.
func TestReferencesThatCollide(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	show := w.event(1)
	w.ticketType(show, 11)
	w.publish(show)
	begin := func(o *order.Order) string {
		paid := w.tell(o, ledger.BeginPayment{Order: o.ID, Provider: "paystack", Number: "SAME", WindowMillis: 1_800_000})
		return paid.Attempts[0].Reference
	}
	one, two := w.place(show, 1, 11), w.place(show, 2, 11)
	reference := begin(one)
	require.Equal(t, reference, begin(two))
	w.settled() // both attempts in one batch
	first, err := w.model.Payment(t.Context(), reference)
	require.NoError(t, err)
	require.Equal(t, one.ID, first.Order, "the row is the first order's")

	w.report(two, reference, order.AttemptSucceeded, two.Total)
	w.report(one, reference, order.AttemptSucceeded, one.Total)
	w.settled()
	paid, err := w.model.Payment(t.Context(), reference)
	require.NoError(t, err)
	require.Equal(t, one.ID, paid.Order)
	require.Equal(t, order.AttemptSucceeded, paid.Status)
	require.Equal(t, one.Total, paid.Received, "the other's money is not counted for it")
	for _, o := range []*order.Order{one, two} {
		got, err := w.model.Order(t.Context(), o.ID)
		require.NoError(t, err)
		require.Equal(t, order.StatusCompleted, got.Status)
		require.Equal(t, o.Total, got.Attempts[0].Received)
	}
	w.rebuilt() // all of it in one transaction
}

// TestEventSlugsThatCollide tells of two events of one slug, which the edge never
// makes: the address stays the first event's, and both go on under their numbers.
func TestEventSlugsThatCollide(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	same := func(d *event.Details) { d.Slug = "night-1" }
	one, two := w.event(1, same), w.event(2, same)
	w.settled()
	first, err := w.model.EventBySlug(t.Context(), "night-1")
	require.NoError(t, err)
	require.Equal(t, one, first.Number)
	for _, number := range []int64{one, two} {
		e, err := w.model.EventByNumber(t.Context(), number)
		require.NoError(t, err)
		require.Equal(t, "night-1", e.Details.Slug)
	}
	w.rebuilt()
}
