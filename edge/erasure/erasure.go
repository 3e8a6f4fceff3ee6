// Package erasure erases people from the service, in three steps. First the ledgers replace the
// person's name and address by a pseudonym; each ledger does so by a fact. Then the erasure waits
// until everything that follows the facts, such as the read model, has replaced them too.
// Last, the tables are erased (persistence/personal). Old facts, snapshots and public facts still
// contain the name until they are deleted at the end of their retention.
//
// Resume finishes the erasures that their requests could not finish. It runs on one node of a
// cluster and ends with its context.
package erasure

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/panics"
	"boxoffice/persistence/personal"
	"boxoffice/persistence/readmodel"
)

const (
	// page is how many orders or tickets are read at once, and sent to a ledger in one command.
	page        = 100
	resumeEvery = 30 * time.Second // between two rounds of Resume
	// Resume leaves an erasure alone for this long after its beginning, because its request may
	// still be working on it.
	resumeAfter = time.Minute
	resumeBatch = 10
	// namedMost is about how many events a refusal names at most.
	namedMost = 50
)

// Deps are the stores and services that erasures work with.
type Deps struct {
	Node      *cluster.Node
	Read      *readmodel.Model
	Attendees *attendees.Store
	Personal  *personal.Store
	Known     *live.Events
	Pages     *live.Pages
	// Followed waits until all followers have everything that this node knows to be committed.
	Followed func(context.Context) error
	// DropMail deletes captured mails that contain one of the words.
	DropMail func(words ...string) error
	Log      *slog.Logger
}

// Eraser forgets people. Its methods may be called by any goroutine.
type Eraser struct{ Deps }

// New makes the eraser.
func New(d Deps) *Eraser { return &Eraser{d} }

// ActiveTickets has the details of the refusal ACTIVE_TICKETS.
type ActiveTickets struct {
	Events []string `json:"events"` // the public ids of some events for which the person holds tickets that can still be used
}

// Erase erases the owner of an account, or refuses. If it returns no error, the account is gone. If
// done is then false, other data of the person is left, and Resume erases that later.
func (e *Eraser) Erase(ctx context.Context, user int64, address string, now time.Time) (done bool, err error) {
	if err := e.Followed(ctx); err != nil { // otherwise we might not see a ticket that was just bought
		e.Log.WarnContext(ctx, "erasure put off", slog.Any("error", err))
		return false, engine.Refuse(engine.Unavailable, nil)
	}
	// Every check that may refuse comes before Begin, because Begin removes the account and can't
	// be undone.
	if err := e.refuseIfNeeded(ctx, address, now); err != nil {
		return false, err
	}
	begun, err := e.Personal.Begin(ctx, user, order.Pseudonym(strings.ToLower(rand.Text())))
	switch {
	case errors.Is(err, personal.ErrLastOwner):
		return false, refuseFor("LAST_OWNER", "An organization has no other owner. Make somebody else one first.")
	case errors.Is(err, personal.ErrErased):
		return false, &engine.Refusal{Code: engine.Unauthorized}
	case errors.Is(err, personal.ErrPlatform):
		return false, refuseFor("PLATFORM_ADMIN", "An administrator of the platform can't be erased.")
	case err != nil:
		return false, err
	}
	// The erasure has begun and will be finished in any case, so an error from here on does not
	// fail the request.
	if err := e.finishErasure(ctx, begun); err != nil {
		e.Log.WarnContext(ctx, "erasure is resumed later", slog.Int64("user", user), slog.Any("error", err))
		return false, nil
	}
	return true, nil
}

// refuseFor returns the refusal CONFLICT of an erasure. reason is for programs, and message for
// people.
func refuseFor(reason, message string) *engine.Refusal {
	return &engine.Refusal{Code: engine.Conflict, Message: message, Details: route.Reason{Reason: reason}}
}

