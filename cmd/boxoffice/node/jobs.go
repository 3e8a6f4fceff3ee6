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
	// jobWorkers work at jobs that may take some seconds.
	jobWorkers = 8
	// wakeCooldown is how soon one wake-up of webhooks follows another.
	wakeCooldown = 20 * time.Millisecond
	// jobsKept is how long jobs that are done are kept. What they did is in
	// tables of its own.
	jobsKept = 10 * time.Minute
	// jobsLost is how long a job may run until its process is taken for dead;
	// none takes more than half of that.
	jobsLost = 2 * time.Minute
	// jobsStopTime is for jobs that run when the node stops. What is cut off
	// is done by another node, or after the next start.
	jobsStopTime = 3 * time.Second
)

// startJobs starts the deliverer of webhooks, and the node's one River client with
// a worker for every kind of job.
func (n *Node) startJobs(ctx context.Context) error {
	n.deliverer = webhook.Start(webhook.Config{
		Store: n.endpoints, Secrets: n.secrets, Targets: n.targets, Node: n.cfg.Node, Log: n.log,
	})
	n.started(n.deliverer.Stop)
	if err := n.mailQueue.Reclaim(ctx, n.cfg.Node); err != nil {
		return err
	}
	workers, queues := river.NewWorkers(), map[string]river.QueueConfig{
		river.QueueDefault: {MaxWorkers: jobWorkers},
		deliveries.Queue:   {MaxWorkers: 1, FetchCooldown: wakeCooldown},
	}
	n.endpoints.AddWorkers(workers, n.deliverer.Wake, n.areas.Outward.WebhookDisabled)
	n.mailQueue.Register(workers, queues, func(ctx context.Context, m *mailqueue.Mail) (sent bool, err error) {
		n.disk.Await(ctx) // whether it was sent could not be noted
		return n.letters.Carry(ctx, m)
	})
	n.notices.AddWorkers(workers, queues, n.areas.Sales.ActOnNotice)
	client, err := river.NewClient(riverpgxv5.New(n.pool), &river.Config{
		ID: n.cfg.Node, Workers: workers, Queues: queues, PeriodicJobs: append(deliveries.Periodic(), notices.Periodic()...),
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

// jobErrors counts the jobs that panic. River has caught them, and tries them again as
// it does those that fail.
type jobErrors struct{ log *slog.Logger }

// HandleError leaves it at River's log.
func (jobErrors) HandleError(context.Context, *rivertype.JobRow, error) *river.ErrorHandlerResult {
	return nil
}

// HandlePanic counts a panic, and logs its stack.
func (h jobErrors) HandlePanic(_ context.Context, job *rivertype.JobRow, value any, trace string) *river.ErrorHandlerResult {
	_ = panics.Note(h.log, "job "+job.Kind, value, []byte(trace)) // River has its own error for it
	return nil
}

// warnings is a log without what is less: River tells of every few jobs.
type warnings struct{ slog.Handler }

// Enabled is false below warnings.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs is a log with attributes.
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

// WithGroup is a log of a group.
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
