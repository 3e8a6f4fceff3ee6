// Package publicfacts keeps what the world is told: each public fact once, with its
// payload, in the order in which it became visible. Webhooks are fanned out from
// here, and the pull feed reads it.
//
// It owns the tables facts, facts_pruned (migrate/010_facts.sql) and fact_aggregates.
// Tell is the one door for facts that no actor owns. Apply is
// called by the follower "facts", or by a consumer of Kafka, within the
// transaction that moves its position: a fact is told exactly once, and what sinks
// do about it is done exactly once too. What is told of a fact, if anything, says
// a Teller; the catalogue of it is edge/webhook.
//
// A payload is made of the read model's records. The read model is another
// follower: Apply waits until it has passed the batches at hand. Records may then
// be of a later moment than the fact; what the fact itself says is laid over them
// (Source). A fact stays for Kept, then a Pruner deletes it.
package publicfacts

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/readmodel"
)

// Follower is the name of the follower that tells.
const Follower = "facts"

// Kept is how long a fact is kept after it was told.
const Kept = 30 * 24 * time.Hour

// Fact is a public fact as it is told (docs/facts.md).
type Fact struct {
	ID        string // the same on every replay: derived from stream, seq and type
	Position  int64  // in the table
	Org       int64
	Type      string // of the catalogue, e.g. order.completed
	Stream    int64  // of the journal; negative: no actor owns the fact
	Aggregate string // the stream's name, e.g. event/42/42
	Seq       int64  // within the stream
	At        time.Time
	Data      json.RawMessage // the records that answers show, without secrets
}

// Sink does something about facts in the transaction that tells them.
type Sink func(ctx context.Context, tx pgx.Tx, facts []Fact) error

// Catalogue makes what is told of facts. It is called by several goroutines.
type Catalogue interface {
	// Covers reports whether anything is ever told of facts of a type. Others
	// are not even decoded.
	Covers(kind engine.Kind, t engine.FactType) bool
	// Build is what is told of a fact, in order. Its error, unless the
	// context has ended, is taken for one that the same fact would meet
	// again: it is set aside.
	Build(ctx context.Context, s *Enriched) ([]Draft, error)
}

// Enriched is a fact of the journal with the records that it is about. Nothing of
// it may be changed.
type Enriched struct {
	Ref    engine.Ref
	Stream int64
	Seq    int64
	Fact   engine.Fact

	Event  *event.Record         // as the read model has it, or as it was when it was removed; without Types and Sold
	Order  *order.Order          // of an order's fact, as the fact left it
	Ticket *readmodel.Scanned    // of a scan; nil when the code was that of no ticket
	Type   *readmodel.TicketType // of a fact of a ticket type
}

// Draft is one public fact to be told.
type Draft struct {
	Type string
	At   time.Time
	Data json.RawMessage
}

// Vault seals payloads for the table: tickets' codes are in them
// (*secrets.Master).
type Vault interface {
	Seal(label string, context, text []byte) []byte
	Open(label string, context, sealed []byte) ([]byte, error)
}

// Store tells, and reads what was told. Its methods may be called by any
// goroutine.
type Store struct {
	pool      *pgxpool.Pool
	vault     Vault
	catalogue Catalogue
	sinks     []Sink
}

// New makes a store. The sinks are called by Apply, in their order.
func New(pool *pgxpool.Pool, vault Vault, teller Catalogue, sinks ...Sink) *Store {
	return &Store{pool: pool, vault: vault, catalogue: teller, sinks: sinks}
}

var idLetters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// ID is a public fact's id: "evt_" and 26 characters, always the same for the n-th
// telling of a type of one fact of the journal.
func ID(stream, seq int64, typ string, n int) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(stream))
	b = binary.BigEndian.AppendUint64(b, uint64(seq))
	b = binary.BigEndian.AppendUint64(b, uint64(n))
	sum := sha256.Sum256(append(b, typ...))
	return "evt_" + idLetters.EncodeToString(sum[:16])
}

// label separates what is sealed here from what is elsewhere.
const label = "fact"

// Unseal is the payload of the fact with an id, as the column data has it.
func Unseal(v Vault, id string, sealed []byte) (json.RawMessage, error) {
	data, err := v.Open(label, []byte(id), sealed)
	if err != nil {
		return nil, fmt.Errorf("told: fact %s: %w", id, err)
	}
	return data, nil
}
