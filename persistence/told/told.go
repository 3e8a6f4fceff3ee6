// Package told keeps what the world is told: each public fact once, with its
// payload, in the order in which it became visible. Webhooks are fanned out from
// here, and the pull feed reads it.
package told

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
)

// Fact is a public fact as it is told (service-api.md, Webhook delivery).
type Fact struct {
	ID        string // the same on every replay: derived from stream, seq and type
	Position  int64  // in the table
	Org       int64
	Type      string // of the catalogue, e.g. order.completed
	Stream    int64  // of the journal
	Aggregate string // the stream's name, e.g. event/42/42
	Seq       int64  // within the stream
	At        time.Time
	Data      json.RawMessage // the records of decisions.md section 4, without secrets
}

// Sink does something about facts in the transaction that tells them.
type Sink func(ctx context.Context, tx pgx.Tx, facts []Fact) error
