package rooms

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/order"
	"boxoffice/engine/queue"
)

// getQueue shows a room. To a visitor with a token it also shows where the visitor stands, and such
// an answer is private.
func (h *Handlers) getQueue(c *route.Call, in *api.ReadQueue) (*api.Queue, error) {
	number, _, err := h.Pages.FindVisible(c, h.Known, in.EventID)
	if err != nil {
		return nil, err
	}
	r, err := h.findRoom(c.Context, number)
	if err != nil {
		return nil, err
	}
	v, err := h.showQueue(c.Context, c.Now, number, r)
	token := c.Visitor
	if token == "" {
		token = in.Ticket
	}
	if err != nil || token == "" {
		return v, err
	}
	c.Private = true
	visitor, ok := h.Secrets.ParseVisitor(number, token)
	if !ok {
		return nil, &engine.Refusal{Code: engine.NotFound, Message: "This token is of no entry of this waiting room."}
	}
	v.You, err = h.showPlace(c, number, r, &visitor)
	return v, err
}

// findRoom returns an event's room. If the event has none, it returns a room that is not open (isOpened).
func (h *Handlers) findRoom(ctx context.Context, number int64) (*room, error) {
	if !h.hasRoom(number) {
		return newRoom(&queue.Record{Phase: queue.NoRoom.String()}), nil
	}
	return h.readRoom(ctx, number)
}

// joinQueue makes an entry for a party, or mails the link with which the visitor makes it. An entry is durable
// before the answer. It checks the proof of work before the costly steps, so that programs can't cause these
// without work.
func (h *Handlers) joinQueue(c *route.Call, in *api.JoinQueue) (*api.JoinedQueue, error) {
	number, _, err := h.Pages.FindVisible(c, h.Known, in.EventID)
	if err != nil {
		return nil, err
	}
	r, err := h.findRoom(c.Context, number)
	if err != nil {
		return nil, err
	}
	if !r.isOpened() {
		return nil, engine.Refuse(engine.QueueClosed, queue.NotNow{Reason: "over"})
	}
	if err := r.refuseParty(in.Party); err != nil {
		return nil, err
	}
	paid, err := r.checkWork(c.Now, in)
	if err != nil {
		return nil, err
	}
	rules := &r.Settings.Rules
	// An address that nobody has proven must be proven by a mailed link, or one person could enter
	// many addresses.
	if in.Email != "" && rules.Proof == draw.Classes[draw.ClassAddress] && !isProven(&c.Principal) {
		return h.askToJoin(c, number, r, in)
	}
	class, person, err := h.proveVisitor(c, rules.Proof)
	if err != nil {
		return nil, err
	}
	entry := draw.Entry{Party: uint8(in.Party), Class: class} //nolint:gosec // at most 10
	h.fillSecret(c, &entry, paid)
	joined, err := h.enter(c, number, r, &entry, person)
	if err != nil || in.Email == "" {
		return joined, err
	}
	return joined, h.mailPlace(c, number, in.Email, joined)
}

// refuseParty refuses a party of more people than one entry of the room may have; otherwise it returns nil.
func (r *room) refuseParty(party int) error {
	most := r.Settings.Rules.PartyMax
	if party <= most {
		return nil
	}
	return route.Invalid(route.Issue{Path: "party", Code: route.IssueMaximum, Message: "must be at most " + strconv.Itoa(most) + " in this room"})
}

// enter makes an entry, or finds it if it exists, and answers with the visitor's token and a signed
// receipt. person is 0 in a room where one person may have several entries.
func (h *Handlers) enter(c *route.Call, number int64, r *room, entry *draw.Entry, person uint64) (*api.JoinedQueue, error) {
	leaf := entry.Leaf()
	p, err := cluster.AskFor[queue.Placed](c.Context, h.Node, engine.QueueRef(number), queue.Join{Leaf: leaf, Class: entry.Class, Person: person})
	if err != nil {
		return nil, err
	}
	visitor := secrets.Visitor{Draw: p.Draw, Index: p.Index, Entry: *entry}
	signed := draw.SignReceipt(h.Secrets.DrawKey(), r.Settings.Event, p.Draw, leaf, c.Now.UnixMilli())
	receipt, token, view := signed.Text(), h.Secrets.VisitorToken(number, &visitor), h.placeView(c.Now, r, &visitor, p)
	return &api.JoinedQueue{Receipt: &receipt, Token: &token, Place: view.Place, Queue: view}, nil
}

