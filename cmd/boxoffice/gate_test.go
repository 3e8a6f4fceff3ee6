package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
	"boxoffice/gate"
)

// cable is a device's network, which can be cut: before a request is sent (out), or after the
// service has got it (deaf).
type cable struct {
	out, deaf atomic.Bool

	mu       sync.Mutex
	requests []string // the ids of what was sent
}

// last returns the id of the last request.
func (c *cable) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests[len(c.requests)-1]
}

// RoundTrip sends a request unless the network is cut.
func (c *cable) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.out.Load() {
		return nil, &net.OpError{Op: "dial", Err: errors.New("no cable")}
	}
	c.mu.Lock()
	c.requests = append(c.requests, r.Header.Get("Idempotency-Key"))
	c.mu.Unlock()
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && c.deaf.Load() {
		_ = res.Body.Close()
		return nil, errors.New("no cable")
	}
	return res, err
}

// atGate makes an event with tickets, and returns a function that opens devices at its gates with
// wrong clocks.
func atGate(t *testing.T) (s *nodetest.Shop, event string, codes []string, device func(name string, c *cable, behind time.Duration) *gate.Device) {
	t.Helper()
	s = nodetest.Open(t)
	event, ids := s.Sell(nil, nodetest.With(nodetest.TypeBody(0, 1000), nodetest.Object{"maxPerOrder": 100, "maxPerCustomer": 100}))
	order := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 10)).Is(201, "")
	printed := s.Secrets().Event(nodetest.Number(t, event))
	for i := range 10 {
		id, err := engine.ParseID(order.Str(fmt.Sprintf("tickets.%d.id", i)))
		require.NoError(t, err)
		serial, ok := printed.FromTicketID(id)
		require.True(t, ok)
		codes = append(codes, order.Str(fmt.Sprintf("tickets.%d.qr", i)), printed.Printed(serial, 1))
	}
	return s, event, codes, func(name string, c *cable, behind time.Duration) *gate.Device {
		d, err := gate.Open(gate.Config{
			URL: s.URL, Event: event, Key: s.Token, Gate: "Gate " + name, Name: name, Typed: true, Dir: t.TempDir(),
			Client: &http.Client{Transport: c}, Now: func() time.Time { return time.Now().Add(-behind) }, Patience: 10 * time.Second,
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		return d
	}
}

// TestGateDevice lets people in at three devices, two of which are offline for a while.
func TestGateDevice(t *testing.T) {
	t.Parallel()
	s, event, codes, open := atGate(t)
	var north, south, away cable
	a, b, c := open("a", &north, 3*time.Minute), open("b", &south, -3*time.Minute), open("c", &away, 0)
	scan := func(d *gate.Device, code string) string {
		t.Helper()
		v, err := d.Scan(t.Context(), code, false)
		require.NoError(t, err)
		return v.Status
	}
	away.out.Store(true)
	require.Error(t, c.Sync(t.Context()))
	require.Equal(t, "undecided", scan(c, codes[0]), "without a manifest")
	require.NoError(t, a.Sync(t.Context()))
	require.NoError(t, b.Sync(t.Context()))

	t.Log("online the service decides")
	require.Equal(t, "success", scan(a, codes[0]))
	require.Equal(t, "denied_duplicate", scan(b, codes[1]))
	require.Equal(t, "denied_wrong_event", scan(a, "x"))

	t.Log("offline the device does; of what two let in, the later to tell was wrong")
	north.out.Store(true)
	require.Equal(t, "success", scan(a, codes[2]), "a fresh QR payload, by a clock that is 3 minutes behind")
	require.False(t, a.Online())
	require.Equal(t, "success", scan(a, codes[5]))
	require.Equal(t, "denied_wrong_event", scan(a, "v2.222222399ZZZZYYYYXXX.1.X"))
	south.out.Store(true)
	require.Equal(t, "success", scan(b, codes[5]))
	require.Equal(t, "success", scan(b, codes[7]))
	require.Equal(t, "undecided", scan(b, "K7M2QX"), "a door code")

	t.Log("back")
	north.out.Store(false)
	require.NoError(t, a.Sync(t.Context()))
	require.True(t, a.Online())
	require.Empty(t, a.LetInWrongly())
	south.out.Store(false)
	require.NoError(t, b.Sync(t.Context()))
	wrong := b.LetInWrongly()
	require.Len(t, wrong, 1)
	require.Equal(t, codes[5], wrong[0].Scan.Code)
	require.Equal(t, "denied_duplicate Gate a", wrong[0].Told.Status+" "+wrong[0].Told.FirstGate)
	require.WithinDuration(t, time.Now(), wrong[0].Told.FirstAt, time.Minute)

	t.Log("an answer that never comes is no second admission")
	north.deaf.Store(true)
	require.Equal(t, "success", scan(a, codes[9]))
	north.deaf.Store(false)
	require.NoError(t, a.Sync(t.Context()))
	require.Empty(t, a.LetInWrongly())
	require.Equal(t, gate.Counts{Admitted: 4, Denied: 2, AdmittedAlone: 3, DeniedAlone: 1, Unanswered: 1}, a.Counts())
	require.Equal(t, gate.Counts{Admitted: 2, Denied: 1, AdmittedAlone: 2}, b.Counts())
	stats := s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "")
	require.Equal(t, "5", stats.Str("checkedIn"), "five tickets were shown that are good")
}

