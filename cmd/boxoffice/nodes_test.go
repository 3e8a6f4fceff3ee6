package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// clustered makes a node a member of the cluster of a database.
func clustered(name, database string, more ...func(*config)) func(*config) {
	return func(c *config) {
		c.Cluster, c.Node, c.LinkListen = "postgres", name, "127.0.0.1:0"
		c.Beat, c.Lease = 50*time.Millisecond, 10*time.Second // a busy machine kills nobody
		if database != "" {
			c.DatabaseURL = database
		}
		for _, change := range more {
			change(c)
		}
	}
}

// certificates writes a node's certificate, its key, and the authority's.
func certificates(t *testing.T) func(*config) {
	dir := t.TempDir()
	save := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, // authority and node at once
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return func(cfg *config) {
		cfg.LinkCert, cfg.LinkKey = save("tls.crt", "CERTIFICATE", der), save("tls.key", "PRIVATE KEY", private)
		cfg.LinkCA = save("ca.crt", "CERTIFICATE", der)
	}
}

func TestLinkTLSNamesTheKnob(t *testing.T) {
	t.Parallel()
	good := &config{}
	certificates(t)(good)
	for _, c := range []struct {
		change func(*config)
		knob   string
	}{
		{func(c *config) { c.LinkCert = "" }, "BOXOFFICE_LINK_CERT"},
		{func(c *config) { c.LinkKey = "/nowhere" }, "BOXOFFICE_LINK_KEY"},
		{func(c *config) { c.LinkCA = "" }, "BOXOFFICE_LINK_CA"},
		{func(c *config) { c.LinkCA = c.LinkKey }, "BOXOFFICE_LINK_CA"},
	} {
		cfg := *good
		c.change(&cfg)
		_, err := cfg.linkTLS()
		require.ErrorContains(t, err, c.knob)
	}
	tls, err := (&config{}).linkTLS()
	require.NoError(t, err)
	require.Nil(t, tls, "in the clear")
}

// value is a metric's, the sum over its labels.
func (s *shop) value(name string) (sum float64) {
	s.t.Helper()
	for line := range strings.Lines(s.metric()) {
		fields := strings.Fields(line)
		if family, _, _ := strings.Cut(fields[0], "{"); family == name {
			v, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			require.NoError(s.t, err)
			sum += v
		}
	}
	return sum
}

// settles waits until each of the nodes has links to all others.
func settles(t *testing.T, nodes ...*shop) {
	t.Helper()
	for _, s := range nodes {
		require.Eventually(t, func() bool {
			return s.value("boxoffice_members") == float64(len(nodes)) && s.value("boxoffice_links_up") == float64(len(nodes)-1) && s.value("boxoffice_ready") == 1
		}, 30*time.Second, 20*time.Millisecond, s.cfg.Node)
	}
}

// surely is own, again and again while a busy machine answers 503.
func (s *shop) surely(method, path string, body any, status int) answer {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		a := s.own(method, path, body)
		if a.status != http.StatusServiceUnavailable || time.Now().After(deadline) {
			return a.is(status, "")
		}
	}
}

// free puts free tickets on sale.
func (s *shop) free(quantity int) (event, ticketType string) {
	s.t.Helper()
	event = s.surely("POST", "/organizer/events", eventBody(), 201).str("id")
	ticketType = s.surely("POST", "/organizer/events/"+event+"/tickets", with(typeBody(0, quantity), object{"type": "free"}), 201).str("id")
	s.surely("POST", "/organizer/events/"+event+"/publish", nil, 200)
	return event, ticketType
}

// Two nodes with certificates, as files, share the work: what one sells the other
// shows, and both say how they stand.
func TestNodesOverMutualTLS(t *testing.T) {
	t.Parallel()
	certs := certificates(t)
	a := open(t, clustered("a", "", certs))
	b := open(t, clustered("b", a.cfg.DatabaseURL, certs))
	settles(t, a, b)
	for range 8 { // some on each
		event, ticketType := a.free(10)
		b.token = a.token // one organizer
		b.surely("POST", "/orders", orderBody("ada@example.org", ticketType, 2), 201)
		require.Equal(t, "8", a.surely("GET", "/events/"+event+"/tickets", nil, 200).str("items.0.available"))
	}
	require.Positive(t, a.value("boxoffice_actors"))
	require.Positive(t, b.value("boxoffice_actors"))
	require.Zero(t, a.value("boxoffice_links_refused_total"))
}

