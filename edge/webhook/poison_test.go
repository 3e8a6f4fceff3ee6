package webhook_test

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"boxoffice/edge/webhook"
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/all"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/order"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/committed"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/follower/kafka"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/publicfacts"
	"boxoffice/persistence/readmodel"
)

var (
	poisonFor      = flag.Duration("poison", 2*time.Second, "how long followers are fed facts with extreme values")
	poisonSeed     = flag.Uint64("poison-seed", 0, "of those facts; a new one each time if 0")
	poisonFollower = flag.String("follower", "", "feed this one alone: readmodel, told, webhooks, mail or kafka")
)

// poisonSeeds have found something once. Each is fed a few rounds by every test.
var poisonSeeds = []struct {
	follower string
	seed     uint64
}{
	{readmodel.Follower, 17915938858177576602}, // an order of two thousand million tickets
}

// regressionRounds are enough for each of poisonSeeds.
const regressionRounds = 10

// extremes are values that a field may have at its ends.
var (
	extremeInts = []int64{
		0, 1, -1, 2, 255, -256, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64,
		253_402_300_800_000, -62_167_219_200_001, 1_900_000_000_000,
	} // the years 10000 and -1, and a plain moment
	extremeTexts = []string{"", "x", "\x00", "a\x00b", "\xff\xfe", "\u202e<script>", strings.Repeat("long ", 2_000), "9999-12-31", order.StatusCompleted, order.RefundProcessed}
	extremeReals = []float64{0, -1, math.NaN(), math.Inf(1), math.MaxFloat64, 1e-320}
)

// spoil sets every field below v to one of its extremes.
func spoil(rng *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() { //nolint:exhaustive // facts have no other fields
	case reflect.Pointer:
		if rng.IntN(8) > 0 && depth < 8 {
			v.Set(reflect.New(v.Type().Elem()))
			spoil(rng, v.Elem(), depth+1)
		}
	case reflect.Struct:
		for f, field := range v.Fields() {
			if f.IsExported() && rng.IntN(10) > 0 {
				spoil(rng, field, depth+1)
			}
		}
	case reflect.Slice:
		n := rng.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			spoil(rng, v.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			spoil(rng, v.Index(i), depth+1)
		}
	case reflect.String:
		v.SetString(extremeTexts[rng.IntN(len(extremeTexts))])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Float64:
		v.SetFloat(extremeReals[rng.IntN(len(extremeReals))])
	default:
		if v.CanUint() {
			v.SetUint(uint64(extremeInts[rng.IntN(len(extremeInts))]) & (1<<min(63, v.Type().Bits()) - 1)) //nolint:gosec // any will do
		} else if v.CanInt() {
			v.SetInt(extremeInts[rng.IntN(len(extremeInts))] >> (64 - v.Type().Bits()))
		}
	}
}

// feeder writes facts to streams, and has followers read them.
type feeder struct {
	*world
	rng     *rand.Rand
	journal *journal.Postgres
	claims  map[engine.Ref]journal.Claim
	next    map[engine.Ref]int64
	follow  []*follower.Follower
	decider *decider
	written int
}

