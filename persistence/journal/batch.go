package journal

import (
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"boxoffice/engine"
)

// These are the values that batch.at has for an entry without a record in the batch.
const (
	// recordNone is for a barrier: the batch has no earlier record of its stream, so nothing holds it up.
	recordNone int32 = -1
	// recordFenced is for an entry whose claim is fenced, that follows a refused entry of its stream, or whose need
	// may not be met.
	recordFenced int32 = -2
	// recordOrder is for an entry that does not begin where the entry before it in its stream ended.
	recordOrder int32 = -3
)

// batch holds the entries of one statement. Its arrays are reused. It keeps the parameters in the
// form in which they go over the wire, so that a retry sends the records byte for byte.
type batch struct {
	seq     int64
	day     int32 // days since 2000-01-01, as the server counts; kept here, because a retry after midnight must not write the batch to another day
	formed  time.Time
	entries []*Entry
	at      []int32 // index of each entry's record, or one of the values above
	records []record
	needs   []need
	size    int // how many bytes of facts the batch has

	sent      []int32 // indices of the records that are in the statement's parameters
	committed int     // records that were committed
	merged    int     // facts in records of more than one entry

	streams, epochs, firsts, lasts, ends []byte // arrays over records
	facts                                []byte // the records' facts, one after another
	fixed                                []byte // memory for the parameters that are no arrays
	params                               [paramCount][]byte
	fenced                               []int64 // positions in sent, from 1, of the records that the server refused
	doubtful                             bool    // whether a claim may have fenced one of the streams
}

// These are the parameters of the append, in their order. The look-up takes those before
// paramFacts.
const (
	paramWriter = iota
	paramBatch
	paramDay
	paramStreams
	paramEpochs
	paramFirsts
	paramLasts
	paramEnds
	paramFacts
	paramLosses
	paramCount
)

// need states that one record must not get in without another one. Both are indices in batch.records.
type need struct{ record, on int32 }

// record becomes one Record: the entries in the batch of one stream under one epoch.
type record struct {
	ref         engine.Ref
	claim       Claim
	first, last int64
	entries     int
	size, begin int // how many bytes of facts it has, and where they begin in batch.facts
	facts       []engine.Fact
	fenced      bool // whether its epoch is fenced, or the epoch of a record that it needs
}

var epoch2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// dayOf returns the UTC day of t, counted from 2000-01-01, which is how Postgres sends a date.
func dayOf(t time.Time) int32 {
	return int32(t.UTC().Truncate(24*time.Hour).Sub(epoch2000) / (24 * time.Hour))
}

// dayStart returns the midnight, in UTC, with which a day begins.
func dayStart(day int32) time.Time { return epoch2000.AddDate(0, 0, int(day)) }

// reset empties the batch for its next use, and keeps the memory of its arrays.
func (b *batch) reset(seq int64) {
	b.seq = seq
	b.at, b.entries = b.at[:0], b.entries[:0]
	clear(b.records) // frees the facts
	b.records, b.needs = b.records[:0], b.needs[:0]
	b.size, b.committed, b.merged, b.doubtful = 0, 0, 0, false
}

// add puts an entry into the batch, in the record with the index at. A negative index is one of the constants above:
// the entry only waits for its verdict. Facts in a record of one entry are shared with the entry. The facts of
// several entries are copied together later (copyFacts), and add counts them for that.
func (b *batch) add(e *Entry, at int32) {
	b.entries, b.at = append(b.entries, e), append(b.at, at)
	if at < 0 || len(e.Facts) == 0 {
		return
	}
	r := &b.records[at]
	if r.entries++; r.entries == 1 {
		r.facts = e.Facts
	} else {
		if r.entries == 2 {
			b.merged += int(r.last - r.first + 1)
		}
		b.merged += len(e.Facts)
	}
	r.last = e.First + int64(len(e.Facts)) - 1
	r.size += len(e.Bytes)
	b.size += len(e.Bytes)
}

// addRecord begins a record with the stream, the claim and the first seq of an entry, and returns its index.
func (b *batch) addRecord(e *Entry) int32 {
	b.records = append(b.records, record{ref: e.Ref, claim: e.Claim, first: e.First})
	return int32(len(b.records) - 1)
}

// verdictOf returns the verdict on the i-th entry.
func (b *batch) verdictOf(i int) error {
	switch at := b.at[i]; {
	case at == recordNone:
		return nil
	case at == recordOrder:
		return ErrOrder
	case at == recordFenced || b.records[at].fenced:
		return ErrFenced
	default:
		return nil
	}
}

// refuseUnmet marks the records that the server found fenced, and then every record that needs a marked one. A record
// may need one that needs another, so the loop goes on until nothing changes.
func (b *batch) refuseUnmet() {
	for _, n := range b.fenced {
		b.records[b.sent[n-1]].fenced = true
	}
	for more := true; more; {
		more = false
		for _, n := range b.needs {
			if r := &b.records[n.record]; b.records[n.on].fenced && !r.fenced {
				r.fenced, more = true, true
			}
		}
	}
}

