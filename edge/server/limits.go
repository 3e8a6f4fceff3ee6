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

// counted is what is known of a request's rate limit: who was counted last, and the bucket's
// verdict.
type counted struct {
	done    bool // the request needs no more counting
	subject limit.Subject
	limit   int
	verdict limit.Verdict
}

// take counts a request of a named subject against a limit.
func (l *Limits) take(x *exchange, tier route.Tier, name string, perMinute int) error {
	s, n := l.table.Of(string(tier), name), limit.Scale(perMinute, l.Scale)
	v := l.table.Take(s, n, x.now)
	if c := &x.counted; !c.done || v.Remaining < c.verdict.Remaining || !v.Allowed {
		c.subject, c.limit, c.verdict = s, n, v // the headers tell of the tightest limit
	}
	x.counted.done = true
	if !v.Allowed {
		return limit.Refuse(tier, v)
	}
	return nil
}

// takeRule counts a request of a named subject against a rule a minute that belongs to no tier.
func (l *Limits) takeRule(x *exchange, r limit.RateRule, name string) error {
	return l.take(x, route.Tier(r.Name), name, r.Most)
}

// unrouted counts a request that matches no operation as a public read.
func (l *Limits) unrouted(x *exchange, client netip.Addr) error {
	return l.take(x, route.TierPublic, route.Network(client).String(), route.Limits[route.TierPublic].PerMinute)
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
	p := &c.Principal
	switch {
	case tier == route.TierAuth || !p.Proven():
		return l.take(x, tier, route.Network(c.Client).String(), n)
	case p.Kinds.Has(route.Key):
		if tier == route.TierStrict && p.Strict > 0 {
			n = p.Strict
		}
		return l.take(x, tier, route.KeySubject(p.Key), n)
	}
	return l.take(x, tier, route.UserSubject(p.User), n)
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
		return l.takeRule(x, limit.RuleEmail, order.NormalEmail(in.LimitEmail()))
	case byDevice:
		if err := l.takeRule(x, limit.RuleDevices, limit.CredentialName(&c.Principal)); err != nil {
			return err
		}
		return l.take(x, c.Op.Tier, limit.DeviceName(&c.Principal, in.LimitDevice()), route.Limits[c.Op.Tier].PerMinute)
	case byProvider:
		return l.take(x, c.Op.Tier, "provider/"+in.LimitProvider(), route.Limits[c.Op.Tier].PerMinute)
	case byHolder:
		if x.counted.done {
			return nil
		}
		if err := l.takeRule(x, limit.RuleHolders, route.Network(c.Client).String()); err != nil {
			return err
		}
		return l.take(x, c.Op.Tier, "holder/"+in.LimitHolder(), route.Limits[c.Op.Tier].PerMinute)
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
				return l.take(x, c.Op.Tier, "order/"+order, route.Limits[c.Op.Tier].PerMinute)
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
	err := l.takeRule(x, limit.RuleRepeats, route.Network(c.Client).String())
	x.counted.done = err != nil // a request that is read after all is also counted by what it names
	return err
}

// returned takes the count of a request back, because its answer was nothing new.
func (l *Limits) returned(x *exchange) {
	if c := &x.counted; c.done {
		c.verdict = l.table.Return(c.subject, c.limit, x.now)
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
