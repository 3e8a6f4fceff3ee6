package cluster

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// invoker is the library's side of a mailbox, and the receiver.
type invoker struct {
	user, system func(any)
	failed       func(reason, msg any)
}

func (i *invoker) Handle(msg any)                  { i.user(msg) }
func (i *invoker) InvokeUserMessage(any)           { panic("it is the receiver's") }
func (i *invoker) InvokeSystemMessage(msg any)     { i.system(msg) }
func (i *invoker) EscalateFailure(reason, msg any) { i.failed(reason, msg) }

func newMailbox(s *strand, i *invoker) *mailbox {
	m := &mailbox{strand: s, receiver: i}
	m.RegisterHandlers(i, nil)
	return m
}

func someWorkers(t *testing.T) *workers {
	w := startWorkers()
	t.Cleanup(w.stop)
	return w
}

// An actor that has messages without end leaves the others their turns: actors of the same
// event, and actors of other events when as many as there are workers are so busy.
func TestStrandsTakeTurns(t *testing.T) {
	t.Parallel()
	w := someWorkers(t)
	var over atomic.Bool
	t.Cleanup(func() { over.Store(true) }) // before the workers are told to leave
	var busy *strand
	for range w.count {
		busy = &strand{workers: w}
		again := new(invoker)
		m := newMailbox(busy, again)
		again.user = func(msg any) {
			if !over.Load() {
				m.PostUserMessage(msg)
			}
		}
		m.PostUserMessage("again")
	}
	heard := make(chan any, 2)
	listener := &invoker{user: func(msg any) { heard <- msg }}
	newMailbox(busy, listener).PostUserMessage("another actor")
	newMailbox(&strand{workers: w}, listener).PostUserMessage("another event")
	for range cap(heard) {
		select {
		case <-heard:
		case <-time.After(time.Minute):
			require.Fail(t, "nobody else had a turn")
		}
	}
}

// Many goroutines send to the actors of one strand, and run it themselves where they
// can: one actor runs at a time, and hears each sender's messages in order.
func TestStrandRunsOneAtATime(t *testing.T) {
	t.Parallel()
	const senders, actors, each = 8, 3, 2_000
	type message struct{ sender, n int }
	s := &strand{workers: someWorkers(t)}
	var inside atomic.Int32
	var left sync.WaitGroup
	left.Add(senders * actors * each)
	var boxes [actors]*mailbox
	for i := range boxes {
		var next [senders]int // the strand's
		boxes[i] = newMailbox(s, &invoker{user: func(msg any) {
			m, _ := msg.(message)
			assert.Equal(t, int32(1), inside.Add(1))
			assert.Equal(t, next[m.sender], m.n)
			next[m.sender]++
			inside.Add(-1)
			left.Done()
		}})
	}
	for sender := range senders {
		go func() {
			for n := range each {
				for _, m := range boxes {
					mine := s.enter()
					m.PostUserMessage(message{sender, n})
					if mine {
						s.run(callerTurn)
					}
				}
			}
		}()
	}
	left.Wait()
}

// A failure reaches the supervisor with its message. A suspended actor hears only
// system messages, which go first, until it is resumed.
func TestMailboxFailsAndRests(t *testing.T) {
	t.Parallel()
	s := &strand{workers: someWorkers(t)}
	var heard []any
	var m *mailbox
	m = newMailbox(s, &invoker{
		user: func(msg any) {
			if msg == "bad" {
				panic("no")
			}
			heard = append(heard, msg)
		},
		system: func(msg any) { heard = append(heard, msg) },
		failed: func(reason, msg any) {
			heard = append(heard, reason, msg)
			m.PostSystemMessage(&actor.SuspendMailbox{})
		},
	})
	run := func(post ...func()) []any {
		heard = nil
		require.True(t, s.enter())
		for _, f := range post {
			f()
		}
		s.run(strandTurn)
		return heard
	}
	user := func(msg any) func() { return func() { m.PostUserMessage(msg) } }
	system := func(msg any) func() { return func() { m.PostSystemMessage(msg) } }

	assert.Equal(t, []any{"started", "first", "no", "bad"}, run(user("first"), user("bad"), user("second"), system("started")))
	assert.Equal(t, []any{"stop"}, run(user("third"), system("stop")))
	assert.Equal(t, 1, m.UserMessageCount())
	assert.Equal(t, []any{"second", "third"}, run(system(&actor.ResumeMailbox{})))
	assert.Zero(t, m.UserMessageCount())
}