// encode writes the parameters, for all records that are not fenced, in Postgres' binary format. It
// does so by hand, because pgx boxes every element of an array. With reuse the facts go into the
// array of an earlier batch, otherwise into a new array that followers may keep.
func (b *batch) encode(reuse bool) {
	b.sent, b.size = b.sent[:0], 0
	for i := range b.records {
		if r := &b.records[i]; !r.fenced {
			b.sent, b.size = append(b.sent, int32(i)), b.size+r.size
		}
	}
	n := len(b.sent)
	b.streams = beginArray(b.streams[:0], pgtype.Int8OID, n)
	b.epochs = beginArray(b.epochs[:0], pgtype.Int4OID, n)
	b.firsts = beginArray(b.firsts[:0], pgtype.Int8OID, n)
	b.lasts = beginArray(b.lasts[:0], pgtype.Int8OID, n)
	b.ends = beginArray(b.ends[:0], pgtype.Int4OID, n)
	// Without reuse a batch that was handed to followers keeps its array of facts: they read it later.
	if !reuse || cap(b.facts) < b.size {
		b.facts = make([]byte, b.size)
	}
	b.facts = b.facts[:b.size]
	at := 0
	for _, i := range b.sent {
		r := &b.records[i]
		r.begin = at
		at += r.size
		b.streams = appendInt8(b.streams, r.claim.Stream)
		b.epochs = appendInt4(b.epochs, r.claim.Epoch)
		b.firsts = appendInt8(b.firsts, r.first)
		b.lasts = appendInt8(b.lasts, r.last)
		b.ends = appendInt4(b.ends, int32(at)) //nolint:gosec // Config.BatchBytes and an entry
	}
	b.copyFacts(reuse)
	b.params[paramStreams], b.params[paramEpochs] = b.streams, b.epochs
	b.params[paramFirsts], b.params[paramLasts] = b.firsts, b.lasts
	b.params[paramEnds], b.params[paramFacts] = b.ends, b.facts
}

// copyFacts copies the bytes of the entries into the records' places in b.facts. Unless bytesOnly is set, it also
// joins the facts of a record's entries in one list, which followers get. All lists share one array, which is
// allocated once for the batch.
func (b *batch) copyFacts(bytesOnly bool) {
	var arena []engine.Fact
	if !bytesOnly && b.merged > 0 {
		arena = make([]engine.Fact, b.merged)
	}
	for _, i := range b.sent {
		r := &b.records[i]
		r.size = 0 // used as a cursor from here on
		if r.entries > 1 && arena != nil {
			n := int(r.last - r.first + 1)
			r.facts, arena = arena[:0:n], arena[n:]
		}
	}
	for i, e := range b.entries {
		if b.at[i] < 0 || len(e.Facts) == 0 || b.records[b.at[i]].fenced {
			continue
		}
		r := &b.records[b.at[i]]
		r.size += copy(b.facts[r.begin+r.size:], e.Bytes)
		if r.entries > 1 && !bytesOnly {
			r.facts = append(r.facts, e.Facts...)
		}
	}
}

// bindParameters completes the parameters with the writer, the batch's number and day, and the number of losses that
// the append expects. They are bound at each attempt, because the number of losses may have changed since encode.
func (b *batch) bindParameters(writer, losses int32) [][]byte {
	f := binary.BigEndian.AppendUint32(b.fixed[:0], uint32(writer))
	f = binary.BigEndian.AppendUint64(f, uint64(b.seq))
	f = binary.BigEndian.AppendUint32(f, uint32(b.day))
	f = binary.BigEndian.AppendUint32(f, uint32(losses))
	b.fixed = f
	b.params[paramWriter], b.params[paramBatch], b.params[paramDay], b.params[paramLosses] = f[:4], f[4:12], f[12:16], f[16:20]
	return b.params[:]
}

// countFacts returns how many facts the records have that were not fenced, and their bytes.
func (b *batch) countFacts() (facts, bytes int64) {
	for i := range b.records {
		if r := &b.records[i]; !r.fenced {
			facts += r.last - r.first + 1
			bytes += int64(r.size)
		}
	}
	return facts, bytes
}

// handover makes the batch that followers get. The records share their memory with this batch, so encode must not use
// its arrays of facts again.
func (b *batch) handover(writer int32) *Batch {
	out := &Batch{Writer: writer, Seq: b.seq, Records: make([]Record, 0, b.committed)}
	for i := range b.records {
		r := &b.records[i]
		if r.fenced {
			continue
		}
		end := r.begin + r.size
		out.Records = append(out.Records, Record{
			Ref: r.ref, Stream: r.claim.Stream, First: r.first, Last: r.last, Epoch: r.claim.Epoch,
			Facts: r.facts, Bytes: b.facts[r.begin:end:end],
		})
	}
	return out
}

// arrayHeader is the size of a one-dimensional array's header on the wire.
const arrayHeader = 20

// beginArray appends the header of a one-dimensional array of n elements without nulls, as Postgres sends and reads
// it in the binary format. The elements must follow.
func beginArray(b []byte, element uint32, n int) []byte {
	b = binary.BigEndian.AppendUint32(b, 1) // dimensions
	b = binary.BigEndian.AppendUint32(b, 0) // no nulls
	b = binary.BigEndian.AppendUint32(b, element)
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	return binary.BigEndian.AppendUint32(b, 1) // lower bound
}

// appendInt8 appends a bigint as an element of an array: its length in bytes and its value.
func appendInt8(b []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), uint64(v))
}

// appendInt4 appends an integer as an element of an array: its length in bytes and its value.
func appendInt4(b []byte, v int32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, 4), uint32(v))
}
