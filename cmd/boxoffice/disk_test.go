package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/disk"
	"boxoffice/persistence/persisttest"
)

// crowd is a number of buyers who each buy tickets of one type, one at a time, until they are
// stopped. A request that is answered 503 is repeated under its key.
type crowd struct {
	shop       *nodetest.Shop
	ticketType string
	stopped    atomic.Bool
	buyers     sync.WaitGroup
	refused    atomic.Int64 // answers of 503

	mu    sync.Mutex
	sold  []string // ids of acknowledged orders
	wrong []string // answers that nobody should get
}

// crowdSize is how many buyers there are.
const crowdSize = 8

func startCrowd(s *nodetest.Shop, ticketType string) *crowd {
	c := &crowd{shop: s, ticketType: ticketType}
	for range crowdSize {
		c.buyers.Go(func() {
			for !c.stopped.Load() {
				for key := uuid.NewString(); !c.buy(key) && s.T.Context().Err() == nil; {
					<-time.After(10 * time.Millisecond)
				}
			}
		})
	}
	s.T.Cleanup(c.stop)
	return c
}

// stop makes the buyers end with their current orders.
func (c *crowd) stop() {
	c.stopped.Store(true)
	c.buyers.Wait()
}

// buy sends an order. It returns false if the order has to be sent again.
func (c *crowd) buy(key string) bool {
	body := nodetest.Encode(c.shop.T, nodetest.OrderBody(key+"@example.org", c.ticketType, 1))
	req, err := http.NewRequestWithContext(c.shop.T.Context(), http.MethodPost, c.shop.URL+"/orders", strings.NewReader(body))
	if err != nil {
		return c.complain(err.Error())
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return c.complain(err.Error())
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return c.complain(err.Error())
	case res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "":
		c.refused.Add(1)
		return false
	case res.StatusCode != http.StatusCreated:
		return c.complain(fmt.Sprintf("%d %s", res.StatusCode, text))
	}
	var placed struct {
		Data struct{ ID string }
	}
	if err := json.Unmarshal(text, &placed); err != nil {
		return c.complain(err.Error())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sold = append(c.sold, placed.Data.ID)
	return true
}

func (c *crowd) complain(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, what)
	return true
}

// orders returns how many orders were acknowledged.
func (c *crowd) orders() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sold)
}

// auditSales stops the crowd, and checks that each acknowledged order is there and that nothing
// else was sold. By then every order that was asked for has been acknowledged.
func (c *crowd) auditSales(event string) {
	c.stop()
	t := c.shop.T
	require.Empty(t, c.wrong)
	require.NoError(t, c.shop.Settled(t.Context()))
	var found int
	require.NoError(t, c.shop.Pool().QueryRow(t.Context(), `SELECT count(*) FROM orders WHERE id = ANY($1::uuid[])`, c.sold).Scan(&found))
	require.Equal(t, len(c.sold), found)
	require.Equal(t, fmt.Sprint(diskTickets-len(c.sold)), c.shop.Available(event, 0))
	t.Logf("%d orders, all of them found; %d answers of 503", found, c.refused.Load())
}

// openOnDisk starts a node whose own Postgres is on a small disk.
func openOnDisk(t *testing.T, log io.Writer, dir string, warn, reserve uint) *nodetest.Shop {
	t.Helper()
	return nodetest.OpenLogged(t, slog.New(slog.NewTextHandler(log, nil)), func(c *node.Config) {
		c.DatabaseURL, c.DataDir, c.MailDir, c.DiskWarn, c.DiskReserve = "", dir, filepath.Join(dir, "mail"), warn, reserve
		c.LimitsScale = 1e6 // the crowd comes from one address
	})
}

// sells waits until more orders are acknowledged, and returns how long that took.
func (c *crowd) sells() time.Duration {
	began, before := time.Now(), c.orders()
	require.Eventually(c.shop.T, func() bool { return c.orders() > before+crowdSize }, time.Minute, 10*time.Millisecond)
	return time.Since(began)
}

// metric returns the value of a metric.
func metric(s *nodetest.Shop, name string) string {
	s.T.Helper()
	all, err := s.Registry().Gather()
	require.NoError(s.T, err)
	for _, f := range all {
		if f.GetName() == name {
			return fmt.Sprint(f.GetMetric()[0].GetGauge().GetValue())
		}
	}
	require.Fail(s.T, "no such metric", name)
	return ""
}

