package mailqueue

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
)

// TestFacts: what each fact mails, and that it does so once, however often and
// from wherever it is read.
func TestFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.created()
	first := w.id()
	done := w.bought("ada@example.org")
	batches := []journal.Batch{
		w.happen(done...),
		w.happen(w.order("eve@example.org"), &order.Ended{ID: w.id(), Status: order.StatusCancelled, At: w.at()}),
	}
	second := w.id()
	w.serial++
	third := w.id()
	batches = append(
		batches,
		w.happen(w.order("bob@example.org"), &order.Ended{ID: w.id(), Status: order.StatusExpired, At: w.at()}),
		w.happen(
			&order.RefundDue{ID: first, Refund: order.Refund{Reference: "r", Amount: 2500, Reason: "twice", At: w.at()}},
			&order.RefundDue{ID: first, Number: 2, Refund: order.Refund{Reference: "s", Amount: 2500, Reason: "twice", At: w.at()}},
			&order.RefundReported{ID: first, Reference: "r", Status: order.RefundProcessing, At: w.at()},
			&order.RefundReported{ID: first, Reference: "r", Status: order.RefundFailed, At: w.at()},
			&order.RefundReported{ID: first, Reference: "r", Status: order.RefundProcessed, At: w.at()},
		),
		w.happen(
			&order.PaymentReported{ID: third, Reference: "card", Status: order.AttemptProcessing, At: w.at()},
			&order.PaymentReported{ID: third, Reference: "coin", Status: order.AttemptProcessing, Arrived: "0", At: w.at()},
			&order.PaymentReported{ID: third, Reference: "coin", Status: order.AttemptProcessing, Arrived: "0.1", At: w.at()},
			&order.PaymentReported{ID: third, Reference: "coin", Status: order.AttemptUnderpaid, Arrived: "0.1", At: w.at()},
			&order.PaymentReported{ID: third, Reference: "coin", Status: order.AttemptSucceeded, Arrived: "0.2", At: w.at()},
			&order.PaymentReported{ID: second, Reference: "bank", Status: order.AttemptUnderpaid, At: w.at()}, // of a transfer
		),
		w.happen(
			&order.PaymentOpened{ID: third, Reference: "coin", Deposit: &order.Deposit{Address: "bc1", Network: "btc"}, At: w.at()},
			&order.PaymentOpened{ID: third, Reference: "bank-1", Deposit: &order.Deposit{Address: "A|B|", Network: order.NetworkBank}, At: w.at()},
			&order.PaymentOpened{ID: third, Reference: "bank-2", Deposit: &order.Deposit{Address: "A|B|", Network: order.NetworkBank}, At: w.at()},
		),
		w.happen(&admission.CheckedIn{Ticket: 1, At: w.at()}, &event.Moved{From: event.StatusOnSale, To: event.StatusSoldOut, At: w.at()}),
	)
	want := []Mail{
		{Template: OrderConfirmation, Order: first.String()},
		{Template: OrderCancelled, Order: second.String()},
		{Template: RefundDue, Order: first.String(), Amount: 2500, Reason: "twice"},
		{Template: RefundDue, Order: first.String(), Amount: 2500, Reason: "twice", Refund: 1},
		{Template: RefundProcessed, Order: first.String()},
		{Template: PaymentSeen, Order: third.String(), Reason: order.AttemptProcessing},
		{Template: PaymentSeen, Order: third.String(), Reason: order.AttemptUnderpaid},
		{Template: PaymentSeen, Order: second.String(), Reason: order.AttemptUnderpaid},
		{Template: BankTransfer, Order: third.String()},
	}
	same := func() {
		t.Helper()
		got := w.put()
		for i := range got {
			require.Len(t, got[i].ID, 32)
			got[i].ID = ""
		}
		require.Equal(t, want, got)
	}
	same()
	for i := range batches { // as they come from the journal, or by Kafka
		batches[i].Records[0].Facts = nil
	}
	for _, o := range []*Queue{w.queue, w.open()} {
		w.tx(func(tx pgx.Tx) error { return o.Apply(t.Context(), tx, batches) })
		same()
	}
}

