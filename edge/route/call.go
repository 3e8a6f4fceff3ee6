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

// Credentials are what a request brought to prove who sends it. At least one of Bearer and Token is set.
type Credentials struct {
	Bearer string // the bearer token of the Authorization header
	Token  string // the query parameter token, if the operation takes one (QueryToken)
	Client netip.Addr
	Now    time.Time
}

// Principal is who sends a request, as far as the request's credentials prove it.
type Principal struct {
	Kinds Auth   // the kinds of the credentials; Public if there are none, and also if the row is for the public
	User  int64  // the user's number in a JWT; 0 without one
	Email string // the address of a JWT's user
	// EmailProven reports whether the person who opened a JWT's session has proven to own the
	// mailbox of Email. Without that proof, anybody may have registered the address.
	EmailProven bool
	Session     string // the id of a JWT's session
	Key         int64  // the number of an API key; 0 without one
	Strict      int    // an API key's own limit of requests per minute in TierStrict; 0: the tier's limit
	Grants      []Grant
	Bound       *Binding // what a gate's key is bound to; nil: only the grant limits the credentials
	Token       string   // the query parameter token; the handler checks it against the order or the stream
}

// Grant is what a principal may do in one organization. A user has one per membership, an API key
// exactly one.
type Grant struct {
	Org    int64
	Role   string // empty for an API key
	Scopes Scopes
}

// Grant returns the principal's grant in an organization, and whether there is one.
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

// Gate applies rate limits and quotas to calls. It has nothing to do with the gates of an event.
type Gate interface {
	// Admit counts a request that has been read and checked, or refuses it. It runs before the handler.
	Admit(c *Call, in any) error
	// Charge counts bytes that the call is about to write for an organization, or refuses the call.
	Charge(c *Call, org, bytes int64) error
	// Left returns what is left of a subject's rate limit in a tier, as far as this node knows. It counts nothing.
	Left(tier Tier, subject string, perMinute int) Left
}

// Left is what is left of a rate limit.
type Left struct {
	Limit     int       // requests that are allowed in a minute
	Remaining int       // requests that would be admitted now
	Resets    time.Time // when Remaining is Limit again, if no request comes
}

// Call is one request as its handler sees it. The handler may keep everything in the call except Body,
// because everything else is a copy.
type Call struct {
	Op        *Op
	Context   context.Context // ends at the operation's deadline, when the handler has returned, or with its parent
	Now       time.Time       // the request's one timestamp
	RequestID string
	Env       string     // live or test
	Client    netip.Addr // IPv4-mapped addresses are unmapped
	UserAgent string
	Languages string // the header Accept-Language of a POST, or of a read that answers with a Content; "" if it is missing or too long
	Principal Principal
	Gate      Gate // applies rate limits and quotas; nil: there are none
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
	// Computed is set by the handler of a public read if the answer was not in memory and had to be computed.
	Computed bool
	// Org is the number of the organization for which Charge was called last, also if that was refused; 0 before
	// that, and always without a Gate.
	Org int64
	// Topic is what a stream shows; the handler of a stream sets it.
	Topic *sse.Topic
	// Visitor is the secret token of a visitor of a waiting room (Authorization: Queue), or empty.
	Visitor string
	// Private says that the answer is meant for one visitor, so that no cache may give it to others.
	Private bool
	// Stale reports that lists may not yet show what the caller has written.
	Stale bool

	charged  int64 // bytes that ActFor has counted
	deadline deadline
	hash     [sha256.Size]byte
	hashed   bool
	unkeyed  [sha256.Size]byte // the scope of a call without an Idempotency-Key, once it is drawn
	drawn    bool
}

// MaxLanguages is the most bytes that Call.Languages may have.
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

// CallOf returns the call whose Context is ctx itself. It returns nil for any other context, also for one
// that is derived from a call's.
func CallOf(ctx context.Context) *Call {
	if d, ok := ctx.(*deadline); ok {
		return d.call
	}
	return nil
}

// Restart gives the call its full time again, from now on, because its body has only now arrived
// completely. It ends the old context. The caller of Restart must call End again for the new one.
func (c *Call) Restart(parent context.Context, now time.Time) {
	c.End()
	c.deadline = deadline{parent: parent, at: now.Add(c.Timeout()), call: c}
}

// Timeout returns how long the call may take: its row's Timeout, or DefaultTimeout.
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

// Scope returns a hash of (environment, principal, method, route, Idempotency-Key), which is the same for
// every repeat of a request and on every node. Without an Idempotency-Key the scope is random, and stays
// the same for this call. All callers without credentials count as one principal, so that a phone that
// changes its network still repeats the same request. That is safe, because only the caller knows the
// UUID in the Idempotency-Key. A stranger who learns the UUID gets IDEMPOTENCY_KEY_REUSED, because the
// first answer is given again only for the same body.
//
// A client can compute its scope, because it knows everything that is hashed. So whoever needs a secret
// for what a request makes derives it from the scope with the master key.
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

// Who names the principal: "user/…", "key/…", or "guest" for all callers without credentials.
func (c *Call) Who() string {
	switch {
	case c.Principal.Kinds.Has(User):
		return "user/" + strconv.FormatInt(c.Principal.User, 10)
	case c.Principal.Kinds.Has(Key):
		return "key/" + strconv.FormatInt(c.Principal.Key, 10)
	}
	return guest
}

// Network returns the address by which clients are told apart: an IPv4 address itself, or the first
// address of an IPv6 address's /64 network, because a client can use any address of its /64.
func Network(a netip.Addr) netip.Addr {
	if a.Is4() || !a.IsValid() {
		return a
	}
	return netip.PrefixFrom(a, 64).Masked().Addr()
}

// deadline is a context that starts its timer only when somebody first asks for Done, Err or a value. Most
// handlers answer from memory and never ask, and a timer costs about a microsecond and five allocations.
type deadline struct {
	parent context.Context
	at     time.Time
	call   *Call
	once   sync.Once
	inner  context.Context
	cancel context.CancelFunc
}

// start returns the context with the timer, and makes it at the first call.
func (d *deadline) start() context.Context {
	d.once.Do(func() { d.inner, d.cancel = context.WithDeadline(d.parent, d.at) })
	return d.inner
}

// endDeadline releases the timer. A context that nobody has asked yet counts as ended from now on, and gets no timer.
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

// TellReplayed sets the header Idempotency-Replayed if known is true, which means that the answer repeats
// an earlier one.
func TellReplayed(c *Call, known bool) {
	if known {
		c.SetHeader("Idempotency-Replayed", "true")
	}
}

// UserSubject names a user as a subject of rate limits, of caches and of notices that something changed.
func UserSubject(id int64) string { return "user/" + strconv.FormatInt(id, 10) }

// KeySubject names an API key where UserSubject names a user.
func KeySubject(id int64) string { return "key/" + strconv.FormatInt(id, 10) }
