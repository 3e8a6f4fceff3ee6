// Package committed keeps in a node's memory the stock and the seat maps that the node sells or shows, as they
// were last committed. The cluster's feed of commits calls Observe; edge reads and watches.
package committed

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"boxoffice/engine"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/journal"
)

// Seats are the seat maps that somebody looks at on this node, as they were last committed. The
// cluster's feed of commits calls Observe; edge reads and watches. A map begins with what its actor
// answers (Load), and committed facts change it from then on. The methods may be called by any
// goroutine.
type Seats struct {
	limit int
	maps  *xsync.Map[int64, *SeatMap] // by event
}

// NewSeats makes an empty Seats that remembers at most about limit maps. When there are more, it
// forgets one that nobody watches.
func NewSeats(limit int) *Seats {
	return &Seats{limit: limit, maps: xsync.NewMap[int64, *SeatMap]()}
}

// Observe takes a committed batch in. It waits for nobody except readers of the same map.
func (s *Seats) Observe(b *journal.Batch) {
	for i := range b.Records {
		r := &b.Records[i]
		if r.Ref.Kind != engine.KindSeatmap {
			continue
		}
		if m, ok := s.maps.Load(r.Ref.Home); ok {
			m.observeFacts(r.First, r.Facts)
		}
	}
}

// Get returns an event's map. If ok is false, this node does not know the map, and the caller must
// ask the actor by means of Load.
func (s *Seats) Get(event int64) (*SeatMap, bool) {
	m, ok := s.maps.Load(event)
	if !ok || !m.isLoaded() {
		return nil, false
	}
	return m, true
}

// Load makes an event's map known by asking its actor. The facts that are committed while ask runs are
// collected, so that no fact between the answer and the first observed fact is missed. If several callers load
// the same map at once, each of them asks, and the latest answer stands. If Retain has run, another Load of
// the map has failed, or more than earlyMax batches have come since the question, facts may have been missed, and Load
// asks again.
func (s *Seats) Load(event int64, ask func() (*seatmap.Map, error)) (*SeatMap, error) {
	for {
		m, _ := s.maps.LoadOrCompute(event, func() (*SeatMap, bool) { return new(SeatMap), false })
		// lost is read before the actor is asked, so that beginWith notices if facts are missed in the meantime.
		lost := m.lost.Load()
		v, err := ask()
		if err != nil {
			// A map without an answer is removed, unless somebody watches it. Another Load of it that is under
			// way then asks again.
			if !m.isLoaded() && !m.awaitAgain() {
				s.remove(event, m)
			}
			return nil, err
		}
		if !m.beginWith(v, lost) {
			continue
		}
		if s.maps.Size() > s.limit {
			s.forgetIdle(event)
		}
		return m, nil
	}
}

// Retain forgets the maps of all events except those that keep returns true for. It returns the
// events of forgotten maps that are watched; the caller must Load them again.
func (s *Seats) Retain(keep func(event int64) bool) (watched []int64) {
	for event, m := range s.maps.All() {
		switch {
		case keep(event):
		default:
			if m.awaitAgain() {
				watched = append(watched, event)
			} else {
				s.remove(event, m)
			}
		}
	}
	return watched
}

// forgetIdle forgets one map that nobody watches, but not the map of the event keep.
func (s *Seats) forgetIdle(keep int64) {
	for event, m := range s.maps.All() {
		if event != keep && m.forgetIdle() {
			s.remove(event, m)
			return
		}
	}
}

// remove removes an event's map that is forgotten. It does nothing if the event has another map by now.
func (s *Seats) remove(event int64, m *SeatMap) {
	s.maps.Compute(event, func(now *SeatMap, _ bool) (*SeatMap, xsync.ComputeOp) {
		if now != m {
			return now, xsync.CancelOp
		}
		return nil, xsync.DeleteOp
	})
}

// SeatMap is one seat map as it was last committed.
type SeatMap struct {
	lost atomic.Int64 // counts how often facts may have been missed

	mu       sync.Mutex
	known    bool
	gone     bool  // whether Seats has forgotten the map: no facts reach it any more, and it stays unknown
	position int64 // seq of the last fact that the map contains
	early    []observed
	layout   *seatmap.Layout  // nil: no map is attached
	places   map[string]int32 // of the layout's seats, by id
	states   []seatmap.Status
	types    []int64 // ticket types that the sections are sold as; 0: not for sale
	version  uint64  // counts changes of layout and types
	watchers []*Watcher
}

