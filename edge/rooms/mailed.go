package rooms

import (
	"errors"
	"net/url"
	"strconv"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/draw"
	"boxoffice/engine/order"
	"boxoffice/engine/queue"
	"boxoffice/persistence/mailqueue"
)

// invitationLife is how long the mailed link by which an address joins a room may be used.
const invitationLife = 7 * 24 * time.Hour

// askToJoin mails an address the link that makes its entry. Anybody may send anybody's address, so
// no entry is made yet. The answer does not tell whether the address has one already.
func (h *Handlers) askToJoin(c *route.Call, number int64, r *room, in *api.JoinQueue) (*api.JoinedQueue, error) {
	if err := r.refuseIfClosed(c.Now); err != nil {
		return nil, err
	}
	// The link carries everything about the entry, signed, so that nothing is stored for mails that
	// nobody reads.
	token := h.Secrets.InvitationToken(number, &secrets.Invited{
		Draw: r.Draw, Ends: c.Now.Add(invitationLife).Unix(), Party: uint8(in.Party), Email: in.Email, //nolint:gosec // at most 10
	})
	return &api.JoinedQueue{Pending: true}, h.mailLink(c, number, mailqueue.QueueConfirm, in.Email, url.Values{"join": {token}, "party": {strconv.Itoa(in.Party)}})
}

// refuseIfClosed refuses if registration has not begun, or if the room is draining or full; otherwise it
// returns nil. It runs before a mail is sent, so that nobody gets a link that cannot be used.
func (r *room) refuseIfClosed(now time.Time) error {
	switch {
	case r.Draining:
		return engine.Refuse(engine.QueueClosed, queue.NotNow{Reason: "over"})
	case now.UnixMilli() < r.Settings.Rules.RegistersFrom:
		return engine.Refuse(engine.QueueClosed, queue.NotNow{Reason: "not_open"})
	case r.Count >= queue.MaxEntries:
		return engine.Refuse(engine.QueueClosed, queue.NotNow{Reason: "full"})
	}
	return nil
}

// mailPlace mails the link by which somebody sees a place on another device.
func (h *Handlers) mailPlace(c *route.Call, number int64, email string, joined *api.JoinedQueue) error {
	return h.mailLink(c, number, mailqueue.QueuePlace, email, url.Values{"ticket": {*joined.Token}, "receipt": {*joined.Receipt}})
}

// mailLink queues a mail with a link to the room's page. What the link carries is as
// secret as the place itself, so it is sealed in the queue's table.
func (h *Handlers) mailLink(c *route.Call, number int64, template mailqueue.Template, email string, carried url.Values) error {
	k, err := h.Known.Find(c.Context, number)
	if err != nil {
		return err
	}
	l := mailqueue.Mail{
		ID: mailqueue.NewID(), Template: template, To: order.NormalEmail(email), Language: letters.PreferredLanguage(c), Event: number, Org: k.Org,
	}
	l.Secret = h.Secrets.Seal(letters.CodeSecret, []byte(l.ID), []byte(carried.Encode()))
	return h.Mail.TellPlace(c.Context, l)
}

// noInvitation is the same refusal for forged links, for links that have ended, for links of an earlier
// draw, and if the room no longer asks for an address.
var noInvitation = &engine.Refusal{Code: engine.NotFound, Message: "This link is of no waiting room of this event, or it has run out."}

// confirmQueue makes the entry of a person who has opened a mailed link. A person has only one entry, however many
// devices open the link. The person may name another number of people than the request for the mail did, because
// somebody else may have sent that request.
func (h *Handlers) confirmQueue(c *route.Call, in *api.ConfirmQueue) (*api.JoinedQueue, error) {
	number, _, err := h.Pages.FindVisible(c, h.Known, in.EventID)
	if err != nil {
		return nil, err
	}
	invited, ok := h.Secrets.ParseInvitation(number, in.Token)
	if !ok || c.Now.Unix() > invited.Ends {
		return nil, noInvitation
	}
	r, err := h.findRoom(c.Context, number)
	if err != nil {
		return nil, err
	}
	switch {
	case !r.isOpened():
		return nil, engine.Refuse(engine.QueueClosed, queue.NotNow{Reason: "over"})
	case r.Draw != invited.Draw || r.Settings.Rules.Proof != draw.Classes[draw.ClassAddress]:
		return nil, noInvitation
	}
	party := int(invited.Party)
	if in.Party != 0 {
		party = in.Party
	}
	if err := r.refuseParty(party); err != nil {
		return nil, err
	}
	person := order.CustomerOf(order.NormalEmail(invited.Email))
	// The secret depends on the person and the draw alone, so a second use of the link finds the
	// same entry.
	entry := draw.Entry{Secret: h.Secrets.EntrySecret(number, invited.Draw, person), Party: uint8(party), Class: draw.ClassAddress} //nolint:gosec // at most 10
	joined, refused := h.enter(c, number, r, &entry, person)
	if !mayHaveEntered(refused) {
		return joined, refused
	}
	// A person who has entered with another number of people is shown that entry. The actor knows
	// entries only by their leaves, and a leaf does not tell the number. So the entry of each
	// possible number is tried in turn.
	for other := range r.Settings.Rules.PartyMax {
		entry.Party = uint8(other + 1) //nolint:gosec // at most 10
		if joined, err = h.enter(c, number, r, &entry, person); !mayHaveEntered(err) {
			return joined, err
		}
	}
	return nil, refused
}

// mayHaveEntered reports whether a refusal may mean that the person has an entry with another
// number of people. That is so if the person has an entry, or if nobody can join any more.
func mayHaveEntered(err error) bool {
	r, ok := errors.AsType[*engine.Refusal](err)
	return ok && (r.Code == engine.Conflict || r.Code == engine.QueueClosed)
}
