package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Config is what a device has to know.
type Config struct {
	URL    string // of the API, http://host/api/v1
	Event  string // its id
	Key    string // API key with the scope checkin:write
	Gate   string // what the gate is called
	Name   string // the device's own, different from every other's
	Typed  bool   // people type codes: full codes are taken too
	Dir    string // where it keeps what must outlive it; one for each event
	Client *http.Client
	Now    func() time.Time // the device's own clock
	// Patience is how long a person at the gate waits for the service. Within two
	// seconds a scan of the same device is the same scan to it.
	Patience time.Duration
}

// Wrong is somebody whom the device let in and the service does not admit.
type Wrong struct {
	Scan Scan
	Told Told
}

// Counts are how many scans a device decided.
type Counts struct {
	Admitted, Denied           int
	AdmittedAlone, DeniedAlone int // of those, without the service
	Unanswered                 int // of those, which the service may have judged as well
	Waiting                    int // of those admitted alone, not told to the service yet
}

// Device is a device at a gate.
type Device struct {
	cfg     Config
	syncing sync.Mutex // held while the service is told

	mu      sync.Mutex // of what follows; nobody waits for the network with it
	store   *store
	roster  *roster
	offset  time.Duration // from its own clock to the service's
	kept    time.Duration // the offset that its folder has
	online  bool
	last    int     // number of the last scan
	waiting []*Scan // let in offline, not told yet
	wrong   []Wrong
	counts  Counts
}

// Open opens a device, with all that an earlier one kept in its folder.
func Open(cfg Config) (*Device, error) {
	d := &Device{cfg: cfg, roster: newRoster()}
	let, told := map[int]*Scan{}, map[int]*Told{}
	store, err := openStore(cfg.Dir, func(m *kept) {
		d.offset, d.kept = m.Offset, m.Offset
		d.roster.apply(&m.Manifest, time.Time{})
	}, func(e entry) {
		switch {
		case e.Scan != nil:
			d.last = e.Scan.Number
			d.count(e.Scan)
			if e.Scan.Status == Success {
				let[e.Scan.Number] = e.Scan
			}
		case e.Told != nil:
			told[e.Told.Number] = e.Told
		}
	})
	if err != nil {
		return nil, err
	}
	d.store = store
	for n := range d.last {
		scan := let[n+1]
		if scan == nil {
			continue
		}
		t := told[scan.Number]
		noted := note{at: scan.At}
		switch {
		case t == nil:
			d.waiting = append(d.waiting, scan)
		case t.Status != Success:
			d.wrong = append(d.wrong, Wrong{*scan, *t})
			noted.told = t.When
		default:
			noted.told = t.When
		}
		d.roster.admit(scan.Code, noted)
	}
	return d, nil
}

// Close closes its files.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.store.close()
}

// Scan says what a code gets. On an error nobody is let in: the device could not keep
// what it decided, or the service refuses to talk to it.
func (d *Device) Scan(ctx context.Context, text string) (Verdict, error) {
	d.mu.Lock()
	at, online := d.now(), d.online
	if v, t := d.roster.decide(text, d.cfg.Typed, at); v.Status == Success && d.roster.justAdmitted(t, at) {
		d.mu.Unlock()
		return v, nil // the same person
	}
	d.mu.Unlock()
	scan := &Scan{Code: text, At: at}
	if online {
		scan.Request = uuid.NewString()
		told, err := d.ask(ctx, scan)
		switch {
		case err == nil && told.Status == Undecided:
			return told.Verdict, nil
		case err == nil:
			return d.decided(scan, told)
		case !errors.Is(err, errAway):
			return Verdict{Status: Undecided}, err
		case errors.Is(err, errUnsent):
			scan.Request = ""
		}
	}
	return d.decideAlone(scan)
}

// decided keeps what the service has decided.
func (d *Device) decided(scan *Scan, told *Told) (Verdict, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	scan.Verdict, scan.Request = told.Verdict, ""
	told.Number = d.number(scan)
	if told.Status == Success {
		d.roster.admit(scan.Code, note{at: scan.At, told: told.When})
	}
	return d.keep(scan, entry{Scan: scan}, entry{Told: told})
}

// decideAlone decides without the service, and keeps whom it lets in to be told.
func (d *Device) decideAlone(scan *Scan) (Verdict, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.online = false
	scan.Verdict, _ = d.roster.decide(scan.Code, d.cfg.Typed, scan.At)
	if scan.Status == Undecided {
		return scan.Verdict, nil
	}
	scan.Alone = true
	d.number(scan)
	if scan.Status == Success {
		d.waiting = append(d.waiting, scan)
		d.roster.admit(scan.Code, note{at: scan.At})
	}
	return d.keep(scan, entry{Scan: scan})
}

