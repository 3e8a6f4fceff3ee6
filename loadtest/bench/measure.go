package main

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// result is the line of JSON. CPU is in microseconds for each wanted answer. Latencies are in
// milliseconds, at half of the peak.
type result struct {
	Machine rig.Machine `json:"machine"`
	Seconds float64     `json:"seconds"`

	EchoRPS   float64 `json:"echo_rps"`
	EchoCPU   float64 `json:"echo_cpu_us"`
	OrdersRPS float64 `json:"orders_rps"`
	ServerCPU float64 `json:"orders_cpu_us_server"`
	PgCPU     float64 `json:"orders_cpu_us_postgres"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`

	RowlockRPS    float64            `json:"rowlock_rps"` // the best of those below
	RowlockCPU    float64            `json:"rowlock_cpu_us"`
	RowlockServer float64            `json:"rowlock_cpu_us_server"`
	RowlockPg     float64            `json:"rowlock_cpu_us_postgres"`
	RowlockBest   string             `json:"rowlock_best"`
	RowlockAll    map[string]float64 `json:"rowlock_all_rps"`
	RowlockP50    float64            `json:"rowlock_p50_ms"`
	RowlockP99    float64            `json:"rowlock_p99_ms"`

	ScansRPS   float64 `json:"scans_rps"`
	ScanServer float64 `json:"scans_cpu_us_server"`
	ScanPg     float64 `json:"scans_cpu_us_postgres"`

	HoldsRPS   float64 `json:"holds_rps"`
	HoldCPU    float64 `json:"holds_cpu_us"` // both of those below
	HoldServer float64 `json:"holds_cpu_us_server"`
	HoldPg     float64 `json:"holds_cpu_us_postgres"`

	Drawing readAt `json:"map_drawing"`
	LiveMap readAt `json:"map_live"`

	ManyEvents int      `json:"events_at_once"`
	Many       ordersAt `json:"orders_many_events"`
	Million    ordersAt `json:"orders_million_tickets"`
	// ManyRatio and MillionRatio are an order's CPU divided by an order's of the one hot type in the same round.
	ManyRatio    float64 `json:"many_cpu_ratio"`
	MillionRatio float64 `json:"million_cpu_ratio"`
	// PromoRatio, SeatedRatio and CheckoutRatio are the same for an order with a promo code, for one of
	// two seats and for a whole checkout, and LineRatio for each line of an order of several.
	PromoRatio    float64 `json:"promo_cpu_ratio"`
	SeatedRatio   float64 `json:"seated_cpu_ratio"`
	LineRatio     float64 `json:"line_cpu_ratio"`
	CheckoutRatio float64 `json:"checkout_cpu_ratio"`
	// Rounds are the rounds of the cases of orders, whose medians are above.
	Rounds struct {
		One      []ordersAt `json:"one"`
		Many     []ordersAt `json:"many"`
		Million  []ordersAt `json:"million"`
		Promo    []ordersAt `json:"promo"`
		Lines    []ordersAt `json:"lines"`
		Seated   []ordersAt `json:"seated"`
		Checkout []ordersAt `json:"checkout"`
	} `json:"rounds"`

	Keyed   *keyedAt        `json:"keyed,omitempty"`
	Start   *startAt        `json:"start,omitempty"`
	Wait    *waitAt         `json:"wait,omitempty"`
	Room    *roomAt         `json:"room,omitempty"`
	Cluster *clusterResult  `json:"cluster,omitempty"`
	Shards  []shardedResult `json:"shards,omitempty"`
	Commits []shardedResult `json:"slow_commits,omitempty"`
	Relay   *relayResult    `json:"relay,omitempty"`

	Others  float64  `json:"others_cores"` // cores that other processes kept busy, in the worst case
	Invalid []string `json:"invalid"`      // numbers that must not be believed, with the reason
	// Repeated are the loads at half of a peak that were repeated, and why.
	Repeated []string `json:"repeated,omitempty"`
}

