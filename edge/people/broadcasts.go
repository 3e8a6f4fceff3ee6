package people

import (
	"errors"
	"math"

	"boxoffice/edge/api"
	"boxoffice/edge/mail"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/persistence/outreach"
)

// broadcastsADay is how many broadcasts an event may have in a day. Each of them may reach every
// attendee, so the number is small.
const broadcastsADay = 5

// sendBroadcast queues a mail to the people who attend an event. The list of recipients is fixed
// before the answer, so that the answer can count them. The mail queue sends the mails one by one
// after the answer, with a lower priority than the mails that buyers wait for. An event that has
// had broadcastsADay in a day is refused with RATE_LIMITED.
func (h *Handlers) sendBroadcast(c *route.Call, in *api.SendBroadcast) (*api.BroadcastSent, error) {
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	tag := ""
	if in.TagFilter != "" {
		if tag, err = readTagAt("tagFilter", in.TagFilter); err != nil {
			return nil, err
		}
	}
	// The body is HTML that an organizer wrote. Sanitize leaves only what a mail may show, which
	// can be nothing.
	body := mail.Sanitize(in.Body)
	if body == "" {
		return nil, route.Invalid(route.Issue{Path: "body", Code: route.IssueFormat, Message: "has nothing that a mail may show"})
	}
	known, err := h.Known.Find(c.Context, number)
	if err != nil {
		return nil, err
	}
	if err := h.Settled(c.Context); err != nil { // A person whose ticket is new gets the mail too.
		return nil, err
	}
	// The list of recipients is made from the table of attendees. A follower of its own writes that
	// table, so the table may still be behind the read model.
	if err := h.Attendees.CatchUp(c.Context, number); err != nil {
		return nil, err
	}
	b := &outreach.Broadcast{ID: h.rowID(c), Org: known.Org, Event: number, Subject: in.Subject, Body: body, Tag: tag}
	err = h.Mail.Broadcast(c.Context, b, broadcastsADay)
	if limited, ok := errors.AsType[*outreach.Limited](err); ok {
		return nil, &engine.Refusal{Code: engine.RateLimited, Message: "Too many broadcasts of this event in a day.", Retry: int(math.Ceil(limited.Wait.Seconds()))}
	}
	if err != nil {
		return nil, err
	}
	return &api.BroadcastSent{BroadcastID: b.ID.String(), Recipients: b.Recipients}, nil
}

// listBroadcasts returns a page of an event's broadcasts, the newest first.
func (h *Handlers) listBroadcasts(c *route.Call, in *api.ListBroadcasts) (*api.List[api.Broadcast], error) {
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	before, err := readBefore(in.Cursor)
	if err != nil {
		return nil, err
	}
	// We read one row more than the limit, because pageOf takes that row as the sign that there is
	// another page. All lists of this package do the same.
	list, err := h.Outreach.Broadcasts(c.Context, number, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(list, in.Limit, broadcastView, func(b *outreach.Broadcast) int64 { return b.Number }), nil
}

// broadcastView shows a broadcast with its progress. The broadcast counts as sent once none of its mails waits
// any more: each was sent, given up, or left out because its recipient has unsubscribed.
func broadcastView(b *outreach.Broadcast) api.Broadcast {
	v := api.Broadcast{
		ID: b.ID.String(), Subject: b.Subject, Body: b.Body, TagFilter: view.Optional(b.Tag), Status: "sending",
		Recipients: b.Recipients, Sent: b.Sent, Unsubscribed: b.Suppressed, CreatedAt: b.CreatedAt.UTC(),
	}
	if b.Sent+b.Suppressed+b.Dropped == b.Recipients {
		v.Status = "sent"
	}
	return v
}
