// Package notices owns the table of notices that payment providers send by themselves (their webhooks), and the
// jobs that act on them.
//
// Add writes a notice and its job in one transaction, before the provider gets its answer. So an acknowledged
// notice is never lost. A notice that the provider sends again has one row, and a job at most every askEvery.
// The job passes the notice to its Act, and is tried again while Act fails.
//
// The edge calls it, and cmd registers its workers. It has no goroutine.
package notices

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

const (
	// queue is River's queue for the jobs. It is a queue of their own, so that a payment never
	// waits behind mails.
	queue = "payments"
	// workers is how many jobs run at once; each asks a provider.
	workers = 16
	// cooldown is the shortest time between two looks for jobs.
	cooldown = 20 * time.Millisecond
	// askEvery is the shortest time from one question about a notice to the next.
	askEvery = 5 * time.Second
	// attempts is how often a job is tried. The sweep of payments asks the provider too, so that
	// nothing is lost after the last attempt.
	attempts = 12
	// kept is how long notices are kept, in case somebody has to explain a payment.
	kept = 90 * 24 * time.Hour
	// pruneEvery is how often older notices are deleted.
	pruneEvery = time.Hour
)

// Notice is a message of a provider.
type Notice struct {
	Provider string
	EventID  string // id of the event at the provider, the same whenever it sends the event again
	Digest   [32]byte
	Body     []byte // sealed
	About    About
}

// About says which payment a notice is about, and is what its job carries. A notice without
// a Reference and without a Dispute is not about one of our payments.
type About struct {
	Provider  string `json:"provider"`
	Reference string `json:"reference"`
	// ProviderID is the provider's own name of the payment, for providers where one reference may
	// have several payments.
	ProviderID string `json:"deposit,omitzero"` // the name in the jobs of earlier releases
	// Again reports that the notice had come before. A repeated notice is not acted on if its payment has
	// succeeded already. A dispute that it names is still asked about.
	Again bool `json:"again,omitzero"`
	// Dispute is the id with which the provider is asked for the disputes that the notice may be about; empty:
	// the notice can be about none.
	Dispute string `json:"dispute,omitzero"`
}

// Kind names the job.
func (About) Kind() string { return "payment_notice" }

// InsertOpts puts the job into its queue, with its number of attempts.
func (About) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queue, MaxAttempts: attempts}
}

// pruneArgs deletes old notices.
type pruneArgs struct{}

// Kind names the job.
func (pruneArgs) Kind() string { return "payment_notice_prune" }

// Store keeps notices in their table, and queues the jobs that act on them.
type Store struct {
	pool *pgxpool.Pool
	jobs *river.Client[pgx.Tx] // only inserts
}

// New returns the store of a database.
func New(pool *pgxpool.Pool) (*Store, error) {
	jobs, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, fmt.Errorf("notices: %w", err)
	}
	return &Store{pool: pool, jobs: jobs}, nil
}

// Add makes a notice durable, and inserts the job that acts on it. A notice that comes again gets another job,
// which runs no sooner than askEvery after the last one, unless that one is still to run: when the notice came
// first, the provider's answers may not have shown the money yet. A notice that is about no attempt and no
// dispute gets no job.
func (s *Store) Add(ctx context.Context, n *Notice) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		const insert = `
INSERT INTO payment_notices AS known (provider, event_id, digest, body) VALUES ($1, $2, $3, $4)
ON CONFLICT (provider, event_id) DO UPDATE SET asked_at = greatest(now(), known.asked_at + $5::interval) WHERE known.asked_at <= now()
RETURNING asked_at, xmax <> 0`
		about := n.About
		var at time.Time
		err := tx.QueryRow(ctx, insert, n.Provider, n.EventID, n.Digest[:], n.Body, askEvery).Scan(&at, &about.Again)
		if errors.Is(err, pgx.ErrNoRows) { // its last job is still to run
			return nil
		}
		if err != nil || about.Reference == "" && about.Dispute == "" {
			return err
		}
		_, err = s.jobs.InsertTx(ctx, tx, about, &river.InsertOpts{ScheduledAt: at})
		return err
	})
	if err != nil {
		return fmt.Errorf("payment notice: %w", err)
	}
	return nil
}

// Act asks the provider about the payment or the disputes that a notice is about, and passes on the answer. It is
// called again if it returns an error.
type Act func(context.Context, About) error

// AddWorkers registers the work of the jobs.
func (s *Store) AddWorkers(w *river.Workers, queues map[string]river.QueueConfig, act Act) {
	river.AddWorker(w, &worker{act: act})
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[pruneArgs]) error {
		return s.prune(ctx)
	}))
	queues[queue] = river.QueueConfig{MaxWorkers: workers, FetchCooldown: cooldown}
}

// Periodic returns the jobs that run regularly.
func Periodic() []*river.PeriodicJob {
	return []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(pruneEvery), func() (river.JobArgs, *river.InsertOpts) {
		return pruneArgs{}, nil
	}, nil)}
}

// prune deletes notices older than kept.
func (s *Store) prune(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM payment_notices WHERE received_at < now() - $1::interval`, kept); err != nil {
		return fmt.Errorf("payment notices: %w", err)
	}
	return nil
}

type worker struct {
	river.WorkerDefaults[About]
	act Act
}

// Work acts on one notice.
func (w *worker) Work(ctx context.Context, job *river.Job[About]) error { return w.act(ctx, job.Args) }

// NextRetry retries soon at first, because a provider may send a notice a moment before its own
// answers include the money.
func (w *worker) NextRetry(job *river.Job[About]) time.Time {
	return time.Now().Add(min(time.Second<<min(job.Attempt-1, 12), 30*time.Minute))
}
