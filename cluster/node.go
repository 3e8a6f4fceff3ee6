// Package cluster is the only way to actors: Ask sends a command and waits for its reply, and Tell sends one
// without waiting. Callers name an actor by kind and id. The cluster finds the node that has the actor, and
// takes care that the actor is loaded and put away.
//
// cmd starts the Node, tells it which nodes there are (TakeMembers), and stops it before the journal;
// the edge and the actors themselves use it. Stop puts every activation away, makes no more of them and
// waits for all of its goroutines. A node without links to others owns all actors; a node with
// links owns none until it has been told of the members.
//
// Safety never depends on which node is thought to own an actor: if two nodes both believe that they own it,
// the journal's claim decides. Placement makes that rare. A node hands over an actor that moves, so that none
// of its last facts are fenced unless that takes too long (cedeTime).
//
// The actor library is protoactor-go, which starts, supervises and stops actors; actor.go wraps it. An actor's home is
// the event or the organization to which the actor belongs (engine.Ref).
package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v4"

	"boxoffice/cluster/activation"
	"boxoffice/cluster/host"
	"boxoffice/cluster/timers"
	"boxoffice/engine"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/members"
	"boxoffice/persistence/panics"
)

// Config is what a node needs. Zero limits take the defaults.
type Config struct {
	Journal   journal.Journal
	Snapshots host.Snapshots
	Wakes     Wakes
	Log       *slog.Logger
	// Backlog is how many entries wait in the journal.
	Backlog func() int
	// Shut returns a channel that is closed while the part of the journal that has an event does not answer.
	// Ask then refuses commands to the event's actors at once. A nil channel, or a nil Shut, means that this is
	// not known.
	Shut func(event int64) <-chan struct{}

	Self   string       // this node's id among the members; "" when alone
	Listen net.Listener // for links from other members; nil when alone
	// TLS is for links, in both directions: each side shows a certificate and
	// checks the other's. Nil: in the clear.
	TLS *tls.Config
	// Observe sees facts as they are committed: this node's, and the facts of followed events, which
	// come without writer and number. It must not block.
	Observe func(*journal.Batch)
	// Missed is called when facts may have been missed. kept returns true for an event if none of its facts was missed.
	// Missed must not block.
	Missed func(kept func(event int64) bool)

	// Now is the time of commands; nil: the wall clock at the start plus what has passed since, so
	// that no jump of the wall clock makes an order expire.
	Now func() time.Time

	MaxInFlight   int64         // most commands of one actor, and calls to one other member, at a time: beyond it Ask is refused. Beyond four times as many commands of an actor a Tell is dropped (default 8,192)
	MaxBacklog    int           // most entries that wait in the journal: beyond it every Ask is refused (default 65,536)
	IdleAfter     time.Duration // after so long without a command other than a Wake an actor is put away (default 10 min)
	SnapshotEvery int64         // how many facts may follow a small snapshot of an actor before the next one (default 50,000)
}

// Wakes notes when actors that are not loaded want to be woken.
type Wakes interface {
	// Park notes when the actor wants a Wake; the zero time means never.
	Park(ctx context.Context, ref engine.Ref, claim journal.Claim, at time.Time) error
	// Due returns the actors to wake whose time lies in (after, until]. With an error it returns those that
	// it could find.
	Due(ctx context.Context, after, until time.Time) ([]engine.Ref, error)
}

// Node hosts the activations of this process.
type Node struct {
	cfg    Config
	env    host.Env
	actors actors
	// slots has the activation of each actor that is loaded here. Only find adds to it.
	slots  *xsync.Map[engine.Ref, *slot]
	timers *timers.Timers

	placement  atomic.Pointer[placed]
	joining    sync.Mutex // held while a list of members is taken in, so that one is at a time
	peers      *xsync.Map[string, *peer]
	ceded      *xsync.Map[engine.Ref, time.Time] // actors that other nodes asked us a moment ago to let go
	feeds      *feeds
	own, heard committed // batches of this node, and batches of others that replies depend on
	wrote      wrote
	// reshuffled wakes the sweeper after actors have come to this node. It holds one signal.
	reshuffled chan struct{}
	adrift     atomic.Int64                       // tells whose actors are moving
	activated  atomic.Int64                       // how many activations were made
	strangers  atomic.Int64                       // counts what Census.Strangers shows
	asked      struct{ here, there atomic.Int64 } // calls of Ask, for actors of this node and of others
	fenced     atomic.Int64                       // counts what Stats.Fenced shows
	unfounded  atomic.Int64                       // counts what Stats.Unfounded shows

	closing atomic.Bool
	ctx     context.Context //nolint:containedctx // the life of the node's goroutines
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	freezer chan func(context.Context)
	workers *workers
	strands *xsync.Map[int64, *strand] // strand of each home (event or organization)
}

