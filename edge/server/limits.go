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

// bucketOf is the bucket of a named subject.
func (l *Limits) bucketOf(tier route.Tier, name string, perMinute int) bucket {
	return bucket{tier, l.table.Of(string(tier), name), limit.Scale(perMinute, l.Scale)}
}

// bucketOfRule is the bucket of a named subject under a rule a minute that belongs to no tier.
func (l *Limits) bucketOfRule(r limit.RateRule, name string) bucket {
	return l.bucketOf(route.Tier(r.Name), name, r.Most)
}

// counted is what is known of a request's rate limit: the buckets that it counts in, and the verdict
// of the tightest, which the headers tell.
type counted struct {
	done    bool // the request needs no more counting
	taken   []bucket
	verdict limit.Verdict
}

// noteVerdict notes a verdict if it is the tightest.
func (c *counted) noteVerdict(v limit.Verdict) {
	if !c.done || v.Remaining < c.verdict.Remaining || !v.Allowed {
		c.verdict = v
	}
	c.done = true
}

// countIn counts a request in all of the buckets, or in none of them if one is full.
func (l *Limits) countIn(x *exchange, buckets ...bucket) error {
	for i, b := range buckets {
		v := l.table.Take(b.subject, b.most, x.now)
		x.counted.noteVerdict(v)
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

// countUnrouted counts a request that matches no operation as a public read.
func (l *Limits) countUnrouted(x *exchange, client netip.Addr) error {
	return l.countIn(x, l.bucketOf(route.TierPublic, route.Network(client).String(), route.Limits[route.TierPublic].PerMinute))
}

// lookUpRemaining notes how many public reads an address has left, without counting one.
func (l *Limits) lookUpRemaining(x *exchange, client netip.Addr) {
	s := l.table.Of(string(route.TierPublic), route.Network(client).String())
	x.counted.verdict = l.table.Look(s, limit.Scale(route.Limits[route.TierPublic].PerMinute, l.Scale), x.now)
}

// countBeforeBody counts a request before its body is read, unless the body says whom to count.
func (l *Limits) countBeforeBody(x *exchange, c *route.Call, o *operation) error {
	if (o.byOrder || o.byHolder) && !c.Principal.Proven() || o.byDevice || c.Op.Handler.Raw != "" {
		return nil
	}
	return l.countByCredential(x, c)
}

// countByCredential counts a request by what is known without its body: the credential, or else the address.
// Requests of the tier auth are counted by address, even if somebody is signed in.
func (l *Limits) countByCredential(x *exchange, c *route.Call) error {
	tier, n := c.Op.Tier, route.Limits[c.Op.Tier].PerMinute
	p, network := &c.Principal, route.Network(c.Client).String()
	switch {
	case tier == route.TierAuth || !p.Proven():
		return l.countIn(x, l.bucketOf(tier, network, n))
	case tier == route.TierStrict && p.Strict > 0: // the operator trusts this key, so no ceiling is below its limit
		return l.countIn(x, l.bucketOf(tier, route.KeySubject(p.Key), p.Strict))
	}
	buckets := append(l.sharedBuckets(c, n), l.bucketOf(tier, limit.CredentialName(p), n))
	if p.Kinds.Has(route.User) && !p.EmailProven { // anybody has as many of these accounts as they like
		buckets = append(buckets, l.bucketOf(tier, network, n))
	}
	return l.countIn(x, buckets...)
}

// sharedBuckets are the buckets that a credential shares, because credentials cost nothing: with all in
// its network, and an API key with all keys of its organization.
func (l *Limits) sharedBuckets(c *route.Call, perMinute int) []bucket {
	tier, all := c.Op.Tier, perMinute*limit.Ceiling
	shared := append(make([]bucket, 0, 4), l.bucketOf(tier, "network/"+route.Network(c.Client).String(), all))
	if c.Principal.Kinds.Has(route.Key) {
		shared = append(shared, l.bucketOf(tier, limit.OrganizationName(c.Principal.Grants[0].Org), all))
	}
	return shared
}

// These requests name in their body whom to count. A provider's notice is counted by its handler,
// after its signature has been verified: a forged notice must not use up the provider's limit, and
// counts against the network that sent it (serveOperation).
type (
	byEmail interface{ LimitEmail() string }
	byOrder interface {
		LimitOrder() (id string, tokens [2]string)
	}
	byHolder interface{ LimitHolder() string }
	byDevice interface{ LimitDevice() string }

	byProvider interface{ LimitProvider() string }
)

// countByBody counts a request that has been read against what it names.
func (l *Limits) countByBody(x *exchange, c *route.Call, in any) error {
	switch in := in.(type) {
	case byEmail:
		address := order.NormalEmail(in.LimitEmail())
		if p := &c.Principal; p.EmailProven && order.NormalEmail(p.Email) == address {
			return nil // the owner is not bound by what strangers have tried
		}
		return l.countIn(x, l.bucketOfRule(limit.RuleEmail, address))
	case byDevice:
		return l.countIn(x, append(l.sharedBuckets(c, limit.RuleDevices.Most), l.bucketOfRule(limit.RuleDevices, limit.CredentialName(&c.Principal)),
			l.bucketOf(c.Op.Tier, limit.DeviceName(&c.Principal, in.LimitDevice()), route.Limits[c.Op.Tier].PerMinute))...)
	case byProvider:
		return l.countIn(x, l.bucketOf(c.Op.Tier, "provider/"+in.LimitProvider(), route.Limits[c.Op.Tier].PerMinute))
	case byHolder:
		if x.counted.done {
			return nil
		}
		return l.countIn(x, l.bucketOfRule(limit.RuleHolders, route.Network(c.Client).String()),
			l.bucketOf(c.Op.Tier, "holder/"+in.LimitHolder(), route.Limits[c.Op.Tier].PerMinute))
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
				return l.countIn(x, l.bucketOf(c.Op.Tier, "order/"+order, route.Limits[c.Op.Tier].PerMinute))
			}
		}
		return l.countByCredential(x, c)
	}
	return nil
}

// countRepeat counts a request that may be answered from the replies stored under its Idempotency-Key.
// A request that is answered in this way is not read, so read does not count it.
func (l *Limits) countRepeat(x *exchange, c *route.Call) error {
	if x.counted.done {
		return nil
	}
	if c.Principal.Proven() {
		return l.countByCredential(x, c)
	}
	err := l.countIn(x, l.bucketOfRule(limit.RuleRepeats, route.Network(c.Client).String()))
	x.counted.done = err != nil // a request that is read after all is also counted by what it names
	return err
}

// giveAllBack takes all counts of a request back, because its answer was nothing new.
func (l *Limits) giveAllBack(x *exchange) {
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

// writeHeaders writes the X-RateLimit headers.
func (c *counted) writeHeaders(h *fasthttp.ResponseHeader) {
	var b [20]byte
	h.SetCanonical(headerLimit, strconv.AppendInt(b[:0], int64(c.verdict.Limit), 10))
	h.SetCanonical(headerRemaining, strconv.AppendInt(b[:0], int64(max(0, c.verdict.Remaining)), 10))
	reset := c.verdict.Reset.Add(time.Second - 1).Unix()
	h.SetCanonical(headerReset, strconv.AppendInt(b[:0], reset, 10))
}
