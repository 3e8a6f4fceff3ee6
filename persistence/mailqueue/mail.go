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

// Template says which mail it is: the name of its templates.
type Template string

// The mails there are. Those that Bulk says true of carry a List-Unsubscribe (RFC 8058);
// the others are transactional: each answers what its reader has done or bought.
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
	TicketRescheduled Template = "ticket_rescheduled"
	WaitlistJoined    Template = "waitlist_joined"
	WaitlistOffered   Template = "waitlist_offered"
	WaitlistExpired   Template = "waitlist_expired"
	PaymentSeen       Template = "payment_seen"
	OrderCancelled    Template = "order_cancelled"
	RefundRequested   Template = "refund_requested"
	RefundDenied      Template = "refund_denied"
	RefundDue         Template = "refund_due"
	RefundProcessed   Template = "refund_processed"
	EventChanged      Template = "event_changed"
	EventCancelled    Template = "event_cancelled"
	WebhookDisabled   Template = "webhook_disabled"
	Following         Template = "following"
	EventPublished    Template = "event_published"
	Broadcast         Template = "broadcast"
)

// Granted is the Reason of money that goes back for somebody has granted it: the order's
// Refund says more. The others are those of money that goes back by itself.
const Granted = "granted"

// The queues of the jobs, each with workers of its own, so that none is in another's way.
// Somebody waits for a mail of the first. Those of the second follow from orders, and come by
// the thousand in a rush. Those of the third go to audiences, and nobody waits for them.
const (
	promptQueue = "mail_prompt"
	orderQueue  = "mail_order"
	bulkQueue   = "mail_bulk"
)

var queueNames = []string{promptQueue, orderQueue, bulkQueue}

// Priorities within a queue: River's, 1 to 4. A page of an audience is made when
// the mails of the one before it are gone.
const (
	ticketsFirst = iota + 1
	moneyNext
	announcementsThen
	pagesLast
)

// terms are how a mail is sent.
type terms struct {
	queue    string
	priority int
	life     time.Duration // for so long it is tried
}

// table is the table of mails.
var table = map[Template]terms{
	LoginCode:         {promptQueue, ticketsFirst, accounts.CodeLife},
	PasswordReset:     {promptQueue, ticketsFirst, accounts.ResetLife},
	PasswordChanged:   {promptQueue, moneyNext, 24 * time.Hour},
	EmailConfirmation: {promptQueue, moneyNext, accounts.ConfirmationLife},
	AccountTaken:      {promptQueue, moneyNext, 24 * time.Hour},
	TwoFactorChanged:  {promptQueue, moneyNext, 24 * time.Hour},
	Invitation:        {promptQueue, moneyNext, 24 * time.Hour},
	WebhookDisabled:   {promptQueue, moneyNext, 24 * time.Hour},
	OrderConfirmation: {orderQueue, ticketsFirst, 24 * time.Hour},
	AttendeeTickets:   {orderQueue, ticketsFirst, 24 * time.Hour},
	TransferOffered:   {promptQueue, moneyNext, 24 * time.Hour},
	TicketRescheduled: {orderQueue, moneyNext, 24 * time.Hour},
	WaitlistJoined:    {promptQueue, moneyNext, 24 * time.Hour},
	WaitlistOffered:   {promptQueue, moneyNext, 24 * time.Hour},
	WaitlistExpired:   {orderQueue, moneyNext, 24 * time.Hour},
	PaymentSeen:       {orderQueue, moneyNext, 24 * time.Hour},
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

// Mail is a mail that is to be written and sent: what it is about, for its
// words are found when it is sent. It is the arguments of a job and lies in the
// database as it is; what nobody may read there is sealed in Secret.
type Mail struct {
	ID       string   `json:"id"` // 32 hex digits, the same in every attempt
	Template Template `json:"mail"`
	// Subject is what no two mails of a Mail may be about, such as a fact; ""
	// lets the mail be sent in any case.
	Subject string `json:"-"`
	// Queued is when the mail was put out. A Send has it.
	Queued time.Time `json:"-"`
	end    time.Time // of the mail's life

	To     string `json:"to,omitzero"` // bare address; "": the order's buyer
	Name   string `json:"name,omitzero"`
	Secret []byte `json:"secret,omitzero"` // sealed for the mail's ID

	Order        string `json:"order,omitzero"` // id
	Event        int64  `json:"event,omitzero"`
	Was          *Known `json:"was,omitzero"`       // what holders knew of an event that has changed
	Amount       int64  `json:"amount,omitzero"`    // of a refund that is due or asked for, minor units
	Reason       string `json:"reason,omitzero"`    // of the same, or of an event's cancellation; the status of an attempt whose coins were seen
	Currency     string `json:"currency,omitzero"`  // of a refund that is due, if it is not the order's
	Refund       int    `json:"refund,omitzero"`    // which of the order's refunds was decided or processed
	Ticket       uint32 `json:"ticket,omitzero"`    // serial of one that is offered, or whose money is asked for
	Round        uint16 `json:"round,omitzero"`     // which of its transfers
	From         string `json:"from,omitzero"`      // who offers it
	Org          int64  `json:"org,omitzero"`       // number of an organization that somebody follows
	Broadcast    string `json:"broadcast,omitzero"` // id
	Tier         string `json:"tier,omitzero"`      // ticket type that is offered to who waits
	Count        int64  `json:"count,omitzero"`     // how many of it
	Until        int64  `json:"until,omitzero"`     // until when, unix milliseconds
	Organization string `json:"organization,omitzero"`
	Role         string `json:"role,omitzero"`
	On           bool   `json:"on,omitzero"`       // a second factor
	Webhook      int64  `json:"webhook,omitzero"`  // the endpoint
	Endpoint     string `json:"endpoint,omitzero"` // as people call it
	Gone         bool   `json:"gone,omitzero"`     // it said so
	Again        bool   `json:"again,omitzero"`    // the organization asks for it, whoever had it before
}

// NewID is the ID of a mail that is about nothing in particular.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// number gives the mail its ID: of its Mail and Subject, if it has one.
func (l *Mail) number() {
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

// InsertOpts are the Mail's terms.
func (l Mail) InsertOpts() river.InsertOpts {
	t := table[l.Template]
	return river.InsertOpts{Queue: t.queue, Priority: t.priority, MaxAttempts: len(pauses) + 1}
}

// MarshalJSON writes the mail as Postgres takes it.
func (l Mail) MarshalJSON() ([]byte, error) {
	type plain Mail
	return storable(plain(l))
}

// storable is JSON for a jsonb, which refuses the one character that text in
// Postgres cannot have. A name may have it: it comes from a fact, which nobody
// can refuse any more.
func storable(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return bytes.ReplaceAll(b, []byte(`\u0000`), []byte(`\ufffd`)), err
}