// lingerFor is how long an activation that has ended still answers.
const lingerFor = 2 * time.Second

// slot holds an activation and its mailbox.
type slot struct {
	act *host.Hosted
	mailbox
}

// Start makes a node and its goroutines: workers, timers, the writer of snapshots, the sweeper, and, with a listener,
// the acceptor of links. A node without a listener owns all actors at once; one with a listener owns none before
// TakeMembers. Stop ends the goroutines.
func Start(cfg Config) *Node {
	n := &Node{
		cfg: cfg.withDefaults(), slots: xsync.NewMap[engine.Ref, *slot](), strands: xsync.NewMap[int64, *strand](),
		peers: xsync.NewMap[string, *peer](),
		ceded: xsync.NewMap[engine.Ref, time.Time](), reshuffled: make(chan struct{}, 1),
	}
	n.feeds = newFeeds(n)
	var alone []members.Member // a node that takes links owns nothing before it is told of the members
	if cfg.Listen == nil {
		alone = []members.Member{{ID: cfg.Self}}
	}
	n.placement.Store(newPlaced(alone, cfg.Self))
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.actors = newActors()
	n.workers = startWorkers()
	n.freezer = make(chan func(context.Context), 64)
	n.timers = timers.New(n.Now, n.wakeActor)
	n.env = host.Env{
		Journal: cfg.Journal, Snapshots: cfg.Snapshots, Log: n.cfg.Log, Now: n.Now, Send: n.Tell, Here: n.isHere, Join: n.joinActor,
		Arm: n.timers.ArmWake, Go: n.run, Freeze: n.freeze, Gone: n.forgetActor, Parked: n.noteParked, Before: n.askFormerOwner, SnapshotEvery: n.cfg.SnapshotEvery,
		Fenced: &n.fenced, Unfounded: &n.unfounded,
	}
	n.keepRunning("timers", n.timers.Run)
	n.keepRunning("snapshot writer", n.runFreezer)
	n.keepRunning("sweeper", n.sweepActors)
	if cfg.Listen != nil {
		n.keepRunning("accepting of links", func(ctx context.Context) { n.acceptLinks(ctx, cfg.Listen) })
	}
	return n
}

// withDefaults fills in the limits and functions that the caller left out.
func (c Config) withDefaults() Config {
	if c.MaxInFlight == 0 {
		c.MaxInFlight = 8_192
	}
	if c.MaxBacklog == 0 {
		c.MaxBacklog = 65_536
	}
	if c.IdleAfter == 0 {
		c.IdleAfter = 10 * time.Minute
	}
	if c.SnapshotEvery == 0 {
		c.SnapshotEvery = 50_000
	}
	if c.Now == nil {
		c.Now = timers.NewClock().Now
	}
	if c.Backlog == nil {
		c.Backlog = func() int { return 0 }
	}
	if c.Shut == nil {
		c.Shut = func(int64) <-chan struct{} { return nil }
	}
	if c.Observe == nil {
		c.Observe = func(*journal.Batch) {}
	}
	if c.Missed == nil {
		c.Missed = func(func(int64) bool) {}
	}
	return c
}

// Now is the node's time.
func (n *Node) Now() time.Time { return n.cfg.Now() }

