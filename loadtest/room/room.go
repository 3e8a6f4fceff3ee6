// Package room is the scenario of a rush of ten times what a node takes, without a waiting room and
// through one. Run returns when every goroutine and process that it started has ended.
package room

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest room`.
type Config struct {
	Crowd   float64       `default:"10" help:"How many come, as a multiple of the orders that the node takes in a second."`
	Share   float64       `default:"0.4" help:"The room's rate, as a share of the orders that the node takes in a second. An admission costs two more facts and a look."`
	Clients int           `default:"64" help:"Clients that order one after the other, while the peak is measured."`
	Phase   time.Duration `default:"5s" help:"How long the peak is measured, and how long the rush without a room goes on."`
	Look    time.Duration `default:"10s" help:"How long a page that waits looks at the room again, at the latest."`
	Out     string        `default:"loadtest-report" type:"path" help:"Directory of the result and of the node's log."`
}

// Outcome is what a run has come to.
type Outcome struct {
	Peak        float64 // orders a second that clients make who order one after the other
	PeakLatency openloop.Percentiles

	Crowded        float64 // orders a second of the rush without a room
	CrowdedLatency openloop.Percentiles
	Refused        int64 // how many of its orders were refused

	Visitors  int
	Rate      float64 // admissions a second, as the room was set
	Admitted  float64 // admissions a second, as they came
	Ordered   float64 // orders a second through the room
	Latency   openloop.Percentiles
	Looked    float64 // looks at the room in a second
	Looks     openloop.Percentiles
	Placed    int      // visitors who have ordered
	Places    []int64  // the places that were told, by visitor; 0: none was
	Skipped   []string // answers to orders without admission that should have been QUEUE_REQUIRED
	Attempted int      // how many orders were sent without admission
	Odd       map[openloop.ErrorKey]int64
}

// The goals of the run (README, "Rush it").
const (
	latencyGoal = 50   // the p99 of orders through the room, in milliseconds
	goodputGoal = 0.95 // the share of the room's rate at which orders must come
	rateGoal    = 0.02 // by how much of the rate the admissions may differ from it
)

// Run measures what a node of its own takes, sends it a multiple of that, and then lets the same crowd
// come through a waiting room.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *contest.Result, err error) {
	single, stop, err := contest.OpenSingle(ctx, cfg.Out, client.Config{Sources: sources, Timeout: 10 * time.Second}, out, log, "BOXOFFICE_BEACON_URL=test")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	s := &scene{cfg: cfg, svc: single.API, net: single.Net, organizer: single.Organizer, out: &Outcome{Odd: map[openloop.ErrorKey]int64{}}}
	if err := s.play(ctx, log); err != nil {
		return nil, err
	}
	r := &contest.Result{Notes: s.out.describe(), Checks: Audit(s.out)}
	return r, r.Print(out, cfg.Out, "room")
}

// sources is the number of client addresses, which stand for as many homes: the service limits what one address may
// do.
const sources = 256

// scene is what the parts of a run share.
type scene struct {
	cfg       Config
	svc       client.API
	net       *client.Network
	organizer *rush.Organizer
	sale      *rush.Sale
	out       *Outcome
}

// play runs the three parts, each with a sale of its own. The peak comes first, because the size of the crowd and
// the rate of the room are multiples of it.
func (s *scene) play(ctx context.Context, log *slog.Logger) error {
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"the peak", s.measurePeak}, {"the rush without a room", s.rushFreely}, {"the rush through a room", s.rushThroughRoom}} {
		log.InfoContext(ctx, "part of the run", slog.String("part", part.name))
		var err error
		if s.sale, err = s.organizer.OpenSale(ctx, []rush.SaleType{{Name: "Floor", Quantity: 1_000_000, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: rush.MaxPerCustomer}}); err != nil {
			return err
		}
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("room: %s: %w", part.name, err)
		}
	}
	return nil
}

// run drives actors by a schedule. Orders and looks at the room are two operations, so that each has latencies of
// its own.
func (s *scene) run(ctx context.Context, schedule openloop.Schedule, drain time.Duration, spawn func(n int) openloop.Actor) (*openloop.Stats, error) {
	return openloop.Run(ctx, openloop.Config{Ops: []string{"order", "look"}, Drain: drain}, schedule, rand.New(rand.NewPCG(1, 0)), spawn)
}

// measurePeak measures how many orders a second the node takes from clients who order one after the other, without
// a pause of their own. They arrive within the first second, and each goes on until the phase is over.
func (s *scene) measurePeak(ctx context.Context) error {
	began := time.Now()
	st, err := s.run(ctx, openloop.Constant(float64(s.cfg.Clients), time.Second), s.cfg.Phase+time.Minute, func(n int) openloop.Actor {
		return &buyer{scene: s, name: fmt.Sprint("peak-", n), until: began.Add(s.cfg.Phase + time.Second)}
	})
	if err != nil {
		return err
	}
	// Seconds without any answer come after the last order and would lower the peak.
	orders, seconds := st.Ops[opOrder].Count-st.Ops[opOrder].Failed, 0
	for _, second := range st.Seconds {
		if second.Done > 0 {
			seconds++
		}
	}
	s.out.Peak, s.out.PeakLatency = float64(orders)/float64(max(1, seconds)), st.Ops[opOrder].Service
	return nil
}

// rushFreely lets the crowd order as it comes: every visitor sends one order at the time at which they arrive,
// although the node takes only a part of them.
func (s *scene) rushFreely(ctx context.Context) error {
	st, err := s.run(ctx, openloop.Constant(s.cfg.Crowd*s.out.Peak, s.cfg.Phase), 0, func(n int) openloop.Actor {
		return &buyer{scene: s, name: fmt.Sprint("free-", n)}
	})
	if err != nil {
		return err
	}
	for _, n := range st.Errors {
		s.out.Refused += n
	}
	s.out.Crowded = float64(st.Ops[opOrder].Count-s.out.Refused) / float64(max(1, len(st.Seconds)))
	s.out.Refused += st.Unsent + st.Dropped // Count has none of them
	s.out.CrowdedLatency = st.Ops[opOrder].Corrected
	return nil
}

// rushThroughRoom opens a room, lets everybody join while it is paused, and resumes it. Because of the pause all
// visitors are there before the first admission, and the rate of admissions is measured with a full room.
func (s *scene) rushThroughRoom(ctx context.Context) error {
	o := s.out
	o.Visitors = int(s.cfg.Crowd * o.Peak)
	perMinute := int64(s.cfg.Share * o.Peak * 60)
	o.Rate = float64(perMinute) / 60
	path := "/organizer/events/" + url.PathEscape(s.sale.EventID) + "/queue"
	err := s.organizer.Send(ctx, "PUT", path, map[string]any{"enabled": true, "mode": "arrival", "admitPerMinute": perMinute, "holdMinutes": 10}, nil)
	if err == nil {
		err = s.organizer.Post(ctx, path+"/pause", nil, nil)
	}
	if err != nil {
		return err
	}
	line, err := s.joinAll(ctx)
	if err != nil {
		return err
	}
	// The orders without an admission come while the room is paused, when a mistake of the service would let them
	// through at once.
	s.skipRoom(ctx)
	if err := s.organizer.Post(ctx, path+"/resume", nil, nil); err != nil {
		return err
	}
	// The admissions are watched from the side, by the public figures, so that the visitors' own delays do not
	// count.
	watching, stop := context.WithCancel(ctx)
	served := make(chan float64, 1)
	go func() { served <- s.watchServed(watching) }()
	// All visitors begin to look within one interval of looks, evenly. The last one is admitted after whole, and a
	// minute more lets everybody order.
	whole := time.Duration(float64(o.Visitors) / o.Rate * float64(time.Second))
	st, err := s.run(ctx, openloop.Constant(float64(o.Visitors)/s.cfg.Look.Seconds(), s.cfg.Look), whole+time.Minute, func(n int) openloop.Actor { return line[n%len(line)] })
	stop()
	o.Admitted = <-served
	if err != nil {
		return err
	}
	o.takeOrders(line)
	looks := st.Ops[opLook]
	o.Latency, o.Looks, o.Odd = st.Ops[opOrder].Corrected, looks.Corrected, st.Errors
	o.Looked = float64(looks.Count) / float64(max(1, len(st.Seconds)))
	return nil
}

// takeOrders counts the orders of the visitors. The rate is taken over the middle four fifths: the first and
// the last second are not whole.
func (o *Outcome) takeOrders(line []*visitor) {
	var at []time.Time
	for _, v := range line {
		o.Places = append(o.Places, v.place)
		if !v.ordered.IsZero() {
			at = append(at, v.ordered)
		}
	}
	o.Placed = len(at)
	o.Ordered = rateOf(at)
}

// joinAll lets all visitors join, as many at a time as there are clients.
func (s *scene) joinAll(ctx context.Context) ([]*visitor, error) {
	line := make([]*visitor, s.out.Visitors)
	err := contest.ForAll(s.cfg.Clients, len(line), func(_, i int) error {
		v := &visitor{scene: s, n: i}
		line[i] = v
		return v.join(ctx)
	})
	return line, err
}

// skipRoom orders without an admission, which is refused.
func (s *scene) skipRoom(ctx context.Context) {
	for i := range 100 {
		s.out.Attempted++
		if a := s.order(ctx, i, fmt.Sprint("skip-", i), ""); a.Code != "QUEUE_REQUIRED" {
			s.out.Skipped = append(s.out.Skipped, fmt.Sprintf("%d %s", a.Status, a.Code))
		}
	}
}

// describe tells what was measured, in a table and in sentences.
func (o *Outcome) describe() string {
	out := new(strings.Builder)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\ta second\tp50 ms\tp99\tmax\t")
	row := func(name string, rate float64, p openloop.Percentiles) {
		fmt.Fprintf(w, "%s\t%.0f\t%.1f\t%.1f\t%.1f\t\n", name, rate, p.P50, p.P99, p.Max)
	}
	row("clients one after the other", o.Peak, o.PeakLatency)
	row("the crowd, no room", o.Crowded, o.CrowdedLatency)
	row("the crowd, through a room", o.Ordered, o.Latency)
	row("looks at the room", o.Looked, o.Looks)
	_ = w.Flush() // a builder takes everything
	fmt.Fprintf(out, "%d visitors; without a room %d were refused or not answered\n", o.Visitors, o.Refused)
	fmt.Fprintf(out, "order p99 through the room %.1f ms (goal: %d)\n", o.Latency.P99, latencyGoal)
	fmt.Fprintf(out, "goodput %.1f%% of the room's rate (goal: %.0f%%)\n", 100*o.Ordered/o.Rate, 100*goodputGoal)
	fmt.Fprintf(out, "admissions %.1f/s, set %.1f/s: %+.2f%% (goal: %.0f%%)\n", o.Admitted, o.Rate, 100*(o.Admitted/o.Rate-1), 100*rateGoal)
	return out.String()
}

// Audit judges what a run has come to. Times and rates are told and not judged: they are the machine's.
func Audit(o *Outcome) []report.Check {
	skipped := report.Check{Name: "nobody ordered without an admission", Checked: int64(o.Attempted)}
	for _, a := range o.Skipped {
		skipped.Found("an order without admission was answered %s", a)
	}
	all := report.Check{Name: "everybody who joined has ordered", Checked: int64(o.Visitors)}
	if o.Placed != o.Visitors {
		all.Found("%d visitors have ordered, %d joined; answers were %v", o.Placed, o.Visitors, o.Odd)
	}
	places := report.Check{Name: "every place is one visitor's"}
	taken := map[int64]int{}
	for n, place := range o.Places {
		places.Checked++
		if other, twice := taken[place]; twice || place < 1 || place > int64(o.Visitors) {
			places.Found("visitor %d of %d has place %d, which visitor %d has", n, o.Visitors, place, other)
		}
		taken[place] = n
	}
	return []report.Check{skipped, all, places}
}
