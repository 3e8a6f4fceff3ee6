package mailqueue

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/riverqueue/river"

	"boxoffice/persistence/accounts"
)

// Template names a kind of mail. It is also the name of the template files that make the mail's
// text.
type Template string

// These are all mails. WaitlistConfirm, QueueConfirm, QueuePlace, Following, EventPublished and Broadcast carry a
// List-Unsubscribe (RFC 8058); the others are transactional.
const (
	LoginCode         Template = "login_code"
	PasswordReset     Template = "password_reset"
	PasswordChanged   Template = "password_changed"
	EmailConfirmation Template = "email_confirmation"
	AccountTaken      Template = "account_taken"
	TwoFactorChanged  Template = "two_factor_changed"
	Invitation        Template = "invitation"
	OrderConfirmation Template = "order_confirmation"
	AttendeeTickets   Template = "attendee_tickets"
	TransferOffered   Template = "transfer_offered"
	TransferTaken     Template = "transfer_taken"
	TransferRevoked   Template = "transfer_revoked"
	TicketVoid        Template = "ticket_void"
	TicketRescheduled Template = "ticket_rescheduled"
	WaitlistConfirm   Template = "waitlist_confirm"
	WaitlistJoined    Template = "waitlist_joined"
	WaitlistOffered   Template = "waitlist_offered"
	WaitlistExpired   Template = "waitlist_expired"
	QueueConfirm      Template = "queue_confirm"
	QueuePlace        Template = "queue_place"
	PaymentSeen       Template = "payment_seen"
	BankTransfer      Template = "bank_transfer"
	OrderCancelled    Template = "order_cancelled"
	RefundRequested   Template = "refund_requested"
	RefundDenied      Template = "refund_denied"
	RefundDue         Template = "refund_due"
	RefundProcessed   Template = "refund_processed"
	EventChanged      Template = "event_changed"
	EventCancelled    Template = "event_cancelled"
	WebhookDisabled   Template = "webhook_disabled"
	PaymentDisputed   Template = "payment_disputed"
	Following         Template = "following"
	EventPublished    Template = "event_published"
	Broadcast         Template = "broadcast"
)

// Reminder is the Reason of a BankTransfer whose money has not come yet.
const Reminder = "reminder"

// Granted is the Reason of money that goes back because somebody has granted it; the order's Refund
// says more. Other reasons are for money that goes back without a request.
const Granted = "granted"

// These are River's queues for the jobs. Each has workers of its own, so that a flood in one queue does not
// delay the mails of another. Mails of the prompt queue are few, and somebody may wait for one at a screen.
// Orders cause the mails of the order queue, thousands of them in a rush. Mails of the bulk queue go to
// audiences, and nobody waits for them.
const (
	promptQueue = "mail_prompt"
	orderQueue  = "mail_order"
	bulkQueue   = "mail_bulk"
)

// queueNames are all queues, for queries that count or release their jobs.
var queueNames = []string{promptQueue, orderQueue, bulkQueue}

// These are River's priorities within a queue, from 1, the most urgent, to 4. Page jobs come last: the next page of
// an audience is made only when the mails of the page before have left the queue.
const (
	ticketsFirst = iota + 1
	moneyNext
	announcementsThen
	pagesLast
)

// terms say in which queue and how long a mail of one Template is tried.
type terms struct {
	queue    string
	priority int
	life     time.Duration // how long the mail is still tried, counted from when it may be sent
}

