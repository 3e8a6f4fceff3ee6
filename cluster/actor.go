package cluster

import (
	"log/slog"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"boxoffice/cluster/host"
)

// actors is the actor library, which starts, supervises and stops actors. No other file
// knows it.
type actors struct{ system *actor.ActorSystem }

func newActors() actors {
	system := actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }),
		actor.WithDeadLetterRequestLogging(false),
	)
	// The library's registry has 1,024 maps of 32 parts: 62,000 objects for each
	// collection of garbage to visit. What is registered in the others by now, under the
	// names of its own event stream and dead letters, nobody looks up.
	registry := system.ProcessRegistry.LocalPIDs
	registry.LocalPIDs = slices.Clone(registry.LocalPIDs[:16])
	return actors{system}
}

// startActor starts an activation, which is sent its messages through the mailbox.
func (a actors) startActor(act *host.Hosted, m *mailbox) {
	a.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return hosted{act} },
		actor.WithSupervisor(stopOnFailure{}), actor.WithMailbox(func() actor.Mailbox { return m })))
}

func (a actors) close() { a.system.Shutdown() }

// hosted is an activation as the library's actor.
type hosted struct{ *host.Hosted }

// Receive takes the library's messages: that the actor has been started.
func (h hosted) Receive(ctx actor.Context) {
	if _, started := ctx.Message().(*actor.Started); started {
		h.Start(address{ctx.ActorSystem().Root, ctx.Self()})
	}
}

// address is where the library finds an actor.
type address struct {
	root *actor.RootContext
	pid  *actor.PID
}

// Send puts a message into the actor's mailbox.
func (a address) Send(msg any) { a.root.Send(a.pid, msg) }

// Stop has the library let go of the actor.
func (a address) Stop() { a.root.Stop(a.pid) }

var _ actor.Mailbox = (*mailbox)(nil)

// RegisterHandlers is told who takes the library's messages. Strands need no dispatcher.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, _ actor.Dispatcher) {
	m.library = invoker
}

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

// stopOnFailure ends an actor that fails: restarting it in place would bring it
// back with an empty state. Activations recover their own panics.
type stopOnFailure struct{}

// HandleFailure stops the child.
func (stopOnFailure) HandleFailure(_ *actor.ActorSystem, s actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, _, _ any) {
	s.StopChildren(child)
}
