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

// Known holds what the holders of an event's tickets have been told of the event: its name, time and place.
// Holders get a mail when one of these fields changes, and the mail shows the old values next to the new ones.
// Times are unix milliseconds, 0 if the event has no time.
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

// KnownOf returns what an event's record tells its holders. Only an event proper has times in it.
func KnownOf(d *event.Details) Known {
	k := Known{
		Title: d.Title, Timezone: d.Timezone, Online: d.VenueType == "online",
		Venue: d.VenueName, Address: d.VenueAddress, City: d.VenueCity, Country: d.VenueCountry,
	}
	// A reservation calendar or a digital product may have times too, but its tickets aren't for
	// those times, so a change of them is no news for a holder.
	if event.ProductType(d.Category) == event.ProductEvent {
		k.StartAt, k.EndAt = d.StartAt, d.EndAt
	}
	return k
}

// announceChange compares an event's record with what the holders were told last. If something differs, tickets
// were sold and the fact is not too old for mails, it queues a change job, which tells the holders once nobody
// has changed the event for a while. In all other cases it only notes what the record says now. at is the time
// of the fact, in unix milliseconds.
func (b *batch) announceChange(ctx context.Context, d *event.Details, at int64, of source) error {
	now := KnownOf(d)
	was, err := readAnnounced(ctx, b.tx, of.event)
	if err != nil {
		return err
	}
	if was != nil && *was == now {
		return nil
	}
	// Without an earlier note nobody can have been told anything else, and a fact that is too old
	// mails nobody (oldestMailed).
	if was != nil && at >= b.oldest {
		var sold bool
		// Serials of tickets begin at 1, so the ticket with serial 1 exists as soon as any ticket
		// was sold.
		const first = `SELECT EXISTS (SELECT FROM tickets WHERE event_id = $1 AND serial = 1)`
		if err := b.tx.QueryRow(ctx, first, of.event).Scan(&sold); err != nil {
			return fmt.Errorf("mailqueue: tickets of event %d: %w", of.event, err)
		}
		// The holders hear of the change only after the settle time, from a job that compares
		// again. That job then notes what it tells them. Until it has, the note must go on saying
		// what the holders know, so it isn't touched here.
		if sold {
			later := &river.InsertOpts{ScheduledAt: time.Now().Add(b.settle)}
			return b.insert(ctx, b.tx, []river.InsertManyParams{{Args: change{Event: of.event, Subject: of.String()}, InsertOpts: later}})
		}
	}
	return noteAnnounced(ctx, b.tx, of.event, &now)
}

// announceCancellation queues the first page of the mails that tell all holders that the event will
// not take place. Unlike a change, it waits for no settle time.
func (b *batch) announceCancellation(ctx context.Context, f *event.Moved, of source) error {
	if f.At < b.oldest {
		return nil
	}
	first := page{Mail: EventCancelled, Event: of.event, Subject: of.String(), Reason: f.Reason, Until: f.At}
	return b.insert(ctx, b.tx, []river.InsertManyParams{{Args: first}})
}

// readAnnounced returns what the holders of an event's tickets know, or nil if nothing was noted.
// The query locks the row until the transaction ends: only one transaction at a time may compare
// the note with the event, or two jobs would tell the same news.
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

// noteAnnounced stores what the holders of an event's tickets know from now on. The caller must
// queue the mails that tell them in the same transaction, unless nobody has to be told. If it
// didn't, a crash could leave a note of news that nobody got.
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

// change is the job that runs at the end of the settle time. It finds out whether the event still
// differs from what its holders know, and if so, tells them.
type change struct {
	Event   int64  `json:"event"`
	Subject string `json:"subject"` // the fact for which the job was queued; it names the news, so that each holder gets one mail about it
}

// Kind names the jobs.
func (change) Kind() string { return "mail_change" }

// InsertOpts puts the job into the queue of the mails that it leads to. It has the lowest priority
// there, because nobody waits for a comparison as they wait for a mail.
func (change) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: bulkQueue, Priority: pagesLast}
}

// changer works the jobs that compare an event with what its holders know.
type changer struct {
	river.WorkerDefaults[change]
	*Queue
}

