package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Config is what a device has to be told.
type Config struct {
	URL    string // of the API, http://host/api/v1
	Event  string // the event's id
	Key    string // API key with the scope checkin:write
	Gate   string // the gate's name
	Name   string // the device's own name, which no other device has
	Typed  bool   // whether people type codes, so that full codes are accepted too
	Dir    string // folder for what the device must not forget; one for each event
	Client *http.Client
	Now    func() time.Time // the device's own clock
	// Patience is how long a person at the gate waits for the service. To the service, a scan that
	// the same device repeats within two seconds is the same scan.
	Patience time.Duration
}

// Wrong is the scan of a person whom the device let in, or out, and the service does not.
type Wrong struct {
	Scan Scan
	Told Told
}

// Counts says how many scans a device has decided.
type Counts struct {
	Admitted, Denied           int // Admitted also counts the people who were let out
	AdmittedAlone, DeniedAlone int // of these, how many were decided without the service
	Unanswered                 int // of these, how many the service may have judged too
	Waiting                    int // scans admitted alone that the service has not been told yet
}

// Device is a device at a gate.
type Device struct {
	cfg     Config
	syncing sync.Mutex // held while the device tells the service about its scans

	mu     sync.Mutex // guards the fields below; never held while waiting for the network
	store  *store
	roster *roster
	offset time.Duration // from the device's clock to the service's
	kept   time.Duration // the offset that the folder has
	online bool
	last   int // number of the last scan
	// unheard is the last scan that the device could not decide, and whose answer never came: the service may have
	// judged it. Nil: there is none.
	unheard *Scan
	waiting []*Scan // scans let in offline that the service has not been told yet
	wrong   []Wrong
	counts  Counts
}

// longestName bounds the names of gates and devices, in characters, as the service does.
const longestName = 100

// Open opens a device, with everything that an earlier one kept in its folder.
func Open(cfg Config) (*Device, error) {
	for what, name := range map[string]string{"gate": cfg.Gate, "device": cfg.Name} {
		if n := utf8.RuneCountInString(name); n > longestName {
			return nil, fmt.Errorf("gate: the name of the %s has %d characters, of at most %d", what, n, longestName)
		}
	}
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
			if e.Scan.Status == Success { // in or out
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
		noted := note{out: scan.Out, at: scan.At}
		switch {
		case t == nil:
			d.waiting = append(d.waiting, scan)
		case t.Status != Success:
			d.wrong = append(d.wrong, Wrong{*scan, *t})
			noted.told = t.When
		default:
			noted.told = t.When
		}
		d.roster.notePassage(scan.Code, noted)
	}
	return d, nil
}

// Close closes its files.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.store.close()
}

// Scan returns the verdict on a code, of somebody who comes in or goes out. On an error nobody is let in:
// either the device could not keep its decision, or the service refuses to talk to the device.
func (d *Device) Scan(ctx context.Context, text string, out bool) (Verdict, error) {
	d.mu.Lock()
	at, online := d.now(), d.online
	if v, t := d.roster.decideCode(text, d.cfg.Typed, out, at); v.Status == Success && d.roster.justPassed(t, out, at) {
		d.mu.Unlock()
		return v, nil // the same person, scanned again
	}
	request := d.findUnheard(text, out)
	d.mu.Unlock()
	scan := &Scan{Code: text, Out: out, At: at, Request: request}
	if online {
		if request == "" {
			scan.Request = uuid.NewString()
		}
		told, err := d.askService(ctx, scan)
		switch {
		case err == nil && told.Status == Undecided:
			return told.Verdict, nil
		case err == nil:
			return d.keepDecision(scan, told)
		case !errors.Is(err, errAway):
			return Verdict{Status: Undecided}, err
		case errors.Is(err, errUnsent):
			scan.Request = request // the service cannot have got the new id, so only an earlier request counts as unanswered
		}
	}
	return d.decideAlone(scan)
}

// findUnheard returns the request id under which the service may have judged the same code before, or "". Under
// the same id the service repeats that verdict, so a guest who shows the code again is not a duplicate.
func (d *Device) findUnheard(text string, out bool) string {
	if d.unheard == nil || d.unheard.Code != text || d.unheard.Out != out {
		return ""
	}
	return d.unheard.Request
}

// keepDecision keeps what the service has decided on a scan.
func (d *Device) keepDecision(scan *Scan, told *Told) (Verdict, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	scan.Verdict, scan.Request = told.Verdict, ""
	told.Number = d.number(scan)
	if told.Status == Success {
		d.roster.notePassage(scan.Code, note{out: scan.Out, at: scan.At, told: told.When})
	}
	return d.keepEntries(scan, entry{Scan: scan}, entry{Told: told})
}

// decideAlone decides without the service. It keeps a scan that it lets in, so that the service can
// be told.
func (d *Device) decideAlone(scan *Scan) (Verdict, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.online = false
	scan.Verdict, _ = d.roster.decideCode(scan.Code, d.cfg.Typed, scan.Out, scan.At)
	if scan.Status == Undecided {
		if scan.Request != "" {
			d.unheard = scan
		}
		return scan.Verdict, nil
	}
	scan.Alone = true
	d.number(scan)
	if scan.Status == Success {
		d.waiting = append(d.waiting, scan)
		d.roster.notePassage(scan.Code, note{out: scan.Out, at: scan.At})
	}
	return d.keepEntries(scan, entry{Scan: scan})
}

func (d *Device) keepEntries(scan *Scan, entries ...entry) (Verdict, error) {
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

// now returns the service's time, in milliseconds, which is the precision that the service keeps.
func (d *Device) now() time.Time {
	return d.cfg.Now().Add(d.offset).UTC().Truncate(time.Millisecond)
}

// Sync gets the manifest and tells the service about the people whom the device has let in without
// it. The device is online if all of that succeeds.
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
		// The header has whole seconds, and was written between request and answer.
		d.offset = date.Add(time.Second / 2).Sub(asked.Add(arrived.Sub(asked) / 2))
	}
	if m.Cursor == cursor && !m.Full && (d.offset-d.kept).Abs() < clockDrift {
		return nil
	}
	d.roster.apply(m, asked)
	d.kept = d.offset
	return d.store.keep(&kept{*m, d.offset})
}

// clockDrift is how much the clock's offset may change before it is stored again.
const clockDrift = 5 * time.Second

// batchSize is how many scans the service accepts at once.
const batchSize = 500

// tellWaiting tells the service about the waiting scans. A scan whose first request may have
// arrived is sent under the same request id again, so that the device's own admission does not look
// like somebody else's.
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
				t, err := d.askService(ctx, scan)
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
		if err := d.keepVerdicts(some, told); err != nil {
			return err
		}
	}
}

// keepVerdicts keeps the service's verdicts on the scans that have waited longest.
func (d *Device) keepVerdicts(scans []*Scan, told []Told) error {
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
		d.roster.notePassage(scan.Code, note{out: scan.Out, at: scan.At, told: t.When})
		if t.Status != Success {
			d.wrong = append(d.wrong, Wrong{*scan, *t})
		}
	}
	d.waiting = d.waiting[len(scans):]
	return nil
}

// LetInWrongly lists the scans that the device let in while it was offline and that the service
// does not admit, as far as the service has been told.
func (d *Device) LetInWrongly() []Wrong {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Wrong(nil), d.wrong...)
}

// Online reports whether the next scan asks the service.
func (d *Device) Online() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.online
}

// Counts returns how many scans the device has decided.
func (d *Device) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.counts
	c.Waiting = len(d.waiting)
	return c
}