// TestOldFacts has a follower read the journal from its beginning, and it writes to nobody.
func TestOldFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.now = time.Now().Add(-oldestMailed - time.Minute)
	w.created()
	w.happen(w.bought("ada@example.org")...)
	w.updated(func(d *event.Details) { d.Title = "Saturday" })
	w.happen(&event.Moved{From: event.StatusOnSale, To: event.StatusCancelled, At: w.at()})
	require.Empty(t, w.states())
	w.now = time.Now()
	w.updated(func(d *event.Details) { d.Title = "Saturday" }) // which holders know
	require.Empty(t, w.states())
}

// TestApplyManyKinds: the facts of others are passed over.
func TestApplyManyKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := journal.Batch{Writer: 1, Seq: 1, Records: []journal.Record{{Ref: engine.InventoryRef(number, 3), Stream: 8, First: 1, Last: 1, Bytes: []byte("no facts")}}}
	w.tx(func(tx pgx.Tx) error { return w.queue.Apply(t.Context(), tx, []journal.Batch{b}) })
	b.Records[0].Ref = engine.EventRef(number)
	require.Error(t, pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error { return w.queue.Apply(t.Context(), tx, []journal.Batch{b}) }))
}

// TestBuyersAreNotedWithTheirMail makes sure that the name of a checkout waits for its buyer's account when
// the mail is queued that may bring the buyer there.
func TestBuyersAreNotedWithTheirMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.created()
	facts := w.bought("Ada@example.org", "ada@example.org", "eve@example.org")
	facts[2].(*order.Created).Order.Name = "Ada Lovelace"
	w.happen(facts...)
	w.happen(w.order("open@example.org"))
	require.Equal(t, []string{"ada@example.org Ada Lovelace", "eve@example.org Ada"}, w.noted())
}

// poisons are texts that no column, no index or no JSON takes as they are.
var poisons = map[string]string{
	"NUL": "a\x00b", "invalid UTF-8": "\xff\xfe", "a lone surrogate": "\xed\xa0\x80", "an escaped lone surrogate": `\ud800`, "an escaped NUL": `\u0000`, "100 KB": noise(100_000),
}

// noise is letters that do not compress to an index row's size.
func noise(n int) string {
	rng := rand.New(rand.NewPCG(1, 1))
	text := make([]byte, n)
	for i := range text {
		text[i] = 'a' + byte(rng.IntN(26))
	}
	return string(text)
}

// TestPoisonedBuyers makes sure that names and addresses that cannot be kept hold up no mail, neither their
// own nor one of their batch, and that none of their facts is set aside.
func TestPoisonedBuyers(t *testing.T) {
	t.Parallel()
	for name, poison := range poisons {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.created()
			facts := w.bought("first@example.org", "named@example.org", poison+"@example.org", "last@example.org")
			facts[2].(*order.Created).Order.Name = poison
			digester := follower.NewDigester(Follower, slog.New(slog.DiscardHandler), w.queue.Apply, nil)
			b := w.batchOf(facts...)
			w.tx(func(tx pgx.Tx) error { return w.writer.Apply(t.Context(), tx, []journal.Batch{b}) })
			require.NoError(t, follower.Transact(t.Context(), w.pool.Begin, within, func(ctx context.Context, tx pgx.Tx) error {
				return digester.Apply(ctx, tx, []journal.Batch{b})
			}))
			asides, err := follower.Asides(t.Context(), w.pool, follower.Selection{}, 10)
			require.NoError(t, err)
			require.Empty(t, asides)
			var confirmed []string
			for _, l := range w.put() {
				confirmed = append(confirmed, l.Order)
			}
			var want []string
			for _, f := range facts {
				if done, ok := f.(*order.Completed); ok {
					want = append(want, done.ID.String())
				}
			}
			require.Equal(t, want, confirmed)
			noted := w.noted()
			require.Contains(t, noted, "first@example.org Ada")
			require.Contains(t, noted, "last@example.org Ada")
		})
	}
}

// noted are the buyers whose names wait for their accounts.
func (w *world) noted() []string {
	w.t.Helper()
	rows, err := w.pool.Query(w.t.Context(), `SELECT email || ' ' || name FROM buyer_names ORDER BY 1`)
	require.NoError(w.t, err)
	noted, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w.t, err)
	return noted
}