// refuseIfNeeded refuses while the person has tickets for something to come, unpaid orders or
// refunds under way. If there are both tickets and orders, the refusal names the tickets. The
// orders are read first, so that an order that is paid in the meantime is noticed, either as unpaid
// or by its tickets. If nothing forbids the erasure, refuseIfNeeded cancels the orders that
// strangers placed.
func (e *Eraser) refuseIfNeeded(ctx context.Context, address string, now time.Time) error {
	open, strangers, err := e.findOpen(ctx, address)
	if err != nil {
		return err
	}
	if err := e.refuseIfActive(ctx, address, now); err != nil {
		return err
	}
	if open != nil {
		return open
	}
	return e.cancelOrders(ctx, strangers)
}

// findOpen returns a refusal, open, if an order of the person waits for its payment or owes a
// refund. Anybody may place orders with anybody's address, so an unpaid order that was placed
// without a proof of the address is no reason to refuse. strangers lists these orders, for the
// caller to cancel.
func (e *Eraser) findOpen(ctx context.Context, address string) (open *engine.Refusal, strangers []engine.OrderID, err error) {
	for o, err := range e.ordersOf(ctx, address) {
		switch {
		case err != nil:
			return nil, nil, err
		case o.Unpaid() && o.IsUnproven():
			strangers = append(strangers, o.ID)
		case o.Unpaid():
			return errOpen, nil, nil
		case o.OwesRefund():
			return refuseFor("OPEN_REFUNDS", "Money is on its way back."), nil, nil
		}
	}
	return nil, strangers, nil
}

// errOpen is the refusal for an order that the person may still pay.
var errOpen = refuseFor("OPEN_ORDERS", "An order waits for its payment. Cancel it first, or wait.")

