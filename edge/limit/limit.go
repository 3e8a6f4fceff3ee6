// Package limit counts requests against rate limits in bounded memory.
//
// Each subject (an address, a user, a key, in one tier) has a token bucket that starts full and
// refills evenly. A bucket is kept as one time, the time at which it is full again (the generic
// cell rate algorithm, GCRA: ITU-T I.371 annex A), so a full bucket needs no memory at all. The
// table has a fixed number of slots of 16 bytes, in sets of 8, and the bucket of a subject is always
// in the same set. If the set has no free slot, a new bucket replaces the bucket of the set that is
// nearest to full. So during a flood of addresses some subjects get a full bucket too early, but the
// memory does not grow.
//
// Any goroutine may call a Table. It starts no goroutine, so nothing has to be stopped.
package limit

import (
	"hash/maphash"
	"math"
	"sync"
	"time"
)

const (
	ways     = 8       // slots of a set
	slotSize = 16      // bytes
	setSlots = 1 << 10 // sets that share a lock
)

// Subject identifies who or what is counted. It is a hash of a name and the tier or rule that
// counts it.
type Subject uint64

// Table holds the buckets.
type Table struct {
	seed   maphash.Seed
	shards []shard
	mask   uint64 // the number of sets less 1; it leaves of a subject the index of its set
}

type shard struct {
	mu   sync.Mutex
	sets [setSlots][ways]slot
}

// slot is a bucket: whose it is, and when it is full again in unix nanoseconds. A slot whose bucket
// is full is free.
type slot struct {
	subject uint64
	full    int64
}

// New makes a table of the given number of megabytes, which is at least 1. If the number is no power of two, the
// table has the next smaller power.
func New(megabytes int) *Table {
	shards := 1
	for shards*2*setSlots*ways*slotSize <= megabytes<<20 {
		shards *= 2
	}
	return &Table{seed: maphash.MakeSeed(), shards: make([]shard, shards), mask: uint64(shards)*setSlots - 1}
}

// Bytes returns the memory of all slots, in bytes.
func (t *Table) Bytes() int { return len(t.shards) * setSlots * ways * slotSize }

// Of returns the subject of a name within a tier or rule. Each table hashes with a random seed of
// its own, so nobody outside can find two names with the same subject.
func (t *Table) Of(tier, name string) Subject {
	var h maphash.Hash
	h.SetSeed(t.seed)
	_, _ = h.WriteString(tier) // never fails
	_ = h.WriteByte(0)         // never fails
	_, _ = h.WriteString(name) // never fails
	return Subject(h.Sum64())
}

// Verdict is the answer to a request, and the state of its bucket afterwards.
type Verdict struct {
	Allowed   bool
	Limit     int           // the most requests within the span of the limit (a minute for Take)
	Remaining int           // how many more requests would be allowed now
	Reset     time.Time     // when the bucket is full again
	Retry     time.Duration // until the next request is allowed, if this one is not
}

// Take counts one request of the subject at now, if the limit allows it. perMinute is both the
// limit in a minute and the most requests at once. A limit below 1 allows everything.
func (t *Table) Take(s Subject, perMinute int, now time.Time) Verdict {
	return t.count(s, perMinute, time.Minute, now, 1)
}

// TakeWithin is like Take, with a limit of most requests within a span instead of a minute.
func (t *Table) TakeWithin(s Subject, most int, span time.Duration, now time.Time) Verdict {
	return t.count(s, most, span, now, 1)
}

// TakeMany is like TakeWithin, for n requests at once or n units of something else. It counts all
// of them or none.
func (t *Table) TakeMany(s Subject, n, most int, span time.Duration, now time.Time) Verdict {
	return t.count(s, most, span, now, int64(n))
}

// ReturnWithin takes back one request that TakeWithin has counted.
func (t *Table) ReturnWithin(s Subject, most int, span time.Duration, now time.Time) {
	t.count(s, most, span, now, -1)
}

// Return takes back one request that Take has counted, and returns the state of the bucket
// afterwards.
func (t *Table) Return(s Subject, perMinute int, now time.Time) Verdict {
	return t.count(s, perMinute, time.Minute, now, -1)
}

// Look returns the state of the subject's bucket without counting a request. Allowed is always
// true.
func (t *Table) Look(s Subject, perMinute int, now time.Time) Verdict {
	if perMinute < 1 {
		return allowUnlimited(now)
	}
	at, each := now.UnixNano(), max(1, int64(time.Minute)/int64(perMinute))
	set := uint64(s) & t.mask
	sh := &t.shards[set/setSlots]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	full := at
	for _, b := range sh.sets[set%setSlots] {
		if b.subject == uint64(s) {
			full = max(full, b.full)
		}
	}
	return Verdict{Allowed: true, Limit: perMinute, Remaining: int((at + each*int64(perMinute) - full) / each), Reset: time.Unix(0, full)}
}

// allowUnlimited is the verdict where there is no limit.
func allowUnlimited(now time.Time) Verdict {
	return Verdict{Allowed: true, Limit: math.MaxInt32, Remaining: math.MaxInt32, Reset: now}
}

// count adds n requests to the subject's bucket if all of them fit, and otherwise adds none and says in Retry when
// they would fit. A negative n takes requests back, but never beyond a full bucket. With a limit below 1 it allows
// everything and counts nothing.
//
// Of a bucket only one time is stored: when it will be full again if nothing more comes. Each request moves that time
// on by span/most. It may lie at most span ahead of now.
func (t *Table) count(s Subject, most int, span time.Duration, now time.Time, n int64) Verdict {
	if most < 1 {
		return allowUnlimited(now)
	}
	at, each := now.UnixNano(), max(1, int64(span)/int64(most))
	set := uint64(s) & t.mask
	sh := &t.shards[set/setSlots]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	b := findSlot(&sh.sets[set%setSlots], uint64(s), at)
	full := max(b.full, at)
	next := max(full+n*each, at)
	v := Verdict{Allowed: next <= at+each*int64(most), Limit: most}
	if v.Allowed {
		b.subject, b.full = uint64(s), next
		full = next
	} else {
		v.Retry = time.Duration(next - at - each*int64(most))
	}
	v.Remaining = int((at + each*int64(most) - full) / each)
	v.Reset = time.Unix(0, full)
	return v
}

// findSlot returns the subject's slot in a set. If the subject has none, findSlot empties the slot that is free
// or nearest to full, and returns that.
func findSlot(set *[ways]slot, subject uint64, at int64) *slot {
	var free *slot
	for i := range set {
		b := &set[i]
		if b.subject == subject && b.full > at {
			return b
		}
		if free == nil || b.full < free.full {
			free = b
		}
	}
	*free = slot{}
	return free
}
