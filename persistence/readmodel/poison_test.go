package readmodel_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/readmodel"
)

// poisoned is a journal whose facts no engine has decided, followed by the read model.
type poisoned struct {
	*world
	claims map[engine.Ref]journal.Claim
	next   map[engine.Ref]int64
}

func newPoisoned(t *testing.T) *poisoned {
	t.Helper()
	p := &poisoned{claims: map[engine.Ref]journal.Claim{}, next: map[engine.Ref]int64{}}
	w := &world{t: t, pool: persisttest.Migrated(t), now: start}
	w.model = readmodel.New(w.pool)
	d := readmodel.NewDigester(slog.New(slog.DiscardHandler))
	w.follow = follower.New(follower.Config{
		Name: readmodel.Follower, Pool: w.pool, Apply: d.Apply, Digesters: []*follower.Digester{d}, Log: slog.New(slog.DiscardHandler),
		Pace: time.Millisecond, Poll: 20 * time.Millisecond,
	})
	j, err := journal.Open(t.Context(), journal.Config{Pool: w.pool, Node: "node", Log: slog.New(slog.DiscardHandler), AllowUnsafe: true, Sink: w.follow.Offer})
	require.NoError(t, err)
	w.journal, p.world = j, w
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		require.NoError(t, j.Stop(ctx))
		require.NoError(t, w.follow.Stop(ctx))
	})
	return p
}

// write journals facts of a stream.
func (p *poisoned) write(ref engine.Ref, facts ...engine.Fact) {
	p.t.Helper()
	if p.next[ref] == 0 {
		claim, err := p.journal.Claim(p.t.Context(), ref)
		require.NoError(p.t, err)
		p.claims[ref], p.next[ref] = claim, 1
	}
	b := &barrier{done: make(chan error, 1)}
	e := &journal.Entry{Ref: ref, Claim: p.claims[ref], First: p.next[ref], Facts: facts, Owner: b}
	for _, f := range facts {
		var err error
		e.Bytes, err = codec.AppendFact(e.Bytes, f)
		require.NoError(p.t, err)
	}
	p.next[ref] += int64(len(facts))
	p.journal.Append(e)
	require.NoError(p.t, <-b.done)
}

func (p *poisoned) passed() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), within)
	defer cancel()
	require.NoError(p.t, p.follow.Passed(ctx))
}

func (p *poisoned) asides() []follower.Aside {
	p.t.Helper()
	list, err := follower.Asides(p.t.Context(), p.pool, follower.Selection{}, 100)
	require.NoError(p.t, err)
	return list
}

// retry has everything told again and waits until it was.
func (p *poisoned) retry() {
	p.t.Helper()
	_, err := follower.RequestRetry(p.t.Context(), p.pool, follower.Selection{})
	require.NoError(p.t, err)
	require.Eventually(p.t, func() bool {
		n, err := follower.Requested(p.t.Context(), p.pool, follower.Selection{})
		return err == nil && n == 0
	}, within, 10*time.Millisecond)
}

func placed(number int64, tail string) *order.Created {
	return &order.Created{Order: &order.Order{
		ID: engine.NewID(number, []byte(tail)), Status: order.StatusPending, Email: "ada@example.org", Currency: "USD",
		Lines: []order.Line{{Type: 1, Name: "GA", Quantity: 1}}, CreatedAt: start.UnixMilli(), UpdatedAt: start.UnixMilli(),
	}}
}

func opened(o *order.Created, reference string) *order.PaymentBegun {
	return &order.PaymentBegun{ID: o.Order.ID, Attempt: order.Attempt{
		Reference: reference, Provider: "paystack", Status: order.AttemptPending, Amount: 5, At: start.UnixMilli(),
	}}
}