// Ask sends a command and waits for its reply. A refusal comes back as the error (*engine.Refusal). While the actor
// moves from one node to another, Ask sends the command again and again, for maxPatience. After UNAVAILABLE and
// OVERLOADED the caller may send the command again under its id.
func (n *Node) Ask(ctx context.Context, to engine.Ref, cmd engine.Command) (engine.Reply, error) {
	if n.placement.Load().ownsHome(to.Home) {
		n.asked.here.Add(1)
	} else {
		n.asked.there.Add(1)
	}
	var since time.Time
	for {
		p := n.placement.Load()
		var reply engine.Reply
		var err error
		if p.ownsHome(to.Home) {
			reply, err = n.askHere(ctx, to, cmd)
		} else {
			reply, err = n.askThere(ctx, p, p.OwnerOf(to.Home), to, cmd)
		}
		if err == nil {
			if r, ok := reply.(*engine.Refusal); ok {
				return nil, r
			}
			return reply, nil
		}
		if !errors.Is(err, activation.ErrMoved) {
			// After ErrMoved the command may be sent again: nobody has carried it out, or its answer was held back
			// (WaitKey) and goes to the repeat. After most other errors it might be carried out twice.
			return nil, outcomeOf(to, err)
		}
		if since.IsZero() {
			since = time.Now()
		} else if time.Since(since) > maxPatience {
			return nil, &engine.Refusal{Code: engine.Unavailable}
		}
		select {
		case <-p.changed:
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return nil, outcomeOf(to, ctx.Err())
		}
	}
}

// AskFor asks as Ask does and returns the reply as a *T. A reply of another type is a mistake in our own code, and
// becomes the refusal INTERNAL.
func AskFor[T any](ctx context.Context, n *Node, to engine.Ref, cmd engine.Command) (*T, error) {
	reply, err := n.Ask(ctx, to, cmd)
	if err != nil {
		return nil, err
	}
	r, ok := reply.(*T)
	if !ok {
		return nil, &engine.Refusal{Code: engine.Internal}
	}
	return r, nil
}

// askHere makes this node's activation carry a command out, on the caller's goroutine if nobody runs the activation's
// strand. It refuses beyond a limit (MaxInFlight, MaxBacklog), and if the actor's part of the journal does not answer.
// If the activation is stopping, it tries the next one at once, up to three activations in all.
func (n *Node) askHere(ctx context.Context, to engine.Ref, cmd engine.Command) (engine.Reply, error) {
	shut := n.cfg.Shut(to.Home)
	for tries := 0; ; tries++ {
		if isClosed(shut) {
			return nil, activation.ErrUnavailable
		}
		s, err := n.find(to)
		if err != nil {
			return nil, err
		}
		// Both limits refuse before the command is queued, so a node that is overloaded answers quickly.
		if s.act.Load.Load() >= n.cfg.MaxInFlight || n.cfg.Backlog() >= n.cfg.MaxBacklog {
			return nil, &engine.Refusal{Code: engine.Overloaded}
		}
		call := activation.NewCall(cmd, &s.act.Load)
		mine := s.strand.enter() // if the caller gets the strand, it need not wake anybody
		s.PostUserMessage(call)
		if mine {
			s.strand.run(callerTurn)
		}
		reply, err := call.Wait(ctx, shut)
		if !errors.Is(err, activation.ErrMoved) || tries == 2 {
			return reply, err
		}
	}
}

// isClosed reports whether a channel is closed. A nil channel counts as open.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// outcomeOf returns the error that a caller gets for a command that got no reply.
func outcomeOf(to engine.Ref, err error) error {
	if _, refused := errors.AsType[*engine.Refusal](err); refused {
		return err
	}
	if errors.Is(err, activation.ErrUnavailable) || errors.Is(err, activation.ErrMoved) || errors.Is(err, errDown) {
		return &engine.Refusal{Code: engine.Unavailable}
	}
	return fmt.Errorf("ask %s: %w", to.Name(), err)
}

// Tell sends a command without waiting. The command may be lost, for example when the actor is overloaded or fails to
// load, a link breaks or a node stops. So senders repeat what matters.
func (n *Node) Tell(to engine.Ref, cmd engine.Command) { n.tellActor(to, cmd, time.Time{}) }

// wakeActor sends an actor the Wake that it asked for. An activation on this node gets it here, even if another
// node owns the actor already: the activation asks for the Wake only once, and the Wake could be lost on the
// way. An actor that is not loaded gets its Wake later if its part of the journal does not answer (Config.Shut): it
// would be loaded in vain, with a warning in the log each time.
func (n *Node) wakeActor(ref engine.Ref) {
	if s, ok := n.slots.Load(ref); ok {
		s.act.Load.Add(1)
		s.PostUserMessage(engine.Wake{})
		return
	}
	if isClosed(n.cfg.Shut(ref.Home)) {
		n.timers.ArmWake(ref, n.Now().Add(wakeEvery))
		return
	}
	n.Tell(ref, engine.Wake{})
}

