// Package waitlist is the contest for what comes free of a sold-out ticket type, between
// people who wait in line and people who pass by, while the node is killed. Run returns
// when every goroutine and process that it started has ended.
package waitlist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest waitlist`.
type Config struct {
	contest.Config
	Units    int     `default:"200" help:"Tickets of the sold-out type."`
	Waiting  int     `default:"2000" help:"People who wait for one to three tickets."`
	Given    int64   `default:"500" help:"Tickets that come free, one after the other, before all others stay."`
	Passers  float64 `default:"50" help:"Orders a second by people who pass by."`
	Kills    int     `default:"2" help:"How many times the node is killed with -9 while tickets come free."`
	Abandons float64 `default:"0.3" help:"Share of orders that are never paid, and run out after five minutes."`
}

// Validate is called by kong, and by the run itself.
func (c *Config) Validate() error {
	if c.Units < perOrder || c.Waiting < 1 || c.Passers <= 0 || c.Abandons < 0 || c.Abandons > 1 {
		return errors.New("at least an order's tickets, somebody who waits, somebody who passes by, and a share between 0 and 1")
	}
	return nil
}

// mailLink finds, in a mail, the token that puts somebody in line or claims an offer.
var mailLink = regexp.MustCompile(`/waitlist(?:/confirm)?#token=([\w-]+)`)

const (
	perOrder      = 2                  // tickets of each order that sells the type out
	window        = 5                  // minutes that an order may be unpaid
	atOnce        = 8                  // people who act at a time, where all do the same
	mostWanted    = 3                  // tickets that one person waits for at most
	offered       = "waitlist_offered" // the kind of the mails that offer tickets
	passerAddress = 50                 // the first of the client addresses of people who pass by
)

// line is one run: the sold-out sale, the people who wait for its tickets, and what happens to its orders. event
// and kind are the ids of the event and of its one ticket type.
type line struct {
	*contest.Place
	cfg         Config
	event, kind string
	waiting     []*Waiting

	mu     sync.Mutex
	orders []*rush.Order // all orders that ever held tickets, in the order in which they were made
	errs   []error
	letIn  []string // the orders of people who passed by, which must not be
	odd    []string // answers that people who pass by should not get

	people sync.WaitGroup
	// given counts the tickets that have come free, passed the orders that passers-by tried, refused those that
	// were refused as sold out, and ran the tickets of orders that ran out unpaid.
	kills                       int
	given, passed, refused, ran atomic.Int64
}

// Run sells the type out, lets people wait, gives tickets back and audits. It returns an error if the audit finds
// something.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (*contest.Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return contest.Hold(ctx, cfg.Config, "waitlist", 1, mailLink, out, log, func(at *contest.Place) (*contest.Result, error) {
		l := &line{Place: at, cfg: cfg}
		if err := l.sellOut(ctx); err != nil {
			return nil, err
		}
		if err := l.fillLine(ctx); err != nil {
			return nil, err
		}
		log.InfoContext(ctx, "sold out", slog.Int("waiting", len(l.waiting)))
		if err := l.giveBack(ctx); err != nil {
			return nil, err
		}
		outcome, err := l.readOutcome(ctx)
		if err != nil {
			return nil, err
		}
		return &contest.Result{Counts: l.countEvents(), Checks: Audit(outcome)}, nil
	})
}

// sellOut puts the type on sale and orders all of it. Nothing is paid yet: the holders pay, cancel or let their
// orders run out later. The short order window makes unpaid orders end within the run.
func (l *line) sellOut(ctx context.Context) error {
	sale, err := l.Organizer.OpenSale(ctx, []rush.SaleType{{Name: "Floor", Quantity: l.cfg.Units, MaxPerOrder: 10, MaxPerCustomer: 10}})
	if err != nil {
		return err
	}
	l.event, l.kind = sale.EventID, sale.Types[0].ID
	path := "/organizer/events/" + url.PathEscape(l.event)
	if err := l.Organizer.Send(ctx, "PUT", path, map[string]any{"orderWindowMinutes": window}, nil); err != nil {
		return err
	}
	if err := l.Organizer.Send(ctx, "PUT", path+"/tickets/"+url.PathEscape(l.kind), map[string]any{"waitlistEnabled": true}, nil); err != nil {
		return err
	}
	return contest.ForAll(atOnce, (l.cfg.Units+perOrder-1)/perOrder, func(_, i int) error {
		o := new(rush.Order)
		if a := l.Order(ctx, i, l.orderOf(fmt.Sprintf("buyer-%d@load.test", i), min(perOrder, l.cfg.Units-i*perOrder)), o); !a.OK() {
			return a.Err()
		}
		l.keepOrder(o)
		return nil
	})
}

