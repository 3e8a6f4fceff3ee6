// Package buckets counts each request of a node in the buckets of its rate limits: by its credential, by the
// network that it came from, or by what it names, such as an order.
//
// It owns the node's table of buckets. The server makes a Count for each request and calls it on the request's
// way: before the body is read, after it, and at the end for the headers. Each time it counts a request, it does so in
// one or more buckets or, if one of them is full, in none of them. Most requests are counted once, and some both before
// their body is read and by what the body names. The package has no goroutine and nothing to stop.
package buckets

import (
	"net/netip"
	"reflect"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/limit"
	"boxoffice/edge/route"
	"boxoffice/engine/order"
)

// tableMegabytes is the memory for a node's buckets: room for a million of them.
const tableMegabytes = 16

// Limits are a node's rate limits. Any goroutine may call their methods.
type Limits struct {
	Scale     float64 // multiplies every limit
	OpenOrder OpenOrder
	table     *limit.Table
}

// OpenOrder returns the order that an id names, in its one canonical spelling, and whether the
// token opens that order.
type OpenOrder func(id, token string) (order string, opens bool)

// New makes the limits, all of them multiplied by scale.
func New(scale float64, openOrder OpenOrder) *Limits {
	return &Limits{Scale: scale, OpenOrder: openOrder, table: limit.New(tableMegabytes)}
}

// bucket is a bucket in which a request counts. It belongs to a tier or to a rule, and to a subject, such as a
// credential or a network.
type bucket struct {
	tier    route.Tier
	subject limit.Subject
	most    int // how many requests a minute it allows
}

// bucketOf returns the bucket of a subject with a name, for perMinute requests a minute times Scale.
func (l *Limits) bucketOf(tier route.Tier, name string, perMinute int) bucket {
	return bucket{tier, l.table.Of(string(tier), name), limit.Scale(perMinute, l.Scale)}
}

// bucketOfRule returns the bucket of a subject with a name under a rule that belongs to no tier.
func (l *Limits) bucketOfRule(r limit.RateRule, name string) bucket {
	return l.bucketOf(route.Tier(r.Name), name, r.Most)
}

// Left returns how much is left at a time in a subject's bucket of a tier. It counts nothing.
func (l *Limits) Left(tier route.Tier, subject string, perMinute int, now time.Time) limit.Verdict {
	b := l.bucketOf(tier, subject, perMinute)
	return l.table.Look(b.subject, b.most, now)
}

// Count is the state of one request's rate limit: the buckets that the request counts in, and the verdict of the
// bucket with the least room, which the answer's headers show. The zero Count counts nothing and writes no
// headers.
type Count struct {
	limits  *Limits // nil: the node has no limits
	now     time.Time
	done    bool // the request was counted or refused, so only ByBody may still count it
	taken   []bucket
	verdict limit.Verdict
}

// Begin makes the Count of a request that arrived at a time. Nil limits make one that counts nothing.
func (l *Limits) Begin(now time.Time) Count { return Count{limits: l, now: now} }

// Done reports whether the request needs no more counting: it has been counted, or it is refused because a
// bucket is full.
func (c *Count) Done() bool { return c.done }

// noteVerdict notes a verdict if its bucket has the least room so far, or is full.
func (c *Count) noteVerdict(v limit.Verdict) {
	if !c.done || v.Remaining < c.verdict.Remaining || !v.Allowed {
		c.verdict = v
	}
	c.done = true
}

// takeFrom counts the request in all of the buckets, or in none of them if one is full; it then refuses with that
// bucket's verdict.
func (c *Count) takeFrom(buckets ...bucket) error {
	for i, b := range buckets {
		v := c.limits.table.Take(b.subject, b.most, c.now)
		c.noteVerdict(v)
		if !v.Allowed {
			c.giveBack(buckets[:i])
			return limit.Refuse(b.tier, v)
		}
	}
	c.taken = append(c.taken, buckets...)
	return nil
}

// giveBack takes the request's counts in some buckets back, and returns the verdict of the bucket that then has
// the least room.
func (c *Count) giveBack(buckets []bucket) (tightest limit.Verdict) {
	for i, b := range buckets {
		if v := c.limits.table.Return(b.subject, b.most, c.now); i == 0 || v.Remaining < tightest.Remaining {
			tightest = v
		}
	}
	return tightest
}

