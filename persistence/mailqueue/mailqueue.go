// Package mailqueue keeps the mails that are to be sent, as River jobs in Postgres, until they are sent or given
// up. It decides which mails a fact causes (facts.go), which people get a mail about an event's changes
// (announcements.go), and how often a mail is tried (worker.go). The node gives it a Send, which decides what a
// mail says and how it is sent.
//
// Handlers call Add or AddIn. The follower of facts calls Apply in its transaction, so that a fact's mails are
// queued exactly once. A mail with a Subject is queued only once, ever. If a process dies while it sends a mail,
// another process sends the mail, so a mail may, rarely, be sent twice, with the same Message-ID.
//
// Mails that nobody pays for are capped (caps.go).
//
// It owns the tables mails, announced and mail_caps, and the jobs of its queues. It starts no goroutines: those
// belong to River's client, which the node starts and stops.
package mailqueue

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"boxoffice/engine"
	"boxoffice/persistence/outreach"
	"boxoffice/persistence/readmodel"
)

const (
	// promptMax is how many prompt mails may wait for a worker before Add refuses more. Rate
	// limits keep ordinary people far below it; it protects the table from a flood that comes from
	// many addresses.
	promptMax = 10_000
	// countEvery is how long a count of the waiting mails is used before somebody counts again.
	countEvery = time.Second
	// countTime is how long one count may take before it is given up.
	countTime = 2 * time.Second
)

// Config is what New needs. Pool and Log must be set.
type Config struct {
	Pool *pgxpool.Pool
	Log  *slog.Logger
	// Settle is how long an event must be left alone before its holders hear of a change, so that
	// an organizer who corrects a mistake at once mails nobody. 0: 10 minutes.
	Settle time.Duration
	// Busy reports whether the node has more urgent work than mails that can wait, such as a rush.
	// The workers of order and bulk mails then slow down. nil means never.
	Busy func() bool
	// Scale multiplies the caps of mails that nobody pays for. 0: 1.
	Scale float64
}

// Queue queues mails and works the jobs that write and send them. Its methods may be called by any
// goroutine.
type Queue struct {
	pool     *pgxpool.Pool
	outreach *outreach.Store
	jobs     *river.Client[pgx.Tx] // only inserts jobs; it works none
	model    *readmodel.Model
	log      *slog.Logger
	settle   time.Duration
	busy     func() bool
	scale    float64

	// mu guards counted and waiting.
	mu      sync.Mutex
	counted time.Time // when the last count began
	waiting waiting   // the result of the last count

	// These counters have one label, the Template of the mail.
	sent, dead, deferred, capped *prometheus.CounterVec
	queued                       prometheus.GaugeFunc
}

// New makes a queue on a database whose migrations have run. It starts nothing: Register gives the
// workers to a River client.
func New(cfg Config) (*Queue, error) {
	// River announces new jobs to its workers at most once per FetchCooldown. With the default of
	// River, a login code that is queued right after another mail would wait for the workers' next
	// poll.
	jobs, err := river.NewClient(riverpgxv5.New(cfg.Pool), &river.Config{
		Logger: slog.New(slog.DiscardHandler), FetchCooldown: time.Millisecond, SkipUnknownJobCheck: true,
	})
	if err != nil {
		return nil, fmt.Errorf("mailqueue: %w", err)
	}
	o := &Queue{pool: cfg.Pool, outreach: outreach.New(cfg.Pool), jobs: jobs, model: readmodel.New(cfg.Pool), log: cfg.Log, settle: cfg.Settle, busy: cfg.Busy}
	if o.settle == 0 {
		o.settle = 10 * time.Minute
	}
	if o.busy == nil {
		o.busy = func() bool { return false }
	}
	if o.scale = cfg.Scale; o.scale == 0 {
		o.scale = 1
	}
	o.makeMetrics()
	return o, nil
}

// Add queues a mail, which is sent soon. The mail is durable when Add returns. If too many prompt
// mails wait already, Add refuses with OVERLOADED.
func (o *Queue) Add(ctx context.Context, l Mail) error {
	waiting, err := o.count(ctx)
	if err != nil {
		return err
	}
	if waiting.prompt >= promptMax {
		return engine.Refuse(engine.Overloaded, nil)
	}
	return pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error { return o.AddIn(ctx, tx, l) })
}

