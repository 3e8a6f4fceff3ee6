// Package letters writes the mails that are due. A letter is a mail that waits in the queue
// (persistence/mailqueue) and says only what the mail is about. This package looks up the rest at the moment
// of sending, so that a mail never says what is no longer true. Package edge/mail decides how mails look.
// This package keeps no state.
package letters

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"boxoffice/edge/hosted"
	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/order"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/mailqueue"
	"boxoffice/persistence/outreach"
	"boxoffice/persistence/readmodel"
)

// Deps are the stores and services that letters are written with.
type Deps struct {
	Read     *readmodel.Model
	Accounts *accounts.Store
	Known    *live.Events
	Pages    *live.Pages
	Feed     *live.Feed
	Secrets  *secrets.Master
	Mail     *mailqueue.Queue // queues letters, and limits the mails that follow from no payment (Admit)
	Outreach *outreach.Store
	Sender   mail.Sender
	BaseURL  string        // how people reach the service
	Language mail.Language // for readers who prefer none of our languages
}

// Writer writes the mails that are due. It may be called by any goroutine.
type Writer struct{ Deps }

// New makes the writer.
func New(d Deps) *Writer { return &Writer{d} }

// CodeSecret is the label under which the queue's table keeps secrets sealed: login codes, and what the links carry
// by which somebody joins a waitlist or a waiting room, or sees a place in one.
const CodeSecret = "letter"

// TokenAfterEnd is how long an order's token opens the order after the end of its event (orders.Desk). The token of
// a mailed link opens it for at least this long after the mail was sent.
const TokenAfterEnd = 30 * 24 * time.Hour

// Carry writes the mail of a letter from the present data, and sends it. The mail queue calls it for each letter
// that is due. If sent is false without an error, there was nothing to send any more, or the reader was
// erased. An error that is ErrUndeliverable means that another attempt would fail too. Carry also notes that a
// broadcast was sent, and ends bulk mail to an address that bounces.
func (h *Writer) Carry(ctx context.Context, l *mailqueue.Mail) (sent bool, err error) {
	m, err := h.write(ctx, l)
	if err != nil || m == nil {
		return false, err
	}
	// A person who was erased has a pseudonym in place of an address, and so no mailbox.
	if order.IsPseudonym(m.To) {
		return false, nil
	}
	err = h.Sender.Send(ctx, *m)
	if err == nil && l.Template == mailqueue.Broadcast {
		return true, h.noteBroadcast(ctx, l, outreach.Sent)
	}
	// The queue stores the error's text, so of a *mail.Failure only its own words are kept: its cause may contain
	// addresses.
	if f, ok := errors.AsType[*mail.Failure](err); ok {
		// A bounced address gets no more bulk mail.
		if f.Bounced {
			if err := h.Outreach.Suppress(ctx, order.NormalEmail(m.To), outreach.Bounce); err != nil {
				return false, err
			}
		}
		if err = errors.New(f.Error()); f.Permanent {
			err = fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err)
		}
	}
	return err == nil, err
}

