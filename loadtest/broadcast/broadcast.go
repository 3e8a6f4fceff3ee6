// Package broadcast is the contest for the mail server between a broadcast and the confirmations of
// a sale that goes on, while the node is killed. Run returns when every goroutine and process that
// it started has ended.
package broadcast

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"regexp"
	"sync"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/postbox"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest broadcast`.
type Config struct {
	contest.Config
	Attendees int           `default:"5000" help:"People who attend, each with an address of his own."`
	Rate      float64       `default:"200" help:"Orders a second while the broadcast goes out."`
	Within    time.Duration `default:"5s" help:"Within how long a confirmation leaves."`
	Left      float64       `default:"0.02" help:"Share of attendees who unsubscribe, and of those whose address bounces."`
	Kills     int           `default:"1" help:"How many times the node is killed with -9 while the broadcast goes out."`
}

// Validate is called by kong, and by the run itself.
func (c *Config) Validate() error {
	if c.Attendees < 10 || c.Rate <= 0 || c.Within <= 0 || c.Left < 0 || c.Left > 0.4 {
		return errors.New("at least ten attendees, a rate, a time, and a share up to 0.4")
	}
	return nil
}

// unsubscribeLink finds the token of the link in a mail that ends bulk mail.
var unsubscribeLink = regexp.MustCompile(`/unsubscribe#token=([\w-]+)`)

// These are the kinds of mail.
const (
	confirmation = "order_confirmation"
	bulk         = "broadcast"
)

const atOnce = 16 // people who act at a time, where all do the same

// mailing is a run of the contest. event and kind are the ids of the event and of its one ticket type.
type mailing struct {
	*contest.Place
	cfg         Config
	event, kind string
	recipients  []Recipient
	promised    int64

	mu     sync.Mutex
	orders []Order
	kills  int
}

// Run fills an event, lets some attendees unsubscribe and some addresses bounce, broadcasts and
// audits. It returns an error if the audit finds something.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (*contest.Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return contest.Hold(ctx, cfg.Config, "broadcast", 1, unsubscribeLink, out, log, func(at *contest.Place) (*contest.Result, error) {
		m := &mailing{Place: at, cfg: cfg}
		if err := m.fillEvent(ctx); err != nil {
			return nil, err
		}
		if err := m.loseSome(ctx); err != nil {
			return nil, err
		}
		log.InfoContext(ctx, "some have left", slog.Int("attendees", len(m.recipients)))
		began := time.Now()
		if err := m.sendAmongOrders(ctx); err != nil {
			return nil, err
		}
		took := time.Since(began)
		o := m.readOutcome()
		return &contest.Result{Counts: m.countMails(o, took), Checks: Audit(o)}, nil
	})
}

// fillEvent orders a ticket for every attendee.
func (m *mailing) fillEvent(ctx context.Context) error {
	sale, err := m.Organizer.OpenSale(ctx, []rush.SaleType{{Name: "Floor", Quantity: 10_000_000, Free: true, MaxPerOrder: 1, MaxPerCustomer: 1}})
	if err != nil {
		return err
	}
	m.event, m.kind = sale.EventID, sale.Types[0].ID
	for i := range m.cfg.Attendees {
		m.recipients = append(m.recipients, Recipient{Email: fmt.Sprintf("attendee-%d@load.test", i)})
	}
	if err := contest.ForAll(atOnce, len(m.recipients), func(table, i int) error {
		return m.orderTicket(ctx, table, m.recipients[i].Email, nil).Err()
	}); err != nil {
		return err
	}
	return m.awaitMails(ctx, confirmation, int64(len(m.recipients))) // bulk mail waits behind confirmations
}

// loseSome makes some attendees unreachable before the broadcast that counts. It sends a first broadcast, which
// bounces at some addresses, and unsubscribes some other attendees by the link in their mails.
func (m *mailing) loseSome(ctx context.Context) error {
	share := int(float64(len(m.recipients)) * m.cfg.Left)
	// The two groups are apart, and as large as each other.
	bouncing, leaving := m.recipients[:share], m.recipients[share:2*share]
	for i := range bouncing {
		bouncing[i].Gone = true
		m.Mail.Refuse(bouncing[i].Email)
	}
	sent, err := m.sendBroadcast(ctx, "Before")
	if err == nil {
		err = m.awaitMails(ctx, bulk, sent-int64(share))
	}
	if err != nil {
		return err
	}
	return contest.ForAll(atOnce, len(leaving), func(table, i int) error {
		leaving[i].Gone = true
		mails := m.Mail.To(leaving[i].Email, bulk)
		if len(mails) == 0 || mails[0].Found == "" {
			return fmt.Errorf("broadcast: %s can't unsubscribe", leaving[i].Email)
		}
		return m.Insist(ctx, table, client.Call{Method: "POST", Path: "/community/unsubscribe/" + mails[0].Found}, nil).Err()
	})
}

// sendBroadcast writes to all attendees, and returns how many those are.
func (m *mailing) sendBroadcast(ctx context.Context, subject string) (int64, error) {
	var sent struct{ Recipients int64 }
	path := "/organizer/growth/events/" + url.PathEscape(m.event) + "/broadcast"
	err := m.Organizer.Post(ctx, path, map[string]string{"subject": subject, "body": "<p>Doors open <b>early</b>.</p>"}, &sent)
	return sent.Recipients, err
}