// Unrouted counts a request that matches no operation as a public read of its network, and refuses it if there
// are too many.
func (c *Count) Unrouted(client netip.Addr) error {
	if c.limits == nil {
		return nil
	}
	return c.takeFrom(c.limits.publicReads(client))
}

// publicReads returns the bucket of an address's network for public reads.
func (l *Limits) publicReads(client netip.Addr) bucket {
	return l.bucketOf(route.TierPublic, route.Network(client).String(), route.Limits[route.TierPublic].PerMinute)
}

// LookAtRemaining notes how many public reads an address has left, for a request that was never counted. It counts
// nothing.
func (c *Count) LookAtRemaining(client netip.Addr) {
	if c.limits == nil {
		return
	}
	b := c.limits.publicReads(client)
	c.verdict = c.limits.table.Look(b.subject, b.most, c.now)
}

// BeforeBody counts a request by its credential before its body is read. It leaves out requests that are counted later
// instead: those that name a device, those without a credential that name an order or a checkout session, and those
// of a raw handler.
func (c *Count) BeforeBody(call *route.Call, names Names) error {
	if (names.order || names.holder) && !call.Principal.Proven() || names.device || call.Op.Handler.Raw != "" {
		return nil
	}
	return c.ByCredential(call)
}

// ByCredential counts a request by what is known without its body: the credential, or else the client's network.
// Requests of the tier auth are counted by network, even if somebody is signed in. A credential's request counts in
// sharedBuckets too, and in the network's own bucket if the credential belongs to a user without a proven address.
// For a key with a limit of its own in the tier strict (Principal.Strict), only that limit counts.
func (c *Count) ByCredential(call *route.Call) error {
	if c.limits == nil {
		return nil
	}
	tier, n := call.Op.Tier, route.Limits[call.Op.Tier].PerMinute
	p, network := &call.Principal, route.Network(call.Client).String()
	switch {
	case tier == route.TierAuth || !p.Proven():
		return c.takeFrom(c.limits.bucketOf(tier, network, n))
	case tier == route.TierStrict && p.Strict > 0: // the operator trusts this key, so no ceiling is below its limit
		return c.takeFrom(c.limits.bucketOf(tier, route.KeySubject(p.Key), p.Strict))
	}
	buckets := append(c.limits.sharedBuckets(call, n), c.limits.bucketOf(tier, limit.CredentialName(p), n))
	if p.Kinds.Has(route.User) && !p.EmailProven { // anybody has as many of these accounts as they like
		buckets = append(buckets, c.limits.bucketOf(tier, network, n))
	}
	return c.takeFrom(buckets...)
}

// sharedBuckets returns the buckets that a credential shares with others. They are needed because anybody can
// make credentials at no cost: one is for all credentials in a network and, if the caller is an API key, one
// for all keys of its organization.
func (l *Limits) sharedBuckets(c *route.Call, perMinute int) []bucket {
	tier, all := c.Op.Tier, perMinute*limit.Ceiling
	shared := append(make([]bucket, 0, 4), l.bucketOf(tier, "network/"+route.Network(c.Client).String(), all))
	if c.Principal.Kinds.Has(route.Key) {
		shared = append(shared, l.bucketOf(tier, limit.OrganizationName(c.Principal.Grants[0].Org), all))
	}
	return shared
}

// These requests name, in body, path or query, whom to count. A provider's notice is counted by its handler,
// after its signature has been verified: a forged notice must not use up the provider's limit, and
// counts against the network that sent it, because the server counts every refused request by its credential.
type (
	byEmail interface{ LimitEmail() string }
	byOrder interface {
		LimitOrder() (id string, tokens [2]string)
	}
	byHolder interface{ LimitHolder() string }
	byDevice interface{ LimitDevice() string }

	byProvider interface{ LimitProvider() string }
)

// Names says what an operation's requests name, so that they can't be counted before they are read.
type Names struct {
	order  bool // an order, which is counted if a token opens it
	holder bool // a checkout session
	device bool // a device at a gate
}

