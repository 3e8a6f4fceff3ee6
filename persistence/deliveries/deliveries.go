// Package deliveries is the tables of webhook endpoints and of what is delivered to
// them, which is both the queue and the history.
//
// Rows of the queue come from FanOut, a sink of persistence/publicfacts, in the
// transaction that tells the facts; from Test and from Replay. Each of these
// inserts a River job that wakes one node's deliverer (edge/webhook), which Claims
// endpoints that have something due, Loads what they are to be sent, and Records
// what came of it. A claim is a lease: one node at a time delivers to an endpoint,
// so that first attempts can be made in order; what a dead node held is free after
// LeaseTime, or at once when the node of that name comes back.
//
// The edge calls it, cmd registers its workers. It owns no goroutine.
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
	// MaxExhausted deliveries in a row that used up their attempts disable an
	// endpoint (docs/rules.md, Webhooks).
	MaxExhausted = 3
	// LeaseTime is how long a node may work on what it has loaded.
	LeaseTime = 30 * time.Second
	// Kept is how long deliveries are kept: no longer than what they tell.
	Kept = publicfacts.Kept
)

// All subscribes to every type.
const All = "*"

// TestType is the type of a test, which is outside the catalogue.
const TestType = "webhook.test"

// What is refused.
var (
	ErrTooMany  = errors.New("webhooks: the organization has as many endpoints as it may")
	ErrGone     = errors.New("webhooks: the endpoint that the command made is gone")
	ErrDisabled = errors.New("webhooks: the endpoint is disabled")
	ErrPending  = errors.New("webhooks: the delivery has not been sent for the first time yet")
	ErrTooOld   = errors.New("webhooks: what the delivery told is not kept any more")
)

// The statuses of an endpoint.
const (
	Active   = "active"
	Disabled = "disabled"
	deleted  = "deleted" // its row goes with its last delivery
)

// Why the service has disabled an endpoint by itself.
const (
	ReasonGone      = "gone"      // it answered 410
	ReasonExhausted = "exhausted" // MaxExhausted
)

// Endpoint is where an organization wants to be told.
type Endpoint struct {
	ID        int64
	Org       int64
	URL       string
	Events    []string // types, or All alone
	Name      string
	Status    string
	Reason    string // of the service's own for disabling it; else empty
	Secret    []byte // sealed
	Hint      string // the part of the secret that is shown
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Takes reports whether the endpoint is subscribed to a type.
func (e *Endpoint) Takes(typ string) bool {
	for _, t := range e.Events {
		if t == typ || t == All {
			return true
		}
	}
	return false
}

// The statuses of a delivery (docs/rules.md, Statuses).
const (
	Pending   = "pending"   // not sent yet
	Succeeded = "succeeded" // answered 2xx
	Failed    = "failed"    // will be sent again
	Exhausted = "exhausted" // failed for the last time
	Cancelled = "cancelled" // will not be sent, for its endpoint takes no more
)

// Delivery is one event on its way to one endpoint, with what came of the last
// attempt.
type Delivery struct {
	ID             int64
	Endpoint       int64
	EventID        string
	Type           string
	ReplayOf       *int64 // the delivery that it repeats
	Status         string
	Due            *time.Time // the next attempt; nil while Pending, and in the end
	Attempts       int
	AttemptedAt    *time.Time
	ResponseStatus *int // nil: no answer
	LatencyMS      *int
	Error          string
	CreatedAt      time.Time
}

// Store reads and writes endpoints and deliveries. Its methods may be called by
// any goroutine.
type Store struct {
	pool *pgxpool.Pool
	jobs *river.Client[pgx.Tx] // inserts only
}

// New is the store of a database.
func New(pool *pgxpool.Pool) (*Store, error) {
	jobs, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return &Store{pool, jobs}, nil
}
