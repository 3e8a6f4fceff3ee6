package server

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/limit"
	"boxoffice/edge/route"
	"boxoffice/engine/order"
)

// limitMegabytes is the memory for a node's buckets: room for a million of them.
const limitMegabytes = 16

// Limits are a node's rate limits.
type Limits struct {
	Scale     float64 // multiplies every limit
	OpenOrder OpenOrder
	table     *limit.Table
}

// OpenOrder returns the order that an id names, in its one canonical spelling, and whether the
// token opens that order.
type OpenOrder func(id, token string) (order string, opens bool)

// NewLimits makes the limits, all of them multiplied by scale.
func NewLimits(scale float64, openOrder OpenOrder) *Limits {
	return &Limits{Scale: scale, OpenOrder: openOrder, table: limit.New(limitMegabytes)}
}

// bucket is one that a request counts in: of a tier or a rule, for a subject.
type bucket struct {
	tier    route.Tier
	subject limit.Subject
	most    int // in a minute
}

// of is the bucket of a named subject.
func (l *Limits) of(tier route.Tier, name string, perMinute int) bucket {
	return bucket{tier, l.table.Of(string(tier), name), limit.Scale(perMinute, l.Scale)}
}

// rule is the bucket of a named subject under a rule a minute that belongs to no tier.
func (l *Limits) rule(r limit.RateRule, name string) bucket {
	return l.of(route.Tier(r.Name), name, r.Most)
}

// counted is what is known of a request's rate limit: the buckets that it counts in, and the verdict
// of the tightest, of which the headers tell.
type counted struct {
	done    bool // the request needs no more counting
	taken   []bucket
	verdict limit.Verdict
}

// note notes a verdict if it is the tightest.
func (c *counted) note(v limit.Verdict) {
	if !c.done || v.Remaining < c.verdict.Remaining || !v.Allowed {
		c.verdict = v
	}
	c.done = true
}

// take counts a request in all of the buckets, or in none of them if one is full.
func (l *Limits) take(x *exchange, buckets ...bucket) error {
	for i, b := range buckets {
		v := l.table.Take(b.subject, b.most, x.now)
		x.counted.note(v)
		if !v.Allowed {
			l.giveBack(x, buckets[:i])
			return limit.Refuse(b.tier, v)
		}
	}
	x.counted.taken = append(x.counted.taken, buckets...)
	return nil
}

func (l *Limits) giveBack(x *exchange, buckets []bucket) (tightest limit.Verdict) {
	for i, b := range buckets {
		if v := l.table.Return(b.subject, b.most, x.now); i == 0 || v.Remaining < tightest.Remaining {
			tightest = v
		}
	}
	return tightest
}

// unrouted counts a request that matches no operation as a public read.
func (l *Limits) unrouted(x *exchange, client netip.Addr) error {
	return l.take(x, l.of(route.TierPublic, route.Network(client).String(), route.Limits[route.TierPublic].PerMinute))
}

// look notes how many public reads an address has left, without counting one.
func (l *Limits) look(x *exchange, client netip.Addr) {
	s := l.table.Of(string(route.TierPublic), route.Network(client).String())
	x.counted.verdict = l.table.Look(s, limit.Scale(route.Limits[route.TierPublic].PerMinute, l.Scale), x.now)
}

// before counts a request before its body is read, unless the body says whom to count.
func (l *Limits) before(x *exchange, c *route.Call, o *operation) error {
	if (o.byOrder || o.byHolder) && !c.Principal.Proven() || o.byDevice || c.Op.Handler.Raw != "" {
		return nil
	}
	return l.whole(x, c)
}

// whole counts a request by what is known without its body: the credential, or else the address.
// Requests of the tier auth are counted by address, whoever is signed in.
func (l *Limits) whole(x *exchange, c *route.Call) error {
	tier, n := c.Op.Tier, route.Limits[c.Op.Tier].PerMinute
	p, network := &c.Principal, route.Network(c.Client).String()
	switch {
	case tier == route.TierAuth || !p.Proven():
		return l.take(x, l.of(tier, network, n))
	case tier == route.TierStrict && p.Strict > 0: // the operator trusts this key, so no ceiling is below its limit
		return l.take(x, l.of(tier, route.KeySubject(p.Key), p.Strict))
	}
	buckets := append(l.ceilings(c, n), l.of(tier, limit.CredentialName(p), n))
	if p.Kinds.Has(route.User) && !p.EmailProven { // anybody has as many of these accounts as they like
		buckets = append(buckets, l.of(tier, network, n))
	}
	return l.take(x, buckets...)
}