// tellActor sends a command; since is when it was first sent, or zero. The command is dropped if the node stops or,
// unless it is a Wake, if the actor is overloaded. If the actor is moving, the command is sent again later.
func (n *Node) tellActor(to engine.Ref, cmd engine.Command, since time.Time) {
	p := n.placement.Load()
	var err error
	if p.ownsHome(to.Home) {
		var s *slot
		if s, err = n.find(to); err == nil {
			_, timer := cmd.(engine.Wake) // a Wake must arrive: its actor waits for it, and asks for no other
			if timer || s.act.Load.Load() < 4*n.cfg.MaxInFlight {
				s.act.Load.Add(1)
				s.PostUserMessage(cmd)
			}
			return
		}
	} else {
		err = n.tellThere(p, p.OwnerOf(to.Home), to, cmd)
	}
	if errors.Is(err, activation.ErrMoved) {
		n.tellLater(to, cmd, since)
	}
}

// tellLater sends a command again in a moment, because its actor is moving. It tries for as long as a caller would
// wait, and drops the command if maxAdrift others wait already. Without this, the sender would repeat the command only
// much later.
func (n *Node) tellLater(to engine.Ref, cmd engine.Command, since time.Time) {
	if n.adrift.Load() >= maxAdrift {
		return
	}
	now := time.Now()
	if since.IsZero() {
		since = now
	} else if now.Sub(since) > maxPatience {
		return
	}
	n.adrift.Add(1)
	n.timers.RunLater(lookAgain, func() {
		n.adrift.Add(-1)
		n.tellActor(to, cmd, since)
	})
}

func (n *Node) isHere(ref engine.Ref) bool { return n.placement.Load().ownsHome(ref.Home) }

// joinActor sends a command that must not leave the node. It is lost if the actor is not loaded here or is overloaded.
func (n *Node) joinActor(to engine.Ref, j activation.Joint) {
	if s, ok := n.slots.Load(to); ok && s.act.Load.Load() < 4*n.cfg.MaxInFlight {
		s.act.Load.Add(1)
		s.PostUserMessage(j)
	}
}

// find returns the actor's activation. If there is none, it makes one. It returns ErrMoved instead if the actor is not
// this node's any more (the caller looked that up some time ago) or was ceded a moment ago. A node that stops makes
// none, and refuses with UNAVAILABLE.
func (n *Node) find(ref engine.Ref) (*slot, error) {
	if s, ok := n.slots.Load(ref); ok {
		return s, nil
	}
	if n.closing.Load() {
		return nil, &engine.Refusal{Code: engine.Unavailable}
	}
	if at, ceded := n.ceded.Load(ref); ceded && n.Now().Sub(at) < maxPatience || !n.placement.Load().ownsHome(ref.Home) {
		return nil, activation.ErrMoved
	}
	act, err := host.New(ref, &n.env)
	if err != nil {
		return nil, err
	}
	s, _ := n.slots.LoadOrCompute(ref, func() (*slot, bool) {
		n.activated.Add(1)
		return n.spawnActivation(act), false
	})
	return s, nil
}

// spawnActivation starts an activation in the strand of its home, which it makes if this is the home's first actor here.
func (n *Node) spawnActivation(act *host.Hosted) *slot {
	strand, _ := n.strands.Compute(act.Ref.Home, func(s *strand, loaded bool) (*strand, xsync.ComputeOp) {
		if !loaded {
			s = &strand{workers: n.workers}
		}
		s.actors++
		return s, xsync.UpdateOp
	})
	s := &slot{act: act, mailbox: mailbox{strand: strand, receiver: act}}
	n.actors.startActor(act, &s.mailbox)
	return s
}