const diskTickets = 1_000_000

// leaveFree makes a file that leaves only so many megabytes of a small disk free.
func leaveFree(t *testing.T, dir string, megabytes int64) {
	t.Helper()
	room, err := disk.Look(dir)
	require.NoError(t, err)
	persisttest.Occupy(t, filepath.Join(dir, fmt.Sprint("all-but-", megabytes)), int64(room.Free>>20)-megabytes) //nolint:gosec // a small disk
}

// TestDiskFull fills the disk of a node's own Postgres while buyers buy. The node stops selling
// while there is still a reserve, says so everywhere, still shows what it has, and goes on when
// there is room.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := persisttest.SmallDisk(t, 200)
	log := &nodetest.LogBuffer{}
	s := openOnDisk(t, log, dir, 110, 64)
	status := func() string {
		t.Helper()
		program, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), program, "status")
		cmd.Env = append(os.Environ(), "BOXOFFICE_TEST_NODE=1", "BOXOFFICE_DATA_DIR="+dir, "BOXOFFICE_DISK_WARN_MB=110")
		b, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", b)
		return string(b)
	}
	event, ids := s.Sell(nil, nodetest.With(nodetest.TypeBody(0, diskTickets), nodetest.Object{"maxPerCustomer": 1}))
	require.NoError(t, s.Ready())
	require.Equal(t, "0", metric(s, "boxoffice_disk_full"))

	c := startCrowd(s, ids[0])
	c.sells()
	leaveFree(t, dir, 100) // two segments of Postgres's log above the reserve: enough time to see it
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "disk runs full") }, time.Minute, 10*time.Millisecond)
	require.NoError(t, s.Ready(), "it warns before")
	require.Regexp(t, `(?m)^low +\d+ MB +200 MB$`, status())
	leaveFree(t, dir, 50)
	require.Eventually(t, func() bool { return c.refused.Load() > 100 }, time.Minute, 10*time.Millisecond)
	t.Logf("full after %d orders", c.orders())

	require.ErrorContains(t, s.Ready(), "the disk is full")
	require.Contains(t, log.String(), "disk is full")
	require.Equal(t, "1", metric(s, "boxoffice_disk_full"))
	require.Regexp(t, `(?m)^full +\d+ MB +200 MB$`, status())
	s.Becomes(fmt.Sprint(diskTickets-c.orders()), func() string { return s.Available(event, 0) })
	s.Own("POST", "/organizer/events", nodetest.EventBody()).Is(503, "UNAVAILABLE")

	persisttest.Resize(t, dir, 400)
	t.Logf("sells again after %s", c.sells())
	require.NoError(t, s.Ready())
	c.auditSales(event)
}

// TestDiskFilledByOthers takes the last page of the disk from a node's own Postgres, which then
// ends again and again until there is room. The node survives that, however long it lasts.
func TestDiskFilledByOthers(t *testing.T) {
	t.Parallel()
	dir := persisttest.SmallDisk(t, 200)
	log := &nodetest.LogBuffer{}
	s := openOnDisk(t, log, dir, 0, 0) // no reserve helps, because others fill the disk
	event, ids := s.Sell(nil, nodetest.With(nodetest.TypeBody(0, diskTickets), nodetest.Object{"maxPerCustomer": 1}))
	c := startCrowd(s, ids[0])
	c.sells()
	s.Available(event, 0) // now the node has the page in memory
	rest := filepath.Join(dir, "rest")
	persisttest.Occupy(t, rest, 200)
	_, _ = s.Pool().Exec(t.Context(), `SELECT pg_switch_wal()`) // the next commit needs a segment; Postgres may end before it answers
	require.Eventually(t, func() bool { return s.Journal().Waiting() > 11*time.Second }, 2*time.Minute, 10*time.Millisecond)
	require.Contains(t, log.String(), "postgres did not start")
	lines := strings.Count(log.String(), "\n")
	select {
	case err := <-s.Journal().Failed():
		require.NoError(t, err, "the journal waits")
	default:
	}
	require.ErrorContains(t, s.Ready(), "the journal has waited")
	require.Equal(t, "0", metric(s, "boxoffice_ready"))
	s.Available(event, 0)
	require.Positive(t, c.refused.Load())

	require.NoError(t, os.Remove(rest))
	t.Logf("sells again after %s; %d lines in the log", c.sells(), lines)
	c.auditSales(event)
}