// TestGateAsksAgain types a door code again whose answer was lost: the service repeats its verdict, and the guest is
// not a duplicate of herself.
func TestGateAsksAgain(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.Sell(nil, nodetest.TypeBody(0, 10))
	order := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 2)).Is(201, "")
	var c cable
	d, err := gate.Open(gate.Config{
		URL: s.URL, Event: event, Key: s.Token, Gate: "North", Name: "a", Typed: true, Dir: t.TempDir(),
		Client: &http.Client{Transport: &c}, Now: time.Now, Patience: 10 * time.Second,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	require.NoError(t, d.Sync(t.Context()))
	scan := func(ticket int) (status, request string) {
		t.Helper()
		v, err := d.Scan(t.Context(), order.Str(fmt.Sprintf("tickets.%d.shortCode", ticket)), false)
		require.NoError(t, err)
		return v.Status, c.last()
	}
	c.deaf.Store(true)
	status, first := scan(0)
	require.Equal(t, "undecided", status)
	c.deaf.Store(false)
	require.NoError(t, d.Sync(t.Context()))
	status, other := scan(1)
	require.Equal(t, "success", status)
	require.NotEqual(t, first, other, "another guest")
	status, again := scan(0)
	require.Equal(t, "success", status)
	require.Equal(t, first, again)
	_, third := scan(0)
	require.NotEqual(t, first, third, "whoever shows the code after that is judged anew")
	require.Equal(t, "2", s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "").Str("scanned"))
}

// TestGateDeviceForgetsNothing cuts a device's power while it is offline.
func TestGateDeviceForgetsNothing(t *testing.T) {
	t.Parallel()
	s, event, codes, _ := atGate(t)
	var c cable
	cfg := gate.Config{
		URL: s.URL, Event: event, Key: s.Token, Gate: "North", Name: "a", Typed: true, Dir: t.TempDir(),
		Client: &http.Client{Transport: &c}, Now: func() time.Time { return time.Now().Add(-3 * time.Minute) }, Patience: 10 * time.Second,
	}
	open := func() *gate.Device {
		d, err := gate.Open(cfg)
		require.NoError(t, err)
		return d
	}
	scan := func(d *gate.Device, code string) string {
		v, err := d.Scan(t.Context(), code, false)
		require.NoError(t, err)
		return v.Status
	}
	d := open()
	require.NoError(t, d.Sync(t.Context()))
	require.Equal(t, "success", scan(d, codes[1]))
	c.out.Store(true)
	require.Equal(t, "success", scan(d, codes[3]))
	require.NoError(t, d.Close())

	d = open()
	require.Equal(t, gate.Counts{Admitted: 2, AdmittedAlone: 1, Waiting: 1}, d.Counts())
	cfg.Now = func() time.Time { return time.Now().Add(-3*time.Minute + 10*time.Second) } // the same codes, ten seconds later
	require.NoError(t, d.Close())
	d = open()
	require.Equal(t, "denied_duplicate", scan(d, codes[1]))
	require.Equal(t, "denied_duplicate", scan(d, codes[3]))
	require.Equal(t, "success", scan(d, codes[4]), "a QR payload, by the clock as it was corrected")
	c.out.Store(false)
	require.NoError(t, d.Sync(t.Context()))
	require.Equal(t, gate.Counts{Admitted: 3, Denied: 2, AdmittedAlone: 2, DeniedAlone: 2}, d.Counts())
	require.Empty(t, d.LetInWrongly())
	require.NoError(t, d.Close())
	require.Equal(t, "3", s.Own("GET", "/checkin/event/"+event+"/stats", nil).Is(200, "").Str("checkedIn"))
}

