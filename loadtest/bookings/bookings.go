// Package bookings is the contest for the places of dates and slots. Some buyers never pay, some
// pay too late and some give up, and the node is killed in between. Run returns when every
// goroutine and process that it started has ended.
package bookings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest bookings`.
type Config struct {
	contest.Config
	Buyers   int     `default:"1500" help:"Customers."`
	Orders   int     `default:"4" help:"Orders that each of them tries."`
	Dates    int     `default:"30" help:"Dates that can be booked."`
	Slots    int     `default:"8" help:"Slots of a date."`
	Places   int     `default:"20" help:"Places of a slot on a date."`
	Cap      int     `default:"5" help:"Places that a customer may have on a date."`
	Tables   int     `default:"24" help:"Buyers at a time."`
	Kills    int     `default:"3" help:"How many times the node is killed with -9 while buyers order."`
	Abandons float64 `default:"0.15" help:"Share of orders that are never paid, and run out after five minutes."`
	Late     float64 `default:"0.1" help:"Share of orders that are given up at the checkout, and whose money comes then."`
	GiveUps  float64 `default:"0.15" help:"Share of orders that are cancelled."`
}

// Validate is called by kong, and by the run itself.
func (c *Config) Validate() error {
	switch {
	case c.Buyers < 1 || c.Orders < 1 || c.Places < 1 || c.Cap < 1 || c.Tables < 1:
		return errors.New("at least one buyer, order, place and table")
	case c.Dates < 1 || c.Dates > 90 || c.Slots < 1 || c.Slots > 12:
		return errors.New("1 to 90 dates, and 1 to 12 slots")
	case c.Abandons+c.Late+c.GiveUps > 1:
		return errors.New("abandoned, late and given up are more than all orders")
	}
	return nil
}

const (
	window    = 5 * time.Minute // how long an order may be unpaid
	mostUnits = 3               // places that one order asks for at most
	// There are enough tickets that only the slots and the cap limit the orders.
	plenty = 1_000_000
)

// place is one slot on one date.
type place struct{ date, slot string }

// booking is an order that the service accepted.
type booking struct {
	place
	customer string
	units    int
	// The checkout at which the order is paid too late; nil if it is not paid late.
	page  *url.URL
	order rush.Order

	from, until time.Time // from when and until when it certainly had its places; until is zero while it has them
}

// season is a run of the contest. mu guards the bookings and the odd answers, which many buyers add
// to.
type season struct {
	*contest.Place
	cfg    Config
	event  string
	kind   string
	places []place

	mu       sync.Mutex
	bookings []*booking
	odd      []string // answers that nobody should get

	kills               int
	tried, full, capped atomic.Int64
}

// Run books, waits until open orders expire, reads and refunds everything, and checks the outcome.
// It returns an error if the audit finds something.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (*contest.Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return contest.Hold(ctx, cfg.Config, "bookings", 1, nil, out, log, func(at *contest.Place) (*contest.Result, error) {
		s := &season{Place: at, cfg: cfg}
		if err := s.openDates(ctx); err != nil {
			return nil, err
		}
		if err := s.bookAll(ctx); err != nil {
			return nil, err
		}
		log.InfoContext(ctx, "all have ordered", slog.Int("granted", len(s.bookings)))
		if err := s.settleOrders(ctx); err != nil {
			return nil, err
		}
		outcome, err := s.readOutcome(ctx)
		if err != nil {
			return nil, err
		}
		return &contest.Result{Counts: s.countOrders(), Checks: Audit(outcome)}, nil
	})
}

// openDates puts the dates on sale. Tickets are plenty, so only the slots and the cap limit the
// orders.
func (s *season) openDates(ctx context.Context) error {
	start := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Hour)
	var slots []map[string]any
	for i := range s.cfg.Slots {
		slots = append(slots, map[string]any{
			"label": fmt.Sprintf("Slot %d", i+1), "startTime": fmt.Sprintf("%02d:00", 9+i), "endTime": fmt.Sprintf("%02d:00", 10+i),
			"capacity": s.cfg.Places, "sortOrder": i,
		})
	}
	var event struct{ ID string }
	if err := s.Organizer.Post(ctx, "/organizer/events", map[string]any{
		"title": "Load test bookings", "category": "reservations", "venueType": "physical", "timezone": "Africa/Lagos", "currency": "NGN",
		"startDate": start.Format(time.RFC3339), "venueName": "Test Hall", "venueCity": "Lagos", "venueCountry": "NG",
		"orderWindowMinutes": int(window.Minutes()),
		"reservation": map[string]any{
			"mode": "date_time", "maxAdvanceDays": s.cfg.Dates, "maxPerCustomerPerDay": s.cfg.Cap, "slots": slots,
		},
	}, &event); err != nil {
		return err
	}
	s.event = event.ID
	path := "/organizer/events/" + url.PathEscape(event.ID)
	all := rush.SaleType{Name: "Place", Quantity: plenty, MaxPerOrder: mostUnits, MaxPerCustomer: 1000}
	var made rush.TicketType
	if err := s.Organizer.Post(ctx, path+"/tickets", all.Request(start.AddDate(1, 0, 0)), &made); err != nil {
		return err
	}
	s.kind = made.ID
	if err := s.Organizer.Post(ctx, path+"/publish", nil, nil); err != nil {
		return err
	}
	// The service names the slots by ids of its own, so the places are read from what can be
	// booked. They are sorted, because tryOrder draws a place by its number.
	left, err := s.readLeft(ctx)
	for at := range left {
		s.places = append(s.places, at)
	}
	slices.SortFunc(s.places, func(a, b place) int { return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.slot, b.slot)) })
	if err == nil && len(left) != s.cfg.Dates*s.cfg.Slots {
		err = fmt.Errorf("bookings: %d slots can be booked instead of %d", len(left), s.cfg.Dates*s.cfg.Slots)
	}
	return err
}

// bookAll lets all customers order while the node is killed. The kills are spread over the tries,
// and stop when the last customer is done.
func (s *season) bookAll(ctx context.Context) error {
	open, closing := context.WithCancel(ctx)
	defer closing()
	var killed error
	var killer sync.WaitGroup
	killer.Go(func() {
		s.kills, killed = s.KillAlong(open, s.cfg.Kills, s.cfg.Buyers*s.cfg.Orders, func() int { return int(s.tried.Load()) })
	})
	err := contest.ForAll(s.cfg.Tables, s.cfg.Buyers*s.cfg.Orders, func(table, i int) error {
		// Each try has random numbers of its own, so the order in which goroutines run does not
		// change what a customer does.
		rng := rand.New(rand.NewPCG(s.cfg.Seed, uint64(i))) //nolint:gosec // not for secrets
		return s.tryOrder(ctx, table, fmt.Sprintf("customer-%d@load.test", i%s.cfg.Buyers), rng)
	})
	closing()
	killer.Wait()
	return errors.Join(err, killed, context.Cause(ctx))
}

// tryOrder orders places for a customer. The smaller of two draws decides the place, so most
// customers want one of the first dates, and slots fill up.
func (s *season) tryOrder(ctx context.Context, from int, customer string, rng *rand.Rand) error {
	defer s.tried.Add(1)
	b := &booking{place: s.places[min(rng.IntN(len(s.places)), rng.IntN(len(s.places)))], customer: customer, units: 1 + rng.IntN(mostUnits)}
	a := s.Order(ctx, from, map[string]any{
		"guestEmail": customer, "guestName": "Load Customer",
		"items": []map[string]any{{"ticketTypeId": s.kind, "quantity": b.units, "reservationDate": b.date, "reservationSlotId": b.slot}},
	}, &b.order)
	switch {
	case a.OK():
	case a.Code == "SLOT_FULL":
		s.full.Add(1)
		return nil
	case a.Code == "EXCEEDS_MAX_PER_CUSTOMER":
		s.capped.Add(1)
		return nil
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.odd = append(s.odd, a.Err().Error())
		return nil
	}
	// The service may have granted the places earlier, but from this moment on the order certainly
	// has them.
	b.from = time.Now()
	s.mu.Lock()
	s.bookings = append(s.bookings, b)
	s.mu.Unlock()
	return s.playBuyer(ctx, from, b, rng.Float64())
}

// playBuyer does with an order what a buyer does: nothing, leave it at the checkout to pay too
// late, give it up, or pay.
func (s *season) playBuyer(ctx context.Context, from int, b *booking, lot float64) (err error) {
	switch c := &s.cfg; {
	case lot < c.Abandons:
		return nil
	case lot < c.Abandons+c.Late+c.GiveUps:
		if lot < c.Abandons+c.Late {
			if b.page, err = s.Checkout(ctx, from, &b.order); err != nil {
				return err
			}
		}
		// The request to give up may succeed from now on, so the certain time ends before it is
		// sent.
		b.until = time.Now()
		return s.GiveUp(ctx, from, &b.order)
	default:
		return s.Buy(ctx, from, &b.order)
	}
}

// settleOrders sends the late money, and waits until no order is open any more. Orders that nobody
// paid must expire by themselves.
func (s *season) settleOrders(ctx context.Context) error {
	return contest.ForAll(s.cfg.Tables, len(s.bookings), func(table, i int) error {
		b := s.bookings[i]
		if !contest.IsOpen(b.order.Status) {
			return s.payLate(ctx, table, b)
		}
		// The service accepted the order at most Patience before its answer arrived, because the
		// request was repeated for that long. So the order's time may end that much earlier than
		// counted from the answer.
		b.until = b.from.Add(window - s.Patience)
		for deadline := time.Now().Add(window + s.Agree); contest.IsOpen(b.order.Status); {
			if err := s.Read(ctx, table, &b.order); err != nil {
				return err
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("bookings: order %s does not run out", b.order.ID)
			}
			rig.Wait(ctx, rush.FirstPause)
		}
		return nil
	})
}

// payLate pays an order that its buyer left at the checkout and gave up. It then asks the service
// to look at the payment.
func (s *season) payLate(ctx context.Context, from int, b *booking) error {
	if b.page == nil {
		return nil
	}
	if err := s.Pay(ctx, from, b.page); err != nil {
		return err
	}
	return s.Verify(ctx, from, &b.order)
}

// readLeft returns how many places are left of each slot on each date, as the public page of the
// event shows it.
func (s *season) readLeft(ctx context.Context) (map[place]int, error) {
	var got struct {
		Days []struct {
			Date  string
			Slots []struct {
				SlotID    string
				Remaining int
			}
		}
	}
	path := "/public/events/by-id/" + url.PathEscape(s.event) + "/availability"
	if a := s.Insist(ctx, 0, client.Call{Method: "GET", Path: path}, &got); !a.OK() {
		return nil, fmt.Errorf("bookings: availability: %w", a.Err())
	}
	left := make(map[place]int)
	for _, day := range got.Days {
		for _, slot := range day.Slots {
			left[place{day.Date, slot.SlotID}] = slot.Remaining
		}
	}
	return left, nil
}

// countOrders counts the outcomes of the orders for the report.
func (s *season) countOrders() []report.Count {
	became := make(map[string]int64)
	var late int64
	for _, b := range s.bookings {
		became[b.order.Status]++
		if b.page != nil {
			late++
		}
	}
	all := []report.Count{
		{Name: "orders tried", Count: s.tried.Load()},
		{Name: "refused: the slot was full", Count: s.full.Load()},
		{Name: "refused: the customer had enough of the date", Count: s.capped.Load()},
		{Name: "granted", Count: int64(len(s.bookings))},
		{Name: "of them paid late", Count: late},
	}
	for _, status := range []string{rush.Completed, rush.Cancelled, "expired", "refunded"} {
		all = append(all, report.Count{Name: "of them " + status, Count: became[status]})
	}
	return append(all, report.Count{Name: "times the node was killed", Count: int64(s.kills)})
}
