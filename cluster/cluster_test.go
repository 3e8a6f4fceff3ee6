package cluster_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/members"
	"boxoffice/persistence/persisttest"
)

// party is several nodes on one store.
type party struct {
	t testing.TB
	*world
	nodes  map[string]*guest
	change func(name string, cfg *cluster.Config) // nil: nothing
}

type guest struct {
	*cluster.Node
	member  members.Member
	journal *persisttest.Memory
	ln      net.Listener

	mu       sync.Mutex
	observed []journal.Record
	kept     func(int64) bool // as last told
}

func newParty(t testing.TB, names ...string) *party { return newPartyWith(t, nil, names...) }

func newPartyWith(t testing.TB, change func(string, *cluster.Config), names ...string) *party {
	p := &party{t: t, world: newWorld(), nodes: make(map[string]*guest), change: change}
	for _, name := range names {
		p.open(name)
	}
	p.tell()
	t.Cleanup(func() {
		for _, name := range p.names() {
			p.stop(name)
		}
	})
	return p
}

func (p *party) names() []string {
	var names []string
	for name := range p.nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// open starts a node that nobody knows of yet.
func (p *party) open(name string) *guest {
	ln, err := (&net.ListenConfig{}).Listen(p.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(p.t, err)
	g := &guest{member: members.Member{ID: name + "#1", Name: name, Link: ln.Addr().String()}, ln: ln}
	g.journal = p.store.Open(func(b *journal.Batch) {
		if g.Node != nil {
			g.Observe(b)
		}
	})
	cfg := cluster.Config{
		Journal: g.journal, Snapshots: p.shelf, Wakes: p.shelf, Log: slog.New(slog.DiscardHandler),
		Self: g.member.ID, Listen: ln,
		Observe: func(b *journal.Batch) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.observed = append(g.observed, b.Records...)
		},
		Missed: func(kept func(int64) bool) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.kept = kept
		},
	}
	if p.change != nil {
		p.change(name, &cfg)
	}
	g.Node = cluster.Start(cfg)
	p.nodes[name] = g
	return g
}

// tell has every node know the list.
func (p *party) tell() {
	var list []members.Member
	for _, name := range p.names() {
		list = append(list, p.nodes[name].member)
	}
	for _, name := range p.names() {
		p.nodes[name].TakeMembers(list)
	}
}

func (p *party) stop(name string) {
	g := p.nodes[name]
	delete(p.nodes, name)
	stop(p.t, g.Node, g.journal)
}

// crash ends a node without a word.
func (p *party) crash(name string) {
	g := p.nodes[name]
	delete(p.nodes, name)
	g.journal.Crash()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = g.Stop(ctx)
}

// from asks from a node until there is an answer other than that there is none.
func (p *party) from(name string, to engine.Ref, cmd engine.Command) engine.Reply {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		r, err := p.nodes[name].Ask(p.t.Context(), to, cmd)
		if err == nil {
			return r
		}
		refusal, ok := err.(*engine.Refusal) //nolint:errorlint // Ask returns it bare
		require.True(p.t, ok && refusal.Code == engine.Unavailable, "%v", err)
		require.True(p.t, time.Now().Before(deadline), "unavailable for long")
	}
}

// onSaleFrom makes a free event with one ticket type on sale.
func (p *party) onSaleFrom(name string, number int64, quantity int64) {
	now := p.nodes[name].Now()
	p.from(name, engine.EventRef(number), event.Create{Details: event.Details{
		Title: "Night", Category: "music", StartAt: now.Add(time.Hour).UnixMilli(), EndAt: now.Add(2 * time.Hour).UnixMilli(),
		Capacity: event.NoCapacity, Currency: "USD", OrderWindow: 900_000,
	}})
	r, _ := p.from(name, engine.InventoryRef(number, typeNo), inventory.Create{Details: inventory.Details{
		Name: "Floor", Type: "general", SaleStart: now.Add(-time.Hour).UnixMilli(), SaleEnd: now.Add(time.Hour).UnixMilli(),
		Currency: "USD", Quantity: quantity, MaxPerOrder: 10, MaxPerCustomer: 10,
	}}).(*inventory.Record)
	p.from(name, engine.EventRef(number), r.Offer())
	p.from(name, engine.EventRef(number), event.Move{To: event.StatusPublished})
}

func placeIn(number int64, i int) ledger.Place {
	return ledger.Place{
		Order: engine.NewID(number, fmt.Appendf(nil, "%010d", i)), Email: "a@example.org", Customer: uint64(i + 1),
		Lines: []order.Line{{Type: typeNo, Quantity: 1}},
	}
}

func (p *party) issued(name string, number int64) int64 {
	return p.from(name, engine.EventRef(number), admission.GateStats{}).(*admission.Stats).Issued
}

// hosts are the nodes with actors.
func (p *party) hosts() (hosts []string) {
	for _, name := range p.names() {
		if p.nodes[name].Actors() > 0 {
			hosts = append(hosts, name)
		}
	}
	return hosts
}