// NamesIn finds out what requests of a type, a pointer to a struct, name.
func NamesIn(in reflect.Type) Names {
	return Names{
		order:  in.Implements(reflect.TypeFor[byOrder]()),
		holder: in.Implements(reflect.TypeFor[byHolder]()),
		device: in.Implements(reflect.TypeFor[byDevice]()),
	}
}

// ByBody counts a request that has been read against what it names. It does not count a request that names nothing, or
// the address of its own signed-in and proven sender. An order or a checkout session is counted only if the request has
// not been counted before; if no token opens the order, the request is counted by its credential.
func (c *Count) ByBody(call *route.Call, in any) error {
	l := c.limits
	if l == nil {
		return nil
	}
	switch in := in.(type) {
	case byEmail:
		address := order.NormalEmail(in.LimitEmail())
		if p := &call.Principal; p.EmailProven && order.NormalEmail(p.Email) == address {
			return nil // the owner is not bound by what strangers have tried
		}
		return c.takeFrom(l.bucketOfRule(limit.RuleEmail, address))
	case byDevice:
		return c.takeFrom(append(l.sharedBuckets(call, limit.RuleDevices.Most), l.bucketOfRule(limit.RuleDevices, limit.CredentialName(&call.Principal)),
			l.bucketOf(call.Op.Tier, limit.DeviceName(&call.Principal, in.LimitDevice()), route.Limits[call.Op.Tier].PerMinute))...)
	case byProvider:
		return c.takeFrom(l.bucketOf(call.Op.Tier, "provider/"+in.LimitProvider(), route.Limits[call.Op.Tier].PerMinute))
	case byHolder:
		if c.done {
			return nil
		}
		return c.takeFrom(l.bucketOfRule(limit.RuleHolders, route.Network(call.Client).String()),
			l.bucketOf(call.Op.Tier, "holder/"+in.LimitHolder(), route.Limits[call.Op.Tier].PerMinute))
	case byOrder:
		if c.done {
			return nil
		}
		id, tokens := in.LimitOrder()
		for _, token := range tokens {
			if token == "" {
				continue
			}
			if order, opens := l.OpenOrder(id, token); opens {
				return c.takeFrom(l.bucketOf(call.Op.Tier, "order/"+order, route.Limits[call.Op.Tier].PerMinute))
			}
		}
		return c.ByCredential(call)
	}
	return nil
}

// Repeat counts a request that may be answered from the replies stored under its Idempotency-Key.
// A request that is answered in this way is not read, so ByBody does not count it.
func (c *Count) Repeat(call *route.Call) error {
	if c.limits == nil || c.done {
		return nil
	}
	if call.Principal.Proven() {
		return c.ByCredential(call)
	}
	err := c.takeFrom(c.limits.bucketOfRule(limit.RuleRepeats, route.Network(call.Client).String()))
	c.done = err != nil // a request that is read after all is also counted by what it names
	return err
}

// GiveBack takes all counts of a request back, for an answer that tells the client nothing new. Afterwards the
// headers show what is left then.
func (c *Count) GiveBack() {
	if c.limits != nil && c.done {
		c.verdict = c.giveBack(c.taken)
		c.taken = nil
	}
}

var (
	headerLimit     = []byte("X-Ratelimit-Limit")
	headerRemaining = []byte("X-Ratelimit-Remaining")
	headerReset     = []byte("X-Ratelimit-Reset")
)

// WriteHeaders writes the X-RateLimit headers, unless the node has no limits.
func (c *Count) WriteHeaders(h *fasthttp.ResponseHeader) {
	if c.limits == nil {
		return
	}
	var b [20]byte
	h.SetCanonical(headerLimit, strconv.AppendInt(b[:0], int64(c.verdict.Limit), 10))
	h.SetCanonical(headerRemaining, strconv.AppendInt(b[:0], int64(max(0, c.verdict.Remaining)), 10))
	reset := c.verdict.Reset.Add(time.Second - 1).Unix()
	h.SetCanonical(headerReset, strconv.AppendInt(b[:0], reset, 10))
}
