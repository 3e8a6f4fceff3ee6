package mailqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

// Known is what the holders of an event's tickets know of it; they are told when it changes. Times
// are unix milliseconds, 0 if the event takes place at no time of its own.
type Known struct {
	Title    string `json:"title"`
	StartAt  int64  `json:"startAt,omitzero"`
	EndAt    int64  `json:"endAt,omitzero"`
	Timezone string `json:"timezone"`
	Online   bool   `json:"online,omitzero"` // the event takes place only online, so its holders need no address
	Venue    string `json:"venue,omitzero"`
	Address  string `json:"address,omitzero"`
	City     string `json:"city,omitzero"`
	Country  string `json:"country,omitzero"`
}

// KnownOf returns what an event's record tells its holders.
func KnownOf(d *event.Details) Known {
	k := Known{
		Title: d.Title, Timezone: d.Timezone, Online: d.VenueType == "online",
		Venue: d.VenueName, Address: d.VenueAddress, City: d.VenueCity, Country: d.VenueCountry,
	}
	if event.ProductType(d.Category) == event.ProductEvent {
		k.StartAt, k.EndAt = d.StartAt, d.EndAt
	}
	return k
}

// announceChange notes what an event's record says now. If tickets were sold and their holders know
// something different, they are told once nobody has changed the event for a while.
func (b *batch) announceChange(ctx context.Context, d *event.Details, at int64, of source) error {
	now := KnownOf(d)
	was, err := readAnnounced(ctx, b.tx, of.event)
	if err != nil {
		return err
	}
	if was != nil && *was == now {
		return nil
	}
	if was != nil && at >= b.oldest {
		var sold bool
		const first = `SELECT EXISTS (SELECT FROM tickets WHERE event_id = $1 AND serial = 1)`
		if err := b.tx.QueryRow(ctx, first, of.event).Scan(&sold); err != nil {
			return fmt.Errorf("mailqueue: tickets of event %d: %w", of.event, err)
		}
		// The holders hear of it only after the settle time, from a job that compares again. That job
		// notes what they know by then, so the note stays as it is here.
		if sold {
			later := &river.InsertOpts{ScheduledAt: time.Now().Add(b.settle)}
			return b.insert(ctx, b.tx, []river.InsertManyParams{{Args: change{Event: of.event, Subject: of.String()}, InsertOpts: later}})
		}
	}
	return noteAnnounced(ctx, b.tx, of.event, &now)
}

// announceCancellation makes the holders hear that the event will not take place.
func (b *batch) announceCancellation(ctx context.Context, f *event.Moved, of source) error {
	if f.At < b.oldest {
		return nil
	}
	first := page{Mail: EventCancelled, Event: of.event, Subject: of.String(), Reason: f.Reason, Until: f.At}
	return b.insert(ctx, b.tx, []river.InsertManyParams{{Args: first}})
}

// readAnnounced returns what the holders of an event's tickets know, or nil if nothing was noted. The
// row is locked until the transaction ends, so that only one transaction at a time compares it with
// the event.
func readAnnounced(ctx context.Context, tx pgx.Tx, number int64) (*Known, error) {
	var record []byte
	err := tx.QueryRow(ctx, `SELECT record FROM announced WHERE event = $1 FOR UPDATE`, number).Scan(&record)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // nothing noted is an answer
	}
	k := new(Known)
	if err == nil {
		err = json.Unmarshal(record, k)
	}
	if err != nil {
		return nil, fmt.Errorf("mailqueue: what was announced of event %d: %w", number, err)
	}
	return k, nil
}

// noteAnnounced notes what the holders of an event's tickets know from now on. The caller tells them in the same
// transaction, or nobody has to be told.
func noteAnnounced(ctx context.Context, tx pgx.Tx, number int64, k *Known) error {
	record, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("mailqueue: %w", err)
	}
	const note = `INSERT INTO announced (event, record) VALUES ($1, $2) ON CONFLICT (event) DO UPDATE SET record = excluded.record`
	if _, err := tx.Exec(ctx, note, number, record); err != nil {
		return fmt.Errorf("mailqueue: announce event %d: %w", number, err)
	}
	return nil
}

// change is the job that finds out, once nobody has changed an event for a while, whether its
// holders must be told.
type change struct {
	Event   int64  `json:"event"`
	Subject string `json:"subject"` // the fact for which the job was queued; it names the news, so that each holder gets one mail about it
}

// Kind names the jobs.
func (change) Kind() string { return "mail_change" }

// InsertOpts queues these jobs with the mails that they lead to.
func (change) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: bulkQueue, Priority: pagesLast}
}

// changer works the jobs that compare an event with what its holders know.
type changer struct {
	river.WorkerDefaults[change]
	*Queue
}

// Work makes the holders hear what is new to them, if anything is. Those who bought since the last
// change know it already.
func (c *changer) Work(ctx context.Context, job *river.Job[change]) error {
	return pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		was, err := readAnnounced(ctx, tx, job.Args.Event)
		if err != nil || was == nil {
			return err
		}
		// Read under the lock: a change that this does not see will find our note.
		e, err := c.model.EventByNumber(ctx, job.Args.Event)
		if errors.Is(err, readmodel.ErrNotFound) || err == nil && (e.Status == event.StatusCancelled || e.Status == event.StatusCompleted) {
			return nil // there is nothing more to tell
		}
		if err != nil {
			return err
		}
		now := KnownOf(e.Details)
		if *was == now {
			return nil // it was changed back, or told by a job for another change
		}
		if err := noteAnnounced(ctx, tx, e.Number, &now); err != nil {
			return err
		}
		first := page{Mail: EventChanged, Event: e.Number, Subject: job.Args.Subject, Was: was, Until: e.UpdatedAt}
		if err := c.insert(ctx, tx, []river.InsertManyParams{{Args: first}}); err != nil {
			return err
		}
		return completeJob(ctx, tx, job)
	})
}

