package gate

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// service answers the requests of a device as the service does, from what the test sets.
type service struct {
	manifest Manifest
	away     func() // makes the service take no more connections
	dies     bool   // whether the service dies once it has judged a scan, before its answer

	mu       sync.Mutex // a service that dies may still be noting a request when the device has given up
	requests []string   // the ids of the scans that it has judged
}

// judged returns the ids of the scans that the service has judged.
func (s *service) judged() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers with the manifest, or lets everybody in.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var data any = s.manifest
	if r.Method == http.MethodPost {
		s.mu.Lock()
		s.requests = append(s.requests, r.Header.Get("Idempotency-Key"))
		s.mu.Unlock()
		data = map[string]string{"status": Success}
		if s.dies {
			s.away()
			panic(http.ErrAbortHandler) // the connection breaks without an answer
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data}) // the device would notice
}

const salt, guest, other = "salt", "P2.K7M2QX9ABCDEFGH23456.x", "P2.K7M2QX9ABCDEFGH23457.x"

// openAtGate opens a device that knows two tickets. Its clock stands still.
func openAtGate(t *testing.T) (*Device, *service, func() *Device) {
	t.Helper()
	s := &service{manifest: Manifest{Cursor: "1", Full: true, Salt: salt, Tickets: []Ticket{
		{Hash: hash(salt, guest[3:23], codeBytes), Status: "i"}, {Hash: hash(salt, other[3:23], codeBytes), Status: "i"},
	}}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.away = func() { _ = server.Listener.Close() }
	cfg := Config{URL: server.URL, Dir: t.TempDir(), Client: server.Client(), Now: func() time.Time { return time.Unix(1_800_000_000, 0) }, Patience: time.Minute}
	open := func() *Device {
		d, err := Open(cfg)
		require.NoError(t, err)
		t.Cleanup(func() { _ = d.Close() }) // some tests close it themselves
		return d
	}
	d := open()
	require.NoError(t, d.Sync(t.Context()))
	return d, s, open
}

// fillDisk makes a file of the device refuse what is written, after it has taken half a line. The function that it
// returns makes room again.
func fillDisk(t *testing.T, dir, name string, l *lines) (empty func()) {
	t.Helper()
	whole, path := l.File, filepath.Join(dir, name)
	half, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = half.WriteString(`{"half a line`)
	require.NoError(t, err)
	require.NoError(t, half.Close())
	l.File, err = os.Open(path)
	require.NoError(t, err)
	return func() {
		require.NoError(t, l.Close())
		l.File = whole
	}
}

// TestVerdictThatIsNotStored scans a guest offline while the device's disk is full. Nobody is let in, so the device
// must not count the passage, nor tell the service about it. When there is room again, the guest comes in.
func TestVerdictThatIsNotStored(t *testing.T) {
	t.Parallel()
	d, _, open := openAtGate(t)
	d.online = false
	empty := fillDisk(t, d.cfg.Dir, logFile, d.store.log)
	for range 2 {
		v, err := d.Scan(t.Context(), guest, false)
		require.Error(t, err)
		require.Equal(t, Verdict{Status: Undecided}, v)
	}
	require.Equal(t, Counts{}, d.Counts())

	empty()
	for _, code := range []string{other, guest} {
		v, err := d.Scan(t.Context(), code, false)
		require.NoError(t, err)
		require.Equal(t, Verdict{Status: Success}, v)
	}
	want := Counts{Admitted: 2, AdmittedAlone: 2, Waiting: 2}
	require.Equal(t, want, d.Counts())
	require.NoError(t, d.Close())
	require.Equal(t, want, open().Counts())
}

// TestAnswerThatIsNotStored scans a guest online while the device's disk is full. The service has let the guest in, but
// the person at the gate has not. When the code is shown again, the device asks under the same request.
func TestAnswerThatIsNotStored(t *testing.T) {
	t.Parallel()
	d, s, open := openAtGate(t)
	empty := fillDisk(t, d.cfg.Dir, logFile, d.store.log)
	for range 2 {
		v, err := d.Scan(t.Context(), guest, false)
		require.Error(t, err)
		require.Equal(t, Verdict{Status: Undecided}, v)
	}
	require.Equal(t, Counts{}, d.Counts())

	empty()
	v, err := d.Scan(t.Context(), guest, false)
	require.NoError(t, err)
	require.Equal(t, Verdict{Status: Success}, v)
	require.Len(t, s.judged(), 3)
	require.Equal(t, []string{s.judged()[0], s.judged()[0], s.judged()[0]}, s.judged())
	require.NoError(t, d.Close())
	require.Equal(t, Counts{Admitted: 1}, open().Counts())
}

// TestManifestThatIsNotStored fetches a change of the manifest while the device's disk is full. The device asks for the
// change again, so that a later process has it too.
func TestManifestThatIsNotStored(t *testing.T) {
	t.Parallel()
	d, s, open := openAtGate(t)
	s.manifest = Manifest{Cursor: "2", Salt: salt, Tickets: []Ticket{{Hash: hash(salt, guest[3:23], codeBytes), Status: "x"}}}
	empty := fillDisk(t, d.cfg.Dir, manifestsFile, d.store.manifests)
	require.Error(t, d.Sync(t.Context()))

	empty()
	require.NoError(t, d.Sync(t.Context()))
	require.NoError(t, d.Close())
	d = open()
	v, err := d.Scan(t.Context(), guest, false)
	require.NoError(t, err)
	require.Equal(t, Verdict{Status: Cancelled}, v)
}

// TestRequestIsUsedUntilItIsAnswered scans a guest whose first answer was not stored, and somebody with the same code a
// minute later. The service must judge the second person anew, so the device asks under another request.
func TestRequestIsUsedUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	d, s, _ := openAtGate(t)
	empty := fillDisk(t, d.cfg.Dir, logFile, d.store.log)
	_, err := d.Scan(t.Context(), guest, false)
	require.Error(t, err)
	empty()
	_, err = d.Scan(t.Context(), guest, false)
	require.NoError(t, err)
	d.cfg.Now = func() time.Time { return time.Unix(1_800_000_060, 0) }
	_, err = d.Scan(t.Context(), guest, false)
	require.NoError(t, err)
	require.Len(t, s.judged(), 3)
	require.Equal(t, s.judged()[0], s.judged()[1])
	require.NotEqual(t, s.judged()[1], s.judged()[2])
}

// TestServiceThatDiesBeforeItsAnswer loses the answer to a scan because the service dies. The connection was kept from an
// earlier request, so net/http tries to connect again and fails. The service has judged the scan all the same, so
// the device must ask under the same request when the service is back.
func TestServiceThatDiesBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	d, s, _ := openAtGate(t)
	s.dies = true
	v, err := d.Scan(t.Context(), guest, false)
	require.NoError(t, err)
	require.Equal(t, Verdict{Status: Success}, v)
	require.Equal(t, Counts{Admitted: 1, AdmittedAlone: 1, Unanswered: 1, Waiting: 1}, d.Counts())
	require.Equal(t, []string{d.waiting[0].Request}, s.judged())
}