// ceilings are the buckets that a credential shares, because credentials cost nothing: with all in
// its network, and an API key with all keys of its organization.
func (l *Limits) ceilings(c *route.Call, perMinute int) []bucket {
	tier, all := c.Op.Tier, perMinute*limit.Ceiling
	shared := append(make([]bucket, 0, 4), l.of(tier, "network/"+route.Network(c.Client).String(), all))
	if c.Principal.Kinds.Has(route.Key) {
		shared = append(shared, l.of(tier, "organization/"+strconv.FormatInt(c.Principal.Grants[0].Org, 10), all))
	}
	return shared
}

// These requests name in their body whom to count. A provider's notice is counted by its handler,
// after its signature has been verified: a forged notice must not use up the provider's limit, and
// counts against the network that sent it (operate).
type (
	byEmail interface{ LimitEmail() string }
	byOrder interface {
		LimitOrder() (id string, tokens [2]string)
	}
	byHolder interface{ LimitHolder() string }
	byDevice interface{ LimitDevice() string }

	byProvider interface{ LimitProvider() string }
)

// read counts a request that has been read against what it names.
func (l *Limits) read(x *exchange, c *route.Call, in any) error {
	switch in := in.(type) {
	case byEmail:
		return l.take(x, l.rule(limit.RuleEmail, order.NormalEmail(in.LimitEmail())))
	case byDevice:
		return l.take(x, append(l.ceilings(c, limit.RuleDevices.Most), l.rule(limit.RuleDevices, limit.CredentialName(&c.Principal)),
			l.of(c.Op.Tier, limit.DeviceName(&c.Principal, in.LimitDevice()), route.Limits[c.Op.Tier].PerMinute))...)
	case byProvider:
		return l.take(x, l.of(c.Op.Tier, "provider/"+in.LimitProvider(), route.Limits[c.Op.Tier].PerMinute))
	case byHolder:
		if x.counted.done {
			return nil
		}
		return l.take(x, l.rule(limit.RuleHolders, route.Network(c.Client).String()),
			l.of(c.Op.Tier, "holder/"+in.LimitHolder(), route.Limits[c.Op.Tier].PerMinute))
	case byOrder:
		if x.counted.done {
			return nil
		}
		id, tokens := in.LimitOrder()
		for _, token := range tokens {
			if token == "" {
				continue
			}
			if order, opens := l.OpenOrder(id, token); opens {
				return l.take(x, l.of(c.Op.Tier, "order/"+order, route.Limits[c.Op.Tier].PerMinute))
			}
		}
		return l.whole(x, c)
	}
	return nil
}

// repeat counts a request that may be answered from the replies stored under its Idempotency-Key.
// A request that is answered in this way is not read, so read does not count it.
func (l *Limits) repeat(x *exchange, c *route.Call) error {
	if x.counted.done {
		return nil
	}
	if c.Principal.Proven() {
		return l.whole(x, c)
	}
	err := l.take(x, l.rule(limit.RuleRepeats, route.Network(c.Client).String()))
	x.counted.done = err != nil // a request that is read after all is also counted by what it names
	return err
}

// returned takes all counts of a request back, because its answer was nothing new.
func (l *Limits) returned(x *exchange) {
	if c := &x.counted; c.done {
		c.verdict = l.giveBack(x, c.taken)
		c.taken = nil
	}
}

var (
	headerLimit     = []byte("X-Ratelimit-Limit")
	headerRemaining = []byte("X-Ratelimit-Remaining")
	headerReset     = []byte("X-Ratelimit-Reset")
)

// tell writes the X-RateLimit headers.
func (c *counted) tell(h *fasthttp.ResponseHeader) {
	var b [20]byte
	h.SetCanonical(headerLimit, strconv.AppendInt(b[:0], int64(c.verdict.Limit), 10))
	h.SetCanonical(headerRemaining, strconv.AppendInt(b[:0], int64(max(0, c.verdict.Remaining)), 10))
	reset := c.verdict.Reset.Add(time.Second - 1).Unix()
	h.SetCanonical(headerReset, strconv.AppendInt(b[:0], reset, 10))
}
