package sales

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/promos"
)

// placeOrder sends the order to its event's actor. The order's id is derived from the Idempotency-Key, so that a
// repeat finds the same order without a table of keys. The answer shows the order as it was when it was made, so
// that the answer to a repeat is the same, byte for byte.
func (h *Handlers) placeOrder(c *route.Call, in *api.PlaceOrder) (*api.Order, error) {
	number, lines, err := orderLines(in.Items)
	if err != nil {
		return nil, err
	}
	address := cmp.Or(in.GuestEmail, c.Principal.Email) // A user who is signed in may leave the address out.
	email := order.NormalEmail(address)
	if email == "" {
		return nil, route.Invalid(route.Issue{Path: "guestEmail", Code: route.IssueRequired, Message: "is required"})
	}
	k, err := h.Known.Find(c.Context, number)
	if err != nil {
		return nil, orders.HideEvent(err, engine.TicketTypeNotFound)
	}
	if err := h.boxOffice(c, k.Org, engine.TicketTypeNotFound); err != nil {
		return nil, err
	}
	// An order whose admission has run out goes on, because it may be a repeat of one that came in time. The event
	// answers such a repeat, and refuses any other.
	late, unadmitted := h.Admit(c, k.Org, number, cmp.Or(in.AdmissionHeader, in.Admission), email)
	if unadmitted != nil && !late {
		return nil, unadmitted
	}
	body := c.BodyHash()
	cmd := ledger.Place{
		Late:        late,
		Fingerprint: binary.BigEndian.Uint64(body[:8]),
		Email:       address, Name: in.GuestName, Customer: order.GuestOf(email),
		Lines: lines, PresaleCode: in.PresaleCode, Scale: h.LimitsScale, Waive: in.Waive,
		Language: h.Letters.KeptLanguage(c),
	}
	// Caps count for an address only if the caller has proven it. Orders of guests count apart, so that nobody uses
	// up the caps of others by typing their addresses.
	if c.Principal.EmailProven && order.NormalEmail(c.Principal.Email) == email {
		cmd.Customer = order.CustomerOf(email)
	}
	if cmd.Promo, err = h.findCode(c, k.Org, number, in.PromoCode); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(lines, func(l order.Line) bool { return len(l.Seats) > 0 }) {
		cmd.Holder, cmd.Principal = in.Holder, h.principalOf(c)
	}
	h.nameOrder(c, number, &cmd)
	cmd.Client = live.NetworkOf(c, h.Secrets, k.Org)
	asked := time.Now()
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(number), cmd)
	h.NoteOrder(time.Since(asked))
	if err != nil {
		if refusal, ok := err.(*engine.Refusal); ok && refusal.Code == engine.QueueRequired { //nolint:errorlint // ask returns refusals bare
			h.CountLate()
			return nil, unadmitted
		}
		return nil, seatIssues(err, in.Items)
	}
	o := r.Order
	if lines[0].Visit != nil {
		h.Pages.ForgetCalendar(number) // the buyer sees what is left after this order
	}
	if r.Past {
		if o, err = h.Orders.FindPast(c.Context, r.ID, ""); err != nil {
			return nil, err
		}
		o = o.Placed()
	}
	route.TellReplayed(c, r.Known)
	return h.showMade(c, o)
}

// showMade shows an order as it was made, with the QR payloads of that time. Every caller but an API key sees the
// order as its buyer does, and gets the token that opens it. An API key sees only what its scopes allow, and gets the
// token only if the token would show the key nothing more.
func (h *Handlers) showMade(c *route.Call, o *order.Order) (*api.Order, error) {
	reader := orders.Person(o.Email)
	if c.Principal.Kinds.Has(route.Key) {
		reader = orders.Seller(c.Principal.Grants[0])
	}
	v, err := h.Orders.ShowPlaced(c.Context, o, reader, time.UnixMilli(o.EndedAt))
	if err != nil {
		return nil, err
	}
	v.AccessToken = h.Orders.Token(o, reader)
	return v, nil
}

