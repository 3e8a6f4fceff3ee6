package mailqueue

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"boxoffice/engine/event"
	"boxoffice/persistence/readmodel"
)

// IsForEverybody reports whether an event is public and still sells or takes place. Only such an
// event is announced to followers.
func IsForEverybody(e *readmodel.Event) bool {
	switch e.Status {
	case event.StatusPublished, event.StatusOnSale, event.StatusSoldOut, event.StatusInProgress:
		return e.Details.Visibility == "public"
	}
	return false
}

// announceEvent queues the first page of the mails that tell an organization's followers of a new
// event. Only the step out of draft or review is news: an event that goes back to published after
// it was on sale has been announced before.
func (b *batch) announceEvent(ctx context.Context, f *event.Moved, of source) error {
	if f.At < b.oldest || f.From != event.StatusDraft && f.From != event.StatusReview {
		return nil
	}
	return b.insert(ctx, b.tx, []river.InsertManyParams{{Args: followers{Event: of.event}}})
}

// followers is the job that writes to one page of the people who follow an event's organization,
// and queues a job for the next page. The Subject of each mail is the event and the address, so
// nobody is told of one event twice, however often it is published.
type followers struct {
	Event int64 `json:"event"`
	After int64 `json:"after,omitzero"` // the number of the last follower of the previous page; 0: the first page
}

// Kind names the jobs.
func (followers) Kind() string { return "mail_followers" }

// InsertOpts gives the job a lower priority than the mails it makes, as with page.
func (followers) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: bulkQueue, Priority: pagesLast}
}

// announcer works the jobs that write to a page of an organization's followers.
type announcer struct {
	river.WorkerDefaults[followers]
	*Queue
}

// Work queues the mails of the page, queues the next page and ends the job, in one transaction, for
// the reasons that pager.Work gives. Each page reads the event again, because the organizer may
// have withdrawn it since the page before.
func (a *announcer) Work(ctx context.Context, job *river.Job[followers]) error {
	at := job.Args
	e, err := a.model.EventByNumber(ctx, at.Event)
	if errors.Is(err, readmodel.ErrNotFound) || err == nil && !IsForEverybody(&e) {
		return nil // it was withdrawn, or was never for everybody
	}
	if err != nil {
		return err
	}
	list, err := a.outreach.Followers(ctx, e.Details.Org, at.After, pageSize)
	if err != nil {
		return err
	}
	var mails []Mail
	for i := range list {
		mails = append(mails, Mail{
			Template: EventPublished, Subject: strconv.FormatInt(at.Event, 10) + "/" + list[i].Email, To: list[i].Email, Name: list[i].Name, Event: at.Event,
		})
	}
	return pgx.BeginFunc(ctx, a.pool, func(tx pgx.Tx) error {
		if err := a.AddIn(ctx, tx, mails...); err != nil {
			return err
		}
		if len(list) == pageSize {
			next := followers{Event: at.Event, After: list[pageSize-1].Number}
			if err := a.insert(ctx, tx, []river.InsertManyParams{{Args: next}}); err != nil {
				return err
			}
		}
		return completeJob(ctx, tx, job)
	})
}
