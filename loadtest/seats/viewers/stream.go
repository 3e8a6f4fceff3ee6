package viewers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of what a stream remembers. No viewer is sent an update that is so old.
const (
	oldUpdates   = 4096
	oldSnapshots = 64
	hopeless     = 512 // updates after one that nobody has: the service has forgotten it
	showFindings = 20
)

// frame is what all viewers are sent under one number: an update, or a snapshot. The viewer that reads it first
// fills it, and what the others read is compared with it byte by byte.
type frame struct {
	number   uint64
	snapshot bool
	bytes    []byte
	block    int // where the event begins that is being read
	whole    bool
	marks    []*mark // of an update: the changes in it
}

// stream is what all viewers share. The audience's goroutine writes it; others read
// the map and set marks under the lock.
type stream struct {
	epoch     string
	updates   map[uint64]*frame
	snapshots map[uint64]*frame
	order     []uint64 // of snapshots, as they came
	newest    uint64   // number that anybody has had

	mu       sync.Mutex
	seats    *Map
	at       uint64             // number that seats is at
	begun    bool               // seats has had its first snapshot
	early    map[uint64][]State // snapshots, and
	waiting  map[uint64]*news   // updates, that are ahead of it
	skipped  uint64
	marks    []*mark // that nobody has seen yet
	found    int64
	findings []string
}

// mark is a change that is waited for.
type mark struct {
	seat    string
	asked   time.Time
	granted atomic.Pointer[time.Time] // nil: not yet, as far as is known here
}

func newStream(seats []string) *stream {
	return &stream{
		updates: map[uint64]*frame{}, snapshots: map[uint64]*frame{}, early: map[uint64][]State{}, waiting: map[uint64]*news{}, seats: newMap(seats),
	}
}

// find notes something that should not have been sent. The caller must not hold the lock.
func (s *stream) find(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteFault(format, args...)
}

// noteFault notes something that should not have been sent. The caller holds the lock.
func (s *stream) noteFault(format string, args ...any) {
	if s.found++; len(s.findings) < showFindings {
		s.findings = append(s.findings, fmt.Sprintf(format, args...))
	}
}

// frameOf returns the update or snapshot of a number. It makes a new frame if no viewer has begun to read this one,
// and forgets frames that are too old for any viewer. An update and a snapshot may have the same number.
func (s *stream) frameOf(number uint64, snapshot bool) *frame {
	all := s.updates
	if snapshot {
		all = s.snapshots
	}
	f := all[number]
	if f == nil {
		f = &frame{number: number, snapshot: snapshot}
		all[number] = f
		if snapshot {
			if s.order = append(s.order, number); len(s.order) > oldSnapshots {
				delete(s.snapshots, s.order[0])
				s.order = s.order[1:]
			}
		} else if number > oldUpdates {
			delete(s.updates, number-oldUpdates)
		}
	}
	return f
}

// growBy appends what a viewer has read at the end of an unfinished frame, and returns the bytes after the frame. A
// frame is a row of events, each ended by an empty line; the last one is the one that carries an id.
func (f *frame) growBy(b []byte) (rest []byte) {
	// The empty line may have been cut in the middle, so the search begins one byte before the new ones.
	before, from := len(f.bytes), max(f.block, len(f.bytes)-1)
	f.bytes = append(f.bytes, b...)
	for {
		end := bytes.Index(f.bytes[from:], []byte("\n\n"))
		if end < 0 {
			return nil
		}
		end += from + 2
		if bytes.HasPrefix(f.bytes[f.block:], []byte("id: ")) {
			f.bytes, f.whole = bytes.Clone(f.bytes[:end]), true
			return b[end-before:]
		}
		f.block, from = end, end
	}
}

// learnFrame reads a frame that has just become whole, and brings the shared map forward by it. It runs once for
// each frame, when its first reader has had it all.
func (s *stream) learnFrame(f *frame, now time.Time) {
	s.newest = max(s.newest, f.number)
	var n news
	for event := range bytes.SplitSeq(bytes.TrimSuffix(f.bytes, []byte("\n\n")), []byte("\n\n")) {
		if id, ok := bytes.CutPrefix(event, []byte("id: ")); ok {
			id, event, _ = bytes.Cut(id, []byte("\n"))
			if want := s.epoch + "-" + strconv.FormatUint(f.number, 10); string(id) != want {
				s.find("a frame has the id %s and should have %s", id, want)
			}
		}
		name, data, ok := bytes.Cut(event, []byte("\ndata: "))
		if want := []byte("event: seat_update"); !ok || !f.snapshot && !bytes.Equal(name, want) {
			s.find("frame %d has the event %.80q", f.number, event)
			continue
		}
		if err := json.Unmarshal(data, &n); err != nil {
			s.find("frame %d: %v: %.200q", f.number, err, data)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !f.snapshot {
		f.marks = s.reachMark(&n)
	}
	s.takeFrame(f, &n, now)
}

// reachMark returns the first mark whose change is in an update, together with the marks before it. The changes of
// those were undone before any viewer was told, so this update is where viewers learn of them.
func (s *stream) reachMark(n *news) (reached []*mark) {
	for i, m := range s.marks {
		if slices.Contains(n.Held, m.seat) {
			reached, s.marks = s.marks[:i+1], s.marks[i+1:]
			return reached
		}
	}
	return nil
}

// takeFrame brings the map forward by a frame. Frames may come out of order, because a viewer can be sent a
// snapshot that is ahead of an update which others are still to read. Such frames wait until the map is at their
// number.
func (s *stream) takeFrame(f *frame, n *news, now time.Time) {
	switch {
	case f.snapshot && f.number >= s.at:
		states, err := s.seats.wholeStates(n)
		if err != nil {
			s.noteFault("snapshot %d: %v", f.number, err)
		}
		if !s.begun {
			s.seats.replaceStates(states, now)
			s.at, s.begun = f.number, true
			return
		}
		s.early[f.number] = states
	case !f.snapshot && f.number > s.at:
		s.waiting[f.number] = n
	}
	s.applyFollowing(now)
	if len(s.waiting) > hopeless {
		s.leapToSnapshot(now)
	}
}

// applyFollowing applies the updates that follow, and compares snapshots with the map.
func (s *stream) applyFollowing(now time.Time) {
	for {
		if states, ok := s.early[s.at]; ok {
			delete(s.early, s.at)
			if ids := s.seats.namesOfDifferent(states); len(ids) > 0 {
				s.noteFault("snapshot %d differs from the updates before it, at %v", s.at, ids)
			}
		}
		n, ok := s.waiting[s.at+1]
		if !ok {
			return
		}
		s.at++
		delete(s.waiting, s.at)
		if err := s.seats.applyUpdate(n, now); err != nil {
			s.noteFault("update %d: %v", s.at, err)
		}
	}
}

// leapToSnapshot takes the map over updates that no viewer has seen, to the earliest snapshot that is ahead of it.
func (s *stream) leapToSnapshot(now time.Time) {
	if len(s.early) == 0 {
		return
	}
	to := slices.Min(slices.Collect(maps.Keys(s.early)))
	s.seats.replaceStates(s.early[to], now)
	s.skipped += to - s.at
	s.at = to
	delete(s.early, to)
	maps.DeleteFunc(s.waiting, func(number uint64, _ *news) bool { return number <= to })
	s.applyFollowing(now)
}
