// Package deliveries owns the tables of webhook endpoints and of the deliveries to them. The table
// of deliveries is both the queue of what is still to be sent and the history of what was.
//
// Rows of the queue come from FanOut, which is a sink of persistence/publicfacts and runs in the
// transaction that publishes the facts, and from Test and Replay. Each of these inserts a River job
// that wakes one node's deliverer (edge/webhook). The deliverer calls Claim for endpoints that have
// something due, Load for what they are to be sent, and Record for the outcome. A claim is a lease: only
// one node at a time delivers to an endpoint, so that first attempts are made in order. A dead
// node's claims are free after LeaseTime, or at once when the node of that name comes back.
//
// The edge calls it, and cmd registers its workers. It has no goroutine.
package deliveries

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"boxoffice/persistence/publicfacts"
)

const (
	// MaxPerOrg is how many endpoints an organization may have.
	MaxPerOrg = 50
	// MaxExhausted is how many deliveries in a row may use up all their attempts before the
	// service disables the endpoint (docs/rules.md, Webhooks).
	MaxExhausted = 3
	// LeaseTime is how long a node may work on the endpoints that it has claimed. After that,
	// another node may claim them, in case the first one has died.
	LeaseTime = 30 * time.Second
	// Kept is how long deliveries are kept. A delivery reads its payload from its fact, so it
	// would be of no use for longer than the fact is kept.
	Kept = publicfacts.Kept
)

// All as the only entry of an endpoint's Events subscribes it to every type, including types that later
// releases add.
const All = "*"

// TestType is the type of a test delivery, which is not in the catalogue.
const TestType = "webhook.test"

// These are the reasons for which the methods of Store refuse. Callers tell them apart with
// errors.Is.
var (
	ErrTooMany  = errors.New("webhooks: the organization has as many endpoints as it may")
	ErrGone     = errors.New("webhooks: the endpoint that the command made is gone")
	ErrDisabled = errors.New("webhooks: the endpoint is disabled")
	ErrPending  = errors.New("webhooks: the delivery has not been sent for the first time yet")
	ErrTooOld   = errors.New("webhooks: what the delivery told is not kept any more")
)

// These are the statuses of an endpoint. Only an active endpoint gets new deliveries.
const (
	Active   = "active"
	Disabled = "disabled"
	deleted  = "deleted" // the row is kept for a day, and until its last delivery is deleted
)

// These are the reasons for which the service itself disables an endpoint.
const (
	ReasonGone      = "gone"      // it answered 410
	ReasonExhausted = "exhausted" // MaxExhausted deliveries in a row used up their attempts
)

// Endpoint is an address at which an organization gets webhooks. The order of its fields is the order in the
// constant columns.
type Endpoint struct {
	ID        int64
	Org       int64
	URL       string
	Events    []string // types of public facts that it is subscribed to, or All alone
	Name      string
	Status    string
	Reason    string // why the service disabled it; empty if it did not
	Secret    []byte // the signing secret, sealed under the master key
	Hint      string // the part of the secret that is shown
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Takes reports whether the endpoint is subscribed to a type of public fact.
func (e *Endpoint) Takes(typ string) bool {
	for _, t := range e.Events {
		if t == typ || t == All {
			return true
		}
	}
	return false
}

// These are the statuses of a delivery (docs/rules.md, Statuses). Pending and Failed deliveries are
// in the queue; the others are only history.
const (
	Pending   = "pending"   // not sent yet
	Succeeded = "succeeded" // answered 2xx
	Failed    = "failed"    // will be sent again
	Exhausted = "exhausted" // failed for the last time
	Cancelled = "cancelled" // will not be sent (again): its endpoint takes nothing any more, its fact is gone, or a replay has taken its place
)

// Delivery is one public fact on its way to one endpoint, with the outcome of the last attempt. The
// order of its fields is the order of deliveryColumns.
type Delivery struct {
	ID             int64
	Endpoint       int64
	EventID        string
	Type           string
	ReplayOf       *int64 // the delivery that it repeats; nil if it is no replay
	Status         string
	Due            *time.Time // time of the next attempt; nil while Pending, and if there will be none
	Attempts       int
	AttemptedAt    *time.Time
	ResponseStatus *int // HTTP status of the answer; nil if none came
	LatencyMS      *int
	Error          string
	CreatedAt      time.Time
}

// Try is the outcome of one attempt as the history keeps it, in JSON in the row of its delivery.
type Try struct {
	Number         int       `json:"number"` // number of the attempt, from 1
	At             time.Time `json:"at"`
	ResponseStatus *int      `json:"status"` // HTTP status of the answer; nil if none came
	LatencyMS      int       `json:"latency"`
	Error          string    `json:"error"`
	Answer         string    `json:"answer"` // the beginning of the answer's body
}

// Store reads and writes endpoints and deliveries. Its methods may be called by any goroutine.
type Store struct {
	pool *pgxpool.Pool
	jobs *river.Client[pgx.Tx] // inserts jobs, and runs none
}

// New returns the store of a database. The client that it makes only inserts jobs, so nothing has
// to be stopped.
func New(pool *pgxpool.Pool) (*Store, error) {
	jobs, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return &Store{pool, jobs}, nil
}
