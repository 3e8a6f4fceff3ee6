package gates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// kind says what happens to a ticket.
type kind int

const (
	plain    kind = iota // it is shown once, by its holder
	copied               // somebody else shows it too
	refunded             // its money goes back before it is shown
	passed               // it is passed on, and both people show it
	strolls              // its holder goes out and comes in again
)

// holder is a ticket with what the run knows of it. The fields above mu are set when the ticket is
// sold. mu guards the others, which devices and moveTickets change at the same time.
type holder struct {
	order *order
	index int // its place in its order
	id    string
	code  string
	pass  string // what its QR payloads say in the place of the code, and manifests have the hash of it
	short string
	kind  kind

	mu sync.Mutex
	// next is the code that the person got to whom the ticket was passed on; "" until that person
	// has claimed it.
	next  string
	letIn []string // the devices that let somebody in with it
	qrs   []string // the QR payloads that were shown
	ways  []way    // the ways of a holder who strolls, in the order of their times
}

// way is one way of a holder through a gate, in or out.
type way struct {
	gate string
	out  bool
	let  bool // the device let them through

	alone   bool // the device decided without the service
	unheard bool // the device had asked the service, and got no answer

	from, to time.Time // when the device was shown the code, and when it had decided
}

// clockError bounds how wrong a device's clock is, without the time that an answer takes. A device
// sets its clock by the header Date of answers, which has only whole seconds.
const clockError = time.Second

// isSure reports whether the service must have put the holder's ways into the order in which they
// happened. The service judges a scan that a device sends at once by its own clock. It judges a
// scan that a device decided alone by the device's clock, which may be wrong by clockError and the
// slowest answer. Two ways that are nearer to each other than that can be swapped. If the answer to
// a way never came, the service may have judged the way when it was sent or when it was told again,
// so nothing is sure.
func (h *holder) isSure(slowest time.Duration) bool {
	for i, w := range h.ways {
		if w.unheard {
			return false
		}
		if i == 0 {
			continue
		}
		before, apart := h.ways[i-1], time.Duration(0)
		if w.alone || before.alone {
			apart = clockError + slowest
		}
		if w.from.Sub(before.to) < apart {
			return false
		}
	}
	return true
}

// isInside reports whether the holder is inside by what the devices let them do: the last way that
// a device let through decides. Ways that were denied change nothing.
func (h *holder) isInside() (in bool) {
	for _, w := range h.ways {
		if w.let {
			in = !w.out
		}
	}
	return in
}

// order is an order of many tickets, with what its holders' phones show. One request for the order
// reads the QR payloads of all its tickets, so the holders share it.
type order struct {
	id, token string

	mu      sync.Mutex
	fetched time.Time
	qrs     []string // what the phones show; they are fetched again once they are older than qrLife
}

// perOrder is how many tickets an order has. qrLife is how long a phone shows a QR payload before
// it asks for a new one; the service changes payloads every 30 seconds, so a phone must ask sooner.
const (
	perOrder = 100
	qrLife   = 20 * time.Second
)

// issued has those parts of an order of the organization's own that are used here.
type issued struct {
	Order   struct{ ID, AccessToken string }
	Tickets []struct{ ID, Code, ShortCode, QR string }
}

// sell puts the event on sale and issues the tickets for nothing, without mails: the scenario is
// about the gates, not about the sale.
func (e *evening) sell(ctx context.Context) (err error) {
	if e.organizer, err = rush.Register(ctx, e.svc, e.net.Source(0)); err != nil {
		return err
	}
	if e.node != nil { // The tickets of a new organization are passed on to few people, so this one is verified.
		if err := e.node.Process.Command(ctx, "verify", e.organizer.Organization).Run(); err != nil {
			return fmt.Errorf("verify the organizer: %w", err)
		}
	}
	sale, err := e.organizer.OpenSale(ctx, []rush.SaleType{{
		Name: "Floor", Quantity: e.cfg.Holders, Free: true, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: rush.MaxPerCustomer,
	}})
	if err != nil {
		return err
	}
	e.event = sale.EventID
	path := "/organizer/events/" + url.PathEscape(e.event)
	if err := e.organizer.UseKey(ctx); err != nil {
		return err
	}
	// Offline devices need the door codes in the manifest, and exits must be on before anybody goes
	// out.
	if err := e.organizer.Send(ctx, "PUT", path, map[string]any{"offlineDoorCodes": true, "exits": e.cfg.Strolls > 0}, nil); err != nil {
		return err
	}
	// Without this, tickets of the type could not be passed on.
	if err := e.organizer.Send(ctx, "PUT", path+"/tickets/"+url.PathEscape(sale.Types[0].ID), map[string]any{"transferable": true}, nil); err != nil {
		return err
	}
	for len(e.holders) < e.cfg.Holders {
		n := min(perOrder, e.cfg.Holders-len(e.holders))
		var made issued
		if err := e.organizer.Post(ctx, "/events/"+url.PathEscape(e.event)+"/issue", map[string]any{
			"items": []rush.Item{{TicketTypeID: sale.Types[0].ID, Quantity: n}},
			"buyer": map[string]string{"email": uuid.NewString() + "@load.test", "name": "Load Buyer"}, "sendEmail": false,
		}, &made); err != nil {
			return err
		}
		if len(made.Tickets) != n {
			return fmt.Errorf("gates: an order of %d tickets has %d", n, len(made.Tickets))
		}
		o := &order{id: made.Order.ID, token: made.Order.AccessToken}
		for i, t := range made.Tickets {
			// The pass id is the second part of a QR payload, between the dots.
			e.holders = append(e.holders, &holder{order: o, index: i, id: t.ID, code: t.Code, pass: strings.Split(t.QR, ".")[1], short: t.ShortCode})
		}
	}
	return nil
}

