package gates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/uuid"

	"boxoffice/gate"
	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// evening is one run: an event, its gates and all people who come. The fields above the mutex are
// set before people come, except for the counters. mu guards the histograms and the findings, which
// the devices' goroutines fill.
type evening struct {
	cfg    Config
	random *rand.Rand
	node   *rig.Node // nil: the service is not ours, and must not be killed
	// net carries the calls of buyers; pages reads the developers' pages with captured mails.
	svc       client.API
	net       *client.Network
	pages     http.Client
	organizer *rush.Organizer
	event     string
	holders   []*holder
	devices   []*device
	moves     []move
	began     time.Time

	// These count the codes that were shown, and the moves that the service accepted. killed counts
	// how often the run has killed its node.
	shown, refunded, passed atomic.Int64
	killed                  int64

	mu            sync.Mutex
	online, alone *hdrhistogram.Histogram // histograms of scans, in microseconds
	denied        []string                // people with a valid ticket who were not let in
	failed        []string                // scans that devices could not decide
}

// device is a device at a gate, with its own network connection and the people who will come to it.
// The embedded gate.Device is the product's own code: the scenario tests it, and does not imitate
// it.
type device struct {
	*gate.Device
	name, gate string
	// cable can be unplugged, which takes this device alone offline.
	cable cable
	// leaves is how long after the run began the device goes offline; 0 means never.
	leaves time.Duration
	visits []visit
}

// visit is a person who shows a code.
type visit struct {
	at     time.Duration
	holder *holder // nil: the code belongs to no ticket
	other  bool    // somebody else shows the ticket first
	out    bool    // the holder goes out
	how    how

	// A person is at one gate at a time: the visit waits for the end of after, and over is closed at its own end.
	// Both are nil but for who strolls.
	after <-chan struct{}
	over  chan struct{}
}

// how is the way in which a code is shown: as a QR code on a phone, typed in, or as the short door
// code.
type how int

const (
	byQR how = iota
	typed
	byDoorCode
)

// cable is a device's network. Each device has a Transport of its own, because a shared one would
// let a device that came back use a connection that another device had kept open.
type cable struct {
	http.Transport
	out atomic.Bool
}

// RoundTrip sends a request if the cable is plugged in. If not, it fails as a dial would, without
// waiting: that is what a device without a network sees.
func (c *cable) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.out.Load() {
		return nil, &net.OpError{Op: "dial", Err: errors.New("the cable is out")}
	}
	return c.Transport.RoundTrip(r)
}

// perGate is how many devices there are at a gate.
const perGate = 10

// openGates opens the devices, and lets each get its first manifest while it is still online. Each
// clock is wrong by up to Skew in either direction. Every third device goes offline for Away, at a
// time of its own that ends before the run does. If one device fails, the ones before it are closed
// again.
func (e *evening) openGates(ctx context.Context, target string) error {
	for i := range e.cfg.Devices {
		d := &device{name: fmt.Sprintf("device-%d", i), gate: fmt.Sprintf("Gate %d", i/perGate+1)}
		skew := time.Duration((e.random.Float64()*2 - 1) * float64(e.cfg.Skew))
		if i%3 == 0 {
			d.leaves = e.cfg.Duration/10 + time.Duration(e.random.Float64()*float64(e.cfg.Duration*8/10-e.cfg.Away))
		}
		var err error
		if d.Device, err = gate.Open(gate.Config{
			URL: strings.TrimSuffix(target, "/") + "/api/v1", Event: e.event, Key: e.organizer.Bearer, Gate: d.gate, Name: d.name, Typed: true,
			Dir: filepath.Join(e.cfg.Out, "devices", e.event, d.name), Client: &http.Client{Transport: &d.cable},
			Now: func() time.Time { return time.Now().Add(skew) }, Patience: e.cfg.Patience,
		}); err != nil {
			return errors.Join(err, e.closeGates())
		}
		e.devices = append(e.devices, d)
		if err := d.Sync(ctx); err != nil {
			return errors.Join(err, e.closeGates())
		}
	}
	return nil
}

// closeGates closes all devices that were opened, and the idle connections that they and the reader
// of pages have kept.
func (e *evening) closeGates() error {
	e.pages.CloseIdleConnections()
	var err error
	for _, d := range e.devices {
		d.cable.CloseIdleConnections()
		err = errors.Join(err, d.Close())
	}
	return err
}