// write looks up what a letter is about and makes its mail. It returns nil if the mail has become
// pointless.
func (h *Writer) write(ctx context.Context, l *mailqueue.Mail) (*mail.Message, error) {
	to := mail.Envelope{ID: l.ID, To: l.To, Name: l.Name}
	// A letter without To is for the reader of its order, whose language writeOrder finds.
	if l.To != "" {
		var err error
		if to.Language, err = h.languageOf(ctx, l.To, l.Language); err != nil {
			return nil, err
		}
	}
	switch l.Template {
	case mailqueue.LoginCode:
		code, err := h.Secrets.Open(CodeSecret, []byte(l.ID), l.Secret)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err) // it was sealed under another master key
		}
		return written(mail.LoginCode(to, string(code)), nil)
	case mailqueue.PasswordReset:
		return h.writeReset(ctx, to, l.Queued)
	case mailqueue.EmailConfirmation:
		return h.writeConfirmation(ctx, to, l.Queued)
	case mailqueue.AccountTaken:
		return written(mail.AccountTaken(to, h.signInURL()), nil)
	case mailqueue.PasswordChanged:
		return written(mail.PasswordChanged(to, h.signInURL()), nil)
	case mailqueue.TwoFactorChanged:
		return written(mail.TwoFactorChanged(to, l.On, h.signInURL()), nil)
	case mailqueue.Invitation:
		if err := h.admitOwn(ctx, l, l.Org); err != nil {
			return nil, err
		}
		return written(mail.Invitation(to, l.Organization, l.Role, h.signInURL()), nil)
	case mailqueue.WebhookDisabled:
		if err := h.admitOwn(ctx, l, l.Org); err != nil { // an organization may make anybody its owner
			return nil, err
		}
		return written(mail.WebhookDisabled(to, l.Organization, l.Endpoint, strconv.FormatInt(l.Webhook, 10), l.Gone, h.signInURL()+"/settings/webhooks"), nil)
	case mailqueue.PaymentDisputed:
		return h.writeDispute(ctx, l, to)
	case mailqueue.OrderConfirmation, mailqueue.AttendeeTickets, mailqueue.PaymentSeen, mailqueue.BankTransfer, mailqueue.TransferOffered, mailqueue.TransferTaken, mailqueue.TransferRevoked,
		mailqueue.TicketVoid, mailqueue.OrderCancelled, mailqueue.TicketRescheduled,
		mailqueue.RefundRequested, mailqueue.RefundDenied, mailqueue.RefundDue, mailqueue.RefundProcessed:
		return h.writeOrder(ctx, l, to)
	case mailqueue.WaitlistConfirm, mailqueue.WaitlistJoined, mailqueue.WaitlistOffered, mailqueue.WaitlistExpired:
		return h.writeWaitlist(ctx, l, to)
	case mailqueue.QueueConfirm, mailqueue.QueuePlace:
		return h.writeRoom(ctx, l, to)
	case mailqueue.EventChanged, mailqueue.EventCancelled:
		return h.writeEvent(ctx, l, to)
	case mailqueue.Following:
		return h.writeFollowing(ctx, l, to)
	case mailqueue.EventPublished:
		return h.writePublished(ctx, l, to)
	case mailqueue.Broadcast:
		return h.writeBroadcast(ctx, l, to)
	}
	return nil, fmt.Errorf("%w: no mail %q", mailqueue.ErrUndeliverable, l.Template)
}

// written turns a mail into the results of write.
func written(m mail.Message, err error) (*mail.Message, error) { return &m, err }

// Contact sends one mail of an organization to a customer at once, without the queue. captured reports that the
// mail went into a developer's directory instead of to a mail server. A second call with the same id sends a
// mail with the same Message-ID, so that mail programs can recognize the repetition.
func (h *Writer) Contact(ctx context.Context, id uuid.UUID, email, name string, o *accounts.Organization, subject, body string) (captured bool, err error) {
	links, err := h.Mail.MayLink(ctx, o.ID)
	if err != nil {
		return false, err
	}
	if !links {
		subject, body = mail.Unlinked(subject), mail.Unlinked(body)
	}
	_, captured = h.Sender.(*mail.Capture)
	to := mail.Envelope{ID: id.String(), To: email, Name: name}
	profile, err := h.Accounts.Profile(ctx, o.ID)
	if err != nil {
		return false, err
	}
	reply := "reply+" + h.Secrets.ReplyAddress(id, email)
	if profile != nil && profile.ContactEmail != "" {
		reply = profile.ContactEmail
	}
	if to.Language, err = h.languageOf(ctx, email); err != nil {
		return false, err
	}
	return captured, h.Sender.Send(ctx, mail.Contact(to, o.Name, subject, body, reply))
}

// writeReset makes the mail with a link to set a new password. It makes none if the address has no
// account or has asked too often. The token is derived from the letter's id, so another attempt to
// send the letter has the same link.
func (h *Writer) writeReset(ctx context.Context, to mail.Envelope, asked time.Time) (*mail.Message, error) {
	token := h.Secrets.ResetToken(to.ID)
	u, err := h.Accounts.RequestReset(ctx, to.To, sha256.Sum256([]byte(token)), asked)
	if err != nil || u == nil {
		return nil, err
	}
	to.Name = u.Name()
	// Browsers do not send the part of a link after "#", so it appears in no log.
	return written(mail.PasswordReset(to, h.BaseURL+"/password/reset#token="+token), nil)
}

// writeConfirmation makes the mail with a link that confirms an address. It makes none if the address has no
// account, is proven already, or has asked too often. The mail leaves out the registered name, because its reader
// may not be the person who registered.
func (h *Writer) writeConfirmation(ctx context.Context, to mail.Envelope, asked time.Time) (*mail.Message, error) {
	token := h.Secrets.ConfirmationToken(to.ID)
	u, err := h.Accounts.RequestConfirmation(ctx, to.To, sha256.Sum256([]byte(token)), asked)
	if err != nil || u == nil {
		return nil, err
	}
	return written(mail.EmailConfirmation(to, h.BaseURL+"/email/confirm#token="+token), nil)
}

