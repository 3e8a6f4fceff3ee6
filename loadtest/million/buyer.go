package million

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/rush"
)

// These are the ways in which an order may end, which openloop counts as operations.
const (
	opAccepted openloop.Op = iota
	opSoldOut
	opOdd
)

// scene is what the parts of a run share.
type scene struct {
	*contest.Single
	cfg   Config
	rng   *rand.Rand // draws the areas and the times; only one goroutine uses it
	sales []*rush.Sale

	mu  sync.Mutex
	out *Outcome // guarded by mu while orders are under way
}

// openSales puts the events on sale, the areas shared among them.
func (s *scene) openSales(ctx context.Context) error {
	for i := range s.cfg.Events {
		var types []rush.SaleType
		// The areas go to the events in turn, so that no event has more than one area more than another.
		for n := i; n < s.cfg.Areas; n += s.cfg.Events {
			types = append(types, rush.SaleType{
				Name: fmt.Sprintf("Area %d", n+1), Quantity: s.out.Stock, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: rush.MaxPerCustomer,
			})
		}
		sale, err := s.Organizer.OpenSale(ctx, types)
		if err != nil {
			return err
		}
		s.sales = append(s.sales, sale)
		for _, t := range sale.Types {
			s.out.Areas = append(s.out.Areas, area{ticketType: t.ID, sale: i})
		}
	}
	return nil
}

// buyer places one order and takes what comes. n is the buyer's number, by which the client address is chosen.
type buyer struct {
	*scene
	n, area int
}

// Step places the order. It reads the answer itself instead of through client.API, because the audit judges the
// whole of a refusal and not its code alone. The buyer is done after one answer, whatever it is.
func (b *buyer) Step(ctx context.Context) openloop.Result {
	resp := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(resp)
	ticketType := b.out.Areas[b.area].ticketType
	err := b.Net.Source(b.n).Do(ctx, &client.Request{
		Method: "POST", Host: b.API.Host, Path: "/api/v1/orders", Key: uuid.NewString(), ContentType: "application/json",
		Body: rush.Encode(rush.PlaceOrder{
			Items: []rush.Item{{TicketTypeID: ticketType, Quantity: 1}}, GuestEmail: fmt.Sprintf("buyer-%d@load.test", b.n), GuestName: "Load Buyer",
		}),
	}, resp)
	if err != nil {
		b.noteAnswer(opOdd, nil, err.Error())
		return openloop.Result{Op: opOdd, Done: true}
	}
	op, order, odd := readAnswer(resp.StatusCode(), resp.Body(), ticketType)
	b.noteAnswer(op, order, odd)
	return openloop.Result{Op: op, Status: resp.StatusCode(), Done: true}
}

// readAnswer sorts an answer to an order for a ticket of a type. It returns the order, or what is odd about the
// answer. A refusal is only right if it names the ordered type and says that none of its tickets are left: a
// refusal for another reason while tickets are left would lose a sale.
func readAnswer(status int, body []byte, ticketType string) (op openloop.Op, order *rush.Order, odd string) {
	switch status {
	case fasthttp.StatusCreated:
		var made struct{ Data rush.Order }
		if err := json.Unmarshal(body, &made); err == nil && made.Data.ID != "" {
			return opAccepted, &made.Data, ""
		}
	case fasthttp.StatusConflict:
		var refused struct {
			Error struct {
				Code, Message string
				Details       struct {
					TicketTypeID         string
					Requested, Available int
				}
			}
		}
		err := json.Unmarshal(body, &refused)
		e := &refused.Error
		if err == nil && e.Code == "TICKET_SOLD_OUT" && e.Message != "" && e.Details.TicketTypeID == ticketType && e.Details.Requested == 1 && e.Details.Available == 0 {
			return opSoldOut, nil, ""
		}
	}
	return opOdd, nil, fmt.Sprintf("an order for %s was answered %d %.300s", ticketType, status, body)
}

// oddsShown is how many odd answers are kept.
const oddsShown = 20

// noteAnswer counts an answer. Accepted orders are kept whole, because the audit reads each of them back.
func (b *buyer) noteAnswer(op openloop.Op, order *rush.Order, odd string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.out
	o.Answers++
	a := &o.Areas[b.area]
	a.asked++
	switch op {
	case opAccepted:
		a.accepted++
		o.Orders = append(o.Orders, placed{Order: *order, area: b.area})
	case opOdd:
		if o.Odds++; len(o.Odd) < oddsShown {
			o.Odd = append(o.Odd, odd)
		}
	}
}

// auditClients is how many orders are read back at a time.
const auditClients = 64

// readBack reads every accepted order, and the stock of every area. It runs when no order is under way any more, so
// it needs no lock; each order is written by the one client that reads it.
func (s *scene) readBack(ctx context.Context) error {
	o := s.out
	if err := contest.ForAll(auditClients, len(o.Orders), func(_, i int) error {
		p := &o.Orders[i]
		if p.wrong = s.CheckPlaced(ctx, i, &p.Order); p.wrong == "" && p.Items[0].TicketTypeID != o.Areas[p.area].ticketType {
			p.wrong = "it is for another area than was ordered"
		}
		return nil
	}); err != nil {
		return err
	}
	for n, sale := range s.sales {
		// The stock is read until it agrees with the accepted orders of the sale, because what the service shows of
		// it may be a moment old.
		accepted := 0
		for i := range o.Areas {
			if o.Areas[i].sale == n {
				accepted += o.Areas[i].accepted
			}
		}
		taken, err := s.ReadTaken(ctx, sale, accepted)
		if err != nil {
			return err
		}
		for i := range o.Areas {
			if o.Areas[i].sale == n {
				o.Areas[i].taken = taken[o.Areas[i].ticketType]
			}
		}
	}
	return nil
}