// findCode returns the promo code that a buyer typed, or nil if text is empty. For an unknown code it returns the
// code with number 0, which always refuses. So the event can still answer a repeated order whose code has been
// removed since. An unknown code counts as a guess, and too many guesses are refused.
func (h *Handlers) findCode(c *route.Call, org, number int64, text string) (*order.Promo, error) {
	if text = strings.ToUpper(strings.TrimSpace(text)); text == "" {
		return nil, nil //nolint:nilnil // no code is an answer
	}
	guess := h.Guesses.Promo(c)
	if err := h.Guesses.Take(c, guess); err != nil {
		return nil, err
	}
	code, err := h.Pages.FindCode(c.Context, promos.Name{Org: org, Event: number, Code: text})
	if err != nil || code != 0 {
		h.Guesses.GiveBack(c, guess)
	}
	if err != nil {
		return nil, err
	}
	return &order.Promo{Ref: engine.PromoRef(org, code), Code: text}, nil
}

// boxOffice refuses an API key that would sell for another organization, with the given code, or that lacks the
// row's scopes. It refuses nobody else, because everybody else buys for themselves.
func (h *Handlers) boxOffice(c *route.Call, org int64, code engine.Code) error {
	if !c.Principal.Kinds.Has(route.Key) {
		return nil
	}
	g, ok := c.Principal.Grant(org)
	if !ok {
		return &engine.Refusal{Code: code}
	}
	return route.ActFor(c, g)
}

// orderLines reads the lines of a buyer's order. Unlike readLines, it refuses two lines with the same type, date and
// slot.
func orderLines(items []api.OrderItem) (int64, []order.Line, error) {
	for i := range items {
		for j := range items[:i] {
			a, b := &items[i], &items[j]
			if strings.EqualFold(a.TicketTypeID, b.TicketTypeID) && a.ReservationDate == b.ReservationDate && a.ReservationSlotID == b.ReservationSlotID {
				return 0, nil, route.Invalid(route.Issue{
					Path: fmt.Sprintf("items[%d].ticketTypeId", i), Code: route.IssueFormat, Message: "stands in an earlier line already",
				})
			}
		}
	}
	return readLines(items)
}

// readLines reads the lines of an order, and returns the number of their event, which the ids of the ticket types
// contain. It refuses lines of different events, ids that are none of a ticket type, dates before 1970, a slot
// without a date, and seats that are not as many as the quantity.
func readLines(items []api.OrderItem) (int64, []order.Line, error) {
	lines := make([]order.Line, len(items))
	var number int64
	for i := range items {
		it := &items[i]
		id, err := engine.ParseID(it.TicketTypeID)
		if err != nil || id.Event() < 1 || id != engine.NumberedID(id.Event(), id.Number()) {
			return 0, nil, &engine.Refusal{Code: engine.TicketTypeNotFound}
		}
		if i > 0 && id.Event() != number {
			return 0, nil, route.Invalid(route.Issue{
				Path: fmt.Sprintf("items[%d].ticketTypeId", i), Code: route.IssueFormat, Message: "is of another event than the first line's",
			})
		}
		number = id.Event()
		lines[i] = order.Line{
			Type: id.Number(), Quantity: it.Quantity,
			AttendeeName: it.AttendeeName, AttendeeEmail: it.AttendeeEmail, Seats: it.VenueSeatIDs,
		}
		if it.ReservationDate != "" {
			day, err := keeper.ParseDay(it.ReservationDate)
			if err != nil {
				return 0, nil, route.Invalid(route.Issue{
					Path: fmt.Sprintf("items[%d].reservationDate", i), Code: route.IssueFormat, Message: "must be a date from 1970 on",
				})
			}
			lines[i].Visit = &keeper.Visit{Date: day, Slot: it.ReservationSlotID}
		} else if it.ReservationSlotID != "" {
			return 0, nil, route.Invalid(route.Issue{
				Path: fmt.Sprintf("items[%d].reservationDate", i), Code: route.IssueRequired, Message: "is required with a slot",
			})
		}
		if n := len(it.VenueSeatIDs); n > 0 && int64(n) != it.Quantity {
			return 0, nil, route.Invalid(route.Issue{
				Path: fmt.Sprintf("items[%d].venueSeatIds", i), Code: route.IssueMaximum, Message: "must be as many as the quantity",
			})
		}
	}
	return number, lines, nil
}