// observed are facts that were committed before the actor's answer arrived. first is the seq of the
// first of them.
type observed struct {
	first int64
	facts []engine.Fact
}

// earlyMax is how many batches are kept while an actor's answer is awaited. It bounds the memory of
// a map whose actor does not answer. If there are more, those that were kept are dropped, and Load asks again.
const earlyMax = 10_000

// isLoaded reports whether an actor's answer is in.
func (m *SeatMap) isLoaded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known
}

// forgetIdle makes the map one that is forgotten, unless somebody watches it, and reports whether it did.
func (m *SeatMap) forgetIdle() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.watchers) > 0 {
		return false
	}
	m.known, m.gone = false, true
	return true
}

// beginWith takes in the actor's answer, unless later facts are in already, and then the facts that
// were collected since the question. It returns false if facts may have been missed since the actor
// was asked, or if the map is forgotten; the caller must then ask again.
func (m *SeatMap) beginWith(v *seatmap.Map, lost int64) (ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lost.Load() != lost || m.gone {
		return false
	}
	if at := int64(v.Position); !m.known || at > m.position {
		m.replaceAll(v)
		m.known, m.position = true, at
	}
	early := m.early
	m.early = nil
	for _, o := range early {
		m.applyNewFacts(o.first, o.facts)
	}
	m.wakeWatchers()
	return true
}

// awaitAgain makes the map unknown until an actor's next answer, and reports whether somebody
// watches it. A map that nobody watches is forgotten.
func (m *SeatMap) awaitAgain() (watched bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost.Add(1)
	m.known, m.early = false, nil
	m.gone = len(m.watchers) == 0
	return !m.gone
}

// replaceAll replaces everything by the actor's answer. If the layout and the types are the same, watchers see which
// seats have changed; otherwise they see the map as a whole (Watcher.Take). The caller has locked the map and wakes the
// watchers.
func (m *SeatMap) replaceAll(v *seatmap.Map) {
	if m.layout == nil || v.Layout == nil || m.layout.Map != v.Layout.Map || m.layout.Version != v.Layout.Version {
		m.version++
		m.layout, m.states = v.Layout, nil
		if v.Layout != nil {
			m.states = make([]seatmap.Status, v.Layout.Len())
		}
		m.indexSeats()
	}
	if types := typesOf(v); !slices.Equal(m.types, types) {
		m.version++
		m.types = types
	}
	for i, was := range m.states {
		if now := v.State(i); now != was {
			m.states[i] = now
			for _, w := range m.watchers {
				w.changed = append(w.changed, int32(i)) //nolint:gosec // at most seatmap.MaxSeats
			}
		}
	}
}

// typesOf returns the ticket types that a map's sections are sold as, in the order of the sections; 0: not for sale.
func typesOf(v *seatmap.Map) []int64 {
	if v.Layout == nil {
		return nil
	}
	types := make([]int64, len(v.Layout.Sections))
	for i, section := range v.Layout.Sections {
		for _, p := range v.Prices {
			if p.Section == section.ID {
				types[i] = p.Type
			}
		}
	}
	return types
}

// observeFacts applies committed facts and wakes the watchers, or collects the facts while the actor's answer is awaited,
// at most earlyMax batches of them. If there are more, the collection begins anew, and counts as facts that were missed.
func (m *SeatMap) observeFacts(first int64, facts []engine.Fact) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.known {
		if len(m.early) == earlyMax {
			m.lost.Add(1)
			m.early = nil
		}
		m.early = append(m.early, observed{first, facts})
		return
	}
	m.applyNewFacts(first, facts)
	m.wakeWatchers()
}

// applyNewFacts applies those facts of a batch that the map does not contain yet. first is the seq
// of the first of them.
func (m *SeatMap) applyNewFacts(first int64, facts []engine.Fact) {
	for i, f := range facts {
		if seq := first + int64(i); seq > m.position {
			m.applyFact(f)
			m.position = seq
		}
	}
}

// applyFact applies one fact to the map, and notes for each watcher which seats it changes. A fact that attaches,
// detaches or prices the map raises the version, and lists no seats for that.
func (m *SeatMap) applyFact(f engine.Fact) {
	switch f := f.(type) {
	case *seatmap.AttachedFact:
		m.version++
		m.layout, m.states = f.Layout, make([]seatmap.Status, f.Layout.Len())
		m.types = make([]int64, len(f.Layout.Sections))
		m.indexSeats()
	case *seatmap.DetachedFact:
		m.version++
		m.layout, m.states, m.types = nil, nil, nil
		m.indexSeats()
	case *seatmap.PricedFact:
		m.version++
		m.types = f.Types
	}
	u := seatmap.UpdateOf(f)
	for _, change := range []struct {
		seats []int32
		to    seatmap.Status
	}{
		{u.Available, seatmap.Available},
		{u.Unblocked, seatmap.Available},
		{u.Held, seatmap.Held},
		{u.Sold, seatmap.Sold},
		{u.Blocked, seatmap.Blocked},
	} {
		for _, seat := range change.seats {
			m.states[seat] = change.to
		}
		for _, w := range m.watchers {
			w.changed = append(w.changed, change.seats...)
		}
	}
}

