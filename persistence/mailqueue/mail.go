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

// The mails there are. All are transactional: each answers what its reader has
// done or bought, and so none carries a List-Unsubscribe (RFC 8058).
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
	OrderCancelled    Template = "order_cancelled"
	RefundDue         Template = "refund_due"
	RefundProcessed   Template = "refund_processed"
	EventChanged      Template = "event_changed"
	EventCancelled    Template = "event_cancelled"
	WebhookDisabled   Template = "webhook_disabled"
)

// The queues of the jobs. Somebody waits for a mail in the first; those that
// follow from facts come by the thousand and must not be in its way.
const (
	promptQueue = "mail_prompt"
	bulkQueue   = "mail_bulk"
)

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
	OrderConfirmation: {bulkQueue, ticketsFirst, 24 * time.Hour},
	AttendeeTickets:   {bulkQueue, ticketsFirst, 24 * time.Hour},
	OrderCancelled:    {bulkQueue, moneyNext, 24 * time.Hour},
	RefundDue:         {bulkQueue, moneyNext, 24 * time.Hour},
	RefundProcessed:   {bulkQueue, moneyNext, 24 * time.Hour},
	EventChanged:      {bulkQueue, announcementsThen, 24 * time.Hour},
	EventCancelled:    {bulkQueue, announcementsThen, 24 * time.Hour},
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
	Was          *Known `json:"was,omitzero"`    // what holders knew of an event that has changed
	Amount       int64  `json:"amount,omitzero"` // of a refund that is due, minor units
	Reason       string `json:"reason,omitzero"` // of the same, or of an event's cancellation
	Refund       int    `json:"refund,omitzero"` // which of the order's refunds has been processed
	Organization string `json:"organization,omitzero"`
	Role         string `json:"role,omitzero"`
	On           bool   `json:"on,omitzero"`       // a second factor
	Webhook      int64  `json:"webhook,omitzero"`  // the endpoint
	Endpoint     string `json:"endpoint,omitzero"` // as people call it
	Gone         bool   `json:"gone,omitzero"`     // it said so
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
