package route

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"boxoffice/edge/sse"
)

// Credentials are what a request brought to prove who sends it. Bearer or Token is set, or both.
type Credentials struct {
	Bearer string // of the Authorization header
	Token  string // of the query, where the operation takes one
	Client netip.Addr
	Now    time.Time
}

// Principal is who sends a request, as far as the request's credentials prove it.
type Principal struct {
	Kinds Auth   // what the credentials are; Public for none
	User  int64  // of a JWT
	Email string // of a JWT's user
	// EmailProven reports whether the person who opened a JWT's session has proven to own the
	// mailbox of Email. Without that proof, anybody may have registered the address.
	EmailProven bool
	Session     string // of a JWT
	Key         int64  // number of an API key
	Strict      int    // an API key's own ceiling of strict writes in a minute; 0: the usual
	Grants      []Grant
	Bound       *Binding // of a gate's key; nil: its grant alone bounds it
	Token       string   // of the query, as sent; the handler checks it against the order or the stream
}

// Grant is what a principal may do in one organization. A user has one per membership, an API key
// exactly one.
type Grant struct {
	Org    int64
	Role   string // empty for an API key
	Scopes Scopes
}

// Grant returns the principal's grant in an organization.
func (p *Principal) Grant(org int64) (Grant, bool) {
	for _, g := range p.Grants {
		if g.Org == org {
			return g, true
		}
	}
	return Grant{}, false
}

// Proven reports whether the principal is a user or an API key.
func (p *Principal) Proven() bool { return p.Kinds.Has(User | Key) }

// Gate judges a request that has been read, before its handler runs, and what it is about to write.
type Gate interface {
	Admit(c *Call, in any) error
	// Charge counts bytes that an organization has written, or refuses.
	Charge(c *Call, org, bytes int64) error
	// Left tells what a subject's bucket of a tier holds on this node, and counts nothing.
	Left(tier Tier, subject string, perMinute int) Left
}

// Left is what a bucket holds.
type Left struct {
	Limit     int // requests in a minute
	Remaining int
	Resets    time.Time // when the bucket is full again
}

// Call is one request as its handler sees it. Everything in it but Body is a
// copy and may be kept.
type Call struct {
	Op        *Op
	Context   context.Context // ends at the operation's deadline or when the handler returns
	Now       time.Time       // the request's one timestamp
	RequestID string
	Env       string     // live or test
	Client    netip.Addr // IPv4-mapped addresses are unmapped
	UserAgent string
	Languages string // languages that the caller prefers, as in Accept-Language; "" if it names none, or too many
	Principal Principal
	Gate      Gate // nil: none
	// IdempotencyKey is the header's UUID in lower case, or empty.
	IdempotencyKey string
	// Body is the raw body. It must not be used after the handler has returned.
	Body []byte
	// File came with the request; nil: there is none.
	File *File
	// Content is the answer if it is not JSON; nil: it is JSON.
	Content *Content
	// Headers are added to the answer if it is a success, in order.
	Headers []Header
	// Computed reports that the answer of a public read was not in memory.
	Computed bool
	// Org is the organization for which the call writes, once it was charged for that.
	Org int64
	// Topic is what a stream shows; its handler sets it.
	Topic *sse.Topic
	// Visitor is the secret token of a visitor of a waiting room (Authorization: Queue), or empty.
	Visitor string
	// Private says that the answer is one visitor's, so that no cache may give it to others.
	Private bool
	// Stale reports that lists do not have yet what the caller has written.
	Stale bool

	charged  int64 // bytes that ActFor has counted
	deadline deadline
	hash     [sha256.Size]byte
	hashed   bool
	unkeyed  [sha256.Size]byte // the scope of a call without an Idempotency-Key, once it is drawn
	drawn    bool
}

// MaxLanguages bounds Languages, in bytes.
const MaxLanguages = 256

// Header is one header of an answer.
type Header struct{ Name, Value string }

