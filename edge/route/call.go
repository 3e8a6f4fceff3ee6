package route

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"
)

// Principal is who sends a request, as far as its credentials prove.
type Principal struct {
	Kind       Auth     // the one kind of credential used; Public for none
	UserID     string   // Organizer
	SessionID  string   // Organizer
	OrgIDs     []string // organizations that the user belongs to
	OrderToken string   // OrderToken: as sent; the handler matches it with the order
}

// Call is one request as its handler sees it. Everything in it but Body is a
// copy and may be kept.
type Call struct {
	Op        *Op
	Context   context.Context // ends at the operation's deadline or when the handler returns
	Now       time.Time       // the request's one timestamp
	RequestID string
	Client    netip.Addr // IPv4-mapped addresses are unmapped
	Principal Principal
	// IdempotencyKey is the header's UUID in lower case, or empty.
	IdempotencyKey string
	// Body is the raw body. It must not be used after the handler has returned.
	Body []byte
	// Headers of a success, in order.
	Headers []Header

	deadline deadline
	hash     [sha256.Size]byte
	hashed   bool
}

// Header is one header of an answer.
type Header struct{ Name, Value string }

// NewCall makes the call of one request to op that began at now. The context
// ends with parent, at the operation's deadline, or at End.
func NewCall(parent context.Context, op *Op, now time.Time) *Call {
	timeout := op.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	c := &Call{Op: op, Now: now}
	c.deadline.parent, c.deadline.at = parent, now.Add(timeout)
	c.Context = &c.deadline
	return c
}

// End ends the call's context. Who made the call calls it once the handler has
// returned.
func (c *Call) End() { c.deadline.end() }

// SetHeader adds a header to the answer if it is a success.
func (c *Call) SetHeader(name, value string) {
	c.Headers = append(c.Headers, Header{name, value})
}

// BodyHash is the SHA-256 of the raw body. Only the handler may call it.
func (c *Call) BodyHash() [sha256.Size]byte {
	if !c.hashed {
		c.hash, c.hashed = sha256.Sum256(c.Body), true
	}
	return c.hash
}

// deadline is a context that costs nothing until someone waits on it: most
// handlers answer from memory and never do, and a timer with its context is
// about a microsecond and five allocations.
type deadline struct {
	parent context.Context
	at     time.Time
	once   sync.Once
	inner  context.Context
	cancel context.CancelFunc
}

func (d *deadline) start() context.Context {
	d.once.Do(func() { d.inner, d.cancel = context.WithDeadline(d.parent, d.at) })
	return d.inner
}

func (d *deadline) end() {
	d.once.Do(func() { d.inner = ended })
	if d.cancel != nil {
		d.cancel()
	}
}

func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }
func (d *deadline) Done() <-chan struct{}       { return d.start().Done() }
func (d *deadline) Err() error                  { return d.start().Err() }

// Value asks the inner context, so that contexts derived from this one find its
// canceller and need no goroutine of their own.
func (d *deadline) Value(key any) any { return d.start().Value(key) }

var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
