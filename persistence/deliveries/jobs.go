package deliveries

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// Queue is River's queue for the jobs that wake deliverers. They have a queue to themselves, so
// that a webhook never waits behind slower jobs.
const Queue = "webhooks"

// pruneEvery is the interval at which old deliveries are deleted.
const pruneEvery = time.Hour

// These are the arguments of the jobs.
type (
	// wakeArgs wakes the deliverer of the node that gets the job.
	wakeArgs struct{}
	// disabledArgs tells the owners of an organization that the service has disabled its endpoint.
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

// InsertOpts gives the job ten attempts, between which River waits longer and longer.
func (disabledArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 10} }

// Kind names the job.
func (pruneArgs) Kind() string { return "webhook_prune" }

// InsertOpts allows one attempt. A wake that is lost does no harm: the deliverer also looks for
// work by itself from time to time.
func (wakeArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: Queue, MaxAttempts: 1} }

// AddWorkers registers the work of the jobs with a River client's workers. wake must not block,
// because it runs on a worker of the queue. disabled tells the owners of the endpoint; it is tried
// again when it fails.
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

// Periodic returns the jobs that run regularly. River's leader inserts
// each of them once for all nodes.
func Periodic() []*river.PeriodicJob {
	return []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(pruneEvery), func() (river.JobArgs, *river.InsertOpts) {
		return pruneArgs{}, nil
	}, nil)}
}

// wakeDeliverer inserts a job that makes one deliverer look at the queues. The job becomes visible
// when the transaction commits, at the same time as the deliveries that it is about.
func (s *Store) wakeDeliverer(ctx context.Context, tx pgx.Tx) error {
	if _, err := s.jobs.InsertTx(ctx, tx, wakeArgs{}, nil); err != nil {
		return fmt.Errorf("wake webhooks: %w", err)
	}
	return nil
}