// NewCall makes the call of one request to op that began at now. Its context ends with parent, at
// the operation's deadline, or at End.
func NewCall(parent context.Context, op *Op, now time.Time) *Call {
	c := &Call{Op: op, Now: now}
	c.deadline.parent, c.deadline.at, c.deadline.call = parent, now.Add(c.Timeout()), c
	c.Context = &c.deadline
	return c
}

// CallOf is the call whose own context ctx is, or nil.
func CallOf(ctx context.Context) *Call {
	if d, ok := ctx.(*deadline); ok {
		return d.call
	}
	return nil
}

// Restart gives the call its full time again, because its body has only now come in whole. The
// caller must call End once more.
func (c *Call) Restart(parent context.Context, now time.Time) {
	c.End()
	c.deadline = deadline{parent: parent, at: now.Add(c.Timeout()), call: c}
}

// Timeout bounds the call.
func (c *Call) Timeout() time.Duration {
	if c.Op.Timeout > 0 {
		return c.Op.Timeout
	}
	return DefaultTimeout
}

// End ends the call's context. The maker of the call calls it once the handler has returned.
func (c *Call) End() { c.deadline.endDeadline() }

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

// Scope identifies the request by (environment, principal, method, route, Idempotency-Key); a
// repeat has the same scope. It is the same in every process; without a key it is random. All
// callers without credentials count as one principal, so that a phone that changes its network
// still repeats the same request: their key is a UUID that only they know. A stranger who learns
// the key is told IDEMPOTENCY_KEY_REUSED, because the first answer is given only for the whole
// first body.
//
// The scope is a plain hash of what the client knows. A secret that is shorter than the scope and must not
// collide is derived from it with the master key.
func (c *Call) Scope() [sha256.Size]byte {
	if c.IdempotencyKey == "" {
		if !c.drawn {
			_, _ = rand.Read(c.unkeyed[:]) // never fails
			c.drawn = true
		}
		return c.unkeyed
	}
	b := make([]byte, 0, 256)
	for _, part := range []string{c.Env, c.Who(), c.Op.Method, c.Op.Path, c.IdempotencyKey} {
		b = append(append(b, part...), 0)
	}
	return sha256.Sum256(b)
}

// CommandID is an id for what the request makes. It is the same on every retry with the same
// Idempotency-Key, so that a retry after a crash finds what was made before.
func (c *Call) CommandID() [16]byte {
	s := c.Scope()
	return [16]byte(s[:16])
}

// guest is the principal of all callers without credentials.
const guest = "guest"

// Who names the principal. All callers without credentials have one name.
func (c *Call) Who() string {
	switch {
	case c.Principal.Kinds.Has(User):
		return "user/" + strconv.FormatInt(c.Principal.User, 10)
	case c.Principal.Kinds.Has(Key):
		return "key/" + strconv.FormatInt(c.Principal.Key, 10)
	}
	return guest
}

// Network is what counts as one client: an IPv4 address, or an IPv6 network of 64 bits, within
// which a client can pick its addresses freely.
func Network(a netip.Addr) netip.Addr {
	if a.Is4() || !a.IsValid() {
		return a
	}
	return netip.PrefixFrom(a, 64).Masked().Addr()
}

// deadline is a context that costs nothing until somebody waits on it. Most handlers answer from
// memory and never wait, and a context with a timer takes about a microsecond and five allocations.
type deadline struct {
	parent context.Context
	at     time.Time
	call   *Call
	once   sync.Once
	inner  context.Context
	cancel context.CancelFunc
}

func (d *deadline) start() context.Context {
	d.once.Do(func() { d.inner, d.cancel = context.WithDeadline(d.parent, d.at) })
	return d.inner
}

func (d *deadline) endDeadline() {
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

// TellReplayed tells the client that the answer is an earlier one, if known is true.
func TellReplayed(c *Call, known bool) {
	if known {
		c.SetHeader("Idempotency-Replayed", "true")
	}
}

// UserSubject names a user in rate limits, caches and notes of changes.
func UserSubject(id int64) string { return "user/" + strconv.FormatInt(id, 10) }

// KeySubject names an API key in the same places.
func KeySubject(id int64) string { return "key/" + strconv.FormatInt(id, 10) }