// pageSize is how many orders a page of an audience has.
const pageSize = 500

// page is the job that writes to the holders of one page of an event's orders, and queues the next
// page. However many pages there are, only one is in memory, and if the process dies, another goes
// on at that page.
type page struct {
	Mail    Template `json:"mail"`
	Event   int64    `json:"event"`
	Subject string   `json:"subject"`         // names the news: each holder gets one mail about it, however many pages name the holder
	Was     *Known   `json:"was,omitzero"`    // what the holders knew before a change
	Reason  string   `json:"reason,omitzero"` // the organizer's reason for a cancellation
	Until   int64    `json:"until"`           // unix milliseconds; the buyers of orders that were completed later know the news already
	After   string   `json:"after,omitzero"`  // the id of the last order of the previous page; empty: the first page
}

// Kind names the jobs.
func (page) Kind() string { return "mail_page" }

// InsertOpts queues these jobs behind the mails.
func (page) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: bulkQueue, Priority: pagesLast}
}

// MarshalJSON writes the page in a form that Postgres takes.
func (p page) MarshalJSON() ([]byte, error) {
	type plain page
	return storableJSON(plain(p))
}

// pager works the jobs that write to a page of the holders of an event's tickets.
type pager struct {
	river.WorkerDefaults[page]
	*Queue
}

// Work queues the mails of the page and the next page, and ends the job, in one transaction. So a job that is
// repeated has left nothing behind.
func (p *pager) Work(ctx context.Context, job *river.Job[page]) error {
	at := job.Args
	var after engine.OrderID
	if at.After != "" {
		var err error
		if after, err = engine.ParseID(at.After); err != nil {
			return river.JobCancel(fmt.Errorf("mailqueue: page after order %q: %w", at.After, err))
		}
	}
	orders, err := p.model.Sold(ctx, at.Event, after, pageSize)
	if err != nil {
		return err
	}
	var mails []Mail
	for i := range orders {
		if o := &orders[i]; o.EndedAt <= at.Until {
			mails = append(mails, at.mailsOf(o)...)
		}
	}
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if err := p.AddIn(ctx, tx, mails...); err != nil {
			return err
		}
		if len(orders) == pageSize {
			at.After = orders[pageSize-1].ID.String()
			if err := p.insert(ctx, tx, []river.InsertManyParams{{Args: at}}); err != nil {
				return err
			}
		}
		return completeJob(ctx, tx, job)
	})
}

// mailsOf makes the mails for everybody whose address is on an order: the buyer, the people for whom
// the tickets were bought, and those to whom they were passed on. A person who is on several orders gets only one mail.
// A change is news to those alone who have a ticket; of a cancellation all are told.
func (p *page) mailsOf(o *order.Order) []Mail {
	given := o.Client == 0
	out := []Mail{p.mailTo(o, o.Email, o.Name, given)}
	out[0].Order, out[0].Held = o.ID.String(), ""
	for i := range o.Lines {
		if l := &o.Lines[i]; l.AttendeeEmail != "" {
			out = append(out, p.mailTo(o, l.AttendeeEmail, l.AttendeeName, given))
		}
	}
	for i := range o.Holders {
		if h := &o.Holders[i]; h.Email != "" {
			out = append(out, p.mailTo(o, h.Email, h.Name, given))
		}
	}
	if p.Mail == EventChanged {
		out = slices.DeleteFunc(out, func(l Mail) bool { return !hasTicket(o, l.To) })
	}
	return out
}

// hasTicket reports whether a good ticket of an order is somebody's, or names them.
func hasTicket(o *order.Order, email string) bool {
	if !o.HasSoundSize() {
		return false
	}
	for k := range uint32(o.Tickets()) { //nolint:gosec // tickets of an order are few
		t := o.FirstTicket + k
		isTheirs := o.IsOwnedBy(email, t) || order.NormalEmail(o.HolderOf(t).Email) == order.NormalEmail(email)
		if isTheirs && !o.IsGivenBack(t) {
			return true
		}
	}
	return false
}

// mailTo makes the mail to one person of an order. given says that the organization gave the order away. The
// Subject has the address in lower case, so that a person who is on several orders gets one mail.
func (p *page) mailTo(o *order.Order, to, name string, given bool) Mail {
	return Mail{
		Template: p.Mail, Subject: p.Subject + "/" + strings.ToLower(to), To: to, Name: name, Language: o.Language, Sold: o.EndedAt, Given: given, Held: o.ID.String(), Event: p.Event, Was: p.Was, Reason: p.Reason,
	}
}

// completeJob ends a job in the same transaction as its effect.
func completeJob[T river.JobArgs](ctx context.Context, tx pgx.Tx, job *river.Job[T]) error {
	if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job); err != nil {
		return fmt.Errorf("mailqueue: complete job: %w", err)
	}
	return nil
}