// plan decides who comes when, and to which device. It decides everything before the first person
// comes, from the seed alone, so a run can be repeated with the same plan.
func (e *evening) plan() {
	draw := func() (int, time.Duration) {
		return e.random.IntN(len(e.devices)), time.Duration(e.random.Float64() * float64(e.cfg.Duration))
	}
	come := func(i int, v visit) { e.devices[i].visits = append(e.devices[i].visits, v) }
	for _, h := range e.holders {
		i, at := draw()
		v := visit{at: at, holder: h}
		// Three of ten people have a code typed in, and one of ten shows the door code. The others
		// show the QR code.
		switch share := e.random.Float64(); {
		case share < 0.3:
			v.how = typed
		case share < 0.4:
			v.how = byDoorCode
		}
		// The second person with the same ticket comes within a twelfth of the run after the first,
		// and always to another device. A device that has just admitted a code takes a second show
		// of it for the same person.
		second := visit{at: at + time.Duration(e.random.Float64()*float64(e.cfg.Duration)/12), holder: h, other: true, how: typed}
		elsewhere := (i + 1 + e.random.IntN(len(e.devices)-1)) % len(e.devices)
		// One draw decides what becomes of the ticket, so the shares exclude each other. Validate
		// has made sure that they are at most 1 together.
		switch share := e.random.Float64(); {
		case share < e.cfg.Copied:
			h.kind = copied
			come(elsewhere, second)
		case share < e.cfg.Copied+e.cfg.Refunded:
			h.kind = refunded
		case share < e.cfg.Copied+e.cfg.Refunded+e.cfg.Passed:
			h.kind = passed
			come(elsewhere, second)
		case share < e.cfg.Copied+e.cfg.Refunded+e.cfg.Passed+e.cfg.Strolls:
			h.kind = strolls
			e.planStroll(&v, i, come)
		}
		// The refund, or the passing on, comes at a moment before the holder's visit.
		if h.kind == refunded || h.kind == passed {
			e.moves = append(e.moves, move{time.Duration(e.random.Float64() * float64(at)), h})
			v.how = typed // a phone no longer shows a ticket that was taken from its owner
		}
		come(i, v)
	}
	// These people come with codes that belong to no ticket.
	for range int(e.cfg.Wrong * float64(len(e.holders))) {
		i, at := draw()
		come(i, visit{at: at, how: how(e.random.IntN(3))})
	}
	// A device has one queue: it serves its visits in the order of their times.
	for _, d := range e.devices {
		slices.SortFunc(d.visits, func(a, b visit) int { return cmp.Compare(a.at, b.at) })
	}
}

// planStroll plans the ways of a holder who comes in with a visit to the first device: out, in again,
// and up to two more. Each way is at another device than the one before, because a device takes a
// code that it has just let through for the same person, and would not count the way. Devices that wait
// for a person cannot wait for each other, because each way is planned later than the one before.
func (e *evening) planStroll(in *visit, first int, come func(int, visit)) {
	step, others := e.cfg.Duration/40, e.random.Perm(len(e.devices)-1)
	in.over = make(chan struct{})
	before := *in
	for i := range 2 + e.random.IntN(3) {
		at := before.at + step + time.Duration(e.random.Float64()*float64(step))
		before = visit{at: at, holder: in.holder, out: i%2 == 0, how: typed, after: before.over, over: make(chan struct{})}
		come((first+1+others[i%len(others)])%len(e.devices), before)
	}
}

// letIn lets everybody come. It ends when all visits are over, all devices are back online and have
// told the service everything, or when Agree has passed since the last visit. The node is killed in
// the middle, while visits go on. The followers stop last, because only a sync tells the service
// what a device decided offline.
func (e *evening) letIn(ctx context.Context, log *slog.Logger) error {
	e.began = time.Now()
	following, stop := context.WithCancel(ctx)
	var followers, gates sync.WaitGroup
	for _, d := range e.devices {
		followers.Go(func() { d.follow(following, e) })
		gates.Go(func() { e.work(ctx, d) })
	}
	gates.Go(func() { e.moveTickets(ctx) })
	killed := e.killNode(ctx, log)
	gates.Wait()
	for deadline := time.Now().Add(e.cfg.Agree); ctx.Err() == nil && time.Now().Before(deadline) && e.waiting() > 0; {
		rig.Wait(ctx, 50*time.Millisecond)
	}
	stop()
	followers.Wait()
	return errors.Join(killed, context.Cause(ctx))
}

// waiting returns how many admissions the service has not been told yet.
func (e *evening) waiting() (n int) {
	for _, d := range e.devices {
		n += d.Counts().Waiting
	}
	return n
}

// readyTime is how long a killed node may take to be ready again.
const readyTime = time.Minute