// rush is buyers of free tickets, who come again under their key until they are
// told what became of it.
type rush struct {
	t      *testing.T
	url    func() string // of the next try
	done   chan struct{}
	buyers sync.WaitGroup
	sold   sync.Map // ticket type -> *atomic.Int64
	total  atomic.Int64
	other  sync.Map // answers that are neither success nor "come again"
}

func startRush(t *testing.T, buyers int, types []string, url func() string) *rush {
	r := &rush{t: t, url: url, done: make(chan struct{})}
	for _, id := range types {
		r.sold.Store(id, new(atomic.Int64))
	}
	for i := range buyers {
		r.buyers.Go(func() {
			for n := i; ; n++ {
				select {
				case <-r.done:
					return
				default:
					r.buy(types[n%len(types)])
				}
			}
		})
	}
	return r
}

// buy places one order, whatever it takes.
func (r *rush) buy(ticketType string) {
	body, err := json.Marshal(orderBody(uuid.NewString()+"@example.org", ticketType, 1))
	if err != nil {
		r.other.Store(err.Error(), true)
		return
	}
	key := uuid.NewString()
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, r.url()+"/orders", bytes.NewReader(body))
		if err != nil {
			r.other.Store(err.Error(), true)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			continue // the node is gone: another
		}
		text, _ := io.ReadAll(res.Body) // its connection may be cut
		_ = res.Body.Close()            // read
		switch res.StatusCode {
		case http.StatusCreated, http.StatusOK:
			sold, _ := r.sold.Load(ticketType)
			sold.(*atomic.Int64).Add(1)
			r.total.Add(1)
			return
		case http.StatusServiceUnavailable:
			if res.Header.Get("Retry-After") == "" {
				r.other.Store("503 without Retry-After: "+string(text), true)
			}
			<-time.After(20 * time.Millisecond)
		case http.StatusConflict: // of the try before, which nobody waits for
			<-time.After(20 * time.Millisecond)
		default:
			r.other.Store(res.Status+" "+string(text), true)
			return
		}
	}
	r.other.Store("an order got no answer within a minute", true)
}

func (r *rush) end() {
	r.t.Helper()
	close(r.done)
	r.buyers.Wait()
	r.other.Range(func(what, _ any) bool {
		require.Fail(r.t, "a buyer was told", "%v", what)
		return true
	})
}

// atLeast waits until so many more orders are placed.
func (r *rush) atLeast(more int64) {
	r.t.Helper()
	from := r.total.Load()
	require.Eventually(r.t, func() bool { return r.total.Load() >= from+more }, 60*time.Second, 5*time.Millisecond)
}

// stopsWithin bounds an orderly stop under load: 10 s on a machine of its own.
const stopsWithin = 20 * time.Second

// A node under load stops in order and in time, and the other one has everything:
// no order fails that is repeated as told, and each has one effect. The package's
// search for leaks finds no goroutine of it.
func TestANodeStopsUnderLoad(t *testing.T) {
	t.Parallel()
	a := open(t, clustered("a", ""))
	b := open(t, clustered("b", a.cfg.DatabaseURL))
	settles(t, a, b)
	var types []string
	events := map[string]string{}
	for range 6 {
		event, ticketType := a.free(100_000)
		types = append(types, ticketType)
		events[ticketType] = event
	}
	var stopped atomic.Bool
	var turn atomic.Int64
	r := startRush(t, 12, types, func() string {
		if stopped.Load() || turn.Add(1)%2 == 0 {
			return b.url
		}
		return a.url
	})
	r.atLeast(50)
	began := time.Now()
	a.handOver(t.Context())
	handed := time.Since(began)
	require.Zero(t, a.cluster.Actors(), "all were handed over")
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	require.NoError(t, a.stop(ctx))
	took := time.Since(began)
	a.stops, a.journal = nil, nil // for the end of the test
	stopped.Store(true)
	require.Less(t, took, stopsWithin)
	t.Logf("handed over in %s, stopped in %s, with %d orders placed meanwhile and before", handed.Round(time.Millisecond), took.Round(time.Millisecond), r.total.Load())
	r.atLeast(50)
	r.end()
	for _, id := range types {
		sold, _ := r.sold.Load(id)
		available := b.call("GET", "/events/"+events[id]+"/tickets", nil).is(200, "").data("items.0.available")
		require.EqualValues(t, 100_000-sold.(*atomic.Int64).Load(), available)
	}
	require.Eventually(t, func() bool { return b.value("boxoffice_members") == 1 }, 30*time.Second, 20*time.Millisecond)
}