// cancelOrders cancels the orders that strangers have placed in the person's name. An order can't
// be cancelled while its payment is under way. Then cancelOrders refuses with errOpen, and the
// erasure must wait.
func (e *Eraser) cancelOrders(ctx context.Context, ids []engine.OrderID) error {
	for _, id := range ids {
		_, err := cluster.AskFor[ledger.OrderReply](ctx, e.Node, engine.EventRef(id.Event()), ledger.CancelOrder{Order: id})
		if r, ok := errors.AsType[*engine.Refusal](err); ok && r.Code == engine.Conflict {
			return errOpen
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refuseIfActive refuses with ACTIVE_TICKETS while the person holds paid tickets for events or
// bookings that are still to come (isActive). The refusal names these events, each once. It stops
// searching once it has namedMost of them.
func (e *Eraser) refuseIfActive(ctx context.Context, address string, now time.Time) error {
	var active []int64 // numbers of events
	after := attendees.Place{}
	for {
		list, err := e.Attendees.Held(ctx, address, after, page)
		if err != nil {
			return err
		}
		for i := range list {
			needed, err := e.isActive(ctx, &list[i], address, now)
			if err != nil {
				return err
			}
			if number := list[i].Event; needed && !slices.Contains(active, number) {
				active = append(active, number)
			}
		}
		if len(list) < page || len(active) >= namedMost {
			break
		}
		after = list[page-1].Place
	}
	if len(active) > 0 {
		events := make([]string, len(active))
		for i, number := range active {
			events[i] = e.Known.PublicID(number)
		}
		return engine.Refuse(engine.ActiveTickets, ActiveTickets{Events: events})
	}
	return nil
}

// isActive reports whether a ticket is the person's, was paid for, and is for something that is still to come. The
// table of holders may be behind and name a person who has passed the ticket on, so the order
// decides who holds it.
func (e *Eraser) isActive(ctx context.Context, h *attendees.Held, address string, now time.Time) (bool, error) {
	line, k, ok := h.Order.LineOf(h.Serial)
	if !ok || h.Order.Lines[line].FaceValue(k) == 0 || order.NormalEmail(h.Order.OwnerOf(h.Serial).Email) != order.NormalEmail(address) {
		return false, nil
	}
	// A ticket of a reservation ends at its booked time, and every other ticket at the end of its
	// event.
	if v := h.Order.VisitOf(h.Serial); v != nil {
		_, closes := v.Admits()
		return closes > now.UnixMilli(), nil
	}
	p, err := e.Pages.Event(ctx, h.Event)
	if err != nil {
		return false, err
	}
	return !event.Ended(p.Event.Status) && p.Event.Details.EndAt > now.UnixMilli(), nil
}

// finishErasure does what is left of an erasure. Every step may be done again, so Resume can start
// from the beginning. The tables are erased last, because they have the address by which the other
// steps find the orders.
func (e *Eraser) finishErasure(ctx context.Context, of personal.Erasure) error {
	if err := e.eraseFromLedgers(ctx, of); err != nil {
		return err
	}
	if err := e.Followed(ctx); err != nil {
		return err
	}
	if err := e.DropMail(of.Address, of.Name); err != nil {
		return err
	}
	return e.Personal.Finish(ctx, of)
}

// eraseFromLedgers asks every event that knows the person to replace the name and the address. It
// collects the orders of the person as a buyer, and the orders and entries of waitlists that name
// the person as a holder or a visitor.
func (e *Eraser) eraseFromLedgers(ctx context.Context, of personal.Erasure) error {
	orders := make(map[int64][]*order.Order) // by event
	for o, err := range e.ordersOf(ctx, of.Address) {
		if err != nil {
			return err
		}
		orders[o.ID.Event()] = append(orders[o.ID.Event()], o)
	}
	naming, err := e.Attendees.Naming(ctx, of.Address)
	if err != nil {
		return err
	}
	named, err := e.Read.OrdersByID(ctx, naming)
	if err != nil {
		return err
	}
	for i := range named {
		orders[named[i].ID.Event()] = append(orders[named[i].ID.Event()], &named[i])
	}
	for _, id := range naming { // an entry of a waitlist has no order
		if number := id.Event(); orders[number] == nil {
			orders[number] = []*order.Order{}
		}
	}
	for _, number := range slices.Sorted(maps.Keys(orders)) {
		if err := e.eraseFromLedger(ctx, number, of, orders[number]); err != nil {
			return err
		}
	}
	return nil
}

// eraseFromLedger sends one event its orders, a page at a time. Even without orders it sends one
// command, because the event may know the person from its waitlist.
func (e *Eraser) eraseFromLedger(ctx context.Context, number int64, of personal.Erasure, orders []*order.Order) error {
	for first := true; first || len(orders) > 0; first = false {
		n := min(len(orders), page)
		cmd := event.Erase{Customer: order.CustomerOf(of.Address), Pseudonym: of.Pseudonym, Orders: orders[:n]}
		_, err := cluster.AskFor[event.Record](ctx, e.Node, engine.EventRef(number), cmd)
		if r, ok := errors.AsType[*engine.Refusal](err); ok && r.Code == engine.EventNotFound {
			return nil // the event was a draft and has been deleted
		}
		if err != nil {
			return fmt.Errorf("event %d: %w", number, err)
		}
		orders = orders[n:]
	}
	return nil
}

// Resume calls resumeOpen every resumeEvery until the context ends. It logs the errors and panics
// of a round, and goes on with the next.
func (e *Eraser) Resume(ctx context.Context) {
	tick := time.NewTicker(resumeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			err := panics.Catch(e.Log, "erasures", func() error { return e.resumeOpen(ctx, time.Now().Add(-resumeAfter)) })
			if err != nil && ctx.Err() == nil {
				e.Log.WarnContext(ctx, "erasures not resumed", slog.Any("error", err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// resumeOpen finishes up to resumeBatch of the open erasures that were begun before a moment. An
// erasure that fails does not keep the others from being finished.
func (e *Eraser) resumeOpen(ctx context.Context, before time.Time) error {
	open, err := e.Personal.Open(ctx, before, resumeBatch)
	if err != nil {
		return err
	}
	var errs []error
	for _, of := range open {
		errs = append(errs, e.finishErasure(ctx, of))
	}
	return errors.Join(errs...)
}
