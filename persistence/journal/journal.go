// Package journal makes facts durable: group commit, a claim fence, and one
// verdict for every batch whatever happens to the connection (docs/adr/0012
// and 0013).
//
// It owns the tables writers, streams and journal, the daily partitions of the last, and
// spans and tails, which say in which batches a stream has facts. A commit is one row of
// the journal. By stream it is found through spans, written once a second, or as one of
// the few that are in none yet (docs/adr/0013-one-journal-row-per-commit.md). The host of
// an activation claims, loads and appends; followers are handed every batch through
// Config.Sink and catch up with ReadWriter. A node opens one Postgres and ends it with
// Stop, which flushes and waits; when Failed speaks first, the node must exit, for others
// will claim its streams.
package journal

import (
	"context"
	"errors"
	"iter"

	"boxoffice/engine"
)

// Journal is what an activation needs of the log of facts. Postgres and the
// in-memory journal of the tests pass the same suite (persisttest.Journal).
type Journal interface {
	// Claim raises the epoch of the actor's stream, which fences whoever had
	// it before. Only then may snapshot and tail be read.
	Claim(ctx context.Context, ref engine.Ref) (Claim, error)
	// Append takes an entry over and returns at once. Entries of one stream
	// must be handed over in the order of their seqs, by one goroutine.
	// Those of one event go through one lane, in the order of the calls.
	Append(e *Entry)
	// Load reads the stream's records after the given seq, in order. Ref is
	// left zero. A record that began before the given seq and ends after it
	// comes whole.
	Load(ctx context.Context, stream, after int64) iter.Seq2[Record, error]
	// Standing returns those of the claims that a later claim has fenced.
	Standing(ctx context.Context, claims []Claim) ([]Claim, error)
}

// Claim is an activation's hold on a stream.
type Claim struct {
	Stream int64
	Epoch  int32
	losses int32 // of the writer, as of before it was made
}

// Entry is what one decision adds to a stream: its facts, and whom to tell. An
// entry without facts is a barrier: it is settled when all before it in its
// stream are. It is the journal's until it is settled, and then its owner's again.
type Entry struct {
	Ref   engine.Ref
	Claim Claim
	First int64         // seq of the first fact
	Facts []engine.Fact // for followers; never changed again
	Bytes []byte        // the same facts as codec.AppendFact wrote them, one after another
	// Needs is the claim of another actor of the same event, on whose entry,
	// handed over before, these facts rest: they are refused unless that one is
	// durable when they are. The zero Claim needs nothing.
	Needs Claim
	Owner Owner
}

// Owner hears what became of its entry.
type Owner interface {
	// Settled is called once, from the lane's goroutine, in the order in
	// which the stream's entries were handed over: nil when the facts are
	// durable, ErrFenced when another activation owns the stream, or may own the
	// one that the entry needs, ErrOrder
	// when the entry does not follow the one before it, ErrClosed when the
	// journal stopped (of a batch in flight then, nobody knows whether it
	// is durable). After any error the activation must drop its state. A
	// stopped journal calls Settled from within Append. It must not block.
	Settled(err error)
}

// Record is the facts of one stream in one batch. It is
// shared by all who are handed it and must not be changed.
type Record struct {
	Ref         engine.Ref
	Stream      int64
	First, Last int64
	Epoch       int32
	Facts       []engine.Fact // set when handed over in memory, nil when read back
	Bytes       []byte
}

// Batch is what one commit of a lane made durable, as handed to followers.
// (Writer, Seq) is the commit order: Seq counts 1, 2, 3 ... within a writer.
type Batch struct {
	Writer  int32
	Seq     int64
	Records []Record
}

var (
	// ErrFenced says that a later claim owns the stream, or may own one that
	// the entry rests on. It is never retried.
	ErrFenced = errors.New("journal: fenced by a later claim")
	// ErrClosed says that the journal has stopped.
	ErrClosed = errors.New("journal: closed")
	// ErrOrder says that an entry does not begin where the one before it in
	// its stream ended. The stream takes no more entries of that claim.
	ErrOrder = errors.New("journal: entry out of order")
)
