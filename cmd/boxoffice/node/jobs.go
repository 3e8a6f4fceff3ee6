package node

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"boxoffice/edge/webhook"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/notices"
	"boxoffice/persistence/panics"
)

const (
	// jobWorkers is how many jobs of River's default queue run at once; mails and notices have queues of their own.
	jobWorkers = 8
	// wakeCooldown is the shortest time between two wake-ups for webhooks.
	wakeCooldown = 20 * time.Millisecond
	// jobsKept is how long finished jobs are kept. Their results are in tables of their own.
	jobsKept = 10 * time.Minute
	// jobsLost is how long a job may run before its process counts as dead; no job takes more than
	// half of that.
	jobsLost = 2 * time.Minute
	// jobsStopTime is how long jobs may still run when the node stops. A job that is cut off is
	// done by another node, or after the next start.
	jobsStopTime = 3 * time.Second
)

// startJobs starts the sender of webhooks and the node's only River client, which has a worker for every kind of job.
// Before the client starts, it makes the mails available again that an earlier life of this node was sending when it
// was killed.
func (n *Node) startJobs(ctx context.Context) error {
	n.deliverer = webhook.Start(webhook.Config{
		Store: n.endpoints, Secrets: n.secrets, Targets: n.targets, Node: n.cfg.Node, Log: n.log,
	})
	n.started(n.deliverer.Stop)
	// If an earlier life of this node was killed, the jobs of its mails still count as running. They are
	// released before the client starts.
	if err := n.mailQueue.Reclaim(ctx, n.cfg.Node); err != nil {
		return err
	}
	workers, queues := river.NewWorkers(), map[string]river.QueueConfig{
		river.QueueDefault: {MaxWorkers: jobWorkers},
		deliveries.Queue:   {MaxWorkers: 1, FetchCooldown: wakeCooldown},
	}
	n.endpoints.AddWorkers(workers, n.deliverer.Wake, n.areas.Outward.WebhookDisabled)
	n.mailQueue.Register(workers, queues, func(ctx context.Context, m *mailqueue.Mail) (sent bool, err error) {
		n.disk.Await(ctx) // on a full disk it could not note whether the mail was sent
		return n.letters.Carry(ctx, m)
	})
	n.notices.AddWorkers(workers, queues, n.areas.Sales.ActOnNotice)
	client, err := river.NewClient(riverpgxv5.New(n.pool), &river.Config{
		ID: n.cfg.Node, Workers: workers, Queues: queues, PeriodicJobs: append(deliveries.Periodic(), notices.Periodic()...),
		ReindexerIndexNames:         []string{"river_job_pkey", "river_job_prioritized_fetching_index", "river_job_state_and_finalized_at_index", "river_job_unique_idx"},
		CompletedJobRetentionPeriod: jobsKept, SoftStopTimeout: jobsStopTime, RescueStuckJobsAfter: jobsLost,
		ErrorHandler: jobErrors{n.log},
		Logger:       slog.New(warnings{n.log.Handler()}),
	})
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	n.started(client.Stop)
	return nil
}

// jobErrors counts the jobs that panic. River itself catches the panic and tries the job again, as
// it does after an error.
type jobErrors struct{ log *slog.Logger }

// HandleError does nothing, because River logs errors itself.
func (jobErrors) HandleError(context.Context, *rivertype.JobRow, error) *river.ErrorHandlerResult {
	return nil
}

// HandlePanic counts a panic and logs its stack.
func (h jobErrors) HandlePanic(_ context.Context, job *rivertype.JobRow, value any, trace string) *river.ErrorHandlerResult {
	_ = panics.Note(h.log, "job "+job.Kind, value, []byte(trace)) // River makes its own error of it
	return nil
}

// warnings is a log handler that drops everything below warnings. River logs something every few
// jobs, which would hide what matters.
type warnings struct{ slog.Handler }

// Enabled returns false for every level below warnings.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs returns a handler with more attributes that still drops everything below warnings.
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

// WithGroup returns a handler for a group that still drops everything below warnings.
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
