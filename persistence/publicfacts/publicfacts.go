// Package publicfacts keeps the public facts: each once, with its payload, in the order in which they became
// visible. Webhooks are fanned out from here, and the pull feed reads them.
//
// It owns the tables facts, facts_pruned (migrate/010_facts.sql) and fact_aggregates. Facts that no actor owns
// come in through Tell and TellAlone. Apply is called by the follower "facts", or by a consumer of Kafka,
// within the transaction that moves its position. So a fact is published exactly once, and sinks act on it
// exactly once too. A Catalogue, which edge/webhook has, decides what is published about a fact, if anything.
//
// A payload is made of the read model's records. The read model is another follower, so Apply waits until it has
// passed the batches. Records may then be from a later moment than the fact; what the fact itself says overrides
// them (Enriched). A fact is kept for Kept, and then a Pruner deletes it.
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
	"boxoffice/persistence/journal"
	"boxoffice/persistence/readmodel"
)

// Follower is the name of the follower that publishes facts.
const Follower = "facts"

// Kept is how long a fact is kept after it was published.
const Kept = 30 * 24 * time.Hour

// Fact is a public fact (docs/facts.md).
type Fact struct {
	ID        string // public id, made by ID, so that a fact that is published again has the same
	Position  int64  // the row's place in the table
	Org       int64
	Type      string // of the catalogue, e.g. order.completed
	Stream    int64  // of the journal; negative: no actor owns the fact
	Aggregate string // the stream's name, e.g. event/42/42
	Seq       int64  // within the stream
	At        time.Time
	Data      json.RawMessage // the records that answers show
}

// Sink acts on facts in the transaction that publishes them.
type Sink func(ctx context.Context, tx pgx.Tx, facts []Fact) error

// Catalogue decides what is published about facts. Several goroutines call it.
type Catalogue interface {
	// Covers reports whether anything is ever published about facts of a type. Other facts are not
	// even decoded.
	Covers(kind engine.Kind, t engine.FactType) bool
	// Build returns what is published about a fact, in order. Unless the context has ended, an
	// error counts as one that the same fact would meet again, and the fact is set aside.
	Build(ctx context.Context, s *Enriched) ([]Draft, error)
}

// Enriched is a fact of the journal with the records that it is about. Nothing in it may be
// changed.
type Enriched struct {
	Ref    engine.Ref
	Stream int64
	Seq    int64
	Fact   engine.Fact

	Event  *event.Record         // as the read model has it, or as it was when it was removed; without Types and Sold
	Order  *order.Order          // for an order's fact, as the fact left the order
	Ticket *readmodel.Scanned    // for a scan; nil if the code belongs to no ticket
	Type   *readmodel.TicketType // for a ticket type's fact, else nil
}

// Draft is a public fact to be published.
type Draft struct {
	Type string
	At   time.Time
	Data json.RawMessage
}

// Vault seals the payloads that the table keeps (*secrets.Master), because they contain people's addresses and
// QR payloads of tickets.
type Vault interface {
	Seal(label string, context, text []byte) []byte
	Open(label string, context, sealed []byte) ([]byte, error)
}

// Store publishes facts, and reads published facts. Its methods may be called by any goroutine.
type Store struct {
	pool      *pgxpool.Pool
	journal   *journal.Reader
	vault     Vault
	catalogue Catalogue
	sinks     []Sink
}

// New makes a store. It reads from the journal what the read model no longer has. Apply and Tell
// call the sinks in their order.
func New(pool *pgxpool.Pool, from *journal.Reader, vault Vault, teller Catalogue, sinks ...Sink) *Store {
	return &Store{pool: pool, journal: from, vault: vault, catalogue: teller, sinks: sinks}
}

// idLetters are the digits and small letters of Crockford's base 32, which leaves out i, l, o and u.
var idLetters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// ID returns a public fact's id: "evt_" and 26 characters, always the same for the n-th public fact
// of a type that comes from one fact of the journal.
func ID(stream, seq int64, typ string, n int) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(stream))
	b = binary.BigEndian.AppendUint64(b, uint64(seq))
	b = binary.BigEndian.AppendUint64(b, uint64(n))
	sum := sha256.Sum256(append(b, typ...))
	return "evt_" + idLetters.EncodeToString(sum[:16])
}

// label is part of what the vault seals with, so that a text sealed here can't be opened as something else.
const label = "fact"

// Unseal returns the payload of the fact with an id, from the column data.
func Unseal(v Vault, id string, sealed []byte) (json.RawMessage, error) {
	data, err := v.Open(label, []byte(id), sealed)
	if err != nil {
		return nil, fmt.Errorf("told: fact %s: %w", id, err)
	}
	return data, nil
}