// table has the terms of each Template, and every Template needs a row. A mail without a row is taken for one
// that a node of a later release has queued, and waits for such a node (sender.leaveMail). A mail with a secret
// in it lives no longer than the secret is valid.
var table = map[Template]terms{
	LoginCode:         {promptQueue, ticketsFirst, accounts.CodeLife},
	PasswordReset:     {promptQueue, ticketsFirst, accounts.ResetLife},
	PasswordChanged:   {promptQueue, moneyNext, 24 * time.Hour},
	EmailConfirmation: {promptQueue, moneyNext, accounts.ConfirmationLife},
	AccountTaken:      {promptQueue, moneyNext, 24 * time.Hour},
	TwoFactorChanged:  {promptQueue, moneyNext, 24 * time.Hour},
	Invitation:        {promptQueue, moneyNext, 24 * time.Hour},
	WebhookDisabled:   {promptQueue, moneyNext, 24 * time.Hour},
	PaymentDisputed:   {promptQueue, moneyNext, 24 * time.Hour},
	OrderConfirmation: {orderQueue, ticketsFirst, 24 * time.Hour},
	AttendeeTickets:   {orderQueue, ticketsFirst, 24 * time.Hour},
	TransferOffered:   {promptQueue, moneyNext, 24 * time.Hour},
	TransferTaken:     {promptQueue, moneyNext, 24 * time.Hour},
	TransferRevoked:   {promptQueue, moneyNext, 24 * time.Hour},
	TicketVoid:        {orderQueue, moneyNext, 24 * time.Hour},
	TicketRescheduled: {orderQueue, moneyNext, 24 * time.Hour},
	WaitlistConfirm:   {promptQueue, moneyNext, 24 * time.Hour},
	WaitlistJoined:    {promptQueue, moneyNext, 24 * time.Hour},
	WaitlistOffered:   {promptQueue, moneyNext, 24 * time.Hour},
	WaitlistExpired:   {orderQueue, moneyNext, 24 * time.Hour},
	QueueConfirm:      {promptQueue, moneyNext, 24 * time.Hour},
	QueuePlace:        {promptQueue, moneyNext, 24 * time.Hour},
	PaymentSeen:       {orderQueue, moneyNext, 24 * time.Hour},
	BankTransfer:      {orderQueue, moneyNext, 24 * time.Hour},
	OrderCancelled:    {orderQueue, moneyNext, 24 * time.Hour},
	RefundRequested:   {orderQueue, moneyNext, 24 * time.Hour},
	RefundDenied:      {orderQueue, moneyNext, 24 * time.Hour},
	RefundDue:         {orderQueue, moneyNext, 24 * time.Hour},
	RefundProcessed:   {orderQueue, moneyNext, 24 * time.Hour},
	EventChanged:      {bulkQueue, announcementsThen, 24 * time.Hour},
	EventCancelled:    {bulkQueue, announcementsThen, 24 * time.Hour},
	Following:         {promptQueue, moneyNext, 24 * time.Hour},
	Broadcast:         {bulkQueue, announcementsThen, 24 * time.Hour},
	EventPublished:    {bulkQueue, announcementsThen, 24 * time.Hour},
}