// writeOrder makes a mail about an order, for the buyer or for a person who has, had or is offered one of the
// tickets. It also queues letters to others whom the same news affects. It returns nil if the mail is not
// due any more.
func (h *Writer) writeOrder(ctx context.Context, l *mailqueue.Mail, to mail.Envelope) (*mail.Message, error) {
	id, err := engine.ParseID(l.Order)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", mailqueue.ErrUndeliverable, err)
	}
	o, err := h.Read.Order(ctx, id)
	if err != nil {
		return nil, err
	}
	p, err := h.Pages.Event(ctx, id.Event())
	if err != nil {
		return nil, err
	}
	to.To, to.Name = o.Email, o.Name
	if to.Language, err = h.languageOf(ctx, readerOf(l, o), l.Language, o.Language); err != nil {
		return nil, err
	}
	about := mail.Order{Number: secrets.OrderNumber(id), URL: h.orderURL(id, time.Now())}
	e := h.OrderEvent(o, p)
	if e.Cover, err = h.coverOf(ctx, p.Event.Details); err != nil {
		return nil, err
	}
	// Other people may be affected by the same news. Their letters are queued before this mail is
	// sent, so that a failed attempt loses none.
	if err := h.tellHolders(ctx, l, o, e); err != nil {
		return nil, err
	}
	// The mail is counted only when all that it needs has been read.
	if due, err := h.admitOrder(ctx, l, o, p.Event.Details.Org); err != nil || !due {
		return nil, err
	}
	plain, err := h.isUnasked(ctx, l, o, p.Event.Details.Org)
	if err != nil {
		return nil, err
	}
	if plain {
		e.Unlink()
	}
	switch l.Template { //nolint:exhaustive // the mails about an order
	case mailqueue.OrderConfirmation:
		if err := h.addBought(ctx, &about, e, o, p); err != nil {
			return nil, err
		}
		if plain {
			about.Unlink()
		}
		h.addLinks(&about, e, id)
		return written(mail.OrderConfirmation(to, &about, e))
	case mailqueue.AttendeeTickets:
		return h.writeAttendee(ctx, l, to, o, e, p)
	}
	if err := h.describePart(ctx, e, l, o, p); err != nil {
		return nil, err
	}
	return h.writeAbout(ctx, l, o, to, &about, e, p.Event.Details.Timezone)
}

// admitOrder reports whether a letter about an order is still due. It counts a mail that follows from no
// payment, and returns an error if there were too many. With a confirmation it queues the attendees' letters
// first, so that they don't wait for the buyer's mail.
func (h *Writer) admitOrder(ctx context.Context, l *mailqueue.Mail, o *order.Order, org int64) (due bool, err error) {
	to, unpaid := o.Email, o.CompletesAtOnce()
	switch l.Template { //nolint:exhaustive // the others follow from a payment
	case mailqueue.OrderConfirmation:
		if !o.KeepsTickets() {
			return false, nil // its tickets are void by now
		}
		quiet := o.Issue != nil && o.Issue.Quiet && !l.Again
		if !quiet {
			if err := h.tellAttendees(ctx, o); err != nil {
				return false, err
			}
		}
		if quiet {
			return false, nil
		}
	case mailqueue.AttendeeTickets:
		if !o.KeepsTickets() {
			return false, nil
		}
		to, unpaid = l.To, true
	case mailqueue.TransferOffered, mailqueue.TransferTaken, mailqueue.TransferRevoked, mailqueue.TicketVoid:
		to, unpaid = l.To, true
	case mailqueue.RefundRequested, mailqueue.RefundDenied, mailqueue.RefundDue, mailqueue.RefundProcessed:
		unpaid = o.Client == 0 // A buyer gets mails about the money without any limit.
	case mailqueue.TicketRescheduled:
		to, unpaid = readerOf(l, o), o.Client == 0 || l.To != ""
	case mailqueue.OrderCancelled, mailqueue.BankTransfer:
		unpaid = true // this mail is counted even if the order was paid
	default:
		return true, nil
	}
	if to == "" { // the organization issued the tickets to nobody in particular
		return false, nil
	}
	if !unpaid {
		return true, nil
	}
	who := mailqueue.Unpaid{Recipient: order.NormalEmail(to)}
	// A buyer who has proven to own the address counts as one who asked for the mail.
	who.Asked = o.Client != 0 && !o.IsUnproven() && who.Recipient == order.NormalEmail(o.Email)
	// The velocity rules limit what guests order. They limit neither what the organization orders itself
	// (Client 0) nor how many people the lines of an order name, so such mails count for the organization.
	if o.Client == 0 || l.Template != mailqueue.OrderConfirmation && l.Template != mailqueue.OrderCancelled && o.Total == 0 {
		who.Organization, who.Own = org, o.Client == 0
	}
	return true, h.Mail.Admit(ctx, l, who)
}