// fillLine puts people in line. They confirm the mail that asks them.
func (l *line) fillLine(ctx context.Context) error {
	rng := rand.New(rand.NewPCG(l.cfg.Seed, 0)) //nolint:gosec // no secret
	for i := range l.cfg.Waiting {
		l.waiting = append(l.waiting, &Waiting{Email: fmt.Sprintf("waiting-%d@load.test", i), Quantity: 1 + rng.IntN(mostWanted)})
	}
	return contest.ForAll(atOnce, len(l.waiting), func(_, i int) error {
		w := l.waiting[i]
		body := map[string]any{"email": w.Email, "name": "Load Waiting", "quantity": w.Quantity}
		if i%2 == 0 { // The others take any type, and there is only this one.
			body["ticketTypeId"] = l.kind
		}
		path := "/community/events/" + url.PathEscape(l.event) + "/waitlist"
		if err := l.Insist(ctx, i, client.Call{Method: "POST", Path: path, Body: rush.Encode(body)}, nil).Err(); err != nil {
			return err
		}
		// A person is in line only after the confirmation: anybody could type another's address.
		m, err := l.Mail.Wait(ctx, w.Email, "waitlist_confirm")
		if err != nil {
			return fmt.Errorf("waitlist: %s: %w", w.Email, err)
		}
		path = "/community/waitlist/" + url.PathEscape(m.Found) + "/confirm"
		return l.Insist(ctx, i, client.Call{Method: "POST", Path: path}, nil).Err()
	})
}

// giveBack plays the people who hold tickets and give them back, and the people who are offered them and do the
// same, until enough tickets have come free and every offered one is held. The passers-by, the answers to offers
// and the kills go on until then.
func (l *line) giveBack(ctx context.Context) error {
	// open ends when nothing moves any more. With it end the passers-by, the kills, and the people who answer
	// offers.
	open, closing := context.WithCancel(ctx)
	defer closing()
	var others sync.WaitGroup
	for i, o := range l.orders {
		l.people.Go(func() { l.playHolder(ctx, *o, i) })
	}
	others.Go(func() { l.passBy(open) })
	others.Go(func() { l.answerOffers(open) })
	others.Go(func() {
		var err error
		if l.kills, err = l.KillAlong(open, l.cfg.Kills, int(l.cfg.Given), func() int { return int(l.given.Load()) }); err != nil {
			l.noteError(err)
		}
	})
	for l.given.Load() < l.cfg.Given && ctx.Err() == nil && !l.hasErrors() {
		rig.Wait(ctx, rush.FirstPause)
	}
	// Everything comes to rest first. Then the others are ended, so that no new people come, and those who are here
	// are waited for.
	err := l.awaitRest(ctx)
	closing()
	others.Wait()
	l.people.Wait()
	return errors.Join(append(l.errs, err)...)
}

// playHolder does what a holder does with an order: pay it and get it refunded, cancel it, or nothing. Once enough
// tickets have come free, everybody pays. o is a copy, because the list of orders is read by others at the same
// time.
func (l *line) playHolder(ctx context.Context, o rush.Order, i int) {
	rng := rand.New(rand.NewPCG(l.cfg.Seed, uint64(i+1))) //nolint:gosec // no secret
	if err := l.actOnOrder(ctx, &o, i, rng); err != nil && ctx.Err() == nil {
		l.noteError(fmt.Errorf("waitlist: order %s: %w", o.ID, err))
	}
}

// actOnOrder draws what the holder does, waits up to ten seconds, and does it. The tickets that come free by it are
// counted when the service has confirmed it. An order that is paid is given back by a refund, unless enough tickets
// have come free in the meantime.
func (l *line) actOnOrder(ctx context.Context, o *rush.Order, from int, rng *rand.Rand) error {
	rig.Wait(ctx, time.Duration(rng.Int64N(int64(10*time.Second))))
	// The draw comes after the wait, so a holder who waited while enough came free stays.
	enough := l.given.Load() >= l.cfg.Given
	switch p := rng.Float64(); {
	case !enough && p < l.cfg.Abandons:
		return l.runOut(ctx, o, from)
	case !enough && p < l.cfg.Abandons+0.2:
		if err := l.GiveUp(ctx, from, o); err != nil {
			return err
		}
		l.given.Add(countTickets(o))
		return nil
	}
	if err := l.Buy(ctx, from, o); err != nil {
		return err
	}
	rig.Wait(ctx, time.Duration(rng.Int64N(int64(10*time.Second))))
	if l.given.Load() >= l.cfg.Given {
		return nil
	}
	if err := l.Refund(ctx, o); err != nil {
		return err
	}
	l.given.Add(countTickets(o))
	return nil
}

