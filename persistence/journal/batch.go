package journal

import (
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"boxoffice/engine"
)

// What place says of an entry without a row.
const (
	rowNone   int32 = -1 // a barrier with nothing before it in the batch
	rowFenced int32 = -2
	rowOrder  int32 = -3
)

// batch is one statement's worth of entries. Its arrays are reused, and it holds
// the parameters as they go over the wire: a retry sends the identical bytes.
type batch struct {
	seq     int64
	day     int32 // since 2000-01-01, as the server counts; fixed here, or a retry after midnight would write twice
	formed  time.Time
	entries []*Entry
	at      []int32 // the row of each entry
	rows    []row
	needs   []need
	size    int // bytes of facts

	sent      []int32 // the rows in the parameters
	committed int     // rows that did
	merged    int     // facts in rows of more than one entry

	streams, epochs, firsts, lasts, facts []byte // arrays over rows
	fixed                                 []byte // backs the parameters that are no arrays
	params                                [9][]byte
	fenced                                []int64 // positions in sent, from 1, as the server answered
	doubtful                              bool    // a claim may have fenced one of the streams
}

// need says that one row must not get in without another.
type need struct{ row, on int32 }

// row is what becomes one row of the journal: the batch's entries of one stream
// under one epoch.
type row struct {
	ref         engine.Ref
	claim       Claim
	first, last int64
	entries     int
	size, begin int // of its bytes, and where they begin in batch.facts
	facts       []engine.Fact
	fenced      bool // its epoch is, or that of one that it needs
}

var epoch2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// dayOf is the UTC day of t as the server counts days.
func dayOf(t time.Time) int32 {
	return int32(t.UTC().Truncate(24*time.Hour).Sub(epoch2000) / (24 * time.Hour))
}

func dayStart(day int32) time.Time { return epoch2000.AddDate(0, 0, int(day)) }

func (b *batch) reset(seq int64) {
	b.seq = seq
	b.at, b.entries = b.at[:0], b.entries[:0]
	clear(b.rows) // lets the facts go
	b.rows, b.needs = b.rows[:0], b.needs[:0]
	b.size, b.committed, b.merged, b.doubtful = 0, 0, 0, false
}

func (b *batch) add(e *Entry, at int32) {
	b.entries, b.at = append(b.entries, e), append(b.at, at)
	if at < 0 || len(e.Facts) == 0 {
		return
	}
	r := &b.rows[at]
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

func (b *batch) addRow(e *Entry) int32 {
	b.rows = append(b.rows, row{ref: e.Ref, claim: e.Claim, first: e.First})
	return int32(len(b.rows) - 1)
}

// verdict is what becomes of the i-th entry.
func (b *batch) verdict(i int) error {
	switch at := b.at[i]; {
	case at == rowNone:
		return nil
	case at == rowOrder:
		return ErrOrder
	case at == rowFenced || b.rows[at].fenced:
		return ErrFenced
	default:
		return nil
	}
}

// refuse takes the rows that the server found fenced out of the batch, and those
// that need them.
func (b *batch) refuse() {
	for _, n := range b.fenced {
		b.rows[b.sent[n-1]].fenced = true
	}
	for more := true; more; {
		more = false
		for _, n := range b.needs {
			if r := &b.rows[n.row]; b.rows[n.on].fenced && !r.fenced {
				r.fenced, more = true, true
			}
		}
	}
}

// encode writes the parameters, of all rows that are not fenced, in Postgres'
// binary format. By hand, because pgx boxes every element of an array. With reuse
// the facts go into the array of an earlier batch, else into one that followers
// may keep.
func (b *batch) encode(reuse bool) {
	b.sent, b.size = b.sent[:0], 0
	for i := range b.rows {
		if r := &b.rows[i]; !r.fenced {
			b.sent, b.size = append(b.sent, int32(i)), b.size+r.size
		}
	}
	n := len(b.sent)
	b.streams = beginArray(b.streams[:0], pgtype.Int8OID, n)
	b.epochs = beginArray(b.epochs[:0], pgtype.Int4OID, n)
	b.firsts = beginArray(b.firsts[:0], pgtype.Int8OID, n)
	b.lasts = beginArray(b.lasts[:0], pgtype.Int8OID, n)
	size := arrayHeader + 4*n + b.size
	if !reuse || cap(b.facts) < size {
		b.facts = make([]byte, 0, size)
	}
	b.facts = beginArray(b.facts[:0], pgtype.ByteaOID, n)[:size]
	at := arrayHeader
	for _, i := range b.sent {
		r := &b.rows[i]
		b.streams = appendInt8(b.streams, r.claim.Stream)
		b.epochs = appendInt4(b.epochs, r.claim.Epoch)
		b.firsts = appendInt8(b.firsts, r.first)
		b.lasts = appendInt8(b.lasts, r.last)
		binary.BigEndian.PutUint32(b.facts[at:], uint32(r.size))
		at += 4
		r.begin = at
		at += r.size
	}
	b.copyFacts(reuse)
	b.params = [9][]byte{b.streams, b.epochs, b.firsts, b.lasts, b.facts}
}

// copyFacts fills the rows' places in b.facts, and their lists of facts if
// followers want them.
func (b *batch) copyFacts(bytesOnly bool) {
	var arena []engine.Fact
	if !bytesOnly && b.merged > 0 {
		arena = make([]engine.Fact, b.merged)
	}
	for _, i := range b.sent {
		r := &b.rows[i]
		r.size = 0 // a cursor for now
		if r.entries > 1 && arena != nil {
			n := int(r.last - r.first + 1)
			r.facts, arena = arena[:0:n], arena[n:]
		}
	}
	for i, e := range b.entries {
		if b.at[i] < 0 || len(e.Facts) == 0 || b.rows[b.at[i]].fenced {
			continue
		}
		r := &b.rows[b.at[i]]
		r.size += copy(b.facts[r.begin+r.size:], e.Bytes)
		if r.entries > 1 && !bytesOnly {
			r.facts = append(r.facts, e.Facts...)
		}
	}
}

// bind completes the parameters for the writer, and for what it knows of its losses.
func (b *batch) bind(writer, losses int32) [][]byte {
	f := binary.BigEndian.AppendUint32(b.fixed[:0], uint32(writer))
	f = binary.BigEndian.AppendUint64(f, uint64(b.seq))
	f = binary.BigEndian.AppendUint32(f, uint32(b.day))
	f = binary.BigEndian.AppendUint32(f, uint32(losses))
	b.fixed = f
	b.params[5], b.params[6], b.params[7], b.params[8] = f[:4], f[4:12], f[12:16], f[16:20]
	return b.params[:]
}

func (b *batch) total() (facts, bytes int64) {
	for i := range b.rows {
		if r := &b.rows[i]; !r.fenced {
			facts += r.last - r.first + 1
			bytes += int64(r.size)
		}
	}
	return facts, bytes
}

// handover is the batch as followers get it.
func (b *batch) handover(writer int32) *Batch {
	out := &Batch{Writer: writer, Seq: b.seq, Records: make([]Record, 0, b.committed)}
	for i := range b.rows {
		r := &b.rows[i]
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

func beginArray(b []byte, element uint32, n int) []byte {
	b = binary.BigEndian.AppendUint32(b, 1) // dimensions
	b = binary.BigEndian.AppendUint32(b, 0) // no nulls
	b = binary.BigEndian.AppendUint32(b, element)
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	return binary.BigEndian.AppendUint32(b, 1) // lower bound
}

func appendInt8(b []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), uint64(v))
}

func appendInt4(b []byte, v int32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, 4), uint32(v))
}