// newFeeder makes one with followers of the journal: the read model, and those named,
// "told", "webhooks" (told, and fanned out) and "mail", or "kafka" for all of these by
// way of Kafka.
func newFeeder(t *testing.T, seed uint64, names []string) *feeder {
	f := &feeder{world: open(t), rng: rand.New(rand.NewPCG(seed, seed)), claims: map[engine.Ref]journal.Claim{}, next: map[engine.Ref]int64{}}
	f.pool = widePool(t, f.pool)
	f.decider = newDecider(t, f.rng, f.org, f.write)
	model := readmodel.NewDigester(discard)
	f.start(readmodel.Follower, model.Apply, model)
	through := slices.Contains(names, "kafka")
	var sinks []publicfacts.Sink
	if through || slices.Contains(names, "webhooks") {
		sinks = append(sinks, f.store.FanOut)
	}
	store := publicfacts.New(f.pool, journal.NewReader(f.pool), f.secrets, &webhook.Teller{Secrets: f.secrets, Seats: f.seats}, sinks...)
	mails, err := mailqueue.New(mailqueue.Config{Pool: f.pool, Log: discard})
	require.NoError(t, err)
	var digesters []*follower.Digester
	if through || slices.Contains(names, "told") || sinks != nil {
		digesters = append(digesters, follower.NewDigester(publicfacts.Follower, discard, store.Apply, nil))
	}
	if through || slices.Contains(names, "mail") {
		digesters = append(digesters, follower.NewDigester(mailqueue.Follower, discard, f.afterReadModel(mails.Apply), nil))
	}
	tell := follower.Once(publicfacts.Follower, journal.NewReader(f.pool), func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
		for _, d := range digesters {
			if err := d.Apply(ctx, tx, batches); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case through:
		f.startKafka(tell, digesters)
	case digesters != nil:
		f.start(publicfacts.Follower, tell, digesters...)
	}
	f.open()
	return f
}

// widePool has as many connections as a node's. With few, what waits for the read
// model would have those that the read model needs.
func widePool(t *testing.T, of *pgxpool.Pool) *pgxpool.Pool {
	cfg := of.Config()
	cfg.MaxConns = 16
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// afterReadModel has a follower that reads the read model's tables wait for it, as the
// telling before it does in a node.
func (f *feeder) afterReadModel(apply follower.Apply) follower.Apply {
	return func(ctx context.Context, tx pgx.Tx, batches []journal.Batch) error {
		if passed, err := readmodel.Passed(ctx, tx, batches); err != nil || !passed {
			return errors.Join(err, follower.ErrAgain)
		}
		return apply(ctx, tx, batches)
	}
}

// seats are those of decided events. Of others there are none, which is a mistake of
// ours, for the teller to panic over.
func (f *feeder) seats(ctx context.Context, number int64) (*committed.SeatMap, error) {
	if number < decided {
		return nil, nil //nolint:nilnil // as above
	}
	return f.decider.seatMap(ctx, number)
}

func (f *feeder) start(name string, apply follower.Apply, digesters ...*follower.Digester) {
	f.follow = append(f.follow, follower.New(follower.Config{
		Name: name, Pool: f.pool, Log: discard, Apply: apply, Digesters: digesters, Pace: time.Millisecond, Poll: 20 * time.Millisecond,
	}))
}

// startKafka has the facts go through a topic.
func (f *feeder) startKafka(tell follower.Apply, digesters []*follower.Digester) {
	broker, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(f.t, err)
	f.t.Cleanup(broker.Close)
	cfg := kafka.Config{Brokers: broker.ListenAddrs(), Topic: "facts", Partitions: 3, Replication: 1, Retention: time.Hour}
	relay := kafka.NewRelay(cfg, journal.NewReader(f.pool), discard)
	f.t.Cleanup(relay.Close)
	d := follower.NewDigester(relay.Name(), discard, relay.Apply, nil)
	f.start(relay.Name(), d.Apply, d)
	c := kafka.NewConsumer(cfg, kafka.ConsumerConfig{Name: publicfacts.Follower, Pool: f.pool, Log: discard, Apply: tell, Digesters: digesters, Past: journal.NewReader(f.pool)})
	f.t.Cleanup(func() { require.NoError(f.t, c.Stop(context.Background())) })
	c.Start()
}

// open opens the journal, and starts the followers of it.
func (f *feeder) open() {
	var err error
	f.journal, err = journal.Open(f.t.Context(), journal.Config{Pool: f.pool, Node: "node", Log: discard, AllowUnsafe: true, Sink: func(b *journal.Batch) {
		for _, one := range f.follow {
			one.Offer(b)
		}
	}})
	require.NoError(f.t, err)
	f.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(f.t, f.journal.Stop(ctx))
		for _, one := range f.follow {
			require.NoError(f.t, one.Stop(ctx))
		}
	})
	for _, one := range f.follow {
		one.Start(f.journal)
	}
}

// passed waits until the followers have passed what is written, the way through Kafka
// included.
func (f *feeder) passed() {
	f.t.Helper()
	for _, one := range f.follow {
		ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
		require.NoError(f.t, one.Passed(ctx))
		cancel()
	}
	const behind = `
SELECT count(*) FROM streams s CROSS JOIN LATERAL (SELECT max(last_seq) AS last FROM records_of(s.stream_id, 0)) r
LEFT JOIN applied a ON a.name = $1 AND a.stream_id = s.stream_id WHERE coalesce(a.seq, 0) < r.last`
	if len(f.follow) == 1 {
		return
	}
	require.Eventually(f.t, func() bool {
		var n int
		return f.pool.QueryRow(f.t.Context(), behind, publicfacts.Follower).Scan(&n) == nil && n == 0
	}, 2*time.Minute, 5*time.Millisecond)
}

// kept is the journal's word on an entry.
type kept chan error

func (k kept) Settled(err error) { k <- err }

func (f *feeder) write(ref engine.Ref, facts ...engine.Fact) {
	f.t.Helper()
	if f.next[ref] == 0 {
		claim, err := f.journal.Claim(f.t.Context(), ref)
		require.NoError(f.t, err)
		f.claims[ref], f.next[ref] = claim, 1
	}
	done := make(kept, 1)
	e := &journal.Entry{Ref: ref, Claim: f.claims[ref], First: f.next[ref], Facts: facts, Owner: done}
	for _, fact := range facts {
		var err error
		e.Bytes, err = codec.AppendFact(e.Bytes, fact)
		require.NoError(f.t, err)
	}
	f.next[ref] += int64(len(facts))
	f.written += len(facts)
	f.journal.Append(e)
	require.NoError(f.t, <-done)
}

// poison writes a few facts of one stream with extreme values, some of them about
// orders that are there.
func (f *feeder) poison() {
	kind := all.Kinds[f.rng.IntN(len(all.Kinds))]
	ref := engine.Ref{Kind: kind.Kind, Home: 1 + f.rng.Int64N(5), ID: 1 + f.rng.Int64N(5)}
	switch kind.Kind {
	case engine.KindEvent, engine.KindSeatmap, engine.KindCalendar, engine.KindQueue:
		ref.ID = ref.Home
	case engine.KindInventory, engine.KindPromo:
	case engine.KindWallet:
		ref.Home += 1_000_000 // of no organization that decides something
	}
	var facts []engine.Fact
	for range 1 + f.rng.IntN(5) {
		fact := kind.Facts[f.rng.IntN(len(kind.Facts))].New()
		spoil(f.rng, reflect.ValueOf(fact).Elem(), 0)
		if id := reflect.ValueOf(fact).Elem().FieldByName("ID"); id.IsValid() && id.Type() == reflect.TypeFor[engine.OrderID]() && f.rng.IntN(2) == 0 {
			id.Set(reflect.ValueOf(orderOf(ref.Home, f.rng.IntN(4))))
		}
		if made, ok := fact.(*order.Created); ok && made.Order != nil {
			made.Order.ID = orderOf(ref.Home, f.rng.IntN(4))
		}
		facts = append(facts, fact)
	}
	f.write(ref, facts...)
}

func orderOf(number int64, n int) engine.OrderID {
	return engine.NewID(number, binary.BigEndian.AppendUint64([]byte{0, 0}, uint64(n)))
}

// decided is the first number of events and ticket types whose facts the kinds have decided.
const decided = 10_000

