// Package journal makes facts durable: group commit, a claim fence, and one
// verdict for every batch whatever happens to the connection (docs/adr/0012
// and 0013).
//
// It owns the tables writers, streams and journal, the daily partitions of journal, and spans and
// tails, which say in which batches a stream has facts. A commit is one row of the journal. A
// stream's rows are found through spans, which are written once a second, or among the few rows
// that no span covers yet (docs/adr/0013-one-journal-row-per-commit.md). The host of an activation
// claims, loads and appends; followers are handed every batch through Config.Sink and catch up with
// ReadWriter. A node opens one Postgres and ends it with Stop, which flushes and waits. If Failed
// reports an error first, the node must exit, because others will claim its streams.
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
	// Claim raises the epoch of the actor's stream, which fences the activation that had the stream
	// before. Read snapshot and tail only after that.
	Claim(ctx context.Context, ref engine.Ref) (Claim, error)
	// Append takes an entry over and returns at once. Entries of one stream must be handed over in
	// the order of their seqs, by one goroutine. Entries of one event go through one lane, in the
	// order of the calls.
	Append(e *Entry)
	// Load reads the stream's records after the given seq, in order, without their Ref. A record
	// that begins at or before the given seq and ends after it is returned whole.
	Load(ctx context.Context, stream, after int64) iter.Seq2[Record, error]
	// Standing returns the given claims that no longer allow to write: a later claim has fenced them, or their
	// writer was closed.
	Standing(ctx context.Context, claims []Claim) ([]Claim, error)
}

// Claim is an activation's right to write a stream.
type Claim struct {
	Stream int64
	Epoch  int32
	losses int32 // the writer's count of losses (docs/adr/0012) before the claim was made
}

// Entry is what one decision adds to a stream: its facts, and the Owner that hears the verdict on them. An entry
// without facts is a barrier: it gets its verdict when all entries before it in its stream have theirs. Nobody but
// the journal may touch an entry between Append and Owner.Settled.
type Entry struct {
	Ref   engine.Ref
	Claim Claim
	First int64         // seq of the first fact
	Facts []engine.Fact // the facts, for followers; never changed again
	Bytes []byte        // the same facts as codec.AppendFact wrote them, one after another
	// Needs is the claim of another actor of the same event. These facts depend on that actor's last entry that
	// was handed over before them: they are refused unless that entry is durable when they are. The zero Claim
	// needs nothing.
	Needs Claim
	Owner Owner
}

// Owner hears the verdict on its entry.
type Owner interface {
	// Settled is called once, from the lane's goroutine, in the order in which the stream's entries
	// were handed over. The error is nil if the facts are durable; ErrFenced if another activation
	// owns the stream or may own it, or if the entry that this one needs may not be durable; ErrOrder
	// if the entry does not follow the one before it; ErrClosed if the journal has stopped (then it is
	// unknown whether a batch in flight is durable). After any error the activation must drop its
	// state. A stopped journal calls Settled from within Append. Settled must not block.
	Settled(err error)
}

// Record is the facts of one stream in one batch. Everybody who is handed it shares it, so it must
// not be changed.
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

// These are the verdicts on entries other than success. Owner.Settled gets them.
var (
	// ErrFenced means that a later claim owns the stream, or may own it because the writer was closed, or that the
	// entry that this one needs may not be durable. The entry is never tried again.
	ErrFenced = errors.New("journal: fenced by a later claim")
	// ErrClosed means that the journal has stopped.
	ErrClosed = errors.New("journal: closed")
	// ErrOrder means that an entry does not begin where the previous entry of its stream ended. The stream takes no
	// more entries under that claim.
	ErrOrder = errors.New("journal: entry out of order")
)