const partyEvents = 24

// Commands from any node reach the one that owns the actor, with the same answer
// and the same refusals.
func TestAnyNodeReachesEveryActor(t *testing.T) {
	t.Parallel()
	p := newParty(t, "a", "b", "c")
	for number := int64(1); number <= partyEvents; number++ {
		p.onSaleFrom("a", number, 2)
	}
	require.Equal(t, []string{"a", "b", "c"}, p.hosts())
	for number := int64(1); number <= partyEvents; number++ {
		for i, name := range []string{"a", "b"} {
			require.Equal(t, order.StatusCompleted, p.from(name, engine.EventRef(number), placeIn(number, i)).(*ledger.OrderReply).Status)
		}
		first := p.from("a", engine.EventRef(number), placeIn(number, 1)).(*ledger.OrderReply)
		require.True(t, first.Known)
		_, err := p.nodes["c"].Ask(t.Context(), engine.EventRef(number), placeIn(number, 2))
		var r *engine.Refusal
		require.ErrorAs(t, err, &r)
		require.Equal(t, engine.TicketSoldOut, r.Code)
		require.IsType(t, keeper.OutOfStock{}, r.Details)
		require.EqualValues(t, 2, p.issued("c", number))
	}
}

// A node that dies is missed by nobody for long, and what it had acknowledged is
// there.
func TestActorsMoveWhenANodeDies(t *testing.T) {
	t.Parallel()
	p := newParty(t, "a", "b", "c")
	for number := int64(1); number <= partyEvents; number++ {
		p.onSaleFrom("b", number, 100)
		p.from("a", engine.EventRef(number), placeIn(number, 0))
	}
	p.crash("c")
	p.tell()
	for number := int64(1); number <= partyEvents; number++ {
		p.from("a", engine.EventRef(number), placeIn(number, 1))
		require.EqualValues(t, 2, p.issued("b", number))
	}
}

// While a node joins and another leaves in order, no command is lost, none is
// carried out twice, and all are answered to those who repeat them.
func TestActorsMoveUnderLoad(t *testing.T) {
	t.Parallel()
	p := newParty(t, "a", "b")
	for number := int64(1); number <= partyEvents; number++ {
		p.onSaleFrom("a", number, 1_000_000)
	}
	var orders [partyEvents + 1]atomic.Int64
	stop := make(chan struct{})
	var buyers sync.WaitGroup
	for buyer := range 32 {
		node := p.nodes[[]string{"a", "b"}[buyer%2]]
		buyers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				number := int64(1 + (buyer+i)%partyEvents)
				cmd := placeIn(number, buyer<<20|i)
				for {
					_, err := node.Ask(context.Background(), engine.EventRef(number), cmd)
					if err == nil {
						break
					}
					if !strings.Contains(err.Error(), string(engine.Unavailable)) {
						t.Error(err)
						return
					}
				}
				orders[number].Add(1)
			}
		})
	}
	enough := func() bool {
		before := orders[1].Load()
		return assertGrows(func() bool { return orders[1].Load() > before+20 })
	}
	require.True(t, enough())
	c := p.open("c")
	p.tell()
	require.True(t, enough())
	require.Positive(t, c.Actors())
	c.member.Leaving = true
	p.tell()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, c.Drained(ctx))
	require.True(t, enough())
	close(stop)
	buyers.Wait()
	var fenced int64
	for _, name := range p.names() {
		fenced += p.nodes[name].Stats().Fenced
	}
	require.Zero(t, fenced, "each actor was let go before it was claimed")
	p.stop("c")
	p.tell()
	for number := int64(1); number <= partyEvents; number++ {
		require.Equal(t, orders[number].Load(), p.issued("b", number))
		claim, err := p.nodes["a"].journal.Claim(t.Context(), engine.EventRef(number))
		require.NoError(t, err)
		require.LessOrEqual(t, claim.Epoch-1, int32(3), "event %d moved to c and away", number)
	}
}

// assertGrows waits for something that others do.
func assertGrows(done func() bool) bool {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if done() {
			return true
		}
		<-time.After(time.Millisecond)
	}
	return false
}

// A node that shows an event gets its facts from the one that commits them, until
// it is told that it does not any more.
func TestFactsReachThoseWhoFollow(t *testing.T) {
	t.Parallel()
	p := newParty(t, "a", "b", "c")
	p.tell() // what b owns it has owned before
	require.True(t, assertGrows(func() bool { return p.nodes["b"].Census().Links == 2 }), "nobody follows without a link")
	for number := int64(1); number <= partyEvents; number++ {
		p.onSaleFrom("a", number, 10)
		require.NoError(t, p.nodes["b"].Follow(t.Context(), number))
		p.from("c", engine.EventRef(number), placeIn(number, 1))
	}
	b := p.nodes["b"]
	left := func(number int64) (n int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, r := range b.observed {
			if r.Ref == engine.InventoryRef(number, typeNo) && len(r.Facts) > 0 {
				n++
			}
		}
		return n
	}
	for number := int64(1); number <= partyEvents; number++ {
		require.True(t, assertGrows(func() bool { return left(number) > 0 }))
	}
	missed := func() (n int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for number := int64(1); number <= partyEvents; number++ {
			if !b.kept(number) {
				n++
			}
		}
		return n
	}
	p.tell() // the same list again
	require.Zero(t, missed())
	p.crash("c")
	p.tell()
	require.True(t, assertGrows(func() bool { return missed() > 0 }))
	require.Less(t, missed(), partyEvents)
	for number := int64(1); number <= partyEvents; number++ {
		require.NoError(t, b.Follow(t.Context(), number))
	}
}