// ordersAt is one case of orders.
type ordersAt struct {
	RPS       float64 `json:"rps"`
	ServerCPU float64 `json:"cpu_us_server"`
	PgCPU     float64 `json:"cpu_us_postgres"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
}

// medianAt returns the median of each number.
func medianAt(rounds []ordersAt) ordersAt {
	of := func(number func(ordersAt) float64) float64 {
		var all []float64
		for _, r := range rounds {
			all = append(all, number(r))
		}
		return median(all)
	}
	return ordersAt{
		RPS:       of(func(r ordersAt) float64 { return r.RPS }),
		ServerCPU: of(func(r ordersAt) float64 { return r.ServerCPU }),
		PgCPU:     of(func(r ordersAt) float64 { return r.PgCPU }),
		P50:       of(func(r ordersAt) float64 { return r.P50 }),
		P99:       of(func(r ordersAt) float64 { return r.P99 }),
	}
}

// ratio returns the median, over the rounds, of the CPU of an order divided by the CPU of the other case in the same
// round, because the machine is faster in one minute than in another. It is 0 if they were not both measured.
func ratio(rounds, base []ordersAt) float64 {
	var all []float64
	for i := range min(len(rounds), len(base)) {
		all = append(all, (rounds[i].ServerCPU+rounds[i].PgCPU)/(base[i].ServerCPU+base[i].PgCPU))
	}
	if len(all) == 0 {
		return 0
	}
	return round(median(all))
}

// mostOthers is how many cores other processes may use during a measurement.
const mostOthers = 0.2

// plenty is a stock that no run sells out.
const plenty = 50_000_000

// measure runs every wanted case, one after the other, and the cases of orders several times in turn.
func (b *bench) measure(ctx context.Context) error {
	if b.cmd.Relay != "" {
		if err := b.renew(ctx, "direct"); err != nil {
			return err
		}
		return b.measureRelay(ctx)
	}
	r := &b.result
	cases := []benchCase{{"echo", b.measureEcho, false}}
	for range b.cmd.Rounds {
		cases = append(cases,
			benchCase{"orders", b.inRound(&r.Rounds.One, b.measureOrders), true},
			benchCase{"many", b.inRound(&r.Rounds.Many, b.measureMany), true},
			benchCase{"million", b.inRound(&r.Rounds.Million, b.measureMillion), true},
			benchCase{"promo", b.inRound(&r.Rounds.Promo, b.measurePromo), true},
			benchCase{"lines", b.inRound(&r.Rounds.Lines, b.measureLines), true},
			benchCase{"seated", b.inRound(&r.Rounds.Seated, b.measureSeated), true},
			benchCase{"checkout", b.inRound(&r.Rounds.Checkout, b.measureCheckout), true})
	}
	cases = append(cases,
		benchCase{"scans", b.measureScans, true},
		benchCase{"holds", b.measureHolds, true},
		benchCase{"map", b.measureMap, true},
		benchCase{"keyed", b.measureKeyed, true},
		benchCase{"start", b.measureStart, true},
		benchCase{"wait", b.measureWait, true},
		benchCase{"room", b.measureRoom, false},
		benchCase{"cluster", b.measureCluster, false},
		benchCase{"shards", b.measureShards, false},
		benchCase{"commits", b.measureCommits, false},
		benchCase{"rowlock", b.measureRowlock, false})
	for i, one := range cases {
		if len(b.cmd.Only) > 0 && !slices.Contains(b.cmd.Only, one.name) {
			continue
		}
		if one.node {
			if err := b.renew(ctx, fmt.Sprintf("%s_%d", one.name, i)); err != nil {
				return err
			}
		}
		if err := b.settle(ctx); err != nil {
			return err
		}
		if err := one.run(ctx); err != nil {
			return err
		}
	}
	b.sumUp()
	return nil
}

type benchCase struct {
	name string
	run  func(context.Context) error
	node bool // whether it needs the node under test
}

// inRound returns a function that measures a case of orders once more.
func (b *bench) inRound(rounds *[]ordersAt, measure func(context.Context) (ordersAt, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		at, err := measure(ctx)
		*rounds = append(*rounds, at)
		return err
	}
}

// sumUp takes the medians of the rounds.
func (b *bench) sumUp() {
	r := &b.result
	if len(r.Rounds.One) > 0 {
		at := medianAt(r.Rounds.One)
		r.OrdersRPS, r.ServerCPU, r.PgCPU, r.P50, r.P99 = at.RPS, at.ServerCPU, at.PgCPU, at.P50, at.P99
	}
	if len(r.Rounds.Many) > 0 {
		r.Many, r.ManyEvents = medianAt(r.Rounds.Many), b.cmd.Events
	}
	if len(r.Rounds.Million) > 0 {
		r.Million = medianAt(r.Rounds.Million)
	}
	if r.ManyRatio = ratio(r.Rounds.Many, r.Rounds.One); r.ManyRatio > 0 {
		say("orders, %d events: %.2f times one event's CPU (goal: 1.20 at most)", r.ManyEvents, r.ManyRatio)
	}
	if r.MillionRatio = ratio(r.Rounds.Million, r.Rounds.One); r.MillionRatio > 0 {
		say("orders, a type of 1,000,000: %.2f times (goal: 1.20 at most)", r.MillionRatio)
	}
	b.sumUpMoney()
}

// sumUpMoney prints what codes and payments cost compared with the order alone.
func (b *bench) sumUpMoney() {
	r := &b.result
	if r.PromoRatio = ratio(r.Rounds.Promo, r.Rounds.One); r.PromoRatio > 0 {
		say("orders with a promo code: %.2f times (goal: 1.60 at most)", r.PromoRatio)
	}
	if r.LineRatio = round(ratio(r.Rounds.Lines, r.Rounds.One) / linesAtOnce); r.LineRatio > 0 {
		say("a line of an order of %d: %.2f times (goal: 1.60 at most)", linesAtOnce, r.LineRatio)
	}
	if r.SeatedRatio = ratio(r.Rounds.Seated, r.Rounds.One); r.SeatedRatio > 0 {
		say("an order of %d seats in one line: %.2f times (goal: 1.60 at most)", seatsAtOnce, r.SeatedRatio)
	}
	if r.CheckoutRatio = ratio(r.Rounds.Checkout, r.Rounds.One); r.CheckoutRatio > 0 {
		say("the whole checkout: %.2f times (goal: 4.00 at most)", r.CheckoutRatio)
	}
}

func (b *bench) measureEcho(ctx context.Context) error {
	return b.withServer(ctx, nil, func(host string, pid func() int) error {
		r, err := b.saturate(ctx, host, echoPath, []string{"00000000-0000-4000-8000-000000000001"}, newKeys(), b.cmd.Measure, pid, nil)
		if err != nil {
			return fmt.Errorf("echo: %w", err)
		}
		b.result.EchoRPS, b.result.EchoCPU = round(r.rps()), round(r.micros(0))
		say("echo through the edge: %.0f/s, %.1f us", r.rps(), r.micros(0))
		return nil
	})
}

// saturate runs a closed loop of orders.
func (b *bench) saturate(
	ctx context.Context, host, path string, types []string, k keys, span time.Duration, server func() int,
	drained func(context.Context) error,
) (*closedResult, error) {
	c := &closed{
		net: b.net, hosts: []string{host}, conns: b.cmd.Conns, want: 201, numbers: &b.numbers, make: orders(host, path, types, k),
		warm: b.cmd.Warm, measure: span, cpu: b.cpuOf(server), drained: drained,
	}
	r, err := c.run(ctx)
	b.disturbed(path, r)
	return r, err
}

// disturbed notes if other processes took so much of the machine that a peak means little.
func (b *bench) disturbed(what string, r *closedResult) {
	b.result.Others = max(b.result.Others, round(r.usage.Others))
	if r.usage.Others > mostOthers {
		b.result.Invalid = append(b.result.Invalid,
			fmt.Sprintf("%s: other processes kept %.2f cores busy: the peak is too low", what, r.usage.Others))
	}
}

// ordersCase measures POST /orders over sales of one type each, and compares what was acknowledged
// with the stock that is gone.
func (b *bench) ordersCase(ctx context.Context, name string, sales []*rush.Sale) (ordersAt, error) {
	const path = "/api/v1/orders"
	svc, err := client.ParseTarget(b.node.URL)
	if err != nil {
		return ordersAt{}, err
	}
	var types []string
	for _, s := range sales {
		types = append(types, s.Types[0].ID)
	}
	k := newKeys()
	peak, err := b.saturate(ctx, svc.Host, path, types, k, b.cmd.Measure, b.node.PID, b.caughtUp)
	if err != nil {
		return ordersAt{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := b.settle(ctx); err != nil {
		return ordersAt{}, err
	}
	half, err := b.openValid(ctx, name, svc.Host, path, types, k, peak.rps()/2)
	if err != nil {
		return ordersAt{}, err
	}
	if err := b.auditStock(ctx, svc, sales, peak.total+half.Done); err != nil {
		return ordersAt{}, fmt.Errorf("%s: %w", name, err)
	}
	at := ordersAt{round(peak.rps()), round(peak.micros(0)), round(peak.micros(1)), half.P50, half.P99}
	say("%s: %.0f/s; server %.1f us, Postgres %.1f us; at half of that p50 %.2f ms, p99 %.2f ms",
		name, at.RPS, at.ServerCPU, at.PgCPU, at.P50, at.P99)
	return at, nil
}

// doubt notes why a latency must not be believed.
func (b *bench) doubt(name string, l *latency) {
	for _, why := range l.Invalid {
		b.result.Invalid = append(b.result.Invalid, name+": "+why)
	}
}

// auditStock waits until exactly as much stock is gone as was acknowledged.
func (b *bench) auditStock(ctx context.Context, svc client.API, sales []*rush.Sale, acknowledged int64) error {
	var gone int64
	for deadline := time.Now().Add(15 * time.Second); ; wait(ctx, 500*time.Millisecond) {
		gone = 0
		for _, s := range sales {
			var types struct {
				Items []struct {
					QuantityTotal int64 `json:"quantityTotal"`
					Available     int64 `json:"available"`
				} `json:"items"`
			}
			path := "/events/" + url.PathEscape(s.EventID) + "/tickets"
			if a := svc.Do(ctx, b.net.Source(0), client.Call{Method: "GET", Path: path}, &types); !a.OK() {
				return a.Err()
			}
			for _, t := range types.Items {
				gone += t.QuantityTotal - t.Available
			}
		}
		if gone == acknowledged {
			return nil
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("audit: %d orders were acknowledged and %d tickets are gone", acknowledged, gone)
		}
	}
}

func (b *bench) sale(ctx context.Context, t rush.SaleType) (*rush.Sale, error) {
	t.Name, t.MaxPerOrder, t.MaxPerCustomer = "General", 100, 1000
	return b.organizer.OpenSale(ctx, []rush.SaleType{t})
}

func (b *bench) measureOrders(ctx context.Context) (ordersAt, error) {
	s, err := b.sale(ctx, rush.SaleType{Quantity: plenty})
	if err != nil {
		return ordersAt{}, err
	}
	return b.ordersCase(ctx, "orders, one hot type", []*rush.Sale{s})
}

func (b *bench) measureMany(ctx context.Context) (ordersAt, error) {
	var sales []*rush.Sale
	for range b.cmd.Events {
		s, err := b.sale(ctx, rush.SaleType{Quantity: plenty})
		if err != nil {
			return ordersAt{}, err
		}
		sales = append(sales, s)
	}
	return b.ordersCase(ctx, fmt.Sprintf("orders, %d events", b.cmd.Events), sales)
}

func (b *bench) measureMillion(ctx context.Context) (ordersAt, error) {
	s, err := b.sale(ctx, rush.SaleType{Quantity: 1_000_000})
	if err != nil {
		return ordersAt{}, err
	}
	return b.ordersCase(ctx, "orders, a type of 1,000,000", []*rush.Sale{s})
}

// measureRowlock tries both statements with each pool size, briefly, and then measures the best of
// them as it does ours.
func (b *bench) measureRowlock(ctx context.Context) error {
	b.result.RowlockAll = make(map[string]float64)
	var best []string
	for variant := range placements {
		for _, pool := range []string{"16", "64", "256"} {
			args := []string{"--database", b.postgres.URL(), "--variant", variant, "--pool", pool}
			r, err := b.rowlockCase(ctx, args, min(b.cmd.Measure, 4*time.Second), false)
			if err != nil {
				return fmt.Errorf("row-lock, %s, pool %s: %w", variant, pool, err)
			}
			name := variant + " " + pool
			b.result.RowlockAll[name] = round(r.rps())
			say("row-lock, %s, pool of %s: %.0f/s", variant, pool, r.rps())
			if r.rps() > b.result.RowlockRPS {
				b.result.RowlockRPS, b.result.RowlockBest, best = r.rps(), name, args
			}
		}
	}
	r, err := b.rowlockCase(ctx, best, b.cmd.Measure, true)
	if err != nil {
		return fmt.Errorf("row-lock: %w", err)
	}
	b.result.RowlockRPS = round(max(b.result.RowlockRPS, r.rps()))
	b.result.RowlockServer, b.result.RowlockPg = round(r.micros(0)), round(r.micros(1))
	b.result.RowlockCPU = round(r.micros(0) + r.micros(1))
	say("row-lock, best (%s): %.0f/s; server %.1f us, Postgres %.1f us; at half of that p50 %.2f ms, p99 %.2f ms",
		b.result.RowlockBest, b.result.RowlockRPS, b.result.RowlockServer, b.result.RowlockPg, b.result.RowlockP50, b.result.RowlockP99)
	return nil
}

// rowlockCase saturates the row-lock design on a new hot row.
func (b *bench) rowlockCase(ctx context.Context, args []string, span time.Duration, latencies bool) (*closedResult, error) {
	var r *closedResult
	err := b.withServer(ctx, args, func(host string, pid func() int) error {
		ticketType, err := b.hotRow(ctx)
		if err != nil {
			return err
		}
		types, k := []string{ticketType}, newKeys()
		if r, err = b.saturate(ctx, host, rowlockPath, types, k, span, pid, nil); err != nil || !latencies {
			return err
		}
		half, err := b.openValid(ctx, "row-lock", host, rowlockPath, types, k, r.rps()/2)
		if err != nil {
			return err
		}
		b.result.RowlockP50, b.result.RowlockP99 = half.P50, half.P99
		return nil
	})
	return r, err
}

// round rounds to three digits after the point, for people.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }
