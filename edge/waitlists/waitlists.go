// Package waitlists is the area of people who wait for sold-out tickets: how they join the line,
// what the links in their mails do, and what the organization sees and decides. The events' actors
// keep the waitlists themselves.
package waitlists

import (
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/letters"
	"boxoffice/edge/live"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
	"boxoffice/persistence/mailqueue"
)

// Deps are the stores and services that the handlers work with.
type Deps struct {
	Node        *cluster.Node
	Orders      *orders.Desk
	Known       *live.Events
	Pages       *live.Pages
	Letters     *letters.Writer
	Secrets     *secrets.Master
	LimitsScale float64 // multiplies the limits of all velocity rules
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{Deps: d} }

var noEntry = &engine.Refusal{Code: engine.NotFound, Message: "No such entry of a waitlist."}

// joinWaitlist adds an entry to an event's waitlist if the caller has proven to own the address, or
// answers with the entry that this address has there already. Anybody may enter anybody's address, so
// without that proof it only mails the address a link, by which its owner joins (confirmWaitlist). The
// answer then is the same whether or not the address waits already, so that it does not reveal who
// waits.
func (h *Handlers) joinWaitlist(c *route.Call, in *api.JoinWaitlist) (*api.WaitlistEntry, error) {
	number, p, err := h.Pages.FindVisible(c, h.Known, in.EventID)
	if err != nil {
		return nil, err
	}
	email := order.NormalEmail(in.Email)
	cmd := waitlist.Join{
		Quantity: in.Quantity, Email: in.Email, Name: in.Name, Customer: order.CustomerOf(email),
		Client: live.NetworkOf(c, h.Secrets, p.Event.Details.Org), Scale: h.LimitsScale,
		Language: h.Letters.KeptLanguage(c),
		Unproven: !c.Principal.EmailProven || order.NormalEmail(c.Principal.Email) != email,
	}
	if in.TicketTypeID != "" {
		id, err := engine.ParseID(in.TicketTypeID)
		if err != nil || id != engine.NumberedID(number, id.Number()) || id.Number() < 1 {
			return nil, &engine.Refusal{Code: engine.TicketTypeNotFound}
		}
		cmd.Type = id.Number()
	}
	// The id depends on the Idempotency-Key, so a repeat finds the entry of the first try.
	cmd.ID, _ = orders.NewIDs(c, number, h.Secrets.Request(c.Scope()))
	r, err := h.joinLine(c, &cmd)
	if err != nil || !cmd.Unproven {
		return r, err
	}
	return r, h.askToWait(c, &cmd, p.Event.Details.Org)
}

// joinLine sends the command to the event, and returns the entry with the name and address of the
// command. If the address had an entry already, that entry may have another name.
func (h *Handlers) joinLine(c *route.Call, cmd *waitlist.Join) (*api.WaitlistEntry, error) {
	r, err := cluster.AskFor[waitlist.Placed](c.Context, h.Node, engine.EventRef(cmd.ID.Event()), *cmd)
	if err != nil {
		return nil, err
	}
	// The answer shows what this request has sent, also if the entry was there before it with another name. Requests that
	// come at once for one entry share the reply, so this one changes a copy.
	own := *r
	own.Entry.Email, own.Entry.Name = cmd.Email, cmd.Name
	return view.WaitlistEntry(&own, h.Known.PublicID(cmd.ID.Event())), nil
}

// joinLife is how long the mailed link of askToWait may be used.
const joinLife = 7 * 24 * time.Hour

// askToWait mails an address the link by which its owner joins the waitlist. The link contains the
// whole entry, signed, so no entry is stored before the link is used.
func (h *Handlers) askToWait(c *route.Call, cmd *waitlist.Join, org int64) error {
	token := h.Secrets.JoinToken(&secrets.Joining{
		ID: cmd.ID, Ends: c.Now.Add(joinLife).Unix(), Type: cmd.Type, Quantity: cmd.Quantity, Email: cmd.Email, Name: cmd.Name,
	})
	l := mailqueue.Mail{
		ID: mailqueue.NewID(), Template: mailqueue.WaitlistConfirm, To: order.NormalEmail(cmd.Email), Name: cmd.Name, Language: letters.PreferredLanguage(c),
		Order: cmd.ID.String(), Org: org, Type: cmd.Type, Count: cmd.Quantity,
	}
	// The token is sealed, because the mail waits in a table, and whoever reads the table
	// must not be able to join for others.
	l.Secret = h.Secrets.Seal(letters.CodeSecret, []byte(l.ID), []byte(token))
	return h.Letters.Mail.AskToWait(c.Context, l, engine.NumberedID(cmd.ID.Event(), cmd.Type).String())
}

