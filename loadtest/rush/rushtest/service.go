package rushtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
)

// Service is a small ticketing service in memory, with its payment provider, on one port. It is
// right by default; bugs says what is wrong with it. mu guards everything below it, and serve holds
// it for a whole request.
type Service struct {
	URL  string
	bugs Bugs

	mu    sync.Mutex
	types map[string]*svcType
	order map[string]*svcOrder
	// The order of each address and Idempotency-Key.
	byKey map[string]string
	// The cents that were paid, by reference.
	paid     map[string]int64
	requests int // requests so far, by which bugs count
	Places   int // orders that were ever made
	complete int // orders that were ever completed
	// The journal of requests that change something; nil means none.
	journal io.Writer
	Told    Telling
	// The child that stands for Postgres is dead, so every request is answered with 503.
	down atomic.Bool
}

// Bugs are what can be wrong with a service. A number n makes the bug act on every nth request or
// order; 0 means never.
type Bugs struct {
	// The service sells more than there is.
	Oversell bool
	// The service acknowledges an order and forgets it.
	LoseOrder    int
	DoubleTicket int    // gives out a ticket code a second time
	ShortTickets int    // issues one ticket too few
	IgnoreKeys   bool   // makes a second order for a repeated key
	KeepStock    bool   // a cancel gives nothing back
	Overcharge   int    // the provider takes more than the order costs
	Uncancel     int    // a cancel is acknowledged and forgotten
	CutAfter     int    // carries a request out and drops the connection
	Refuse       int    // answers 503 without carrying out
	Break500     int    // answers 500 without carrying out
	Gate         func() // is called before every request, and may hold it up; may be nil
	Telling      TellingBugs
}

// svcType is a ticket type. Its price is in whole units of the currency.
type svcType struct {
	ID            string `json:"id"`
	QuantityTotal int    `json:"quantityTotal"`
	Available     int    `json:"available"`
	price         int
}

// svcOrder is an order in the form in which the API shows it, with what the service itself needs: the buyer's
// address and the cost in hundredths.
type svcOrder struct {
	ID          string      `json:"id"`
	OrderNumber string      `json:"orderNumber"`
	Status      string      `json:"status"`
	Currency    string      `json:"currency"`
	Total       string      `json:"total"`
	AccessToken string      `json:"accessToken,omitempty"`
	Items       []svcItem   `json:"items"`
	Tickets     []svcTicket `json:"tickets"`
	email       string
	cents       int64
}

// svcItem is a line of an order.
type svcItem struct {
	TicketTypeID string `json:"ticketTypeId"`
	Quantity     int    `json:"quantity"`
}

// svcTicket is an issued ticket, as the API shows it.
type svcTicket struct {
	ID           string `json:"id"`
	Code         string `json:"code"`
	TicketTypeID string `json:"ticketTypeId"`
}

// Start starts a service in the test's process that is wrong as its bugs say. It ends with the
// test.
func Start(t *testing.T, b Bugs) *Service {
	t.Helper()
	s := newService(b)
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.URL = "http://" + ln.Addr().String()
	server := &fasthttp.Server{Handler: s.serve, Logger: quiet{}}
	done := make(chan error, 1)
	go func() { done <- server.Serve(ln) }()
	t.Cleanup(func() {
		require.NoError(t, server.Shutdown())
		_ = ln.Close() // for a server that had not begun to serve it: Shutdown does not know its listener
		require.NoError(t, <-done)
	})
	return s
}

func newService(b Bugs) *Service {
	return &Service{
		bugs: b, types: map[string]*svcType{}, order: map[string]*svcOrder{}, byKey: map[string]string{}, paid: map[string]int64{},
	}
}

// quiet drops the server's complaints about connections that the service itself has cut.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// nth reports whether a bug acts on the request with the number n: on each number that every
// divides. If every is 0, the bug never acts.
func nth(n, every int) bool { return every > 0 && n%every == 0 }

