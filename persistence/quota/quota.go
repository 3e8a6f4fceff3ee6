// Package quota counts the bytes that are written for each organization on a day of UTC, and refuses what is
// beyond its quota. It owns the table organization_bytes.
//
// A write must not wait for its own count. Each node counts in memory, and reads the table at an organization's
// first write. One goroutine adds what was counted to the table every flushEvery. So an organization may overrun
// its quota by what it writes within flushEvery on the other nodes, by at most maxPending on each; a node that
// crashes forgets as much. Stop adds what is left.
package quota

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/persistence/accounts"
	"boxoffice/persistence/panics"
)

const (
	flushEvery = 5 * time.Second // how often the bytes that are pending are added to the table
	flushTime  = 5 * time.Second // how long one addition to the table may take
	maxPending = 4 << 20         // how many bytes of an organization may wait to be added
)

// These are the most bytes that a new organization may write in a day. The quota rises once its mailbox is proven,
// and again once it has a paid order. Both are multiplied by Config.Scale.
const (
	Unproven = 50 << 20 // the quota until somebody has proven the mailbox
	Unpaid   = 2 << 30  // the quota until somebody has paid an order
)

// Config is what a Counter works with.
type Config struct {
	Pool  *pgxpool.Pool
	Log   *slog.Logger
	Full  func() bool // reports whether there is no room for more on the disk
	Scale float64     // multiplies Unproven and Unpaid; 0: there are no quotas
	Paid  int64       // how many bytes a day an organization may write once somebody has paid it
}

// Exceeded says that an organization has no room for a write.
type Exceeded struct {
	// Quota and Used are bytes of the day. Resets is when the next day begins.
	Quota  int64     `json:"quota"`
	Used   int64     `json:"used"`
	Resets time.Time `json:"resetsAt"`
}

// Error says how many bytes of the day are used.
func (e *Exceeded) Error() string {
	return fmt.Sprintf("quota: %d of %d bytes of the day are used", e.Used, e.Quota)
}

// Counter counts the bytes of all organizations. Any goroutine may call its methods.
type Counter struct {
	cfg    Config
	mu     sync.Mutex
	counts map[int64]*count // by organization; one that has not written lately has none
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended
}

// count is what an organization has written on a day.
type count struct {
	day     time.Time // the day of UTC that is counted, by its first moment
	used    int64     // bytes that all nodes have written, as far as this one knows
	pending int64     // how many of the bytes used this node has not begun to add to the table
	most    int64     // the quota in bytes, as the last read of the organization's trust found it
	idle    bool      // Count has counted nothing since the last flush; Note does not matter
}

// Start starts a counter. Stop ends it.
func Start(cfg Config) *Counter {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Counter{cfg: cfg, counts: make(map[int64]*count), cancel: cancel, done: make(chan struct{})}
	go c.run(ctx)
	return c
}

// Stop adds what is left to the table, unless the disk is full. Nothing may be counted after that.
func (c *Counter) Stop(ctx context.Context) error {
	c.cancel()
	<-c.done
	c.flush(ctx)
	return nil
}

func dayOf(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }

// Count counts bytes that are about to be written. The error is an *Exceeded if the organization has
// no room for them, and then they are not counted.
func (c *Counter) Count(ctx context.Context, org, bytes int64, now time.Time) error {
	if c.cfg.Scale == 0 || c.take(org, bytes, dayOf(now), false) == nil {
		return nil
	}
	if _, _, err := c.read(ctx, org, dayOf(now)); err != nil { // the quota may have risen, and the count may be too old
		return fmt.Errorf("quota of organization %d: %w", org, err)
	}
	if refused := c.take(org, bytes, dayOf(now), true); refused != nil {
		return refused
	}
	return nil
}

// Day is what an organization has written on a day of UTC, and the most that it may.
type Day struct {
	Used, Most int64     // bytes
	Ends       time.Time // when the next day begins
}

// Look returns what an organization has written today, on all nodes as far as the table knows and on this
// one. It returns nil if there is no quota.
func (c *Counter) Look(ctx context.Context, org int64, now time.Time) (*Day, error) {
	if c.cfg.Scale == 0 {
		return nil, nil //nolint:nilnil // there is no quota
	}
	day := dayOf(now)
	used, most, err := c.read(ctx, org, day)
	if err != nil {
		return nil, fmt.Errorf("quota of organization %d: %w", org, err)
	}
	return &Day{Used: used, Most: most, Ends: day.Add(24 * time.Hour)}, nil
}

// Note counts bytes that have been written without asking Count, such as the answer that is kept for repeats of
// a request. It never refuses. It leaves out organizations for which Count or Look was not called lately.
func (c *Counter) Note(org, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.counts[org]; k != nil {
		k.used, k.pending = k.used+bytes, k.pending+bytes
	}
}