// TestTwoPaymentsOfOneReference brings one reference twice into one batch. The read
// model goes on, and everything else is there.
func TestTwoPaymentsOfOneReference(t *testing.T) {
	t.Parallel()
	p := newPoisoned(t)
	one, two := placed(1, "0123456789"), placed(2, "0123456789")
	p.write(engine.EventRef(1), one, opened(one, "BX-SAME-1"))
	p.write(engine.EventRef(2), two, opened(two, "BX-SAME-1"))
	p.follow.Start(p.journal)
	p.passed()
	for _, o := range []*order.Created{one, two} {
		_, err := p.model.Order(t.Context(), o.Order.ID)
		require.NoError(t, err)
	}
	_, err := p.model.Payment(t.Context(), "BX-SAME-1")
	require.NoError(t, err)
}

// TestOneOrderTwice creates an order whose id another one has. The second is set
// aside, alone, and goes on being so.
func TestOneOrderTwice(t *testing.T) {
	t.Parallel()
	p := newPoisoned(t)
	ref := engine.EventRef(1)
	first, other := placed(1, "0123456789"), placed(1, "9876543210")
	p.write(ref, first)
	p.write(ref, placed(1, "0123456789"), other)
	p.follow.Start(p.journal)
	p.passed()
	_, err := p.model.Order(t.Context(), other.Order.ID)
	require.NoError(t, err)
	asides := p.asides()
	require.Len(t, asides, 1)
	require.Equal(t, int64(2), asides[0].Seq)
	require.Equal(t, "order.created", asides[0].Type)
	require.Contains(t, asides[0].Error, "23505")

	p.retry()
	require.Len(t, p.asides(), 1)
	_, err = p.model.Order(t.Context(), other.Order.ID)
	require.NoError(t, err)
}

// TestToldAgainInOrder sets an order's first fact aside, and those that need it. Told
// again after the cause has gone, the order is as its facts say, and an event that
// was changed since is as it was changed last.
func TestToldAgainInOrder(t *testing.T) {
	t.Parallel()
	p := newPoisoned(t)
	ref := engine.EventRef(1)
	details := func(title string) *event.Details {
		return &event.Details{
			Org: 7, PublicID: publicID(1), Slug: "one", Title: title, Category: "music", Visibility: "public",
			StartAt: start.UnixMilli(), EndAt: start.UnixMilli(), Timezone: "UTC", Currency: "USD",
		}
	}
	// Constraints stand for the mistakes of a release, and are mended.
	_, err := p.pool.Exec(t.Context(), `
ALTER TABLE events ADD CONSTRAINT mistake CHECK (title <> 'second'); ALTER TABLE orders ADD CONSTRAINT mistake CHECK (email <> 'ada@example.org')`)
	require.NoError(t, err)
	p.follow.Start(p.journal)
	o := placed(1, "0123456789")
	p.write(ref, &event.Created{Details: details("first"), At: 1}, &event.Updated{Details: details("second"), At: 2}, o)
	p.write(ref, &event.Updated{Details: details("third"), At: 3}, opened(o, "BX-1"), &order.Completed{ID: o.Order.ID, Serial: 1, First: 1, At: 4})
	p.passed()
	require.Len(t, p.asides(), 4)
	_, err = p.model.Order(t.Context(), o.Order.ID)
	require.ErrorIs(t, err, readmodel.ErrNotFound)

	_, err = p.pool.Exec(t.Context(), `ALTER TABLE events DROP CONSTRAINT mistake; ALTER TABLE orders DROP CONSTRAINT mistake`)
	require.NoError(t, err)
	p.retry()
	require.Empty(t, p.asides())
	e, err := p.model.EventByNumber(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "third", e.Details.Title)
	require.Equal(t, uint64(3), e.Revision)
	got, err := p.model.Order(t.Context(), o.Order.ID)
	require.NoError(t, err)
	require.Equal(t, order.StatusCompleted, got.Status)
	require.Equal(t, uint32(1), got.FirstTicket)
	require.Len(t, got.Attempts, 1)
}
