package cluster

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"boxoffice/cluster/activation"
	"boxoffice/cluster/host"
	"boxoffice/engine"
	"boxoffice/persistence/members"
	"boxoffice/persistence/panics"
)

const (
	// maxPatience is how long a command waits, at most, until its actor has a node. For as long a node does not make
	// an actor again that it has ceded, and another node may take for the command of a caller without a deadline.
	maxPatience = time.Second
	// lookAgain is the pause before a command is sent again, before a member without a link is asked again to yield,
	// and between two looks of Drained. Ask and Drained don't wait for its end if the list of members changes first.
	lookAgain = 20 * time.Millisecond
	// cedeTime bounds how long we wait for an activation that moves. Facts that it has not made
	// durable by then may be fenced.
	cedeTime = 500 * time.Millisecond
	cedeLook = 2 * time.Millisecond // the pause between two looks whether such an activation has ended
	// maxAdrift bounds the tells that wait until their actors have a node.
	maxAdrift = 32_768
	// handingOver is how many actors are put away at once, at most, when they move.
	handingOver = 16
)

// TakeMembers tells the node which nodes there are, itself included, sorted by id. The node begins links to new members,
// ends those to members that are gone, and puts away the actors that it does not own by the new list. If it gains
// buckets, it wakes every actor of its own that wants to be woken by now. After Stop, TakeMembers does nothing.
func (n *Node) TakeMembers(list []members.Member) {
	// The lock keeps lists in order: of two lists that come at once, the later one must win. Stop takes it too, so
	// that no goroutine begins after it.
	n.joining.Lock()
	defer n.joining.Unlock()
	if n.ctx.Err() != nil {
		return
	}
	there := make(map[string]bool, len(list))
	for _, m := range list {
		there[m.ID] = true
		if _, known := n.peers.Load(m.ID); !known && m.ID != n.cfg.Self {
			n.peers.Store(m.ID, n.connectTo(m))
		}
	}
	for id, p := range n.peers.All() {
		if !there[id] {
			n.peers.Delete(id)
			// Without this, callers of a node that is gone would wait until their deadlines.
			p.cancel()
		}
	}
	// Links to new members are begun before the placement is exchanged, because commands follow the new placement at
	// once.
	p := newPlaced(list, n.cfg.Self)
	old := n.placement.Swap(p)
	close(old.changed)
	n.ceded.Clear() // the new list makes these notes needless
	n.feeds.endMovedFeeds(old, p)
	n.run(n.handOver)
	if !p.Gains(n.cfg.Self, old.Map) {
		return // there is nothing new to wake, and a look reads the times of all actors
	}
	select {
	case n.reshuffled <- struct{}{}:
	default:
	}
}

// handOver puts away the actors that belong to other nodes now, several at a time, and returns when all are gone or
// were given up (letGo).
func (n *Node) handOver(ctx context.Context) {
	p := n.placement.Load()
	slots := make(chan struct{}, handingOver)
	var wg sync.WaitGroup
	defer wg.Wait()
	for ref := range n.slots.All() {
		if p.ownsHome(ref.Home) {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			panics.Do(n.cfg.Log, "hand-over", func() { n.letGo(ctx, ref) })
			<-slots
		})
	}
}

// cedeActor lets go of an actor that another node is about to claim. For a moment the actor is not
// made here again, because the new list of members may reach us after the other node's question.
// The note is made before the activation ends: a command that arrives in between must not load the actor again.
func (n *Node) cedeActor(ctx context.Context, ref engine.Ref) {
	n.ceded.Store(ref, n.Now())
	n.letGo(ctx, ref)
	n.timers.RunLater(maxPatience, func() { n.ceded.Delete(ref) })
}

// letGo puts an actor away, as soon as what it has decided is durable. It stops waiting for that after cedeTime, and at
// once if the actor's part of the journal does not answer; the actor still goes when its facts are durable.
func (n *Node) letGo(ctx context.Context, ref engine.Ref) {
	ctx, cancel := context.WithTimeout(ctx, cedeTime)
	defer cancel()
	for ctx.Err() == nil {
		s, there := n.slots.Load(ref)
		if !there {
			return
		}
		msg, done := host.Retire(true)
		s.PostUserMessage(msg)
		select {
		case <-done:
		case <-n.cfg.Shut(ref.Home):
			return
		case <-ctx.Done():
			return
		}
		if now, still := n.slots.Load(ref); !still || now != s {
			return
		}
		select {
		case <-time.After(cedeLook): // its facts are on their way to the journal
		case <-ctx.Done():
		}
	}
}