// killNode kills the run's own node in the middle of the run with SIGKILL, and starts it again.
// Admissions that the node had acknowledged must still be there afterwards. Until it is back all
// devices are offline.
func (e *evening) killNode(ctx context.Context, log *slog.Logger) error {
	if e.node == nil {
		return nil
	}
	rig.Wait(ctx, e.cfg.Duration/2)
	if err := e.node.Kill(); err != nil {
		return err
	}
	killed := time.Now()
	if err := e.node.Start(ctx, readyTime); err != nil {
		return err
	}
	e.killed++
	log.InfoContext(ctx, "killed and back", slog.Duration("after", time.Since(killed)))
	return nil
}

// follow syncs the device at each tick, and unplugs its cable from leaves until Away later. A
// failed sync is no finding: the network may be out, and the next tick tries again.
func (d *device) follow(ctx context.Context, e *evening) {
	ticker := time.NewTicker(e.cfg.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			since := time.Since(e.began)
			d.cable.out.Store(d.leaves > 0 && since >= d.leaves && since < d.leaves+e.cfg.Away)
			_ = d.Sync(ctx) // the next sync tries again
		case <-ctx.Done():
			return
		}
	}
}

// work scans the codes of the people who come to a device, one after the other. If a scan takes
// long, the next people come late, as in a real queue.
func (e *evening) work(ctx context.Context, d *device) {
	for i := range d.visits {
		v := &d.visits[i]
		rig.Wait(ctx, time.Until(e.began.Add(v.at)))
		if v.after != nil {
			select {
			case <-v.after:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return
		}
		e.scanVisit(ctx, d, v)
		if v.over != nil {
			close(v.over)
		}
	}
}

// scanVisit has a device scan what a person shows, and notes the verdict.
func (e *evening) scanVisit(ctx context.Context, d *device, v *visit) {
	code := e.codeOf(ctx, v)
	if code == "" {
		return // nobody has claimed the ticket
	}
	// The device's state before the scan decides into which histogram the time goes: an offline
	// device asks nobody, and so its times are others.
	online, asked := d.Online(), time.Now()
	says, err := d.Scan(ctx, code, v.out)
	e.note(d, v, code, says, err, online, asked)
}

// codeOf returns what a person shows, or "" if the person has nothing to show. Codes of no ticket
// have the three shapes of real codes, so that each kind of check in a device meets some.
func (e *evening) codeOf(ctx context.Context, v *visit) string {
	h := v.holder
	switch {
	case h == nil && v.how == byDoorCode:
		return "222222" // one of 900 million codes may be valid
	case h == nil && v.how == typed:
		return "222222399ZZZZYYYYXXX"
	case h == nil:
		return "https://other.example/t/" + uuid.NewString()
	case h.kind == passed && v.other:
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.next
	case v.how == byQR:
		return cmp.Or(e.showQR(ctx, h), h.short)
	default:
		return h.short // full codes are in no manifest, so a device that is offline can't decide them
	}
}

// note records a device's verdict: the time it took, whom it let in, and findings. Strolls keep
// each way with its times, because isSure needs them to tell which order is certain. A ticket of
// another kind keeps only the name of the device that let it in.
func (e *evening) note(d *device, v *visit, code string, says gate.Verdict, err error, online bool, asked time.Time) {
	took := time.Since(asked)
	e.shown.Add(1)
	h := v.holder
	if h != nil && h.kind == strolls {
		h.mu.Lock()
		h.ways = append(h.ways, way{
			gate: d.gate, out: v.out, let: says.Status == gate.Success, alone: !d.Online(), unheard: online && !d.Online(),
			from: asked, to: asked.Add(took),
		})
		h.mu.Unlock()
	} else if h != nil && says.Status == gate.Success {
		h.mu.Lock()
		h.letIn = append(h.letIn, d.name)
		h.mu.Unlock()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	histogram := e.alone
	if online {
		histogram = e.online
	}
	_ = histogram.RecordValue(max(1, took.Microseconds())) // none is longer than a minute
	switch {
	// An error means that the device could not decide at all. A code of no ticket that comes in,
	// and a plain ticket that does not, are wrong verdicts.
	case err != nil:
		e.failed = append(e.failed, fmt.Sprintf("%s: %v", d.name, err))
	case h == nil && says.Status == gate.Success:
		e.failed = append(e.failed, fmt.Sprintf("%s let in %q, which is no ticket's", d.name, code))
	case h != nil && h.kind == plain && says.Status != gate.Success:
		e.denied = append(e.denied, fmt.Sprintf("%s denied %s of %s: %s %s", d.name, code, h.code, says.Status, says.Reason))
	}
}