// checkWork refuses a visitor who has not done the work that the room asks for. It returns the hash
// of the work's proof, or zero if no work is asked for.
func (r *room) checkWork(now time.Time, in *api.JoinQueue) (paid draw.Hash, err error) {
	if r.Settings.Work == 0 {
		return paid, nil
	}
	w := draw.Work{Event: r.Settings.Event, Draw: r.Draw, Party: uint8(in.Party), Email: in.Email} //nolint:gosec // at most 10
	if err = w.Read(in.Work); err == nil {
		err = w.Check(r.Settings.Work, now.UnixMilli())
	}
	if err != nil {
		return paid, route.Invalid(route.Issue{
			Path: "work", Code: route.IssueFormat, Message: "must be a proof of " + strconv.Itoa(r.Settings.Work) + " bits of work for this entry, at most ten minutes old",
		})
	}
	return w.Hash(), nil
}

// fillSecret sets the secret bytes of an entry. A request with the same proof of work, or, if the room wants no
// work, with the same Idempotency-Key, gets the same bytes, so that a repeat makes no second entry.
func (h *Handlers) fillSecret(c *route.Call, e *draw.Entry, paid draw.Hash) {
	switch {
	case paid != draw.Hash{}:
		e.Secret = h.Secrets.PaidSecret(paid)
	case c.IdempotencyKey == "":
		_, _ = rand.Read(e.Secret[:]) // it never fails
	default:
		name := h.Secrets.Request(c.Scope())
		copy(e.Secret[:], name[len(name)-draw.SecretSize:])
	}
}

// unknownTo holds the messages for visitors who have not signed in, by the proof that the room wants.
var unknownTo = map[string]string{
	draw.Classes[draw.ClassAddress]: "This waiting room takes one entry an address: send yours as email, and you are mailed a link; or sign in first.",
	draw.Classes[draw.ClassAccount]: "This waiting room takes one entry an account: sign in first, by the code that is mailed to you.",
}

// isProven reports whether the caller is signed in and has proven the address.
func isProven(p *route.Principal) bool { return p.Kinds.Has(route.User) && p.EmailProven }

// proveVisitor returns the class of a caller's entry and a number for the person to whom the entry belongs, so that
// nobody has two. The number is 0 in a room that wants no proof. It refuses a caller who has not proven what
// the room wants.
func (h *Handlers) proveVisitor(c *route.Call, wanted string) (draw.Class, uint64, error) {
	p := &c.Principal
	if wanted == draw.Classes[draw.ClassNone] {
		return draw.ClassNone, 0, nil
	}
	if !p.Kinds.Has(route.User) {
		return 0, 0, &engine.Refusal{Code: engine.Unauthorized, Message: unknownTo[wanted]}
	}
	if !p.EmailProven {
		return 0, 0, &engine.Refusal{Code: engine.Forbidden, Message: "This waiting room takes one entry a person: prove your e-mail address first."}
	}
	if wanted == draw.Classes[draw.ClassAddress] {
		return draw.ClassAddress, order.CustomerOf(order.NormalEmail(p.Email)), nil
	}
	return draw.ClassAccount, h.Secrets.Account(p.User), nil
}

// showPlace shows where a visitor stands. If the visitor's turn has come, the first call begins the admission, and
// its time runs from then on. So a visitor who is not looking at the page loses no time.
func (h *Handlers) showPlace(c *route.Call, number int64, r *room, v *secrets.Visitor) (*api.QueuePlace, error) {
	p := &queue.Placed{Phase: r.Phase, Draw: r.Draw, Index: v.Index, Place: -1, Served: r.Served}
	// After the end of a room, or in a later draw, an old token has no place any more.
	if !r.isOpened() || r.Draw != v.Draw {
		return h.placeView(c.Now, r, v, p), nil
	}
	if place, ok := r.placeOf(v.Index); ok {
		p.Place, p.Admitted = int64(place), place < r.Served
	}
	if p.Admitted {
		var err error
		if p, err = cluster.AskFor[queue.Placed](c.Context, h.Node, engine.QueueRef(number), queue.Admit{Leaf: v.Entry.Leaf()}); err != nil {
			return nil, err
		}
	}
	view := h.placeView(c.Now, r, v, p)
	if p.Until != 0 {
		view.Admission = &api.QueueAdmission{
			Token:     h.Secrets.AdmissionToken(number, &secrets.Admitted{Draw: v.Draw, Until: p.Until, Leaf: v.Entry.Leaf()}),
			ExpiresAt: api.At(p.Until),
		}
	}
	return view, nil
}