// serve answers one request at a time. Requests that set up or audit a sale never meet a bug that
// refuses or breaks off: such a bug would end the test before there is anything to find.
func (s *Service) serve(ctx *fasthttp.RequestCtx) {
	if s.bugs.Gate != nil {
		s.bugs.Gate()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	path := strings.TrimPrefix(string(ctx.Path()), "/api/v1")
	setUp := strings.HasPrefix(path, "/organizer") || strings.HasPrefix(path, "/auth") || strings.HasPrefix(path, "/webhooks") || strings.HasPrefix(path, "/_sim")
	if s.down.Load() || !setUp && nth(s.requests, s.bugs.Refuse) {
		writeFailure(ctx, 503, "OVERLOADED")
		return
	}
	if !setUp && nth(s.requests, s.bugs.Break500) {
		writeFailure(ctx, 500, "INTERNAL")
		return
	}
	// Only a POST changes something.
	if s.journal != nil && ctx.IsPost() {
		s.noteRequest(ctx)
	}
	s.route(ctx, string(ctx.Method()), path)
	// The request has been carried out, but the client can't know it.
	if !setUp && nth(s.requests, s.bugs.CutAfter) {
		_ = ctx.Conn().Close()
	}
}

// route carries a request out. It knows only those parts of the API that a load test calls.
func (s *Service) route(ctx *fasthttp.RequestCtx, method, path string) {
	part := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case path == "/readyz":
	case path == "/webhooks":
		s.Told.subscribe(ctx)
	case path == "/organizer/facts":
		s.Told.list(ctx)
	case path == "/auth/login":
		writeData(ctx, 200, map[string]string{"accessToken": "organizer"})
	case path == "/auth/register":
		writeData(ctx, 201, map[string]string{"accessToken": "organizer"})
	case path == "/organizer/events":
		writeData(ctx, 201, map[string]string{"id": "event-1", "slug": "load-test"})
	case path == "/organizer/events/event-1/tickets":
		s.addType(ctx)
	case path == "/organizer/events/event-1/publish", path == "/events/load-test":
		writeData(ctx, 200, map[string]string{"id": "event-1"})
	case path == "/events/event-1/tickets":
		all := []*svcType{}
		for _, t := range s.types {
			all = append(all, t)
		}
		writeData(ctx, 200, map[string]any{"items": all})
	case method == "POST" && path == "/orders":
		s.placeOrder(ctx)
	case part[0] == "orders" && len(part) == 2:
		if o := s.find(ctx, part[1], string(ctx.QueryArgs().Peek("token"))); o != nil {
			shown := *o
			shown.AccessToken = ""
			writeData(ctx, 200, shown)
		}
	case part[0] == "orders" && part[2] == "pay":
		if o := s.find(ctx, part[1], bodyToken(ctx)); o != nil {
			writeData(ctx, 200, map[string]string{"authorizationUrl": s.URL + "/checkout/" + o.ID})
		}
	case part[0] == "orders" && part[2] == "cancel":
		if o := s.find(ctx, part[1], bodyToken(ctx)); o != nil {
			s.cancelOrder(ctx, o)
		}
	case part[0] == "checkout":
		s.openCheckout(ctx, part[1])
	case path == "/payments/verify":
		s.verifyPayment(ctx)
	case path == "/_sim/transactions":
		s.listTransactions(ctx)
	default:
		writeFailure(ctx, 404, "NOT_FOUND")
	}
}

// addType puts a ticket type on sale. Its id is its number, so that the same requests after a restart give the same
// ids.
func (s *Service) addType(ctx *fasthttp.RequestCtx) {
	var in struct {
		QuantityTotal int `json:"quantityTotal"`
		Price         int `json:"price"`
	}
	if json.Unmarshal(ctx.PostBody(), &in) != nil {
		writeFailure(ctx, 400, "VALIDATION_ERROR")
		return
	}
	t := &svcType{ID: fmt.Sprintf("type-%d", len(s.types)), QuantityTotal: in.QuantityTotal, Available: in.QuantityTotal, price: in.Price}
	s.types[t.ID] = t
	writeData(ctx, 201, t)
}

// placeOrder makes an order, or answers with the order that the same key from the same address has
// made. An order that costs nothing is completed at once.
func (s *Service) placeOrder(ctx *fasthttp.RequestCtx) {
	key := ctx.RemoteIP().String() + string(ctx.Request.Header.Peek("Idempotency-Key"))
	if id, repeated := s.byKey[key]; repeated && !s.bugs.IgnoreKeys {
		if o := s.find(ctx, id, "token"); o != nil {
			writeData(ctx, 201, o)
		}
		return
	}
	var in struct {
		Items      []svcItem `json:"items"`
		GuestEmail string    `json:"guestEmail"`
	}
	if json.Unmarshal(ctx.PostBody(), &in) != nil {
		writeFailure(ctx, 400, "VALIDATION_ERROR")
		return
	}
	o := &svcOrder{Status: "pending", Currency: "NGN", Items: in.Items, email: in.GuestEmail}
	for _, i := range in.Items {
		t := s.types[i.TicketTypeID]
		switch {
		case t.Available < i.Quantity && !s.bugs.Oversell:
			writeFailure(ctx, 409, "TICKET_SOLD_OUT")
			return
		case s.heldBy(in.GuestEmail, t.ID)+i.Quantity > 6:
			writeFailure(ctx, 409, "EXCEEDS_MAX_PER_CUSTOMER")
			return
		}
		// Prices are in whole units, and fees of five per cent make it 105 hundredths of each.
		o.cents += int64(t.price * i.Quantity * 105)
	}
	for _, i := range in.Items {
		s.types[i.TicketTypeID].Available -= i.Quantity
	}
	s.Places++
	o.ID, o.OrderNumber, o.AccessToken = fmt.Sprintf("order-%d", s.Places), fmt.Sprintf("BX-%d", s.Places), "token"
	o.Total = fmt.Sprintf("%d.%02d", o.cents/100, o.cents%100)
	s.tellFact("order.created", o)
	if o.cents == 0 {
		s.finishOrder(o)
	}
	s.byKey[key] = o.ID
	s.order[o.ID] = o
	writeData(ctx, 201, o)
	// The order is acknowledged first and forgotten then, which is the worst that a service can do.
	if nth(s.Places, s.bugs.LoseOrder) {
		delete(s.order, o.ID)
	}
}

