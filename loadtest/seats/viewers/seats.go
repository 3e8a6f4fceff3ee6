package viewers

import (
	"fmt"
	"time"
)

// State is a seat's state, as the public sees it.
type State uint8

// The states.
const (
	Available State = iota
	Held
	Sold
	Blocked
)

// Change is a seat's new state, and when the first viewer saw it.
type Change struct {
	At time.Time
	To State
}

// Map is the seats of an event with their states and all changes of them. States and histories have the order of
// the ids.
type Map struct {
	ids     []string
	index   map[string]int
	states  []State
	history [][]Change // of each seat
}

// newMap makes a map on which all seats are available, and which has no history yet.
func newMap(ids []string) *Map {
	m := &Map{ids: ids, index: make(map[string]int, len(ids)), states: make([]State, len(ids)), history: make([][]Change, len(ids))}
	for i, id := range ids {
		m.index[id] = i
	}
	return m
}

// State is the state of a seat.
func (m *Map) State(id string) State { return m.states[m.index[id]] }

// History is what a seat went through, from the first snapshot on.
func (m *Map) History(id string) []Change { return m.history[m.index[id]] }

// In lists the seats in a state, in the map's order.
func (m *Map) In(s State) []string {
	var ids []string
	for i, state := range m.states {
		if state == s {
			ids = append(ids, m.ids[i])
		}
	}
	return ids
}

// news is what an update or a snapshot says.
type news struct {
	Sold      []string `json:"sold"`
	Held      []string `json:"held"`
	Released  []string `json:"released"`
	Blocked   []string `json:"blocked"`
	Unblocked []string `json:"unblocked"`
}

// each calls f for every seat with its new state.
func (n *news) each(f func(id string, to State)) {
	for _, list := range []struct {
		ids []string
		to  State
	}{{n.Sold, Sold}, {n.Held, Held}, {n.Released, Available}, {n.Blocked, Blocked}, {n.Unblocked, Available}} {
		for _, id := range list.ids {
			f(id, list.to)
		}
	}
}

// applyUpdate applies an update. An update only names seats that change, so a seat that is in the new state already
// is a fault. The error is the last fault; what can be applied is applied.
func (m *Map) applyUpdate(n *news, at time.Time) error {
	var wrong error
	n.each(func(id string, to State) {
		i, known := m.index[id]
		switch {
		case !known:
			wrong = fmt.Errorf("seat %q is not on the map", id)
		case m.states[i] == to:
			wrong = fmt.Errorf("seat %s is told to be %d, which it is", id, to)
		default:
			m.set(i, to, at)
		}
	})
	return wrong
}

// set changes the state of a seat and keeps the change in its history.
func (m *Map) set(i int, to State, at time.Time) {
	m.states[i] = to
	m.history[i] = append(m.history[i], Change{at, to})
}

// wholeStates returns the states of all seats by a snapshot. A snapshot names the seats that are not available.
func (m *Map) wholeStates(n *news) ([]State, error) {
	states := make([]State, len(m.ids))
	var wrong error
	n.each(func(id string, to State) {
		if i, known := m.index[id]; known {
			states[i] = to
		} else {
			wrong = fmt.Errorf("seat %q is not on the map", id)
		}
	})
	return states, wrong
}

// namesOfDifferent names the first seats that are in another state than those given.
func (m *Map) namesOfDifferent(states []State) (ids []string) {
	for i, state := range states {
		if m.states[i] != state && len(ids) < 5 {
			ids = append(ids, m.ids[i])
		}
	}
	return ids
}

// replaceStates puts states in the place of the map's.
func (m *Map) replaceStates(states []State, at time.Time) {
	for i, state := range states {
		if m.states[i] != state {
			m.set(i, state, at)
		}
	}
}