// isUnasked reports whether a mail about an order goes to a person who has asked for nothing, from an
// organization whose mails may not have links yet (mailqueue.MayLink). Such a mail shows the organizer's links
// as plain words; the order's page shows them as links.
func (h *Writer) isUnasked(ctx context.Context, l *mailqueue.Mail, o *order.Order, org int64) (bool, error) {
	isToOthers := slices.Contains([]mailqueue.Template{mailqueue.AttendeeTickets, mailqueue.TransferOffered, mailqueue.TicketVoid}, l.Template) || l.Template == mailqueue.TicketRescheduled && l.To != ""
	if o.Client != 0 && !isToOthers {
		return false, nil
	}
	links, err := h.Mail.MayLink(ctx, org)
	return !links, err
}

// orderURL returns the address at which the buyer of an order sees it. Its token is new, so the
// link works even if the order's own token has expired.
func (h *Writer) orderURL(id engine.OrderID, now time.Time) string {
	return h.BaseURL + "/orders/" + id.String() + "?token=" + h.Secrets.RenewedToken(id, now.Add(TokenAfterEnd))
}

// addLinks adds to a confirmation the link to the page with rotating codes, the link to the PDF of the tickets
// if the event has a venue and accepts paper, and the link to the calendar file if there is one.
func (h *Writer) addLinks(m *mail.Order, e *mail.Event, id engine.OrderID) {
	token := h.Secrets.RenewedToken(id, time.Now().Add(TokenAfterEnd))
	m.Live = h.BaseURL + "/o/" + id.String() + "#token=" + token
	under := h.BaseURL + "/api/v1/orders/" + id.String()
	if e.Hall && !e.RotatingOnly {
		m.PDF = under + "/tickets.pdf?token=" + token
	}
	if e.HasCalendar() {
		m.ICS = under + "/calendar.ics?token=" + token
	}
}

// OrderEvent returns what mails say about an event to a person with an order for it: EventMail, the
// order's visits, and whether all of its tickets were given back.
func (h *Writer) OrderEvent(o *order.Order, p *live.Page) *mail.Event {
	e := h.EventMail(p.Event.Details, &p.Event, p.Org.Name)
	e.GivenBack = o.Sold() && o.IsAllGivenBack()
	e.Visits = h.Visits(o, p)
	// A calendar accepts a change of the order, such as another date, only from a file with a later stamp (RFC
	// 5546, 2.1.5).
	if changed := time.UnixMilli(o.UpdatedAt); changed.After(e.Changed) {
		e.Changed = changed
	}
	return e
}

// signInURL returns the address where people with an account sign in and see their organizations.
func (h *Writer) signInURL() string { return h.BaseURL + "/organizer" }

// RefundsURL returns the address of the page where the holder of a ticket asks for its money.
func (h *Writer) RefundsURL() string { return h.BaseURL + "/me" }

// tellAttendees queues, for every person other than the buyer whom the lines of an order name, a letter with that
// person's tickets. The letter's Subject, by which the queue finds repeats, has the order and the address, so
// each person gets only one.
func (h *Writer) tellAttendees(ctx context.Context, o *order.Order) error {
	told := map[string]bool{"": true, order.NormalEmail(o.Email): true}
	for i := range o.Lines {
		to := order.NormalEmail(o.Lines[i].AttendeeEmail)
		if told[to] {
			continue
		}
		told[to] = true
		if err := h.Mail.Add(ctx, mailqueue.Mail{
			Template: mailqueue.AttendeeTickets, Subject: o.ID.String() + "/" + to, Order: o.ID.String(), To: o.Lines[i].AttendeeEmail, Name: o.Lines[i].AttendeeName,
		}); err != nil {
			return err
		}
	}
	return nil
}