// TestPoison feeds the read model, the telling of facts, the fan-out to webhooks, the
// mail and the way through Kafka two sorts of facts: what the kinds decide when
// they are asked for what is at the ends of what the API lets in, and, between
// these, facts of every type with extreme values, which nothing may have decided. No
// follower stops, and of what was decided nothing is set aside and nothing is missing.
func TestPoison(t *testing.T) {
	t.Parallel()
	for _, r := range poisonSeeds {
		t.Run(fmt.Sprintf("%s, seed %d", r.follower, r.seed), func(t *testing.T) {
			t.Parallel()
			feed(t, r.seed, strings.Split(r.follower, ","), func(round int) bool { return round < regressionRounds })
		})
	}
	followers := []string{"told,webhooks,mail", "kafka"}
	if *poisonFollower != "" {
		followers = []string{*poisonFollower}
	}
	seed := *poisonSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	for _, names := range followers {
		t.Run(names, func(t *testing.T) {
			t.Parallel()
			t.Logf("-follower=%s -poison-seed=%d", names, seed)
			until := time.Now().Add(*poisonFor)
			feed(t, seed, strings.Split(names, ","), func(int) bool { return time.Now().Before(until) })
		})
	}
}

// feed feeds the followers round by round. What a round does depends on the seed alone.
func feed(t *testing.T, seed uint64, names []string, more func(round int) bool) {
	f := newFeeder(t, seed, names)
	f.create("https://example.org/hook")
	rounds := 0
	for ; rounds == 0 || more(rounds); rounds++ {
		for range f.rng.IntN(20) {
			f.poison()
		}
		for range f.rng.IntN(60) {
			f.decider.step()
		}
		f.passed()
		f.requireDigested()
	}
	f.requireComplete(names)
	var aside int
	require.NoError(t, f.pool.QueryRow(t.Context(), `SELECT count(*) FROM set_aside`).Scan(&aside))
	t.Logf("seed %d: %d rounds, %d facts written, %d set aside of those that nothing decides", seed, rounds, f.written, aside)
	t.Log("decided: ", f.decider.kinds)
	t.Log("answers: ", f.decider.replies)
}

// requireDigested makes sure that nothing was set aside of what the kinds have decided.
func (f *feeder) requireDigested() {
	f.t.Helper()
	asides, err := follower.Asides(f.t.Context(), f.pool, follower.Selection{}, 1_000_000)
	require.NoError(f.t, err)
	for _, a := range asides {
		ref, err := engine.ParseRef(a.Aggregate)
		require.NoError(f.t, err)
		made := ref.Home >= decided && ref.Kind != engine.KindWallet || ref.Home == f.org && ref.Kind == engine.KindWallet
		require.False(f.t, made, "%s has set aside %s of %s, fact %d: %s", a.Follower, a.Type, a.Aggregate, a.Seq, a.Error)
	}
}

// requireComplete makes sure that the followers have made everything of what the kinds
// have decided.
func (f *feeder) requireComplete(names []string) {
	f.t.Helper()
	count := func(sql string, args ...any) (n int) {
		f.t.Helper()
		require.NoError(f.t, f.pool.QueryRow(f.t.Context(), sql, args...).Scan(&n))
		return n
	}
	var orders [][16]byte
	for _, sh := range f.decider.shows {
		for _, id := range sh.orders {
			orders = append(orders, id)
		}
	}
	require.Equal(f.t, len(orders), count(`SELECT count(*) FROM orders WHERE id = ANY ($1)`, orders))
	if !slices.ContainsFunc(names, func(name string) bool { return name != readmodel.Follower && name != "mail" }) {
		return
	}
	const toldOf = `SELECT count(*) FROM facts WHERE type = $1 AND split_part(aggregate, '/', 2)::bigint >= $2`
	for typ, fact := range map[string]engine.Fact{
		"event.created": &event.Created{}, "event.updated": &event.Updated{}, "ticket_type.created": &inventory.Created{},
		"order.created": &order.Created{}, "order.completed": &order.Completed{},
		"ticket.checked_in": &admission.CheckedIn{}, "ticket.checkin_denied": &admission.CheckInDenied{},
	} {
		require.Equal(f.t, f.decider.kinds[fmt.Sprintf("%T", fact)], count(toldOf, typ, decided), typ)
	}
	if slices.Contains(names, "webhooks") || slices.Contains(names, "kafka") {
		const unsent = `
SELECT count(*) FROM facts WHERE org = $1 AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.event_id = facts.id)`
		require.Zero(f.t, count(unsent, f.org))
	}
}
