package people

import (
	"errors"
	"math"
	"strconv"

	"boxoffice/edge/api"
	"boxoffice/edge/limit"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/edge/webhook"
	"boxoffice/engine"
	"boxoffice/persistence/community"
	"boxoffice/persistence/publicfacts"
)

var noThread = &engine.Refusal{Code: engine.NotFound, Message: "No such thread."}

// messagesAnHour is how many messages one buyer may write to one organization in an hour, times LimitsScale.
const messagesAnHour = 10

// writeMessage writes to the organization of a ticket that the caller holds. All messages of a caller about one ticket
// are in one thread. The caller's address must be proven, because it decides which tickets are the caller's. A caller
// who has written messagesAnHour to the organization is refused with RATE_LIMITED. The store writes the message and its
// public fact in one transaction, so that each message has exactly one fact.
func (h *Handlers) writeMessage(c *route.Call, in *api.WriteMessage) (*api.Message, error) {
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	t, err := h.findHeld(c, in.TicketID)
	if err != nil {
		return nil, err
	}
	thread := &community.Thread{Buyer: c.Principal.User, Org: t.org, Event: t.event, Ticket: t.serial}
	m, err := h.Community.WriteToOrganization(c.Context, thread, &community.Message{
		ID: h.rowID(c), ByBuyer: true, Body: in.Body, AttachmentURLs: view.List(in.AttachmentURLs),
	}, limit.Scale(messagesAnHour, h.LimitsScale), func(m *community.Message) (publicfacts.Own, error) {
		return webhook.NewOwnFact("message.received", thread.Org, "thread/"+m.Thread.String(), m.CreatedAt, api.MessageData{Message: h.messageView(thread, m)})
	})
	if tooMany, ok := errors.AsType[*community.TooManyMessages](err); ok {
		return nil, &engine.Refusal{Code: engine.RateLimited, Message: "Too many messages to this organizer.", Retry: int(math.Ceil(tooMany.Wait.Seconds()))}
	}
	if err != nil {
		return nil, err
	}
	return new(h.messageView(thread, m)), nil
}

// replyToThread writes an organization's answer to a buyer. A caller who is no member of the
// thread's organization gets the answer for a missing thread, so that nobody finds out which ids
// are in use.
func (h *Handlers) replyToThread(c *route.Call, in *api.ReplyToThread) (*api.Message, error) {
	id, err := readRowID(in.ThreadID, noThread)
	if err != nil {
		return nil, err
	}
	t, err := h.Community.Thread(c.Context, id)
	if err != nil {
		return nil, notFoundAs(err, noThread)
	}
	g, ok := c.Principal.Grant(t.Org)
	if !ok {
		return nil, noThread
	}
	// Being a member is not enough: ActFor checks the role or the scopes that the row demands, and
	// counts the write for the organization.
	if err := route.ActFor(c, g); err != nil {
		return nil, err
	}
	m, err := h.Community.Reply(c.Context, &community.Message{
		ID: h.rowID(c), Thread: id, Body: in.Body, AttachmentURLs: view.List(in.AttachmentURLs),
	})
	if err != nil {
		return nil, err
	}
	return new(h.messageView(t, m)), nil
}

// listOwnThreads returns a page of the caller's threads. The thread with the latest message comes
// first.
func (h *Handlers) listOwnThreads(c *route.Call, in *api.ListOwnThreads) (*api.List[api.Thread], error) {
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	before, err := readBefore(in.Cursor)
	if err != nil {
		return nil, err
	}
	list, err := h.Community.ThreadsOfBuyer(c.Context, c.Principal.User, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	// The cursor is the number of a thread's latest message. A thread moves to the front when
	// somebody writes in it.
	return pageOf(list, in.Limit, h.threadView, func(t *community.Thread) int64 { return t.Last }), nil
}

// listThreads returns a page of an organization's threads with buyers, or of those about one of its
// events. The thread with the latest message comes first.
func (h *Handlers) listThreads(c *route.Call, in *api.ListThreads) (*api.List[api.BuyersThread], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	var event int64
	if in.EventID != "" {
		if event, err = h.Known.FindOwn(c, in.EventID); err != nil {
			return nil, err
		}
	}
	before, err := readBefore(in.Cursor)
	if err != nil {
		return nil, err
	}
	list, err := h.Community.ThreadsOf(c.Context, org, event, in.Status, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	// The organization sees the buyer's address, which threadView leaves out.
	return pageOf(list, in.Limit, func(t *community.Thread) api.BuyersThread {
		return api.BuyersThread{Thread: h.threadView(t), Buyer: api.Buyer{Email: t.Email, Name: view.Optional(t.Name)}}
	}, func(t *community.Thread) int64 { return t.Last }), nil
}

// threadView shows a thread with the messages that were read along with it. It does not name the
// buyer, because buyers see it too.
func (h *Handlers) threadView(t *community.Thread) api.Thread {
	v := api.Thread{
		ID: t.ID.String(), TicketID: h.Secrets.Event(t.Event).TicketID(t.Ticket).String(), EventID: h.Known.PublicID(t.Event),
		OrganizationID: strconv.FormatInt(t.Org, 10), Status: t.Status, Messages: make([]api.Message, len(t.Messages)), CreatedAt: t.CreatedAt.UTC(),
	}
	for i := range t.Messages {
		v.Messages[i] = h.messageView(t, &t.Messages[i])
	}
	return v
}

// messageView shows one message to both sides. It says which side wrote it, but names neither the buyer nor the member.
func (h *Handlers) messageView(t *community.Thread, m *community.Message) api.Message {
	from := "organizer"
	if m.ByBuyer {
		from = "buyer"
	}
	return api.Message{
		ID: m.ID.String(), ThreadID: m.Thread.String(), TicketID: h.Secrets.Event(t.Event).TicketID(t.Ticket).String(), From: from,
		Body: m.Body, AttachmentURLs: view.List(m.AttachmentURLs), CreatedAt: m.CreatedAt.UTC(), ReadAt: view.UTC(m.ReadAt),
	}
}