// Mail is a mail that is to be written and sent. It names what the mail is about, but has no text:
// the text is made when the mail is sent, from what is true then. A Mail is the arguments of a
// River job, so it is stored in the database as JSON. A secret must not be readable there; it is
// sealed in Secret.
type Mail struct {
	ID       string   `json:"id"` // 32 hex digits, which are the same in every attempt to send it
	Template Template `json:"mail"`
	// Subject names what there may be only one mail of this Template about, such as a fact. An
	// empty Subject lets the mail be sent in any case. It isn't stored, because ID is derived from
	// it before the mail is queued.
	Subject string `json:"-"`
	// Queued is when the mail was queued. It is set when Send is called.
	Queued time.Time `json:"-"`
	end    time.Time // the time after which nobody tries to send it any more
	// NotBefore is when the mail is sent, in unix milliseconds, and its life begins; 0: at once.
	NotBefore int64 `json:"notBefore,omitzero"`

	To   string `json:"to,omitzero"` // the recipient's address, without the name; "": the order says who it is, mostly its buyer (letters.readerOf)
	Name string `json:"name,omitzero"`
	// Language is a tag of BCP 47, for a reader whose account names none; "": the order's language or,
	// without one, the deployment's.
	Language string `json:"language,omitzero"`
	Secret   []byte `json:"secret,omitzero"` // a secret that the mail tells, sealed for the mail's ID

	Order        string `json:"order,omitzero"` // the id of the order that the mail is about, if it is about one
	Held         string `json:"held,omitzero"`  // in the news of an event: the order whose tickets the reader has without having bought them
	Event        int64  `json:"event,omitzero"`
	Was          *Known `json:"was,omitzero"`       // what the holders knew of an event before it was changed
	Amount       int64  `json:"amount,omitzero"`    // minor units: what goes back or was asked back, what an offer costs with its fees, or what is disputed
	Reason       string `json:"reason,omitzero"`    // why money goes back, an event was cancelled or a payment is disputed; the status of an attempt whose money was seen; or Reminder
	Currency     string `json:"currency,omitzero"`  // the currency of an offer or a dispute, or of money that goes back if it is not the order's
	Refund       int    `json:"refund,omitzero"`    // the position of the refund, which is due or was decided or processed, in the order's list
	Ticket       uint32 `json:"ticket,omitzero"`    // the serial of a ticket that was offered or passed on, that was moved to another date, or whose money was asked for
	Round        uint16 `json:"round,omitzero"`     // the number of the ticket's transfer
	From         string `json:"from,omitzero"`      // the person who offers the ticket, or has passed it on
	Taker        string `json:"taker,omitzero"`     // the e-mail address of the person who has taken the ticket
	Org          int64  `json:"org,omitzero"`       // the number of the organization that the reader is to follow, waits for, is invited to or owns
	Sold         int64  `json:"sold,omitzero"`      // in the news of an event: when the reader's tickets were sold, in unix milliseconds
	Given        bool   `json:"given,omitzero"`     // in the news of an event: the organization has given the reader the tickets
	Broadcast    string `json:"broadcast,omitzero"` // the id of the broadcast that the mail belongs to
	Tier         string `json:"tier,omitzero"`      // the name of the ticket type that is offered to somebody on the waitlist
	Type         int64  `json:"type,omitzero"`      // the number of the ticket type that somebody waits for; 0: any
	Count        int64  `json:"count,omitzero"`     // how many tickets of the type are offered or waited for
	Until        int64  `json:"until,omitzero"`     // unix milliseconds: when the offer ends, or from when on a dispute can't be answered any more
	Organization string `json:"organization,omitzero"`
	Role         string `json:"role,omitzero"`
	Provider     string `json:"provider,omitzero"` // the provider of payments where a dispute was opened
	On           bool   `json:"on,omitzero"`       // a second factor is necessary from now on; otherwise it was removed
	Webhook      int64  `json:"webhook,omitzero"`  // the number of the webhook endpoint that was disabled
	Endpoint     string `json:"endpoint,omitzero"` // the endpoint's name for people
	Gone         bool   `json:"gone,omitzero"`     // the endpoint answered that it is gone for good
	Again        bool   `json:"again,omitzero"`    // the organization wants the mail sent even if it issued the order without mails
}

// NewID draws a random ID for a mail without a Subject. A caller needs it before it queues the mail
// if it seals a Secret, because the seal is bound to the ID.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// numberMail gives the mail its ID. If the mail has a Subject, the ID is derived from Template and
// Subject, so that a second mail about the same thing gets the same ID and is recognized. Otherwise
// an ID that the caller has drawn is kept.
func (l *Mail) numberMail() {
	switch {
	case l.Subject != "":
		sum := sha256.Sum256([]byte(string(l.Template) + "\x00" + l.Subject))
		l.ID = hex.EncodeToString(sum[:16])
	case l.ID == "":
		l.ID = NewID()
	}
}

// Kind names the jobs.
func (Mail) Kind() string { return "mail" }

// InsertOpts sends a mail to the queue of its Template, with the Template's priority. MaxAttempts leaves room
// for every pause; the mail's life is mostly over earlier.
func (l Mail) InsertOpts() river.InsertOpts {
	t := table[l.Template]
	return river.InsertOpts{Queue: t.queue, Priority: t.priority, MaxAttempts: len(pauses) + 1}
}

// MarshalJSON writes the mail without the character that Postgres can't store (storableJSON).
func (l Mail) MarshalJSON() ([]byte, error) {
	type plain Mail
	return storableJSON(plain(l))
}

// storableJSON makes JSON for a jsonb column, in which it replaces the character U+0000, because
// Postgres can't store that. A name may contain it: names come from facts, which were accepted long
// ago and can't be refused any more. Six characters that read \u0000 in a text are also replaced, which does no harm.
func storableJSON(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return bytes.ReplaceAll(b, []byte(`\u0000`), []byte(`\ufffd`)), err
}