// take counts bytes if this node's memory says that there is room for them. Unless fresh, it also refuses if
// more than maxPending bytes would be pending, because the memory may then be too far from the table. A refusal
// without numbers means that nothing is known of the day.
func (c *Counter) take(org, bytes int64, day time.Time, fresh bool) *Exceeded {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.counts[org]
	if k == nil || k.day != day {
		return &Exceeded{}
	}
	if k.used+bytes > k.most || !fresh && k.pending+bytes > maxPending {
		return &Exceeded{Quota: k.most, Used: k.used, Resets: day.Add(24 * time.Hour)}
	}
	k.used, k.pending, k.idle = k.used+bytes, k.pending+bytes, false
	return nil
}

// read adds what an organization has pending to the table, and then reads and returns how much all nodes have
// counted for it, and its quota.
func (c *Counter) read(ctx context.Context, org int64, day time.Time) (used, most int64, err error) {
	if err := c.add(ctx, c.takePending(org)); err != nil {
		return 0, 0, err
	}
	trust, err := accounts.ReadTrust(ctx, c.cfg.Pool, org)
	if err != nil {
		return 0, 0, err
	}
	const read = `SELECT coalesce(sum(bytes), 0)::bigint FROM organization_bytes WHERE org = $1 AND day = $2`
	if err := c.cfg.Pool.QueryRow(ctx, read, org, day).Scan(&used); err != nil {
		return 0, 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.counts[org]
	if k == nil || k.day != day { // what was pending of a day that is over does not matter any more
		k = &count{day: day}
		c.counts[org] = k
	}
	k.used, k.most = max(k.used, used), c.most(trust)
	return k.used, k.most, nil
}

// most returns the quota in bytes of an organization with this trust.
func (c *Counter) most(t accounts.Trust) int64 {
	switch {
	case !t.Proven:
		return int64(Unproven * c.cfg.Scale)
	case !t.Paid:
		return int64(Unpaid * c.cfg.Scale)
	}
	return c.cfg.Paid
}

// added is what is added to the table at a time. The slices belong together: the organization orgs[i] has written
// bytes[i] on days[i].
type added struct {
	orgs, bytes []int64
	days        []time.Time
}

// takePending returns what the organizations have pending, which then counts as pending no more.
func (c *Counter) takePending(orgs ...int64) (a added) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, org := range orgs {
		if k := c.counts[org]; k != nil && k.pending > 0 {
			a.orgs, a.bytes, a.days = append(a.orgs, org), append(a.bytes, k.pending), append(a.days, k.day)
			k.pending = 0
		}
	}
	return a
}

// add adds to the table. Bytes that could not be added are pending again.
func (c *Counter) add(ctx context.Context, a added) error {
	if len(a.orgs) == 0 {
		return nil
	}
	const add = `
INSERT INTO organization_bytes AS o (org, day, bytes) SELECT * FROM unnest($1::bigint[], $2::date[], $3::bigint[]) ORDER BY 1
ON CONFLICT (org, day) DO UPDATE SET bytes = o.bytes + excluded.bytes RETURNING org, day, bytes`
	rows, _ := c.cfg.Pool.Query(ctx, add, a.orgs, a.days, a.bytes) // CollectRows returns its error
	type total struct {
		Org   int64
		Day   time.Time
		Bytes int64
	}
	totals, err := pgx.CollectRows(rows, pgx.RowToStructByPos[total])
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		for i, org := range a.orgs {
			if k := c.counts[org]; k != nil && k.day.Equal(a.days[i]) {
				k.pending += a.bytes[i]
			}
		}
		return err
	}
	for _, t := range totals {
		if k := c.counts[t.Org]; k != nil && k.day.Equal(t.Day) {
			k.used = max(k.used, t.Bytes+k.pending)
		}
	}
	return nil
}

// run flushes until the counter is stopped. Stop makes the last flush itself.
func (c *Counter) run(ctx context.Context) {
	defer close(c.done)
	every := time.NewTicker(flushEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			c.flush(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// flush adds what is pending to the table, deletes the days before yesterday and forgets the organizations that
// have written nothing since the last flush. While the disk is full, it does nothing. It deletes no days if it
// has forgotten every organization. The end of ctx does not cut it off: it has flushTime in any case, because
// what was counted would be lost.
func (c *Counter) flush(ctx context.Context) {
	if c.cfg.Full() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	err := panics.Catch(c.cfg.Log, "bytes of organizations", func() error {
		orgs := c.awake()
		if len(orgs) == 0 {
			return nil
		}
		if err := c.add(ctx, c.takePending(orgs...)); err != nil {
			return err
		}
		_, err := c.cfg.Pool.Exec(ctx, `DELETE FROM organization_bytes WHERE day < (now() AT TIME ZONE 'UTC')::date - 1`)
		return err
	})
	if err != nil {
		c.cfg.Log.WarnContext(ctx, "bytes of organizations not counted", slog.Any("error", err))
	}
}

// awake returns the organizations that have written since the last flush, or have bytes pending, and forgets
// the others. An organization that is forgotten is read from the table at its next write.
func (c *Counter) awake() (orgs []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for org, k := range c.counts {
		if k.idle && k.pending == 0 {
			delete(c.counts, org)
			continue
		}
		k.idle = true
		orgs = append(orgs, org)
	}
	return orgs
}
