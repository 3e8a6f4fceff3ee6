// Package history judges the answers that several clients got about one small thing for which they
// contended: a seat, a ticket, a stock of few tickets. A history is right if it is linearizable:
// its operations can be put into one order, each at some moment between its call and its return, in
// which every answer was true.
//
// There are two judges: porcupine, which finds such an order or proves that there is none, and the
// witness, which only looks at what was certain, and takes no time. Any goroutine may write to a
// History; it runs nothing on its own.
package history

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// Stale is how old the data behind an answer may be if the answer changes nothing: a refusal, or a
// release of nothing. The answer was true at some moment during the request or the second before
// it.
const Stale = time.Second

// Never is the return of an operation that got no definite answer: it is not known whether it was
// carried out, and when.
var Never = time.Unix(0, math.MaxInt64)

// Operation is what one client asked for, and the answer.
type Operation struct {
	Client       int
	Node         string    // the node that was asked last
	Call, Return time.Time // Never: no definite answer
	What         Act
	Quantity     int // how many tickets it is about
	Answer       Answer
}

// Act is the kind of request.
type Act string

// These are the requests of clients.
const (
	Hold     Act = "hold"      // holds a seat
	Release  Act = "release"   // gives the seat back
	Scan     Act = "scan"      // shows a ticket at a gate
	Take     Act = "take"      // orders tickets of a stock
	GiveBack Act = "give back" // gives tickets back to a stock; Return is Never, because they come back some time after the answer
)

// Answer is the answer that a client got.
type Answer string

// These are the answers.
const (
	Granted Answer = "granted"
	Refused Answer = "refused" // somebody else has it; for a release: there was nothing to release
	Unknown Answer = "unknown" // there was no definite answer
)

// ErrNot says that a history is not linearizable.
var ErrNot = errors.New("history: not linearizable")

// ErrUndecided says that porcupine did not decide in time.
var ErrUndecided = errors.New("history: undecided")

// History is what happened to one thing. Seat, Ticket and Stock make new ones.
type History struct {
	Name string

	model   porcupine.Model
	witness func([]Operation) error
	strict  bool // refusals are judged too

	mu  sync.Mutex
	ops []Operation
}

// Note appends an operation. One without a definite answer never returns.
func (h *History) Note(op Operation) {
	if op.Answer == Unknown {
		op.Return = Never
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
}

// Unanswered returns how many operations got no definite answer. Each of them doubles what
// porcupine may have to try.
func (h *History) Unanswered() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, op := range h.ops {
		if op.Answer == Unknown {
			n++
		}
	}
	return n
}

// Operations returns the operations, ordered by the time of their call.
func (h *History) Operations() []Operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	ops := slices.Clone(h.ops)
	slices.SortStableFunc(ops, func(a, b Operation) int { return a.Call.Compare(b.Call) })
	return ops
}

// Check lets both judges look at the history. It returns nil, ErrNot, or ErrUndecided if porcupine
// had too little time. If the history is wrong and draw is not empty, it writes a picture for
// people to the file draw.
func (h *History) Check(within time.Duration, draw string) error {
	ops := h.Operations()
	if err := h.witness(ops); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrNot, h.Name, err)
	}
	events := h.events(ops)
	switch result, info := porcupine.CheckOperationsVerbose(h.model, events, within); result {
	case porcupine.Illegal:
		err := fmt.Errorf("%w: %s: no order of its %d operations explains the answers", ErrNot, h.Name, len(events))
		if draw != "" {
			err = errors.Join(err, porcupine.VisualizePath(h.model, info, draw))
		}
		return err
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
	}
	return fmt.Errorf("%w: %s: %d operations in %v", ErrUndecided, h.Name, len(events), within)
}

// events returns the operations in porcupine's form, without those that say nothing, because they
// make the search expensive.
func (h *History) events(ops []Operation) []porcupine.Operation {
	var events []porcupine.Operation
	// A refusal that is explained by what somebody surely had needs no search.
	had := surely(ops)
	for _, op := range ops {
		call := op.Call
		if op.Answer == Refused {
			// The answer may be true of a moment before the request, so the operation may take its place earlier.
			call = call.Add(-Stale)
			if !h.strict && op.What == Take || explained(op, call, had) {
				continue
			}
		}
		events = append(events, porcupine.Operation{
			ClientId: op.Client, Input: op, Call: int64(call.Sub(ops[0].Call)), Return: int64(op.Return.Sub(ops[0].Call)),
		})
	}
	return events
}

// having is a time during which a client certainly had what it asked for.
type having struct {
	client, quantity int
	from, to         time.Time
}

// overlaps reports whether there is a moment that is in both times.
func (h having) overlaps(o having) bool { return h.from.Before(o.to) && o.from.Before(h.to) }

// surely lists what clients certainly had and when: from the moment when a client was told so until
// it asked for something else. If an earlier request was never answered, it may still take effect,
// so from then on nothing is certain for that client.
func surely(ops []Operation) []having {
	var had []having
	open := make(map[int]int) // index in had, plus 1, of what a client has
	lost := make(map[int]bool)
	for _, op := range ops {
		// The next request of a client for the same thing ends what it surely had, whatever the answer is.
		if i := open[op.Client]; i > 0 && op.What != Scan && op.What != Take {
			had[i-1].to = op.Call
			open[op.Client] = 0
		}
		if op.Answer == Unknown {
			lost[op.Client] = lost[op.Client] || op.What == Release
		}
		if op.Answer == Granted && (op.What == Hold || op.What == Take || op.What == Scan) && !lost[op.Client] {
			had = append(had, having{op.Client, op.Quantity, op.Return, Never})
			if op.What == Hold {
				open[op.Client] = len(had)
			}
		}
	}
	return had
}

// explained reports whether a refusal is right in whichever order the rest has
// happened: at some moment of its time another surely had the seat.
func explained(op Operation, since time.Time, had []having) bool {
	if op.What != Hold {
		return false
	}
	when := having{from: since, to: op.Return}
	return slices.ContainsFunc(had, func(h having) bool { return h.client != op.Client && h.overlaps(when) })
}

// describe describes an operation for pictures.
func describe(input, _ any) string {
	op, _ := input.(Operation)
	text := fmt.Sprintf("%s by %d at %s: %s", op.What, op.Client, op.Node, op.Answer)
	if op.Quantity > 0 {
		text += fmt.Sprintf(", %d", op.Quantity)
	}
	return text
}

// model makes porcupine's model from a function that steps from state to state. A step is true if
// the operation can happen in that state with its answer.
func model[S comparable](first S, step func(S, Operation) (S, bool)) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(state, input, _ any) (bool, any) {
			s, _ := state.(S)
			op, _ := input.(Operation)
			after, ok := step(s, op)
			return ok, after
		},
		DescribeOperation: describe,
		DescribeState:     func(state any) string { return fmt.Sprint(state) },
	}
}