func (d *Device) keep(scan *Scan, entries ...entry) (Verdict, error) {
	if err := d.store.append(entries...); err != nil {
		return Verdict{Status: Undecided}, err
	}
	d.count(scan)
	return scan.Verdict, nil
}

func (d *Device) count(scan *Scan) {
	all, alone := &d.counts.Denied, &d.counts.DeniedAlone
	if scan.Status == Success {
		all, alone = &d.counts.Admitted, &d.counts.AdmittedAlone
	}
	*all++
	if scan.Alone {
		*alone++
	}
	if scan.Request != "" {
		d.counts.Unanswered++
	}
}

func (d *Device) number(scan *Scan) int {
	d.last++
	scan.Number = d.last
	return d.last
}

// now is the time as the service tells it, in the milliseconds that it keeps.
func (d *Device) now() time.Time {
	return d.cfg.Now().Add(d.offset).UTC().Truncate(time.Millisecond)
}

// Sync takes the manifest in, tells the service whom the device has let in without it,
// and is online when all of that went well.
func (d *Device) Sync(ctx context.Context) error {
	d.syncing.Lock()
	defer d.syncing.Unlock()
	err := d.takeManifest(ctx)
	if err == nil {
		err = d.tellWaiting(ctx)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.online = err == nil && len(d.waiting) == 0
	return err
}

func (d *Device) takeManifest(ctx context.Context) error {
	d.mu.Lock()
	cursor := d.roster.Cursor
	d.mu.Unlock()
	asked := d.cfg.Now()
	m, date, err := d.askManifest(ctx, cursor)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !date.IsZero() {
		arrived := d.cfg.Now()
		// The header has whole seconds, and was written between question and answer.
		d.offset = date.Add(time.Second / 2).Sub(asked.Add(arrived.Sub(asked) / 2))
	}
	if m.Cursor == cursor && !m.Full && (d.offset-d.kept).Abs() < clockDrift {
		return nil
	}
	d.roster.apply(m, asked)
	d.kept = d.offset
	return d.store.keep(&kept{*m, d.offset})
}

// clockDrift is how much the offset of the clock may change before it is kept anew.
const clockDrift = 5 * time.Second

// batchSize is how many scans the service takes at once.
const batchSize = 500

// tellWaiting sends what waits. A scan whose first request may have arrived is asked
// again by that request's name, so that the device's own admission does not look like
// somebody else's.
func (d *Device) tellWaiting(ctx context.Context) error {
	for {
		d.mu.Lock()
		some := append([]*Scan(nil), d.waiting[:min(batchSize, len(d.waiting))]...)
		d.mu.Unlock()
		if len(some) == 0 {
			return nil
		}
		var told []Told
		var batch []*Scan
		for _, scan := range some {
			if scan.Request != "" {
				t, err := d.ask(ctx, scan)
				if err != nil {
					return err
				}
				if t.Status == Success {
					t.Number = scan.Number
					told = append(told, *t)
					continue
				}
			}
			batch = append(batch, scan)
		}
		if len(batch) > 0 {
			verdicts, err := d.sendBatch(ctx, batch)
			if err != nil {
				return err
			}
			told = append(told, verdicts...)
		}
		if err := d.settle(some, told); err != nil {
			return err
		}
	}
}

// settle keeps what the service says of the first that waited.
func (d *Device) settle(scans []*Scan, told []Told) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries, says := make([]entry, len(told)), map[int]*Told{}
	for i := range told {
		entries[i].Told, says[told[i].Number] = &told[i], &told[i]
	}
	if len(told) != len(scans) {
		return fmt.Errorf("gate: the service says %d verdicts on %d scans", len(told), len(scans))
	}
	if err := d.store.append(entries...); err != nil {
		return err
	}
	for _, scan := range scans {
		t := says[scan.Number]
		d.roster.admit(scan.Code, note{at: scan.At, told: t.When})
		if t.Status != Success {
			d.wrong = append(d.wrong, Wrong{*scan, *t})
		}
	}
	d.waiting = d.waiting[len(scans):]
	return nil
}

// LetInWrongly are those whom the device let in while it was offline and the service does
// not admit, as far as the service was told.
func (d *Device) LetInWrongly() []Wrong {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Wrong(nil), d.wrong...)
}

// Online says whether the next scan asks the service.
func (d *Device) Online() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.online
}

// Counts says how many scans the device has decided.
func (d *Device) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.counts
	c.Waiting = len(d.waiting)
	return c
}