// awaitMails waits until the given number of mails of a kind has come, or until none has come for the time that
// things may take to agree. Mails that came again under the same id count once.
func (m *mailing) awaitMails(ctx context.Context, kind string, want int64) error {
	last, progress := 0, time.Now()
	for {
		// As long as mails come, however slowly, the wait goes on.
		came := len(byID(m.Mail.Of(kind)))
		if came != last {
			last, progress = came, time.Now()
		}
		if int64(came) >= want || time.Since(progress) > m.Agree {
			return nil // the audit reports what is missing
		}
		if err := rig.Pause(ctx, rush.FirstPause); err != nil {
			return fmt.Errorf("broadcast: %w", err)
		}
	}
}

// sendAmongOrders broadcasts while orders complete, and kills the node in the meantime.
func (m *mailing) sendAmongOrders(ctx context.Context) (err error) {
	open, closing := context.WithCancel(ctx)
	defer closing()
	var others sync.WaitGroup
	// Orders come for a second before the broadcast, so that it meets a sale that is going on.
	others.Go(func() { m.sellTickets(open) })
	rig.Wait(ctx, time.Second)
	before := len(byID(m.Mail.Of(bulk)))
	// The kills are spread over the progress of this broadcast, so the mails of the first one are subtracted.
	if m.promised, err = m.sendBroadcast(ctx, "Now"); err == nil {
		var killed error
		others.Go(func() {
			m.kills, killed = m.KillAlong(open, m.cfg.Kills, int(m.promised), func() int { return len(m.Mail.Of(bulk)) - before })
		})
		err = m.awaitMails(ctx, bulk, int64(before)+m.promised)
		rig.Wait(ctx, time.Second) // superfluous mails come now
		closing()
		others.Wait()
		err = errors.Join(err, killed)
	}
	// If the broadcast failed, the orders are ended here. Otherwise they have ended already, and a second call does
	// nothing.
	closing()
	others.Wait()
	if err != nil {
		return err
	}
	// The confirmations of the last orders may still be on their way. The orders themselves do not change any more.
	for deadline := time.Now().Add(m.Agree); m.countUnconfirmed() > 0 && time.Now().Before(deadline); {
		rig.Wait(ctx, rush.FirstPause)
	}
	return context.Cause(ctx)
}

// sellTickets places orders at a rate until ctx ends, and notes those that were accepted. An order that was begun
// is carried through after that: otherwise it might be accepted and confirmed although nobody noted it.
func (m *mailing) sellTickets(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	tick := time.NewTicker(time.Duration(float64(time.Second) / m.cfg.Rate))
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		all.Go(func() {
			email := fmt.Sprintf("buyer-%d@load.test", i)
			if a := m.orderTicket(context.WithoutCancel(ctx), i, email, new(rush.Order)); a.OK() {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.orders = append(m.orders, Order{Email: email, At: time.Now()})
			}
		})
	}
}

// orderTicket orders one free ticket, which is completed and confirmed at once.
func (m *mailing) orderTicket(ctx context.Context, from int, email string, out *rush.Order) client.Answer {
	return m.Order(ctx, from, rush.PlaceOrder{
		Items: []rush.Item{{TicketTypeID: m.kind, Quantity: 1}}, GuestEmail: email, GuestName: "Load Buyer",
	}, out)
}

// countUnconfirmed counts the orders that have no confirmation yet. It takes no lock, because the caller has waited
// for the goroutines that add orders.
func (m *mailing) countUnconfirmed() (n int) {
	for i := range m.orders {
		if len(m.Mail.To(m.orders[i].Email, confirmation)) == 0 {
			n++
		}
	}
	return n
}

// readOutcome reads which mails have come, for each attendee and for each order. A bounced mail counts as one that
// was written.
func (m *mailing) readOutcome() *Outcome {
	o := &Outcome{Recipients: m.recipients, Orders: m.orders, Within: m.cfg.Within, Promised: m.promised}
	for i := range o.Recipients {
		r := &o.Recipients[i]
		r.Mails = len(byID(m.Mail.To(r.Email, bulk))) + m.Mail.Refused(r.Email) - 1 // without the first broadcast
	}
	for i := range o.Orders {
		mails := m.Mail.To(o.Orders[i].Email, confirmation)
		o.Orders[i].Mails = len(byID(mails))
		if len(mails) > 0 {
			o.Orders[i].Took = mails[0].At.Sub(o.Orders[i].At)
		}
	}
	o.Again = len(m.Mail.Of(bulk)) - len(byID(m.Mail.Of(bulk)))
	return o
}

// byID returns the ids of the mails, so that a mail that came again counts once.
func byID(mails []postbox.Mail) map[string]bool {
	ids := make(map[string]bool, len(mails))
	for _, m := range mails {
		ids[m.ID] = true
	}
	return ids
}

// countMails counts what happened to the mails.
func (m *mailing) countMails(o *Outcome, took time.Duration) []report.Count {
	// The confirmation that took longest is told beside the counts, because the broadcast competes with it.
	var longest time.Duration
	for i := range o.Orders {
		longest = max(longest, o.Orders[i].Took)
	}
	return []report.Count{
		{Name: "attendees", Count: int64(len(o.Recipients))},
		{Name: "mails of the broadcast that were promised", Count: o.Promised},
		{Name: "mails that came again under the same id", Count: int64(o.Again)},
		{Name: "seconds until all were out", Count: int64(took.Seconds())},
		{Name: "orders meanwhile", Count: int64(len(o.Orders))},
		{Name: "ms until the last of their confirmations, at most", Count: longest.Milliseconds()},
		{Name: "times the node was killed", Count: int64(m.kills)},
	}
}
