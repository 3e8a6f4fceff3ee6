package cluster

import "sync"

// strandTurn is how many messages a strand handles before the next strand has its turn, and
// actorTurn how many of them may be of one actor in a row. A caller who runs a strand handles only
// callerTurn, because it waits for an answer of its own.
const (
	strandTurn = 1_000
	callerTurn = 16
	actorTurn  = 300
)

// strand holds the actors of one home (an event or an organization), which take turns: at most one runs at a time. So
// what an order asks of a keeper is handled on the same processor, in a warm cache, and no other
// goroutine has to be woken for it (docs/adr/0011-strands.md). Its lock also guards the mailboxes
// of its actors.
type strand struct {
	workers *workers
	actors  int // how many actors live in it; Node.strands guards it

	mu      sync.Mutex
	waiting []*mailbox // mailboxes that have messages, in the order of their turns
	running bool       // a caller or a worker runs the strand, or a worker soon will
}

// enter takes the strand for the caller and reports whether it did. If so, the caller must run it.
func (s *strand) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return false
	}
	s.running = true
	return true
}

// run handles about turn messages. If there are more, a worker goes on.
func (s *strand) run(turn int) {
	for turn > 0 {
		m := s.next()
		if m == nil {
			return
		}
		// One actor gets only a part of a turn, so that an actor with many messages does not keep the others waiting.
		turn -= m.serveTurn(min(turn, actorTurn))
	}
	s.workers.schedule(s)
}

// next returns the mailbox whose turn it is, or nil: then the strand rests.
func (s *strand) next() *mailbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.running = false
		return nil
	}
	m := s.waiting[0]
	n := copy(s.waiting, s.waiting[1:]) // copying is cheap, because an event has few actors
	s.waiting[n] = nil
	s.waiting = s.waiting[:n]
	m.waits = false
	return m
}

// mailbox is an actor's mailbox. The library's own mailbox does not know strands: it would keep a goroutine
// busy for as long as one actor has messages. Messages go straight into this mailbox and from it to the
// receiver. By way of the actor's PID and context, a message would touch some eight more objects, and with a
// thousand actors these are not in the processor's cache.
type mailbox struct {
	strand    *strand
	receiver  receiver
	library   overseer // takes the library's system messages
	waits     bool     // whether it is in strand.waiting; guarded by the strand's lock
	suspended bool     // whether the library's supervisor has suspended it: only system messages are handled then
	user      letters
	system    letters // messages of the library, which are handled before all others
}

// receiver is what handles an actor's messages: a host.Hosted.
type receiver interface{ Handle(msg any) }

// overseer is the library's side of a mailbox.
type overseer interface {
	InvokeSystemMessage(msg any)
	EscalateFailure(reason, msg any)
}

// letters are messages in order.
type letters struct {
	come  []any // messages that have arrived; guarded by the strand's lock
	taken []any // messages moved out of come by whoever runs the strand
	next  int   // index of the next message in taken
}

// countLeft returns how many of the taken messages have not been handled. Only the goroutine that runs the strand may
// ask.
func (l *letters) countLeft() int { return len(l.taken) - l.next }

// takeArrived moves the messages that have arrived into taken, once all of those taken before have been
// handled. The caller holds the lock.
func (l *letters) takeArrived() {
	if l.countLeft() == 0 {
		l.taken, l.come, l.next = l.come, l.taken[:0], 0
	}
}

// pop returns the next message that was taken, and drops the reference to it.
func (l *letters) pop() (msg any) {
	msg, l.taken[l.next] = l.taken[l.next], nil
	l.next++
	return msg
}

// Start does nothing: the first message starts the mailbox.
func (m *mailbox) Start() {}

// PostUserMessage adds a message after the others.
func (m *mailbox) PostUserMessage(msg any) { m.postMessage(&m.user, msg) }

// PostSystemMessage adds a message that goes before the user's messages.
func (m *mailbox) PostSystemMessage(msg any) { m.postMessage(&m.system, msg) }

// UserMessageCount returns how many messages have arrived that the strand has not taken yet. The library asks
// for it.
func (m *mailbox) UserMessageCount() int {
	m.strand.mu.Lock()
	defer m.strand.mu.Unlock()
	return len(m.user.come)
}

// postMessage adds a message. If nobody runs the strand, a worker is told to run it.
func (m *mailbox) postMessage(to *letters, msg any) {
	s := m.strand
	s.mu.Lock()
	to.come = append(to.come, msg)
	m.waitForTurn()
	idle := !s.running
	s.running = true
	s.mu.Unlock()
	if idle {
		s.workers.schedule(s)
	}
}

// waitForTurn puts the mailbox among those that wait for a turn. The caller holds the lock.
func (m *mailbox) waitForTurn() {
	if !m.waits {
		m.waits = true
		m.strand.waiting = append(m.strand.waiting, m)
	}
}

// serveTurn handles up to most messages and returns how many it handled. If the actor panics, its
// supervisor deals with that.
func (m *mailbox) serveTurn(most int) (dealt int) {
	m.strand.mu.Lock()
	m.system.takeArrived()
	m.user.takeArrived()
	m.strand.mu.Unlock()
	var msg any
	defer func() {
		if p := recover(); p != nil {
			m.library.EscalateFailure(p, msg)
		}
		m.strand.mu.Lock()
		defer m.strand.mu.Unlock()
		if m.system.countLeft()+len(m.system.come) > 0 || !m.suspended && m.user.countLeft()+len(m.user.come) > 0 {
			m.waitForTurn()
		}
	}()
	for ; dealt < most; dealt++ {
		switch {
		case m.system.countLeft() > 0:
			msg = m.system.pop()
			m.invokeSystem(msg)
		case !m.suspended && m.user.countLeft() > 0:
			msg = m.user.pop()
			m.receiver.Handle(msg)
		default:
			return dealt
		}
	}
	return dealt
}
