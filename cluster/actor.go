package cluster

import (
	"log/slog"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"boxoffice/cluster/host"
)

// actors wraps the actor library protoactor-go, which starts, supervises and stops actors. Only this file uses
// the library.
type actors struct{ system *actor.ActorSystem }

// newActors starts the library without its log: what matters to us is logged by host and cluster.
func newActors() actors {
	system := actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }),
		actor.WithDeadLetterRequestLogging(false),
	)
	// The library's registry has 1,024 maps of 32 parts: 62,000 objects that each garbage
	// collection visits. We keep 16 of the maps. The others hold only the library's own event
	// stream and dead letters, registered under names that nobody looks up.
	registry := system.ProcessRegistry.LocalPIDs
	registry.LocalPIDs = slices.Clone(registry.LocalPIDs[:16])
	return actors{system}
}

// startActor starts an activation; m is its mailbox.
func (a actors) startActor(act *host.Hosted, m *mailbox) {
	a.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return hosted{act} },
		actor.WithSupervisor(stopOnFailure{}), actor.WithMailbox(func() actor.Mailbox { return m })))
}

// close ends the library, after the node's goroutines have ended.
func (a actors) close() { a.system.Shutdown() }

// hosted makes an activation an actor of the library.
type hosted struct{ *host.Hosted }

// Receive takes the library's own messages. Only actor.Started matters, which says that the actor has started.
// Our messages do not come here, because the mailbox hands them to the activation itself.
func (h hosted) Receive(ctx actor.Context) {
	if _, started := ctx.Message().(*actor.Started); started {
		h.Start(address{ctx.ActorSystem().Root, ctx.Self()})
	}
}

// address is how the library reaches an actor.
type address struct {
	root *actor.RootContext
	pid  *actor.PID
}

// Send puts a message into the actor's mailbox.
func (a address) Send(msg any) { a.root.Send(a.pid, msg) }

// Stop makes the library stop the actor and forget it.
func (a address) Stop() { a.root.Stop(a.pid) }

var _ actor.Mailbox = (*mailbox)(nil)

// RegisterHandlers tells the mailbox who takes the library's messages. Strands need no dispatcher.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, _ actor.Dispatcher) {
	m.library = invoker
}

// invokeSystem handles a message of the library. Suspending and resuming are noted here, because the mailbox itself
// decides whether user messages are handled.
func (m *mailbox) invokeSystem(msg any) {
	switch msg.(type) {
	case *actor.SuspendMailbox:
		m.suspended = true
	case *actor.ResumeMailbox:
		m.suspended = false
	default:
		m.library.InvokeSystemMessage(msg)
	}
}

// stopOnFailure ends an actor that fails, because restarting it in place would bring it back with
// an empty state. Activations recover from their own panics.
type stopOnFailure struct{}

// HandleFailure stops the child.
func (stopOnFailure) HandleFailure(_ *actor.ActorSystem, s actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, _, _ any) {
	s.StopChildren(child)
}