// A node that has not been told of the others yet takes nothing from them: neither
// by a command, nor by waking what is parked.
func TestWhoIsNoMemberOwnsNothing(t *testing.T) {
	t.Parallel()
	p := newParty(t, "a")
	p.onSaleFrom("a", 1, 10)
	require.NoError(t, p.shelf.Park(t.Context(), engine.EventRef(1), journal.Claim{}, time.Now().Add(-time.Hour)))
	b := p.open("b")
	_, err := b.Ask(t.Context(), engine.EventRef(1), placeIn(1, 0))
	var r *engine.Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, engine.Unavailable, r.Code)
	require.Zero(t, b.Actors())
	_, member := b.Placed()
	require.False(t, member)
	p.tell()
	p.from("b", engine.EventRef(1), placeIn(1, 0))
}

// A task of the cluster runs on one node, and on another when that is gone.
func TestATaskRunsOnce(t *testing.T) {
	t.Parallel()
	p := newParty(t, "a", "b", "c")
	var mu sync.Mutex
	running := map[string]int{}
	for _, name := range p.names() {
		p.nodes[name].Once("sweep", func(ctx context.Context) {
			mu.Lock()
			running[name]++
			mu.Unlock()
			<-ctx.Done()
			mu.Lock()
			delete(running, name)
			mu.Unlock()
		})
	}
	one := func() (name string) {
		require.True(t, assertGrows(func() bool {
			mu.Lock()
			defer mu.Unlock()
			for name = range running { // the only one
				break
			}
			return len(running) == 1
		}))
		return name
	}
	first := one()
	p.crash(first)
	p.tell()
	require.NotEqual(t, first, one())
}

// A node of a cluster that has not joined yet has no actors, whoever asks it and
// whatever is due, and no tasks: all of them are others'.
func TestANewcomerOwnsNothing(t *testing.T) {
	t.Parallel()
	p := newParty(t, "a")
	for number := int64(1); number <= partyEvents; number++ {
		p.onSaleFrom("a", number, 10)
		require.NoError(t, p.shelf.Park(t.Context(), engine.EventRef(number), journal.Claim{}, time.Now().Add(-time.Minute)))
	}
	c := p.open("c")
	did := make(chan struct{})
	stop := c.Once("sweep", func(context.Context) { close(did) })
	for number := int64(1); number <= 3; number++ {
		_, err := c.Ask(t.Context(), engine.EventRef(number), event.Get{})
		var r *engine.Refusal
		require.ErrorAs(t, err, &r)
		require.Equal(t, engine.Unavailable, r.Code)
	}
	require.Zero(t, c.Actors())
	require.NoError(t, stop(t.Context()))
	select {
	case <-did:
		require.Fail(t, "it ran a task")
	default:
	}
	for number := int64(1); number <= partyEvents; number++ {
		p.from("a", engine.EventRef(number), placeIn(number, 0))
	}
	require.Zero(t, p.nodes["a"].Stats().Fenced)
	p.tell()
	for number := int64(1); number <= partyEvents; number++ {
		p.from("c", engine.EventRef(number), placeIn(number, 1))
	}
	require.Zero(t, p.nodes["a"].Stats().Fenced+c.Stats().Fenced, "moved in order")
	require.Equal(t, []string{"a", "c"}, p.hosts())
}

// A newcomer that hears of the others before they hear of it asks for its actors
// all the same, as soon as it has a link.
func TestANewcomerAsksFirst(t *testing.T) {
	t.Parallel()
	p := newParty(t, "a")
	for number := int64(1); number <= partyEvents; number++ {
		p.onSaleFrom("a", number, 10)
	}
	a, c := p.nodes["a"], p.open("c")
	c.TakeMembers([]members.Member{a.member, c.member})
	var all sync.WaitGroup
	for number := int64(1); number <= partyEvents; number++ {
		all.Go(func() {
			p.from("c", engine.EventRef(number), placeIn(number, 0))
			_, _ = a.Ask(t.Context(), engine.EventRef(number), placeIn(number, 1)) // it may not know where to
		})
	}
	all.Wait()
	require.Zero(t, a.Stats().Fenced)
	require.Positive(t, c.Actors())
	p.tell()
}