// wakeWatchers wakes the watchers that have something to take. The caller has locked the map.
func (m *SeatMap) wakeWatchers() {
	for _, w := range m.watchers {
		if len(w.changed) > 0 || w.version != m.version {
			w.wake()
		}
	}
}

// Where returns what stands on the ticket for a seat: its label, its section and its row. All are
// empty for a seat that is not on the map.
func (m *SeatMap) Where(id string) (label, section, row string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, ok := m.places[id]
	if !ok {
		return "", "", ""
	}
	r := m.layout.Rows[m.layout.SeatRow[i]]
	return m.layout.Labels[i], m.layout.Sections[r.Section].Name, r.Label
}

// indexSeats makes the index of a new layout's seats by their ids.
func (m *SeatMap) indexSeats() {
	m.places = nil
	if m.layout == nil {
		return
	}
	m.places = make(map[string]int32, m.layout.Len())
	for i, id := range m.layout.SeatIDs {
		m.places[id] = int32(i) //nolint:gosec // at most seatmap.MaxSeats
	}
}

// SeatView is a map at one moment. The layout is shared and must not be changed; the slices are the
// caller's own.
type SeatView struct {
	Layout *seatmap.Layout // nil: no map is attached
	States []seatmap.Status
	Types  []int64 // ticket types that the sections are sold as; 0: not for sale
}

// View returns the map as it is now.
func (m *SeatMap) View() SeatView {
	m.mu.Lock()
	defer m.mu.Unlock()
	return SeatView{Layout: m.layout, States: slices.Clone(m.states), Types: slices.Clone(m.types)}
}

// Layout returns the attached layout with the ticket types of its sections, or nil if none is
// attached.
func (m *SeatMap) Layout() (*seatmap.Layout, []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.layout, slices.Clone(m.types)
}

// Watcher collects what changes on one map between two calls of Take.
type Watcher struct {
	m    *SeatMap
	wake func()
	// Guarded by the map's lock.
	changed []int32 // seats, some of them more than once
	version uint64
	told    []seatmap.Status // the states of the seats as Take last returned them
}

// Watch begins to watch the map. wake is called when there is something to take. It is called under
// the map's lock, so it must not wait. If ok is false, the map has been forgotten since the caller got it, and the
// caller must get it again: a watcher would never be woken.
func (m *SeatMap) Watch(wake func()) (w *Watcher, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone {
		return nil, false
	}
	w = &Watcher{m: m, wake: wake, version: m.version, told: slices.Clone(m.states)}
	m.watchers = append(m.watchers, w)
	return w, true
}

// Close ends watching. wake is not called after Close has returned.
func (w *Watcher) Close() {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	w.m.watchers = slices.DeleteFunc(w.m.watchers, func(o *Watcher) bool { return o == w })
}

// SeatChange is a seat whose state differs from the one that the watcher was told last.
type SeatChange struct {
	Seat     int32
	From, To seatmap.Status
}

// Take returns what has changed since the last Take, and the layout. A seat that changed several times comes
// once, with its last state; a seat that is back in its old state does not come at all. another reports that
// the layout or the types have changed; then there are no changes, and view is the whole new map. Otherwise
// view is nil unless whole is set; then it is the map at the moment of the changes.
func (w *Watcher) Take(whole bool) (changes []SeatChange, layout *seatmap.Layout, view *SeatView, another bool) {
	m := w.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if another = w.version != m.version; !another {
		for _, seat := range w.changed {
			if from, to := w.told[seat], m.states[seat]; from != to {
				changes = append(changes, SeatChange{seat, from, to})
				w.told[seat] = to
			}
		}
	} else {
		whole = true
		w.version, w.told = m.version, slices.Clone(m.states)
	}
	w.changed = w.changed[:0]
	if !whole {
		return changes, m.layout, nil, false
	}
	return changes, m.layout, &SeatView{Layout: m.layout, States: slices.Clone(m.states), Types: slices.Clone(m.types)}, another
}