// forgetActor forgets an activation, and its strand with the home's last actor. For a while (lingerFor) the activation
// still answers "moved" to those who have its address. If another activation has taken its slot, it does nothing.
func (n *Node) forgetActor(a *host.Hosted) {
	n.slots.Compute(a.Ref, func(old *slot, loaded bool) (*slot, xsync.ComputeOp) {
		if !loaded || old.act != a {
			return old, xsync.CancelOp
		}
		n.timers.RunLater(lingerFor, func() { old.PostUserMessage(host.Dropped) })
		n.strands.Compute(a.Ref.Home, func(s *strand, _ bool) (*strand, xsync.ComputeOp) {
			if s.actors--; s.actors > 0 {
				return s, xsync.CancelOp
			}
			return nil, xsync.DeleteOp
		})
		return nil, xsync.DeleteOp
	})
}

// noteParked notes when an actor that is put away wants to be woken.
func (n *Node) noteParked(ref engine.Ref, claim journal.Claim, at time.Time) error {
	return n.cfg.Wakes.Park(n.ctx, ref, claim, at)
}

// keepRunning starts a background job that goes on after a panic and that Stop waits for.
func (n *Node) keepRunning(job string, loop func(context.Context)) {
	n.run(func(ctx context.Context) {
		panics.Keep(ctx, n.cfg.Log, job, func() { loop(ctx) })
	})
}

// run starts a goroutine that Stop waits for.
func (n *Node) run(f func(context.Context)) {
	n.wg.Go(func() { f(n.ctx) })
}

// freeze hands a snapshot to the freezer. It returns false if the freezer's queue is full: the activation tries
// again with a later state, and loses nothing but time at its next start.
func (n *Node) freeze(f func(context.Context)) bool {
	select {
	case n.freezer <- f:
		return true
	default:
		return false
	}
}

// runFreezer writes snapshots one after another, so that they leave the journal enough of the
// database.
func (n *Node) runFreezer(ctx context.Context) {
	for {
		select {
		case f := <-n.freezer:
			panics.Do(n.cfg.Log, "snapshot", func() { f(ctx) })
		case <-ctx.Done():
			return
		}
	}
}

// awaitFreezer waits until the freezer has written all snapshots that it was handed before, or ctx ends, which is its
// error.
func (n *Node) awaitFreezer(ctx context.Context) error {
	written := make(chan struct{})
	select {
	case n.freezer <- func(context.Context) { close(written) }:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-written:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Actors is how many activations the node has.
func (n *Node) Actors() int { return n.slots.Size() }

// Stats are counters since Start.
type Stats struct {
	Here   int64 // calls of Ask for actors that were this node's when the call began
	There  int64 // all other calls of Ask
	Fenced int64 // activations that ended because another has claimed their stream, or one that their facts depend on
	// Unfounded counts snapshots that were passed over, because they were damaged or the journal contradicted them.
	// The actor was loaded from an earlier snapshot instead or from all facts, or not at all if neither was there.
	Unfounded int64
}

// Stats reads the counters.
func (n *Node) Stats() Stats {
	return Stats{Here: n.asked.here.Load(), There: n.asked.there.Load(), Fenced: n.fenced.Load(), Unfounded: n.unfounded.Load()}
}

// Stop puts every activation away and ends the node. From its beginning on, no activation is made, so commands to
// actors that are not loaded, or not any more, are refused. An activation that can't be put away before ctx ends is
// dropped, and so is a snapshot that can't be written: the journal has the facts. Activations whose part of the journal
// does not answer (Config.Shut) are dropped as well, and Stop does not wait for them.
func (n *Node) Stop(ctx context.Context) error {
	n.closing.Store(true)
	var err error
	// Actors may be loaded until closing is seen everywhere, so the loop goes on until none is found.
	for found := true; found && err == nil; {
		found = false
		n.slots.Range(func(ref engine.Ref, s *slot) bool {
			msg, done := host.Retire(true)
			s.PostUserMessage(msg)
			select {
			case <-done:
				found = true
			case <-n.cfg.Shut(ref.Home):
			case <-ctx.Done():
				err = ctx.Err()
			}
			return err == nil
		})
	}
	if err == nil {
		err = n.awaitFreezer(ctx)
	}
	// TakeMembers starts goroutines. The lock keeps it from doing so after the wait has begun.
	n.joining.Lock()
	n.cancel()
	n.joining.Unlock()
	if n.cfg.Listen != nil {
		_ = n.cfg.Listen.Close() // it may be closed already
	}
	n.wg.Wait()
	n.actors.close()
	n.workers.stop()
	return err
}