// confirmWaitlist adds the entry of a mailed link to the waitlist. A repeat answers with the entry as
// it is by then, and an address that waits for the same already is answered with the entry that it has.
// The token of the link names the reader and what the reader waits for, and is the proof that the
// address is the reader's.
func (h *Handlers) confirmWaitlist(c *route.Call, in *api.ConfirmWaitlist) (*api.WaitlistEntry, error) {
	j, ok := h.Secrets.ParseJoin(in.Token)
	if !ok || c.Now.Unix() > j.Ends {
		return nil, noEntry
	}
	k, err := h.Known.Find(c.Context, j.ID.Event())
	if err != nil {
		return nil, orders.HideEvent(err, engine.NotFound)
	}
	return h.joinLine(c, &waitlist.Join{
		ID: j.ID, Type: j.Type, Quantity: j.Quantity, Email: j.Email, Name: j.Name, Customer: order.CustomerOf(order.NormalEmail(j.Email)),
		Client: live.NetworkOf(c, h.Secrets, k.Org), Scale: h.LimitsScale, Language: h.Letters.KeptLanguage(c),
	})
}

// listWaitlist returns a page of an event's entries, the oldest first. It asks for one entry more
// than a page has, to know whether another page follows.
func (h *Handlers) listWaitlist(c *route.Call, in *api.ListWaitlist) (*api.List[api.WaitlistEntry], error) {
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	after, err := cursors.ReadNumber(in.Cursor)
	if err != nil {
		return nil, err
	}
	cmd := waitlist.List{After: uint64(after), Limit: in.Limit + 1} //nolint:gosec // a cursor's keys are positive
	r, err := cluster.AskFor[waitlist.Page](c.Context, h.Node, engine.EventRef(number), cmd)
	if err != nil {
		return nil, err
	}
	list := r.Entries
	out := &api.List[api.WaitlistEntry]{Items: make([]api.WaitlistEntry, 0, len(list))}
	if len(list) > in.Limit {
		list = list[:in.Limit]
		out.NextCursor = cursors.Of(int64(list[in.Limit-1].Entry.Number)) //nolint:gosec // counts
	}
	for i := range list {
		out.Items = append(out.Items, *view.WaitlistEntry(&list[i], h.Known.PublicID(number)))
	}
	return out, nil
}

// offerWaitlist makes offers to up to the requested number of entries, those that have waited
// longest first, and answers how many it has made.
func (h *Handlers) offerWaitlist(c *route.Call, in *api.OfferWaitlist) (*api.OffersMade, error) {
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[waitlist.Called](c.Context, h.Node, engine.EventRef(number), waitlist.Call{Count: in.Count})
	if err != nil {
		return nil, err
	}
	return &api.OffersMade{Offered: r.Offered}, nil
}

// setWaitlist changes the settings that the request names, and answers with all settings.
func (h *Handlers) setWaitlist(c *route.Call, in *api.SetWaitlist) (*api.WaitlistSettings, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	var cmd waitlist.Set
	if in.Auto.Set {
		cmd.Auto = &in.Auto.Value
	}
	if in.OfferMinutes.Set {
		cmd.OfferMinutes = &in.OfferMinutes.Value
	}
	r, err := cluster.AskFor[waitlist.Settings](c.Context, h.Node, engine.EventRef(number), cmd)
	if err != nil {
		return nil, err
	}
	return &api.WaitlistSettings{Auto: r.Auto, OfferMinutes: r.OfferMinutes}, nil
}

// claimOffer places an order for what an entry is offered. A repeat answers with the order as it is by
// then. Nothing but the mailed link is needed, because only the owner of the address can read the mail.
// The answer also has the order's token.
func (h *Handlers) claimOffer(c *route.Call, in *api.WaitlistToken) (*api.Order, error) {
	id, err := h.openEntry(c, in)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[ledger.OrderReply](c.Context, h.Node, engine.EventRef(id.Event()), waitlist.Claim{ID: id})
	if err != nil {
		return nil, err
	}
	o, err := h.Orders.Of(c.Context, id, r)
	if err != nil {
		return nil, err
	}
	v, err := h.Orders.Show(c, o, orders.Person(o.Email))
	if err != nil {
		return nil, err
	}
	v.AccessToken = h.Secrets.OrderToken(id)
	return v, nil
}

// leaveWaitlist ends the entry of a mailed link. If the entry has an offer, the offer goes to the next entry. An
// entry that has ended already stays as it is.
func (h *Handlers) leaveWaitlist(c *route.Call, in *api.WaitlistToken) (*api.WaitlistEntry, error) {
	id, err := h.openEntry(c, in)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[waitlist.Placed](c.Context, h.Node, engine.EventRef(id.Event()), waitlist.Leave{ID: id})
	if err != nil {
		return nil, err
	}
	return view.WaitlistEntry(r, h.Known.PublicID(r.Entry.ID.Event())), nil
}

// openEntry returns the id of the entry that a mailed token names, or refuses with NOT_FOUND. It
// makes sure that the entry's event exists, because asking the actor of an event that does not
// exist would create the actor.
func (h *Handlers) openEntry(c *route.Call, in *api.WaitlistToken) (engine.OrderID, error) {
	id, ok := h.Secrets.ParseWaitlist(in.Token)
	if !ok {
		return id, noEntry
	}
	if _, err := h.Known.Find(c.Context, id.Event()); err != nil {
		return id, orders.HideEvent(err, engine.NotFound)
	}
	return id, nil
}