// TestGateNames gives a device names that the service does not take: nobody's ticket is denied for
// them.
func TestGateNames(t *testing.T) {
	t.Parallel()
	s, event, codes, _ := atGate(t)
	open := func(gateName, name string) (*gate.Device, error) {
		return gate.Open(gate.Config{
			URL: s.URL, Event: event, Key: s.Token, Gate: gateName, Name: name, Dir: t.TempDir(),
			Client: http.DefaultClient, Now: time.Now, Patience: 10 * time.Second,
		})
	}
	_, err := open(strings.Repeat("ü", 101), "a")
	require.ErrorContains(t, err, "name of the gate has 101 characters")
	_, err = open("North", strings.Repeat("x", 101))
	require.ErrorContains(t, err, "name of the device has 101 characters")
	d, err := open(strings.Repeat("ü", 100), "a")
	require.NoError(t, err)
	require.NoError(t, d.Sync(t.Context()))
	v, err := d.Scan(t.Context(), codes[0], false)
	require.NoError(t, err)
	require.Equal(t, "success", v.Status)
	require.NoError(t, d.Close())

	t.Log("a name that the service refuses for another reason")
	d, err = open("North\x00", "b")
	require.NoError(t, err)
	require.NoError(t, d.Sync(t.Context()))
	v, err = d.Scan(t.Context(), codes[2], false)
	require.ErrorContains(t, err, "gateName")
	require.Equal(t, "undecided", v.Status)
	require.NoError(t, d.Close())
}

// TestGateCommand types codes at a terminal.
func TestGateCommand(t *testing.T) {
	t.Parallel()
	s, event, codes, _ := atGate(t)
	keys, typed := io.Pipe()
	screen, shown := io.Pipe()
	cmd := gateCmd{
		URL: s.URL, Key: s.Token, Event: event, Gate: "North", Device: "a", Dir: t.TempDir(), Every: time.Minute, Patience: 10 * time.Second,
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.serve(t.Context(), keys, shown)
		_ = shown.Close()
	}()
	lines := bufio.NewScanner(screen)
	says := func() string {
		require.True(t, lines.Scan())
		return strings.TrimSpace(lines.Text())
	}
	require.Equal(t, "online", says())
	for _, c := range []struct{ code, want string }{
		{codes[0], "COME IN"},
		{codes[3], "COME IN"},
		{strings.Split(codes[5], ".")[1], "NO denied_wrong_event This code is not a ticket of this event."}, // the pass id alone
		{"hello", "NO denied_wrong_event This code is not a ticket of this event."},
	} {
		_, err := io.WriteString(typed, c.code+"\n")
		require.NoError(t, err)
		require.Equal(t, c.want, says())
	}
	require.NoError(t, typed.Close())
	require.Equal(t, "2 let in, 0 of them offline, 0 of those not told yet, 0 let in wrongly; 2 denied", says())
	require.NoError(t, <-ended)
}