// heldBy returns how many tickets of a type the orders of an address have, without cancelled
// orders.
func (s *Service) heldBy(email, ticketType string) int {
	n := 0
	for _, o := range s.order {
		if o.email == email && o.Status != "cancelled" {
			for _, i := range o.Items {
				if i.TicketTypeID == ticketType {
					n += i.Quantity
				}
			}
		}
	}
	return n
}

// finishOrder completes an order and issues its tickets. The bugs change the tickets only after the
// fact was told.
func (s *Service) finishOrder(o *svcOrder) {
	o.Status = "completed"
	s.complete++
	for _, i := range o.Items {
		for k := range i.Quantity {
			name := o.ID + "-" + i.TicketTypeID + "-" + strconv.Itoa(k)
			o.Tickets = append(o.Tickets, svcTicket{"id-" + name, "code-" + name, i.TicketTypeID})
		}
	}
	s.tellFact("order.completed", o)
	if nth(s.complete, s.bugs.DoubleTicket) {
		o.Tickets[0].Code = "code-of-another"
	}
	if nth(s.complete, s.bugs.ShortTickets) {
		o.Tickets = o.Tickets[1:]
	}
}

// find returns an order if the caller has its token, or else answers that there is no such order.
func (s *Service) find(ctx *fasthttp.RequestCtx, id, token string) *svcOrder {
	o := s.order[id]
	if o == nil || token != o.AccessToken {
		writeFailure(ctx, 404, "ORDER_NOT_FOUND")
		return nil
	}
	return o
}

// bodyToken returns the order's token in the body of a request, or "" if there is none.
func bodyToken(ctx *fasthttp.RequestCtx) string {
	var in struct {
		Token string `json:"token"`
	}
	_ = json.Unmarshal(ctx.PostBody(), &in)
	return in.Token
}

// cancelOrder cancels an order that is still unpaid, and gives its tickets back. An order in
// another status stays as it is.
func (s *Service) cancelOrder(ctx *fasthttp.RequestCtx, o *svcOrder) {
	if o.Status == "pending" {
		o.Status = "cancelled"
		for _, i := range o.Items {
			if !s.bugs.KeepStock {
				s.types[i.TicketTypeID].Available += i.Quantity
			}
		}
	}
	writeData(ctx, 200, o)
	if nth(s.Places, s.bugs.Uncancel) {
		o.Status = "pending"
		for _, i := range o.Items {
			s.types[i.TicketTypeID].Available -= i.Quantity
		}
	}
}

// openCheckout is the provider's page, where the buyer pays the whole cost of the order.
func (s *Service) openCheckout(ctx *fasthttp.RequestCtx, id string) {
	o := s.order[id]
	if o == nil || string(ctx.PostArgs().Peek("outcome")) != "success" {
		writeFailure(ctx, 404, "NOT_FOUND")
		return
	}
	s.paid[o.OrderNumber+"-1"] = o.cents
	if nth(len(s.paid), s.bugs.Overcharge) {
		s.paid[o.OrderNumber+"-1"]++
	}
	ctx.Redirect(s.URL, 303)
}

// verifyPayment completes an order that was paid.
func (s *Service) verifyPayment(ctx *fasthttp.RequestCtx) {
	var in struct {
		OrderID string `json:"orderId"`
		Token   string `json:"token"`
	}
	_ = json.Unmarshal(ctx.PostBody(), &in)
	o := s.find(ctx, in.OrderID, in.Token)
	if o == nil {
		return
	}
	if o.Status == "pending" && s.paid[o.OrderNumber+"-1"] > 0 {
		s.finishOrder(o)
	}
	writeData(ctx, 200, map[string]any{"orderId": o.ID, "status": o.Status}) // no tickets: the buyer reads the order
}

// listTransactions is the provider's list of payments. It also has a payment of another sale, which
// an audit must leave out.
func (s *Service) listTransactions(ctx *fasthttp.RequestCtx) {
	type row struct {
		Reference string `json:"reference"`
		Paid      int64  `json:"paid"`
	}
	rows := []row{{"BX-of-another-sale-1", 5}}
	for reference, paid := range s.paid {
		rows = append(rows, row{reference, paid})
	}
	body, _ := json.Marshal(map[string]any{"transactions": rows, "next": 0})
	ctx.SetBody(body)
}

// writeData answers with a value in the envelope of the API.
func writeData(ctx *fasthttp.RequestCtx, status int, v any) {
	body, err := json.Marshal(map[string]any{"data": v})
	if err != nil {
		panic(err)
	}
	ctx.SetStatusCode(status)
	ctx.SetBody(body)
}

// writeFailure answers with an error code in the envelope of the API.
func writeFailure(ctx *fasthttp.RequestCtx, status int, code string) {
	ctx.SetStatusCode(status)
	ctx.SetBodyString(`{"error":{"code":"` + code + `","message":"no","details":null},"meta":{"request_id":"1"}}`)
}
