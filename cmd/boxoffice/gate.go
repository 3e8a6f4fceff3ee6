package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"boxoffice/gate"
)

// gateCmd makes this process a device at a gate: a terminal with a scanner that types codes.
type gateCmd struct {
	URL      string        `required:"" env:"BOXOFFICE_GATE_URL" help:"Address of the API: https://host/api/v1."`
	Key      string        `required:"" env:"BOXOFFICE_GATE_KEY" help:"API key with the scope checkin:write."`
	Event    string        `required:"" help:"Id of the event."`
	Gate     string        `default:"Gate" help:"What the gate is called."`
	Device   string        `required:"" help:"The device's own name: no two devices have the same."`
	Dir      string        `default:"./gate" type:"path" help:"Where manifests and scans are kept, a folder for each event and device."`
	Out      bool          `help:"People go out here, where the event counts that; without it they come in."`
	Typed    bool          `help:"Take full codes too, as people type them."`
	Every    time.Duration `default:"3s" help:"How often the service is asked for changes, and told what it has missed."`
	Patience time.Duration `default:"1500ms" help:"How long somebody at the gate waits for the service before the device decides alone."`
}

// Run reads one code a line from standard input, until the input ends or a signal comes.
func (c *gateCmd) Run(ctx context.Context) error { return c.serve(ctx, os.Stdin, os.Stdout) }

// lastSync bounds the last exchange with the service after the input has ended. It also bounds
// every other request.
const lastSync = 20 * time.Second

// serve decides each code as it comes, and exchanges scans and changes with the service beside that. After the
// end of the input, or a signal, it tells the service about the scans that the service has missed, and prints the
// device's counts.
func (c *gateCmd) serve(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	// Both names become folders, so neither may lead out of Dir.
	if !filepath.IsLocal(c.Event) || !filepath.IsLocal(c.Device) {
		return fmt.Errorf("gate: event %q and device %q name a folder", c.Event, c.Device)
	}
	client := &http.Client{Timeout: lastSync}
	defer client.CloseIdleConnections()
	d, err := gate.Open(gate.Config{
		URL: strings.TrimSuffix(c.URL, "/"), Event: c.Event, Key: c.Key, Gate: c.Gate, Name: c.Device, Typed: c.Typed,
		Dir: filepath.Join(c.Dir, c.Event, c.Device), Client: client, Now: time.Now, Patience: c.Patience,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	t := &terminal{device: d, exit: c.Out, out: out}
	// The first sync fetches the manifest, so that the device can decide if the network goes away
	// at once.
	t.sync(ctx)
	codes := readLines(in)
	following, stop := context.WithCancel(ctx)
	var follower sync.WaitGroup
	follower.Go(func() { t.follow(following, c.Every) })
	for more := true; more && ctx.Err() == nil; {
		var code string
		select {
		case code, more = <-codes:
			if more && code != "" {
				t.scan(ctx, code)
			}
		case <-ctx.Done():
		}
	}
	// The regular exchange ends before the last one, so that only one of them is under way.
	stop()
	follower.Wait()
	// A signal has ended ctx, but the last scans must still reach the service.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSync)
	defer cancel()
	t.sync(last)
	t.sum()
	return nil
}

// readLines reads lines until the input ends. Its goroutine may hang in a read, so the process ends
// without waiting for it.
func readLines(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			lines <- strings.TrimSpace(scanner.Text())
		}
	}()
	return lines
}

// terminal shows the person at the gate what the device says, in one line each.
type terminal struct {
	device *gate.Device
	exit   bool // people go out here

	mu    sync.Mutex // guards the fields below
	out   io.Writer
	state string
	told  int // how many of the people who were let in wrongly were shown
}

// follow calls sync at regular intervals, until its context ends.
func (t *terminal) follow(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.sync(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// sync fetches the changes of the manifest, and tells the service about the scans that it has missed. It prints
// when the service goes away or comes back. It also prints people who were let in wrongly: the device decided
// alone, and the service knew better.
func (t *terminal) sync(ctx context.Context) {
	// The network is used without the lock, or a scan would have to wait for it.
	err := t.device.Sync(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	state := "online"
	if err != nil {
		state = "OFFLINE, deciding from the manifest: " + err.Error()
	}
	if state != t.state {
		t.state = state
		fmt.Fprintln(t.out, state)
	}
	// LetInWrongly only grows, so a count is enough to remember which people were shown.
	for wrong := t.device.LetInWrongly(); t.told < len(wrong); t.told++ {
		w := &wrong[t.told]
		fmt.Fprintf(t.out, "LET IN WRONGLY %s at %s: %s %s", w.Scan.Code, w.Scan.At.Format(time.TimeOnly), w.Told.Status, w.Told.Reason)
		if w.Told.FirstGate != "" {
			fmt.Fprintf(t.out, " First at %s, %s.", w.Told.FirstGate, w.Told.FirstAt.Format(time.TimeOnly))
		}
		fmt.Fprintln(t.out)
	}
}

// scan decides a code and tells the person at the gate what to do. If the scan itself fails, nobody
// may come in.
func (t *terminal) scan(ctx context.Context, code string) {
	v, err := t.device.Scan(ctx, code, t.exit)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		fmt.Fprintln(t.out, "FAILED, let nobody in:", err)
	case v.Status == gate.Success && t.exit:
		fmt.Fprintln(t.out, "GO OUT", v.Reason)
	case v.Status == gate.Success:
		fmt.Fprintln(t.out, "COME IN")
	case v.Status == gate.Undecided:
		fmt.Fprintln(t.out, "ASK ONLINE", v.Reason)
	default:
		fmt.Fprintln(t.out, "NO", v.Status, v.Reason)
	}
}

// sum prints what the device has counted.
func (t *terminal) sum() {
	c := t.device.Counts()
	fmt.Fprintf(t.out, "%d let in, %d of them offline, %d of those not told yet, %d let in wrongly; %d denied\n",
		c.Admitted, c.AdmittedAlone, c.Waiting, len(t.device.LetInWrongly()), c.Denied)
}
