package deliveries

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// Queue is River's queue for the jobs that wake deliverers. It is a queue of their own, so that
// they never wait behind slower jobs.
const Queue = "webhooks"

// pruneEvery is how often old deliveries are deleted.
const pruneEvery = time.Hour

// These are the arguments of the jobs.
type (
	// wakeArgs wakes one node's deliverer.
	wakeArgs struct{}
	// disabledArgs tells the owners that the service has disabled an endpoint.
	disabledArgs struct {
		Endpoint int64 `json:"endpoint"`
	}
	// pruneArgs deletes old deliveries.
	pruneArgs struct{}
)

// Kind names the job.
func (wakeArgs) Kind() string { return "webhook_wake" }

// Kind names the job.
func (disabledArgs) Kind() string { return "webhook_disabled" }

// InsertOpts lets the job try for about a day.
func (disabledArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 10} }

// Kind names the job.
func (pruneArgs) Kind() string { return "webhook_prune" }

// InsertOpts allows one attempt: if a wake is lost, the deliverer finds the work when it next looks
// by itself.
func (wakeArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: Queue, MaxAttempts: 1} }

// AddWorkers registers the work of the jobs. wake must not block. disabled tells the owners of the
// endpoint, and is tried again when it fails.
func (s *Store) AddWorkers(w *river.Workers, wake func(), disabled func(ctx context.Context, endpoint int64) error) {
	river.AddWorker(w, river.WorkFunc(func(context.Context, *river.Job[wakeArgs]) error {
		wake()
		return nil
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, j *river.Job[disabledArgs]) error {
		return disabled(ctx, j.Args.Endpoint)
	}))
	river.AddWorker(w, river.WorkFunc(func(ctx context.Context, _ *river.Job[pruneArgs]) error {
		return s.Prune(ctx)
	}))
}

// Periodic returns the jobs that run regularly.
func Periodic() []*river.PeriodicJob {
	return []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(pruneEvery), func() (river.JobArgs, *river.InsertOpts) {
		return pruneArgs{}, nil
	}, nil)}
}

// wakeDeliverer makes a deliverer look at the queues once the transaction has committed.
func (s *Store) wakeDeliverer(ctx context.Context, tx pgx.Tx) error {
	if _, err := s.jobs.InsertTx(ctx, tx, wakeArgs{}, nil); err != nil {
		return fmt.Errorf("wake webhooks: %w", err)
	}
	return nil
}