// askFormerOwner asks the node that may have had an actor until now to let it go, and waits for that for cedeTime at
// most. It returns ErrMoved if the actor belongs to another node by now, and nil otherwise.
func (n *Node) askFormerOwner(ctx context.Context, ref engine.Ref) error {
	p := n.placement.Load()
	if former := p.Former(ref.Home, p.self); p.ownsHome(ref.Home) && former != none {
		if peer, ok := n.peers.Load(p.Members[former].ID); ok {
			ctx, cancel := context.WithTimeout(ctx, cedeTime)
			defer cancel()
			// Correctness needs only the fence of the claim. But if this node is new and its link
			// is just being made, waiting for the link is worth it.
			for errors.Is(peer.askToYield(ctx, ref), errDown) && ctx.Err() == nil {
				select {
				case <-time.After(lookAgain):
				case <-ctx.Done():
				}
			}
		}
	}
	if !n.placement.Load().ownsHome(ref.Home) {
		return activation.ErrMoved
	}
	return nil
}

// askThere makes another member carry a command out. It returns ErrMoved if the command may be sent again, also to
// another node, because it was not sent or the member has answered so.
func (n *Node) askThere(ctx context.Context, p *placed, owner int, to engine.Ref, cmd engine.Command) (engine.Reply, error) {
	if owner == none {
		return nil, activation.ErrMoved
	}
	peer, ok := n.peers.Load(p.Members[owner].ID)
	if !ok {
		return nil, activation.ErrMoved
	}
	reply, err := peer.ask(ctx, to, cmd)
	if errors.Is(err, errDown) {
		return nil, activation.ErrMoved // the command was not sent, so it may be sent again
	}
	return reply, err
}

// tellThere sends a tell to another member. It returns ErrMoved if there is no such member, or no link to it
// takes the command.
func (n *Node) tellThere(p *placed, owner int, to engine.Ref, cmd engine.Command) error {
	if owner == none {
		return activation.ErrMoved
	}
	peer, ok := n.peers.Load(p.Members[owner].ID)
	if !ok || !peer.tell(to, cmd) {
		return activation.ErrMoved
	}
	return nil
}

// Drained waits until this node owns no actors and none are left on it, or ctx ends, which is its error. In the
// meantime it hands over again and again the actors that are left.
func (n *Node) Drained(ctx context.Context) error {
	for {
		p := n.placement.Load()
		owns := p.self != none && !p.Members[p.self].Leaving
		if !owns && n.slots.Size() == 0 {
			return nil
		}
		if !owns {
			n.handOver(ctx)
		}
		select {
		case <-p.changed:
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Once runs f on one node of the cluster: on this one whenever the list of members says so. f must
// return when its context ends. Two nodes whose lists differ may both run it for a moment. stop
// ends it on this node, and waits.
func (n *Node) Once(task string, f func(context.Context)) (stop func(context.Context) error) {
	life, cancel := context.WithCancel(n.ctx)
	ended := make(chan struct{})
	n.wg.Go(func() {
		defer close(ended)
		for p := n.placement.Load(); life.Err() == nil; p = n.placement.Load() {
			// A placement is replaced at once by the next list of members, so it is looked at again after each
			// change.
			if p.self != none && p.OwnerOfTask(task) == p.self {
				n.runWhileOwned(life, task, f)
				continue
			}
			select {
			case <-p.changed:
			case <-life.Done():
			}
		}
	})
	return func(ctx context.Context) error {
		cancel()
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// runWhileOwned runs f as long as the task belongs to this node, and starts f again if it panics. Then it ends f's
// context and waits for f.
func (n *Node) runWhileOwned(life context.Context, task string, f func(context.Context)) {
	ctx, cancel := context.WithCancel(life)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		panics.Keep(ctx, n.cfg.Log, "task "+task, func() { f(ctx) })
	}()
	for p := n.placement.Load(); p.self != none && p.OwnerOfTask(task) == p.self && life.Err() == nil; p = n.placement.Load() {
		select {
		case <-p.changed:
		case <-life.Done():
		}
	}
	cancel()
	<-ended
}

// Positions returns, by writer, the last batches that this node has committed, and the batches of other
// nodes that it knows of from their replies. A caller that waits until a reader of the journal has
// passed them reads its own writes.
func (n *Node) Positions() map[int32]int64 {
	all := make(map[int32]int64)
	for _, c := range []*committed{&n.heard, &n.own} {
		c.mu.Lock()
		maps.Copy(all, c.last)
		c.mu.Unlock()
	}
	return all
}

// Placed returns how many members there are, and whether this node is one that takes actors.
func (n *Node) Placed() (members int, member bool) {
	p := n.placement.Load()
	return len(p.Members), p.self != none && !p.Members[p.self].Leaving
}