// placeView shows a visitor's place, without the admission. While the place is not known it shows only the
// entry. It estimates when the visitor's turn will come, also before the opening, but not if the room has ended, is
// paused or has admitted the visitor.
func (h *Handlers) placeView(now time.Time, r *room, v *secrets.Visitor, p *queue.Placed) *api.QueuePlace {
	leaf := v.Entry.Leaf()
	view := &api.QueuePlace{Index: int64(v.Index), Party: int(v.Entry.Party), Leaf: hex.EncodeToString(leaf[:]), Draw: int64(v.Draw)}
	if p.Place < 0 {
		return view
	}
	place, ahead := p.Place+1, max(0, p.Place-int64(p.Served))
	view.Place, view.Ahead = &place, &ahead
	if r.isOpened() && !r.Paused && !p.Admitted {
		view.Estimate = r.estimate(now, p.Place-int64(p.Served))
	}
	return view
}

// estimate returns the span of time in which an entry's turn will probably come, if ahead others are admitted
// before it. The span is wider if the service adjusts the rate (Auto), which then may double or halve.
func (r *room) estimate(now time.Time, ahead int64) *api.QueueEstimate {
	fast, slow := 1.05, 0.9
	if r.Settings.Auto {
		fast, slow = 2, 0.5
	}
	base, minutes := max(now.UnixMilli(), r.Settings.Rules.OpensAt), float64(max(0, ahead))/float64(r.Settings.Rate)
	after := func(factor float64) api.Time {
		return api.At(base + int64(min(minutes/factor, 60*24*365)*60_000))
	}
	return &api.QueueEstimate{From: after(fast), To: after(slow)}
}

// showQueue shows a room as everybody sees it, without anybody's place.
func (h *Handlers) showQueue(ctx context.Context, now time.Time, number int64, r *room) (*api.Queue, error) {
	v := &api.Queue{
		EventID: h.Known.PublicID(number), State: r.stateAt(now), Paused: r.Paused, Draining: r.Draining,
		OnSale: []api.QueueStock{},
	}
	if !r.isOpened() {
		return v, nil
	}
	s, rules := r.Settings, &r.Settings.Rules
	hash := rules.Hash()
	text := hash.String()
	v.AdmitPerMinute, v.Auto, v.HoldMinutes, v.Work = &s.Rate, s.Auto, s.Hold/time.Minute.Milliseconds(), s.Work
	v.Rules, v.RulesDigest, v.TestBeacon = rulesView(rules), &text, s.Chain.Test
	v.OpensAt, v.RegistersFrom, v.ClosesAt = api.At(rules.OpensAt), api.At(rules.RegistersFrom), api.At(rules.ClosesAt)
	v.Draw, v.Count, v.Served = int64(r.Draw), int64(r.Count), int64(r.Served)
	if r.Statement != nil {
		drawn, root := int64(r.Statement.Count), r.Statement.Root.String()
		v.Drawn, v.Root = &drawn, &root
	}
	var err error
	v.OnSale, err = h.readStock(ctx, number)
	return v, err
}

// readStock returns what countStock returns, from the cache of pages, because every poll shows it.
func (h *Handlers) readStock(ctx context.Context, number int64) ([]api.QueueStock, error) {
	page, err := h.Pages.Event(ctx, number)
	if err != nil {
		return nil, err
	}
	return live.CachePage(ctx, h.Pages, "left/"+strconv.FormatInt(number, 10), func() ([]api.QueueStock, error) {
		return h.countStock(ctx, page)
	})
}

// countStock returns for each currency the lowest and the highest price, with fees, of the ticket types that are
// not sold out, and whether the cheapest type is sold out. It leaves out hidden types, and currencies in which
// everything is sold out.
func (h *Handlers) countStock(ctx context.Context, page *live.Page) ([]api.QueueStock, error) {
	type span struct{ cheapest, from, to int64 }
	spans, currencies := map[string]*span{}, []string{}
	for i := range page.Types {
		t := &page.Types[i]
		if t.Details.Hidden {
			continue
		}
		left, err := h.Feed.Left(ctx, t.Ref)
		if err != nil {
			return nil, err
		}
		price := order.PriceTotal(t.Details.Price, page.Event.Details.AbsorbFees)
		s := spans[t.Details.Currency]
		if s == nil {
			s = &span{cheapest: price, from: -1}
			spans[t.Details.Currency], currencies = s, append(currencies, t.Details.Currency)
		}
		s.cheapest = min(s.cheapest, price)
		if left == 0 {
			continue
		}
		if s.from < 0 || price < s.from {
			s.from = price
		}
		s.to = max(s.to, price)
	}
	stock := []api.QueueStock{}
	for _, currency := range currencies {
		if s := spans[currency]; s.from >= 0 {
			stock = append(stock, api.QueueStock{Currency: currency, PriceFrom: view.Decimal(s.from, currency), PriceTo: view.Decimal(s.to, currency), CheapestGone: s.from > s.cheapest})
		}
	}
	return stock, nil
}
