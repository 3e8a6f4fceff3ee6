package edge

import (
	"math"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/limit"
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// limitMegabytes is the memory of a node's buckets: a million of them.
const limitMegabytes = 16

// Limits are a node's rate limits (decisions.md section 7).
type Limits struct {
	Scale      float64                     // multiplies every limit
	OpensOrder func(id, token string) bool // whether a token is the order's
	table      *limit.Table
}

// NewLimits makes the limits, all of them multiplied by scale.
func NewLimits(scale float64, opensOrder func(id, token string) bool) *Limits {
	return &Limits{Scale: scale, OpensOrder: opensOrder, table: limit.New(limitMegabytes)}
}

// scaled is a limit as it is configured.
func scaled(perMinute int, scale float64) int {
	return int(min(math.Ceil(float64(perMinute)*scale), math.MaxInt32))
}

// tooMany is the refusal of what a bucket does not allow.
func tooMany(v limit.Verdict) error {
	return &engine.Refusal{Code: engine.RateLimited, Retry: int((v.Retry + time.Second - 1) / time.Second)}
}

// counted is a request against its limit: who was counted last, and what the
// bucket said.
type counted struct {
	done    bool // nobody has to be counted any more
	subject limit.Subject
	limit   int
	verdict limit.Verdict
}

// take counts a request of a named subject against a limit.
func (l *Limits) take(x *exchange, tier route.Tier, name string, perMinute int) error {
	s, n := l.table.Of(string(tier), name), scaled(perMinute, l.Scale)
	v := l.table.Take(s, n, x.now)
	if c := &x.counted; !c.done || v.Remaining < c.verdict.Remaining || !v.Allowed {
		c.subject, c.limit, c.verdict = s, n, v // the header tells of the tighter limit
	}
	x.counted.done = true
	if !v.Allowed {
		return tooMany(v)
	}
	return nil
}

// before counts a request before its body is read, if that is not needed to know
// whom to count.
func (l *Limits) before(x *exchange, c *route.Call, o *operation) error {
	if (o.byOrder || o.byHolder) && !c.Principal.Proven() || o.byDevice {
		return nil
	}
	return l.whole(x, c)
}

// whole counts a request by what is known without its body: the credential, or
// the address. Those of the tier auth count by address, whoever is signed in.
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
		return l.take(x, tier, keyName(p.Key), n)
	}
	return l.take(x, tier, userName(p.User), n)
}

func keyName(id int64) string  { return "key/" + strconv.FormatInt(id, 10) }
func userName(id int64) string { return "user/" + strconv.FormatInt(id, 10) }

// deviceName is a device of a credential.
func deviceName(p *route.Principal, device string) string {
	if p.Kinds.Has(route.User) {
		return userName(p.User) + "/" + device
	}
	return keyName(p.Key) + "/" + device
}

// The requests that name whom to count.
type (
	byEmail interface{ LimitEmail() string }
	byOrder interface {
		LimitOrder() (id string, tokens [2]string)
	}
	byHolder interface{ LimitHolder() string }
	byDevice interface{ LimitDevice() string }
)

// holdersPerAddress is how many checkout sessions' worth of requests one address
// may send: sessions name themselves, so they alone bound nothing.
const holdersPerAddress = 20

// read counts a request that has been read, by what it names.
func (l *Limits) read(x *exchange, c *route.Call, in any) error {
	switch in := in.(type) {
	case byEmail:
		return l.take(x, c.Op.Tier, normalEmail(in.LimitEmail()), route.Limits[c.Op.Tier].PerMinute)
	case byDevice:
		return l.take(x, c.Op.Tier, deviceName(&c.Principal, in.LimitDevice()), route.Limits[c.Op.Tier].PerMinute)
	case byHolder:
		if x.counted.done {
			return nil
		}
		n := route.Limits[c.Op.Tier].PerMinute
		if err := l.take(x, c.Op.Tier, "holders/"+route.Network(c.Client).String(), n*holdersPerAddress); err != nil {
			return err
		}
		return l.take(x, c.Op.Tier, "holder/"+in.LimitHolder(), n)
	case byOrder:
		if x.counted.done {
			return nil
		}
		id, tokens := in.LimitOrder()
		for _, token := range tokens {
			if token != "" && l.OpensOrder(id, token) {
				return l.take(x, c.Op.Tier, "order/"+id, route.Limits[c.Op.Tier].PerMinute)
			}
		}
		return l.whole(x, c)
	}
	return nil
}

// returned takes the count of a request back: its answer was not new.
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
	if !c.done {
		return
	}
	var b [20]byte
	h.SetCanonical(headerLimit, strconv.AppendInt(b[:0], int64(c.verdict.Limit), 10))
	h.SetCanonical(headerRemaining, strconv.AppendInt(b[:0], int64(max(0, c.verdict.Remaining)), 10))
	reset := c.verdict.Reset.Add(time.Second - 1).Unix()
	h.SetCanonical(headerReset, strconv.AppendInt(b[:0], reset, 10))
}
