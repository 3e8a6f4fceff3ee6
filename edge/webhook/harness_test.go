package webhook_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/secrets"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/publicfacts"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// world is a database with an organization whose endpoints listen here.
type world struct {
	t       *testing.T
	pool    *pgxpool.Pool
	store   *deliveries.Store
	secrets *secrets.Master
	org     int64
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, pool: persisttest.Migrated(t)}
	var err error
	w.store, err = deliveries.New(w.pool)
	require.NoError(t, err)
	key := sha256.Sum256([]byte("master"))
	w.secrets, err = secrets.New(key[:])
	require.NoError(t, err)
	require.NoError(t, w.pool.QueryRow(t.Context(), `INSERT INTO organizations (name, slug) VALUES ('x', $1) RETURNING id`, rand.Text()).Scan(&w.org))
	return w
}

// start starts a node's deliverer, stopped when the test ends.
func (w *world) start(changes ...func(*webhook.Config)) *webhook.Deliverer {
	w.t.Helper()
	cfg := webhook.Config{
		Store: w.store, Secrets: w.secrets, Targets: webhook.NewTargets(true), Node: "node-1", Log: discard,
	}
	for _, change := range changes {
		change(&cfg)
	}
	d := webhook.Start(cfg)
	var once sync.Once
	w.t.Cleanup(func() {
		once.Do(func() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			require.NoError(w.t, d.Stop(ctx))
		})
	})
	return d
}

// create makes an endpoint and returns it with its secret.
func (w *world) create(url string) (*deliveries.Endpoint, string) {
	w.t.Helper()
	secret, hint := secrets.NewWebhookSecret()
	e, err := w.store.Create(w.t.Context(), uuid.New(), &deliveries.Endpoint{
		Org: w.org, URL: url, Events: []string{deliveries.All}, Secret: webhook.SealSecret(w.secrets, w.org, secret), Hint: hint,
	})
	require.NoError(w.t, err)
	return e, secret
}

// facts are n of a stream, from a seq on.
func (w *world) facts(stream, from int64, n int) []publicfacts.Fact {
	facts := make([]publicfacts.Fact, n)
	for i := range facts {
		seq := from + int64(i)
		facts[i] = publicfacts.Fact{
			ID: fmt.Sprintf("evt_%d_%d", stream, seq), Org: w.org, Type: "order.created", Stream: stream, Aggregate: "event/1/1", Seq: seq,
			At: time.Now(), Data: fmt.Appendf(nil, `{"order":{"id":"%d-%d"}}`, stream, seq),
		}
	}
	return facts
}

// tell puts facts into their table and fans them out.
func (w *world) tell(facts []publicfacts.Fact) {
	w.t.Helper()
	require.NoError(w.t, pgx.BeginFunc(w.t.Context(), w.pool, func(tx pgx.Tx) error {
		for i := range facts {
			f := &facts[i]
			if err := tx.QueryRow(w.t.Context(), `INSERT INTO facts (org, stream, seq, at, id, type, aggregate, data)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING position`, f.Org, f.Stream, f.Seq, f.At, f.ID, f.Type, f.Aggregate,
				w.secrets.Seal("fact", []byte(f.ID), f.Data)).Scan(&f.Position); err != nil {
				return err
			}
		}
		return w.store.FanOut(w.t.Context(), tx, facts)
	}))
}

// history is what an endpoint was sent, the oldest first.
func (w *world) history(endpoint int64) []*deliveries.Delivery {
	w.t.Helper()
	all, err := w.store.Deliveries(w.t.Context(), endpoint, 0, 10_000)
	require.NoError(w.t, err)
	out := make([]*deliveries.Delivery, len(all))
	for i, d := range all {
		out[len(all)-1-i] = d
	}
	return out
}

// settled waits until no delivery of an endpoint has a status.
func (w *world) settled(d *webhook.Deliverer, endpoint int64, status string) {
	w.t.Helper()
	d.Wake()
	require.Eventually(w.t, func() bool {
		var n int
		err := w.pool.QueryRow(w.t.Context(), `SELECT count(*) FROM webhook_deliveries WHERE endpoint = $1 AND status = $2`, endpoint, status).Scan(&n)
		return err == nil && n == 0
	}, time.Minute, 5*time.Millisecond, "of status %s", status)
}

// letter is a delivery as it arrives.
type letter struct {
	path, delivery string
	attempt        int
	header         http.Header
	raw            []byte
	ID             string          `json:"id"`
	Type           string          `json:"type"`
	Created        time.Time       `json:"created"`
	Seq            int64           `json:"seq"`
	Data           json.RawMessage `json:"data"`
}

// stream is that of the letter's fact, by its id.
func (l *letter) stream() string { return strings.Split(l.ID, "_")[1] }

// inbox is a server that keeps what it gets and answers as answer says.
type inbox struct {
	*httptest.Server
	mu  sync.Mutex
	got []*letter
	new chan *letter // has room for all
}

func receive(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, l *letter)) *inbox {
	t.Helper()
	in := &inbox{new: make(chan *letter, 100_000)}
	in.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := &letter{path: r.URL.Path, delivery: r.Header.Get("X-Service-Delivery"), header: r.Header}
		l.attempt, _ = strconv.Atoi(r.Header.Get("X-Service-Attempt"))
		var err error
		if l.raw, err = io.ReadAll(r.Body); err != nil {
			return
		}
		if err := json.Unmarshal(l.raw, l); err != nil {
			t.Errorf("body %s: %v", l.raw, err)
		}
		in.mu.Lock()
		in.got = append(in.got, l)
		in.mu.Unlock()
		in.new <- l
		if answer != nil {
			answer(w, r, l)
		}
	}))
	t.Cleanup(func() {
		in.CloseClientConnections()
		in.Close()
	})
	return in
}

// all is what has arrived.
func (in *inbox) all() []*letter {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([]*letter(nil), in.got...)
}

// next waits for what arrives next.
func (in *inbox) next(t *testing.T) *letter {
	t.Helper()
	select {
	case l := <-in.new:
		return l
	case <-time.After(time.Minute):
		require.Fail(t, "nothing arrives")
		return nil
	}
}

// verified reports whether a letter carries the signature of a secret, made as a
// receiver makes it.
func verified(t *testing.T, l *letter, secret string) bool {
	t.Helper()
	var at int64
	var sum string
	_, err := fmt.Sscanf(strings.ReplaceAll(l.header.Get("X-Service-Signature"), ",", " "), "t=%d v1=%s", &at, &sum)
	require.NoError(t, err)
	require.Len(t, sum, hex.EncodedLen(sha256.Size))
	return webhook.Sign(secret, time.Unix(at, 0), l.raw) == l.header.Get("X-Service-Signature")
}

var discard = slog.New(slog.DiscardHandler)