// runOut waits until an unpaid order has run out. It fails if the service keeps the order for longer than its
// window.
func (l *line) runOut(ctx context.Context, o *rush.Order, from int) error {
	for deadline := time.Now().Add(window*time.Minute + l.Agree); contest.IsOpen(o.Status); {
		if err := rig.Pause(ctx, time.Second); err != nil {
			return err
		}
		if err := l.Read(ctx, from, o); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return errors.New("it has not run out")
		}
	}
	l.ran.Add(countTickets(o))
	l.given.Add(countTickets(o))
	return nil
}

// answerOffers claims each offer that is mailed. A node that dies while it sends a mail sends it again with the
// same id. Such a mail is answered once.
func (l *line) answerOffers(ctx context.Context) {
	answered := make(map[string]bool)
	for seen := 0; ctx.Err() == nil; rig.Wait(ctx, rush.FirstPause) {
		mails := l.Mail.Of(offered)
		for ; seen < len(mails); seen++ {
			m, from := mails[seen], l.cfg.Units+seen
			if !answered[m.ID] {
				answered[m.ID] = true
				l.people.Go(func() { l.claimOffer(ctx, m.Found, from) })
			}
		}
	}
}

// claimOffer claims an offer by its mailed token, and then plays a holder. Nobody else may have such a token, so a
// refusal is an error of the service.
func (l *line) claimOffer(ctx context.Context, token string, from int) {
	o := new(rush.Order)
	a := l.Insist(ctx, from, client.Call{Method: "POST", Path: "/community/waitlist/" + url.PathEscape(token) + "/claim"}, o)
	switch {
	case a.OK():
		l.keepOrder(o)
		l.playHolder(ctx, *o, from)
	case ctx.Err() == nil:
		l.noteError(fmt.Errorf("waitlist: claim: %w", a.Err()))
	}
}

// passBy plays the people who try to order the tickets that come free. None of them may get one, because others are
// in line. An answer that leaves the outcome open, such as one cut off by a kill, is no finding: no key is sent, so
// the order can't be asked for again.
func (l *line) passBy(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	tick := time.NewTicker(time.Duration(float64(time.Second) / l.cfg.Passers))
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		all.Go(func() {
			o := new(rush.Order)
			from := passerAddress + i
			a := l.API.Do(ctx, l.Net.Source(from), client.Call{
				Method: "POST", Path: "/orders", Body: rush.Encode(l.orderOf(fmt.Sprintf("passer-%d@load.test", i), 1+i%mostWanted)),
			}, o)
			if ctx.Err() != nil {
				return
			}
			l.passed.Add(1)
			l.mu.Lock()
			defer l.mu.Unlock()
			switch {
			case a.OK():
				l.letIn = append(l.letIn, o.ID)
			case a.Code == "TICKET_SOLD_OUT":
				l.refused.Add(1)
			case !a.Unsettled():
				l.odd = append(l.odd, a.Err().Error())
			}
		})
	}
}

// orderOf makes the body of an order.
func (l *line) orderOf(email string, quantity int) *rush.PlaceOrder {
	return &rush.PlaceOrder{Items: []rush.Item{{TicketTypeID: l.kind, Quantity: quantity}}, GuestEmail: email, GuestName: "Load Buyer"}
}

// keepOrder notes an order that holds tickets, for the audit.
func (l *line) keepOrder(o *rush.Order) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.orders = append(l.orders, o)
}

// noteError notes why the run can't go on.
func (l *line) noteError(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

// hasErrors reports whether something went wrong, which ends the run.
func (l *line) hasErrors() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.errs) > 0
}

// countTickets counts the tickets of an order.
func countTickets(o *rush.Order) (n int64) {
	for _, i := range o.Items {
		n += int64(i.Quantity)
	}
	return n
}

// countEvents counts what happened.
func (l *line) countEvents() []report.Count {
	return []report.Count{
		{Name: "tickets", Count: int64(l.cfg.Units)},
		{Name: "people in line", Count: int64(len(l.waiting))},
		{Name: "tickets that came free", Count: l.given.Load()},
		{Name: "of them as orders ran out", Count: l.ran.Load()},
		{Name: "offers mailed", Count: int64(len(l.Mail.Of(offered)))},
		{Name: "orders tried by people who pass by", Count: l.passed.Load()},
		{Name: "of them refused", Count: l.refused.Load()},
		{Name: "times the node was killed", Count: int64(l.kills)},
	}
}