// Work tells the holders what is new to them, if anything is. Until is the time of the event's last
// change: people who bought after it saw the new values when they bought, so they get no mail. Of an event that was
// cancelled, completed or removed nothing more is told.
func (c *changer) Work(ctx context.Context, job *river.Job[change]) error {
	return pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		was, err := readAnnounced(ctx, tx, job.Args.Event)
		if err != nil || was == nil {
			return err
		}
		// The event is read while we hold the lock on its note. A follower that applies a later
		// change waits for that lock, so it compares the change with the note that we leave.
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
		// The note, the first page and the end of the job are committed together. If the process
		// dies before that, River repeats the job, and it finds the old note.
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

// pageSize is the most orders, followers or recipients that one page job reads, and thus has in memory at once.
const pageSize = 500

// page is the job that writes to the holders of one page of an event's orders, and queues a job for
// the next page. So only one page is in memory, however many there are. If the process ends,
// another process goes on at that page rather than at the beginning.
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

// InsertOpts gives the job a lower priority than the mails it makes. The next page is therefore
// made when the mails of this page have left, and a large audience never fills the table of jobs
// with all its mails at once.
func (page) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: bulkQueue, Priority: pagesLast}
}

// MarshalJSON writes the page without the character that Postgres can't store (storableJSON).
// Reason and the old values are people's words and may contain it.
func (p page) MarshalJSON() ([]byte, error) {
	type plain page
	return storableJSON(plain(p))
}

// pager works the jobs that write to a page of the holders of an event's tickets.
type pager struct {
	river.WorkerDefaults[page]
	*Queue
}

// Work queues the mails of the page, queues the next page and ends the job, in one transaction. A
// job that is repeated after a crash has therefore left neither mails nor a second next page
// behind.
func (p *pager) Work(ctx context.Context, job *river.Job[page]) error {
	at := job.Args
	var after engine.OrderID
	if at.After != "" {
		var err error
		// A job whose After can't be parsed will never be able to run, so it is cancelled instead
		// of repeated.
		if after, err = engine.ParseID(at.After); err != nil {
			return river.JobCancel(fmt.Errorf("mailqueue: page after order %q: %w", at.After, err))
		}
	}
	orders, err := p.model.Sold(ctx, at.Event, after, pageSize)
	if err != nil {
		return err
	}
	// The buyers of orders that ended after the news saw it when they bought.
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
		// A page that is not full was the last one.
		if len(orders) == pageSize {
			at.After = orders[pageSize-1].ID.String()
			if err := p.insert(ctx, tx, []river.InsertManyParams{{Args: at}}); err != nil {
				return err
			}
		}
		return completeJob(ctx, tx, job)
	})
}

// mailsOf makes the mails for everybody whose address is on an order: the buyer, the people for
// whom the tickets were bought, and those to whom they were passed on. An address that occurs twice
// gives two mails here; they have the same Subject, so AddIn queues only one. A changed event is
// news only for people who have a valid ticket; a cancelled one is told to all of them.
func (p *page) mailsOf(o *order.Order) []Mail {
	// Only an order that the organization issued itself has no client.
	given := o.Client == 0
	out := []Mail{p.mailTo(o, o.Email, o.Name, given)}
	// The buyer's mail names the order as its own. The mails to other
	// holders name it in Held.
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

// hasTicket reports whether an order has a ticket that was not given back and that belongs to the address or has
// it as its holder's address. Addresses are compared in their normal form.
func hasTicket(o *order.Order, email string) bool {
	// The number of tickets comes from a stored fact. A record with an impossible size must not
	// make us loop over billions of tickets.
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

// mailTo makes the mail to one person of an order. given reports that the organization issued the order itself.
// The Subject contains the address in lower case, so that all mails to one person about the same news have the
// same Subject, and AddIn queues only one of them.
func (p *page) mailTo(o *order.Order, to, name string, given bool) Mail {
	return Mail{
		Template: p.Mail, Subject: p.Subject + "/" + strings.ToLower(to), To: to, Name: name, Language: o.Language, Sold: o.EndedAt, Given: given, Held: o.ID.String(), Event: p.Event, Was: p.Was, Reason: p.Reason,
	}
}

// completeJob marks a job as done within the transaction that has its effect. Without it, River
// would mark the job after the commit, and a crash between the two would repeat a job that has
// already worked.
func completeJob[T river.JobArgs](ctx context.Context, tx pgx.Tx, job *river.Job[T]) error {
	if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job); err != nil {
		return fmt.Errorf("mailqueue: complete job: %w", err)
	}
	return nil
}
