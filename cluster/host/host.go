// Package host runs activations (package activation) on a node: it claims the stream of
// each, loads its snapshot and tail, asks the journal for proofs, and writes its snapshots.
//
// Package cluster makes and finds activations, and only it sends them commands. An activation that it
// has forgotten is garbage when its last entry has been settled.
//
// The actor library protoactor-go gives each activation an actor. Package cluster wraps it (cluster/actor.go).
package host

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"boxoffice/cluster/activation"
	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/persistence/journal"
	"boxoffice/persistence/snapshot"
)

// Snapshots stores frozen states. Tests use one in memory.
type Snapshots interface {
	// Load returns a stream's latest snapshot before a given one, or the zero Version if there is
	// none.
	Load(ctx context.Context, stream int64, before snapshot.Version) (v snapshot.Version, state []byte, err error)
	// Save stores a snapshot of the state after seq; write writes its bytes.
	Save(ctx context.Context, stream, seq int64, epoch int32, write func(io.Writer) error) error
}

// Env is what activations get from their node.
type Env struct {
	Journal   journal.Journal
	Snapshots Snapshots
	Log       *slog.Logger
	Now       func() time.Time                 // the node's time, which a jump of the wall clock does not set back
	Send      func(engine.Ref, engine.Command) // sends a command to any actor, without waiting
	// Here reports whether an actor is this node's now. Join sends to an actor if it still is this
	// node's: what that actor decides about the command is durable only if the sender's claim still
	// stands.
	Here   func(engine.Ref) bool
	Join   func(engine.Ref, activation.Joint)
	Arm    func(engine.Ref, time.Time)      // asks for a Wake of an actor at a time
	Go     func(func(context.Context))      // runs a function beside the actor; the node waits for it
	Freeze func(func(context.Context)) bool // runs a function in the node's one snapshot writer; false if its queue is full
	Gone   func(*Hosted)                    // forgets the activation: the next command makes a new one
	// Parked notes when an actor that is put away wants to wake.
	Parked func(engine.Ref, journal.Claim, time.Time) error
	// Before is called before a stream is claimed. It asks the node that may have had the actor to
	// let go of it in order, if that node can be reached. It only spares that node's last facts
	// from being fenced; safety does not depend on it. It returns ErrMoved if the actor belongs to
	// another node by now.
	Before func(context.Context, engine.Ref) error
	// SnapshotEvery is how many facts may follow a small snapshot before the next one.
	SnapshotEvery int64
	Fenced        *atomic.Int64 // counts activations that End is told were fenced
	Unfounded     *atomic.Int64 // counts snapshots that were passed over: damaged, or contradicted by the journal
}

// Actor is the actor of the library (protoactor-go) that hosts an activation.
type Actor interface {
	Send(msg any) // into its mailbox
	Stop()        // makes the library stop and forget it
}

// Hosted is an activation together with what it needs of its node.
type Hosted struct {
	*activation.Activation

	env   *Env
	kind  *engine.KindDef
	actor Actor
	final atomic.Int64 // the last fact's seq once the activation departs, before that 0
}

var _ activation.Shell = (*Hosted)(nil)

// New makes an activation; Start loads it.
func New(ref engine.Ref, env *Env) (*Hosted, error) {
	kind, err := all.Kind(ref.Kind)
	if err != nil {
		return nil, err
	}
	h := &Hosted{env: env, kind: kind}
	h.Activation = activation.New(ref, env.SnapshotEvery, h)
	return h, nil
}

// Start loads the activation, now that an actor hosts it.
func (h *Hosted) Start(a Actor) {
	h.actor = a
	h.env.Go(h.load)
}

// dropped is the last message to an activation that is gone.
type dropped struct{}

// Dropped is the message that makes the actor library (protoactor-go) stop and forget an activation that has ended.
var Dropped any = dropped{}

// Handle processes one message of the mailbox at a time.
func (h *Hosted) Handle(msg any) {
	if _, last := msg.(dropped); last {
		h.actor.Stop()
		return
	}
	h.Activation.Handle(msg)
}

// Retire makes a message that asks an activation to end if it is idle. With force the activation ends as soon as its
// facts are durable, even if callers wait. The channel is closed when it has ended or has decided to stay;
// Env.Gone is called only if it has ended.
func Retire(force bool) (msg activation.Retire, done <-chan struct{}) {
	ch := make(chan struct{})
	return activation.Retire{Force: force, Done: func() { close(ch) }}, ch
}

// Now is the node's time.
func (h *Hosted) Now() time.Time { return h.env.Now() }

// Log is the node's log.
func (h *Hosted) Log() *slog.Logger { return h.env.Log }

// Post puts a message into the actor's mailbox.
func (h *Hosted) Post(msg any) { h.actor.Send(msg) }

// Append hands an entry to the journal.
func (h *Hosted) Append(e *journal.Entry) { h.env.Journal.Append(e) }

// Prove asks the journal whether the claim still stands, on a goroutine of its own. The activation gets the answer as a
// message: Proven with the time of the question, Fenced, or Failed if the journal can't say.
func (h *Hosted) Prove(claim journal.Claim) {
	h.env.Go(func(ctx context.Context) {
		asked := h.env.Now()
		lost, err := h.env.Journal.Standing(ctx, []journal.Claim{claim})
		switch {
		case err != nil:
			h.Post(activation.Failed{Err: fmt.Errorf("prove claim: %w", err)})
		case len(lost) > 0:
			h.Post(activation.Fenced{})
		default:
			h.Post(activation.Proven{At: asked})
		}
	})
}

// Send sends a command to any actor, without waiting.
func (h *Hosted) Send(to engine.Ref, cmd engine.Command) { h.env.Send(to, cmd) }

// Here reports whether an actor is this node's now.
func (h *Hosted) Here(to engine.Ref) bool { return h.env.Here(to) }

// Join sends to an actor of this node.
func (h *Hosted) Join(to engine.Ref, j activation.Joint) { h.env.Join(to, j) }

// Arm asks the node for a Wake.
func (h *Hosted) Arm(at time.Time) { h.env.Arm(h.Ref, at) }

// Park notes when the actor wants to wake. From here on, snapshots before the one at seq are
// useless.
func (h *Hosted) Park(claim journal.Claim, seq int64, wake time.Time) error {
	h.final.Store(seq)
	return h.env.Parked(h.Ref, claim, wake)
}

// End makes the node forget the activation, and counts it if it was fenced.
func (h *Hosted) End(fenced bool) {
	if fenced {
		h.env.Fenced.Add(1)
	}
	h.env.Gone(h)
}