// showQR returns what a holder's phone shows now, or "" if the phone can't get it. The time of the
// request, not of the answer, is the age of the payloads: they may have been made at the beginning.
func (e *evening) showQR(ctx context.Context, h *holder) string {
	o := h.order
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.fetched) > qrLife {
		var read struct{ Tickets []struct{ QR string } }
		path := "/orders/" + url.PathEscape(o.id) + "?token=" + url.QueryEscape(o.token)
		asked := time.Now()
		if a := e.svc.Do(ctx, e.net.Source(1), client.Call{Method: "GET", Path: path}, &read); !a.OK() || len(read.Tickets) <= h.index {
			return ""
		}
		o.fetched, o.qrs = asked, nil
		for _, t := range read.Tickets {
			o.qrs = append(o.qrs, t.QR)
		}
	}
	if h.index >= len(o.qrs) {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.qrs = append(h.qrs, o.qrs[h.index])
	return o.qrs[h.index]
}

// move is a ticket that is refunded or passed on while people come.
type move struct {
	at time.Duration
	*holder
}

// moveTickets refunds tickets and passes tickets on, each at its planned time. It does not count a
// move that the service refuses, for example because the ticket has been used.
func (e *evening) moveTickets(ctx context.Context) {
	slices.SortFunc(e.moves, func(a, b move) int { return cmp.Compare(a.at, b.at) })
	for _, m := range e.moves {
		rig.Wait(ctx, time.Until(e.began.Add(m.at)))
		if ctx.Err() != nil {
			return
		}
		if m.kind == refunded {
			if e.organizer.Post(ctx, "/organizer/orders/"+url.PathEscape(m.order.id)+"/refund", map[string]any{
				"ticketIds": []string{m.id}, "reason": "Asked for.",
			}, nil) == nil {
				e.refunded.Add(1)
			}
		} else if e.passOn(ctx, m.holder) == nil {
			e.passed.Add(1)
		}
	}
}

// passOn offers a ticket to a new person and claims it with the link that was mailed to that
// person, as a real person would. The claim gives the ticket a new code.
func (e *evening) passOn(ctx context.Context, h *holder) error {
	to := uuid.NewString() + "@load.test"
	a := e.svc.Do(ctx, e.net.Source(2), client.Call{
		Method: "POST", Path: "/tickets/" + url.PathEscape(h.id) + "/transfer", Key: uuid.NewString(),
		Body: rush.Encode(map[string]string{"toEmail": to, "toName": "Load Friend", "token": h.order.token}),
	}, nil)
	if !a.OK() {
		return a.Err()
	}
	token, err := e.readClaim(ctx, to)
	if err != nil {
		return err
	}
	var claimed struct{ Code string }
	a = e.svc.Do(ctx, e.net.Source(2), client.Call{Method: "POST", Path: "/tickets/transfers/" + url.PathEscape(token) + "/claim", Key: uuid.NewString()}, &claimed)
	h.mu.Lock()
	// codeOf reads next while devices scan.
	defer h.mu.Unlock()
	h.next = claimed.Code
	return a.Err()
}

var (
	mailLink  = regexp.MustCompile(`<td>([^<]+)</td><td><a href="(/dev/mail/[^"]+)"`)
	claimLink = regexp.MustCompile(`/tickets/claim#token=([\w-]+)`)
)

// mailTime is how long a mail may take to arrive, also from a node that gives all it has to the gates.
const mailTime = time.Minute

// readClaim reads the token of an offer from the mails that the node has captured for developers.
// It asks again and again, because a mail is sent only some time after the offer.
func (e *evening) readClaim(ctx context.Context, to string) (string, error) {
	for deadline := time.Now().Add(mailTime); time.Now().Before(deadline) && ctx.Err() == nil; rig.Wait(ctx, 100*time.Millisecond) {
		for _, row := range mailLink.FindAllStringSubmatch(e.readPage(ctx, "/dev/mail"), -1) {
			if row[1] != to {
				continue
			}
			if found := claimLink.FindStringSubmatch(e.readPage(ctx, row[2])); found != nil {
				return found[1], nil
			}
		}
	}
	return "", errors.New("gates: no mail came")
}

// readPage reads a page for developers, or returns "" if it can't: readClaim will ask again.
// Templates write a plus sign of an address as a character reference, which is undone here.
func (e *evening) readPage(ctx context.Context, path string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.svc.Host+path, nil)
	if err != nil {
		return ""
	}
	res, err := e.pages.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = res.Body.Close() }() // the body has been read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(text), "&#43;", "+")
}