// writeAttendee makes the mail with a person's own tickets of an order that somebody else bought: those that the
// person still holds, or only l.Ticket if the letter names one. It makes no mail if none is left. The mail shows at
// most mail.MaxTickets of them, and its calendar file has only the visits of these tickets.
func (h *Writer) writeAttendee(ctx context.Context, l *mailqueue.Mail, to mail.Envelope, o *order.Order, e *mail.Event, p *live.Page) (*mail.Message, error) {
	where, err := h.Feed.Where(ctx, o)
	if err != nil {
		return nil, err
	}
	codes, about := h.Secrets.Event(o.ID.Event()), new(mail.Order)
	var visits []*mail.Visit
	records := view.Tickets(o, h.Known.PublicID(o.ID.Event()), codes, where)
	for i := range records {
		serial := records[i].Serial
		// Only tickets that the reader still holds are shown; a letter about one ticket shows that
		// one.
		if order.NormalEmail(records[i].Holder.Email) != order.NormalEmail(l.To) || l.Ticket != 0 && serial != l.Ticket || o.IsGivenBack(serial) {
			continue
		}
		visit := h.VisitOf(o, records[i].Serial, p)
		visits = append(visits, visit)
		if about.Count++; about.Count <= mail.MaxTickets {
			about.Tickets = append(about.Tickets, ticketMail(o, &records[i], codes, visit, p.Event.Status))
		}
	}
	if about.Count == 0 {
		return nil, nil //nolint:nilnil // the tickets have been passed on or given back since
	}
	narrowVisits(e, visits...)
	giver := l.From
	if l.Ticket != 0 {
		giver, about.Live = cmp.Or(giver, mail.Somebody(to.Language)), h.RefundsURL() // early journals don't say who
	}
	to.To, to.Name = l.To, l.Name
	return written(mail.AttendeeTickets(to, giver, about, e))
}

// Delivery returns the link at which a ticket type is delivered and the note that buyers need there, for a mail.
// Both are "" if the link is a file that we host, because buyers reach such a file and its PIN only from the
// order's page.
func (h *Writer) Delivery(e *event.Details, t *inventory.Details) (link, note string) {
	link, note, ours := h.Access(e, t)
	if ours {
		return "", ""
	}
	return link, note
}

// Access returns the link at which the tickets of a type are delivered, and the note that their holders need
// there. If the link is a file that we host, link is "", because a link to the file is made for each request;
// ours is then true, except for a course, whose lessons have their own pages.
func (h *Writer) Access(e *event.Details, t *inventory.Details) (link, note string, ours bool) {
	link, note = Delivery(e, t)
	if _, ours := hosted.ReadLink(h.BaseURL, link); ours {
		return "", note, e.Category != event.Course // the lessons of a course are read page by page instead
	}
	return link, note, false
}

// Delivery returns where the tickets of a type are delivered, as the organizer has stored it, and
// the note that belongs to that link. A type of a digital product without a link of its own is
// delivered by the event's link.
func Delivery(e *event.Details, t *inventory.Details) (link, note string) {
	link, note = t.AccessURL, t.AccessNote
	if link == "" && event.ProductType(e.Category) == event.ProductDigital {
		link, note = e.OnlineLink, cmp.Or(note, e.OnlineNote)
	}
	return link, note
}

// Moment writes a moment in a language, by the clocks of a time zone.
func Moment(ms int64, zone string, l mail.Language) string {
	return mail.Moment(l, clockOf(ms, zone))
}

// clockOf converts unix milliseconds into a time in a zone; 0 becomes the zero time.
func clockOf(ms int64, zone string) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	// A zone that this machine does not know must not prevent a mail, so the time is then shown in UTC.
	location, err := time.LoadLocation(zone)
	if err != nil {
		location = time.UTC
	}
	return time.UnixMilli(ms).In(location)
}

// absolute adds the service's address to a link to one of our own files, so that it can be opened
// from a mail.
func (h *Writer) absolute(link string) string {
	if strings.HasPrefix(link, "/") {
		return h.BaseURL + link
	}
	return link
}

// money turns minor units into an amount for mails. It returns the zero value for 0, which mails leave out.
func money(minor int64, currency string) (m mail.Money) {
	if minor != 0 {
		m = mail.Money{Amount: view.Decimal(minor, currency), Currency: currency}
	}
	return m
}

// Amount returns money as pages show it, or "" for no money.
func Amount(minor int64, currency string, l mail.Language) string {
	return money(minor, currency).In(l)
}