// seatIssues turns an actor's VALIDATION_ERROR into issues about the seats of items, if its details name seats
// or a ticket type, or are missing. It returns any other error unchanged.
func seatIssues(err error, items []api.OrderItem) error {
	r, ok := err.(*engine.Refusal) //nolint:errorlint // ask returns refusals bare
	if !ok || r.Code != engine.Validation {
		return err
	}
	var issues []route.Issue
	add := func(i int, code, what string) {
		issues = append(issues, route.Issue{Path: fmt.Sprintf("items[%d].venueSeatIds", i), Code: code, Message: what + r.Message})
	}
	switch of := r.Details.(type) {
	case seatmap.Seats:
		for i := range items {
			for _, seat := range items[i].VenueSeatIDs {
				if slices.Contains(of.SeatIDs, seat) {
					add(i, route.IssueEnum, seat+": ")
				}
			}
		}
	case keeper.OfType:
		i := slices.IndexFunc(items, func(it api.OrderItem) bool { return it.TicketTypeID == of.TicketTypeID })
		add(max(i, 0), route.IssueRequired, "")
	case nil:
		add(0, route.IssueFormat, "")
	}
	if len(issues) == 0 {
		return err
	}
	return route.Invalid(issues[:min(len(issues), route.MaxIssues)]...)
}

// nameOrder sets the ids under which the event looks for the order of a request: the id that a new order gets,
// and the alias, the id that the same request may have got earlier (orders.NewIDs).
//
// An id is derived from the request's name, which is an HMAC under the master key, and from the day. (Without an
// Idempotency-Key it is random.) It has 74 bits besides the event's number. Of 100 million orders of one event,
// two have the same id with a probability of 3e-7, and nobody can search for two keys with the same id.
//
// The day is part of the id because the ledger knows an order by its id only for 24 hours after its end. If a client
// uses a key again later, the new order must not get the id of the old one.
func (h *Handlers) nameOrder(c *route.Call, number int64, cmd *ledger.Place) {
	cmd.Order, cmd.Alias = orders.NewIDs(c, number, h.Secrets.Request(c.Scope()))
}

// getOrder shows an order to a caller who may see it (Desk.Open). Its tickets have QR payloads for up to in.Ahead hours
// ahead (Desk.AddAhead). If the order waits for a transfer, it also shows when the buyer said that the money was sent.
func (h *Handlers) getOrder(c *route.Call, in *api.ReadOrder) (*api.Order, error) {
	o, reader, err := h.Orders.Open(c, in.ID, in.Token)
	if err != nil {
		return nil, err
	}
	v, err := h.showWaiting(c, o, reader)
	if err != nil {
		return nil, err
	}
	h.Orders.AddAhead(v, o, in.Ahead, c.Now)
	return v, nil
}

// cancelOrder lets a caller who may see an unpaid order give it up, and shows the order afterwards. An order that is
// cancelled already is shown just the same; the event refuses for an order that has ended otherwise.
func (h *Handlers) cancelOrder(c *route.Call, in *api.CancelOrder) (*api.Order, error) {
	o, reader, err := h.Orders.Open(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(o.ID.Event()), ledger.CancelOrder{Order: o.ID})
	if err != nil {
		return nil, err
	}
	if o, err = h.Orders.Of(c.Context, o.ID, r); err != nil {
		return nil, err
	}
	return h.Orders.Show(c, o, reader)
}

// extendOrder gives an unpaid order more time. A network may do so only so often at an event (limit.RuleExtensions); a
// request that the event refuses is not counted. Two requests that run at the same time give the time only once, and
// so does a request that is repeated with its Idempotency-Key, even after its node has died.
func (h *Handlers) extendOrder(c *route.Call, in *api.ExtendOrder) (*api.Order, error) {
	o, reader, err := h.Orders.Open(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	counts := h.countsOf(c, limit.RuleExtensions, o)
	if err := h.Guesses.Take(c, counts); err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(o.ID.Event()), ledger.ExtendOrder{Order: o.ID, After: o.Extensions, By: requestOf(c)})
	if err != nil {
		h.Guesses.GiveBack(c, counts)
		return nil, err
	}
	return h.showWaiting(c, r.Order, reader)
}

// requestOf returns a number by which an actor recognizes a repeated request with the same Idempotency-Key.
func requestOf(c *route.Call) uint64 {
	id := c.CommandID()
	return binary.LittleEndian.Uint64(id[:])
}

// countsOf returns the count that a request about an order adds to: the one of its event and the client's network,
// for the given rule. The rule prevents that one network keeps an event's stock for long without paying. It returns
// none for an organization's own orders.
func (h *Handlers) countsOf(c *route.Call, rule limit.RateRule, o *order.Order) []limit.Guess {
	if o.Client == 0 {
		return nil
	}
	return []limit.Guess{h.Guesses.Of(rule, strconv.FormatInt(o.ID.Event(), 10)+"/"+route.Network(c.Client).String())}
}
