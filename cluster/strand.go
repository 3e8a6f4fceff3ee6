package cluster

import "sync"

// How many messages a strand deals with before the next has its turn, and how many
// of them may be of one actor in a row. A caller who runs a strand himself has his
// own answer to wait for.
const (
	strandTurn = 1_000
	callerTurn = 16
	actorTurn  = 300
)

// strand is the actors of one event, which take turns: at most one of them runs at a
// time. What an order asks of a keeper is then dealt with where the order was, in a
// warm cache, and nobody has to be woken for it (docs/adr/0011-strands.md). Its lock is
// that of its actors' mailboxes too.
type strand struct {
	workers *workers
	actors  int // that live in it; Node.strands guards it

	mu      sync.Mutex
	waiting []*mailbox // have messages, in the order of their turns
	running bool       // somebody runs the strand, or a worker will
}

// enter takes the strand for the caller, who must run it, unless somebody has it.
func (s *strand) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return false
	}
	s.running = true
	return true
}

// run deals with about so many messages. If there are more, a worker goes on.
func (s *strand) run(turn int) {
	for turn > 0 {
		m := s.next()
		if m == nil {
			return
		}
		turn -= m.serve(min(turn, actorTurn))
	}
	s.workers.schedule(s)
}

// next is whose turn it is, or nil: the strand rests.
func (s *strand) next() *mailbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.running = false
		return nil
	}
	m := s.waiting[0]
	n := copy(s.waiting, s.waiting[1:]) // an event has few actors
	s.waiting[n] = nil
	s.waiting = s.waiting[:n]
	m.waits = false
	return m
}

// mailbox is an actor's. The library's own knows of no strands: it would keep a
// goroutine for as long as one actor has messages. What an actor is sent goes straight
// into the mailbox and from there to the receiver: by its PID and its context a message
// comes over some eight objects more, which for a thousand actors are in no cache.
type mailbox struct {
	strand    *strand
	receiver  receiver
	library   overseer // takes system messages
	waits     bool     // in strand.waiting; under its lock
	suspended bool     // by its supervisor: only system messages are dealt with
	user      letters
	system    letters // go first
}

// receiver is a host.Hosted.
type receiver interface{ Handle(msg any) }

// overseer is the library's side of a mailbox.
type overseer interface {
	InvokeSystemMessage(msg any)
	EscalateFailure(reason, msg any)
}

// letters are messages in order.
type letters struct {
	come  []any // under the strand's lock
	taken []any // out of come, by whoever runs the strand
	next  int   // in taken
}

func (l *letters) countLeft() int { return len(l.taken) - l.next }

// take fetches what has come, under the lock, when all that was fetched before is
// dealt with.
func (l *letters) take() {
	if l.countLeft() == 0 {
		l.taken, l.come, l.next = l.come, l.taken[:0], 0
	}
}

func (l *letters) pop() (msg any) {
	msg, l.taken[l.next] = l.taken[l.next], nil
	l.next++
	return msg
}

// Start does nothing: the first message does.
func (m *mailbox) Start() {}

// PostUserMessage adds a message behind the others.
func (m *mailbox) PostUserMessage(msg any) { m.post(&m.user, msg) }

// PostSystemMessage adds one that goes before the user's.
func (m *mailbox) PostSystemMessage(msg any) { m.post(&m.system, msg) }

// UserMessageCount is how many messages nobody has looked at.
func (m *mailbox) UserMessageCount() int {
	m.strand.mu.Lock()
	defer m.strand.mu.Unlock()
	return len(m.user.come)
}

func (m *mailbox) post(to *letters, msg any) {
	s := m.strand
	s.mu.Lock()
	to.come = append(to.come, msg)
	m.wait()
	idle := !s.running
	s.running = true
	s.mu.Unlock()
	if idle {
		s.workers.schedule(s)
	}
}

// wait has the mailbox wait for its turn, under the lock.
func (m *mailbox) wait() {
	if !m.waits {
		m.waits = true
		m.strand.waiting = append(m.strand.waiting, m)
	}
}

// serve deals with at most so many messages and returns with how many. An actor that
// panics is its supervisor's business.
func (m *mailbox) serve(most int) (dealt int) {
	m.strand.mu.Lock()
	m.system.take()
	m.user.take()
	m.strand.mu.Unlock()
	var msg any
	defer func() {
		if p := recover(); p != nil {
			m.library.EscalateFailure(p, msg)
		}
		m.strand.mu.Lock()
		defer m.strand.mu.Unlock()
		if m.system.countLeft()+len(m.system.come) > 0 || !m.suspended && m.user.countLeft()+len(m.user.come) > 0 {
			m.wait()
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
