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

// Config is what a device must be told.
type Config struct {
	// The address of the API, such as http://host/api/v1.
	URL   string
	Event string // the event's id
	Key   string // API key with the scope checkin:write
	Gate  string // the gate's name
	// The name of the device, which no other device has.
	Name string
	// Whether people type codes. Then full codes are accepted as well as scanned ones.
	Typed bool
	// The folder for what the device must not forget. Each device needs one of its own for each event.
	Dir    string
	Client *http.Client
	// The device's own clock, which may be wrong.
	Now func() time.Time
	// Patience is how long a person at the gate waits for the service. A scan that the same device repeats within
	// two seconds counts for the service as the same scan.
	Patience time.Duration
}

// Wrong is a scan at which the device let somebody in or out, and which the service refused later.
type Wrong struct {
	Scan Scan
	Told Told
}

// Counts are how many scans a device has decided.
type Counts struct {
	// Admitted includes the people who were let out.
	Admitted, Denied int
	// The numbers of these that were decided without the service.
	AdmittedAlone, DeniedAlone int
	// The number of those decided alone that the service may have judged all the same, because its answer got lost.
	Unanswered int
	// How many scans let somebody in or out without the service, and have not been told to the service yet.
	Waiting int
}

// Device is a device at a gate. Several goroutines may use it at once.
type Device struct {
	cfg Config
	// Held during a Sync.
	syncing sync.Mutex

	// Guards the fields below. It is never held while the device waits for the network, because a
	// scan must be decided at once.
	mu     sync.Mutex
	store  *store
	roster *roster
	// What must be added to the device's clock to get the service's time.
	offset time.Duration
	// The offset that was stored last.
	kept   time.Duration
	online bool
	// The number of the last scan that was stored; 0 before the first.
	last int
	// unheard is the last scan that has no decision here, and that the service may have judged. Nil if there is
	// none.
	unheard *Scan
	// Scans with which the device alone let somebody in or out and that the service has not been told yet, the
	// oldest first.
	waiting []*Scan
	wrong   []Wrong
	counts  Counts
}

// longestName bounds the names of gates and devices, in characters. The service has the same bound.
const longestName = 100

// Open opens a device, with everything that an earlier process kept in its folder: counts, manifest, clock offset,
// the passages in and out, the scans that the service has not been told, and the scans that it judged otherwise
// (wrong). It refuses names of gates and devices that are too long.
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
	// The scans are gone through in their order, so that the last passage of each ticket counts.
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

// Close closes the device's files.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.store.close()
}

// Scan returns the verdict on a code of somebody who comes in or goes out. A device that is online asks the service; if
// that does not answer, or if the device is offline, it decides alone. It stores a decision before it returns it; an
// undecided code is not stored, and neither is the repeated scan of somebody who has just passed. If Scan returns an
// error, nobody may be let in: the device could not store its decision, or the service refuses to talk to the device.
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

// findUnheard returns the request id under which the service may already have judged the same code,
// or "". Under the same id the service repeats its verdict. So a guest who shows the code again is
// not taken for a second person.
func (d *Device) findUnheard(text string, out bool) string {
	if d.unheard == nil || d.unheard.Code != text || d.unheard.Out != out {
		return ""
	}
	return d.unheard.Request
}

// keepDecision stores the service's verdict on a scan. If storing fails, the scan counts as unheard: when
// the code is shown again, the service repeats its verdict.
func (d *Device) keepDecision(scan *Scan, told *Told) (Verdict, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	asked := *scan
	scan.Verdict, scan.Request, scan.Number = told.Verdict, "", d.last+1
	told.Number = scan.Number
	if err := d.keepEntries(scan, told.When, entry{Scan: scan}, entry{Told: told}); err != nil {
		d.unheard = &asked
		return Verdict{Status: Undecided}, err
	}
	return scan.Verdict, nil
}

// decideAlone decides a scan without the service. The device is offline after that, until a Sync succeeds. Its
// decision is stored, and a scan that lets somebody in or out waits to be told to the service. If only the service can
// decide, the verdict is Undecided and nothing is stored. If storing fails, nobody is let in, and the service is not told.
func (d *Device) decideAlone(scan *Scan) (Verdict, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.online = false
	scan.Verdict, _ = d.roster.decideCode(scan.Code, d.cfg.Typed, scan.Out, scan.At)
	var err error
	if scan.Status != Undecided {
		scan.Alone, scan.Number = true, d.last+1
		if err = d.keepEntries(scan, time.Time{}, entry{Scan: scan}); err == nil {
			return scan.Verdict, nil
		}
		scan.Verdict = Verdict{Status: Undecided}
	}
	if scan.Request != "" {
		d.unheard = scan
	}
	return scan.Verdict, err
}

// keepEntries stores what was decided, and notes it only if that succeeds. The caller shows the verdict only then, so
// the verdict that the device remembers and counts is the one that is shown. told is when the service was told, by the
// device's own clock, or zero.
func (d *Device) keepEntries(scan *Scan, told time.Time, entries ...entry) error {
	if err := d.store.append(entries...); err != nil {
		return err
	}
	d.last = scan.Number
	d.count(scan)
	if d.findUnheard(scan.Code, scan.Out) != "" {
		d.unheard = nil // a later scan of the code is judged again
	}
	if scan.Status == Success {
		if scan.Alone {
			d.waiting = append(d.waiting, scan)
		}
		d.roster.notePassage(scan.Code, note{out: scan.Out, at: scan.At, told: told})
	}
	return nil
}

// count adds a scan to the counts, except Waiting. A scan whose request got no answer (Request) also counts as
// unanswered.
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

// now returns the service's time, in milliseconds, which is the precision that the service keeps.
func (d *Device) now() time.Time {
	return d.cfg.Now().Add(d.offset).UTC().Truncate(time.Millisecond)
}

// Sync fetches the manifest and tells the service about the people whom the device let in or out without it.
// The device is online if both succeed and no scan waits by then.
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

// takeManifest fetches what has changed in the manifest, and corrects the clock's offset by the
// answer's date. It stores both before it uses the changes. If nothing has changed and the clock has not drifted by
// clockDrift, it writes nothing.
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
	// Nothing has changed, so nothing is written: the folder may be on a small card.
	if m.Cursor == cursor && !m.Full && (d.offset-d.kept).Abs() < clockDrift {
		return nil
	}
	if err := d.store.keep(&kept{*m, d.offset}); err != nil {
		return err // the cursor stays too, so that the next answer has these changes again
	}
	d.roster.apply(m, asked)
	d.kept = d.offset
	return nil
}

// clockDrift is how much the offset of the clock may change before it is stored again.
const clockDrift = 5 * time.Second

// batchSize is how many scans the service accepts in one batch.
const batchSize = 500

// tellWaiting tells the service about the waiting scans. If the first request of a scan may have
// arrived, the scan is sent again under the same request id. Otherwise the device's own admission
// would look like another person's.
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

// keepVerdicts stores the service's verdicts on the scans that have waited longest. They leave the
// queue only after that. Scans that the service judges otherwise than the device did are added to wrong.
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

// LetInWrongly returns the scans with which the device let somebody in or out without the service, and which
// the service refuses. It knows only scans that the service has been told.
func (d *Device) LetInWrongly() []Wrong {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Wrong(nil), d.wrong...)
}

// Online reports whether the device asks the service about scans; otherwise it decides them alone.
func (d *Device) Online() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.online
}

// Counts returns how many scans the device has decided so far.
func (d *Device) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.counts
	c.Waiting = len(d.waiting)
	return c
}
