package mailqueue

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"boxoffice/persistence/outreach"
)

// Broadcast stores a broadcast with its recipients and queues the job that writes to the first page
// of them, both in one transaction. It does nothing more if the broadcast is known already, so a
// repeated request mails nobody twice. The error may be *outreach.Limited.
func (o *Queue) Broadcast(ctx context.Context, b *outreach.Broadcast, limit int) error {
	return pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		added, err := o.outreach.AddBroadcast(ctx, tx, b, limit)
		if err != nil || !added {
			return err
		}
		return o.insert(ctx, tx, []river.InsertManyParams{{Args: broadcast{ID: b.ID}}})
	})
}

// broadcast is the job that writes to one page of a broadcast's recipients and queues a job for the
// next page. The list of recipients was fixed when the broadcast was stored.
type broadcast struct {
	ID    uuid.UUID `json:"id"`
	After string    `json:"after,omitzero"` // the last address of the previous page; empty: the first page
}

// Kind names the jobs.
func (broadcast) Kind() string { return "mail_broadcast" }

// InsertOpts gives the job a lower priority than the mails it makes, as with page.
func (broadcast) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: bulkQueue, Priority: pagesLast}
}

// broadcaster works the jobs that write to a page of a broadcast's recipients.
type broadcaster struct {
	river.WorkerDefaults[broadcast]
	*Queue
}

// Work queues the mails of the page, queues the next page if this one is full, and ends the job, in one transaction, for
// the reasons that pager.Work gives.
func (b *broadcaster) Work(ctx context.Context, job *river.Job[broadcast]) error {
	at := job.Args
	list, err := b.outreach.Recipients(ctx, at.ID, at.After, pageSize)
	if err != nil {
		return fmt.Errorf("mailqueue: %w", err)
	}
	var mails []Mail
	for i := range list {
		mails = append(mails, Mail{
			Template: Broadcast, Subject: at.ID.String() + "/" + list[i].Email, To: list[i].Email, Name: list[i].Name, Broadcast: at.ID.String(),
		})
	}
	return pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		if err := b.AddIn(ctx, tx, mails...); err != nil {
			return err
		}
		if len(list) == pageSize {
			next := broadcast{ID: at.ID, After: list[pageSize-1].Email}
			if err := b.insert(ctx, tx, []river.InsertManyParams{{Args: next}}); err != nil {
				return err
			}
		}
		return completeJob(ctx, tx, job)
	})
}