// AddIn queues mails within the caller's transaction, and sets their IDs. It leaves out a mail
// whose Subject was queued before, in this call or in any earlier transaction.
func (o *Queue) AddIn(ctx context.Context, tx pgx.Tx, mails ...Mail) error {
	var ids [][16]byte
	for i := range mails {
		l := &mails[i]
		l.numberMail()
		if l.Subject == "" {
			continue
		}
		var id [16]byte
		if _, err := hex.Decode(id[:], []byte(l.ID)); err != nil {
			return fmt.Errorf("mailqueue: id of a mail: %w", err)
		}
		ids = append(ids, id)
	}
	fresh, err := noteUnseen(ctx, tx, ids)
	if err != nil {
		return err
	}
	// The mails keep their order, so that the first of two with the same Subject is the one that
	// is queued.
	var jobs []river.InsertManyParams
	for i := range mails {
		l := &mails[i]
		if l.Subject == "" || fresh[l.ID] {
			delete(fresh, l.ID) // two mails of one call have the same Subject
			job := river.InsertManyParams{Args: *l}
			if l.NotBefore != 0 {
				job.InsertOpts = &river.InsertOpts{ScheduledAt: time.UnixMilli(l.NotBefore)}
			}
			jobs = append(jobs, job)
		}
	}
	return o.insert(ctx, tx, jobs)
}

// noteUnseen stores the IDs of mails with a Subject, and returns those that were not stored before,
// in hexadecimal. A concurrent transaction that stores the same ID makes this one wait for its end,
// so only one of them gets the ID.
func noteUnseen(ctx context.Context, tx pgx.Tx, ids [][16]byte) (map[string]bool, error) {
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // a map that nobody writes to
	}
	const note = `INSERT INTO mails (id) SELECT unnest($1::uuid[]) ON CONFLICT DO NOTHING RETURNING id`
	rows, err := tx.Query(ctx, note, ids)
	if err != nil {
		return nil, fmt.Errorf("mailqueue: note mails: %w", err)
	}
	fresh := make(map[string]bool, len(ids))
	var id [16]byte
	_, err = pgx.ForEachRow(rows, []any{&id}, func() error {
		fresh[hex.EncodeToString(id[:])] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("mailqueue: note mails: %w", err)
	}
	return fresh, nil
}

// insert adds jobs within a transaction. Workers see them once it is committed, and never if it is
// rolled back.
func (o *Queue) insert(ctx context.Context, tx pgx.Tx, jobs []river.InsertManyParams) error {
	if len(jobs) == 0 {
		return nil
	}
	if _, err := o.jobs.InsertManyFastTx(ctx, tx, jobs); err != nil {
		return fmt.Errorf("mailqueue: put mails out: %w", err)
	}
	return nil
}

// waiting says how many mails are not sent yet, on all nodes together.
type waiting struct {
	all    int // mails that are due within a day, whether a worker could send them now or a cap or a failure holds them up
	prompt int // prompt mails that a worker could send now; a mail that a cap holds up takes no worker's time
}

// count returns how many mails wait or are being sent; the answer may be countEvery old. It leaves
// out mails whose time is more than a day away, such as reminders. One caller at a time counts, and
// until then the others get the last count, so a flood of Adds does not turn into a flood of
// counts.
func (o *Queue) count(ctx context.Context) (waiting, error) {
	if last, fresh := o.lastCount(); fresh {
		return last, nil
	}
	const count = `
SELECT count(*), count(*) FILTER (WHERE queue = $3 AND scheduled_at <= now()) FROM river_job
WHERE state IN ('available', 'running', 'retryable', 'scheduled') AND queue = ANY($1) AND kind = $2
  AND scheduled_at < now() + interval '1 day'`
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	var now waiting
	if err := o.pool.QueryRow(ctx, count, queueNames, Mail{}.Kind(), promptQueue).Scan(&now.all, &now.prompt); err != nil {
		return now, fmt.Errorf("mailqueue: count mails: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = now
	return now, nil
}

// lastCount returns the last count and whether the caller may use it. The first caller that finds
// it too old is told so and must count again. Its call also renews the time of the count, so the
// others go on with the old one until then, even if counting fails.
func (o *Queue) lastCount() (last waiting, fresh bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if fresh = time.Since(o.counted) < countEvery; !fresh {
		o.counted = time.Now()
	}
	return o.waiting, fresh
}
