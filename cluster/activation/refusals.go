package activation

import (
	"boxoffice/engine"
	"boxoffice/engine/paged"
)

// refusals are the refused commands whose answers wait in the journal's lane for the
// facts that were decided before them. A repeat of such a command may be granted what
// the first try was not: it must not be, before the refusal is out.
type refusals struct {
	last  map[engine.OrderID]int64 // number of the command's last refusal, by key
	order paged.Queue[refusal]     // by number
}

// refusal is an entry of the journal that refuses a command.
type refusal struct {
	key    engine.OrderID
	number int64
}

// add notes the refusals of an entry, by its number.
func (r *refusals) add(w *work, number int64) {
	if len(w.entry.Facts) > 0 {
		return // the command's own: a repeat finds what they made
	}
	if w.call != nil {
		if cmd, keyed := w.call.Cmd.(engine.Keyed); keyed {
			r.note(cmd.Key(), w.reply, number)
		}
	}
	for i := range w.answers {
		r.note(w.answers[i].key, w.answers[i].reply, number)
	}
}

func (r *refusals) note(key engine.OrderID, reply engine.Reply, number int64) {
	if _, refused := reply.(*engine.Refusal); !refused {
		return
	}
	if r.last == nil {
		r.last = make(map[engine.OrderID]int64)
	}
	r.last[key] = number
	r.order.Push(refusal{key, number})
}

// forget drops the refusals of all entries up to a number.
func (r *refusals) forget(number int64) {
	for r.order.Len() > 0 && r.order.At(0).number <= number {
		one := r.order.At(0)
		r.order.Drop(1)
		if r.last[one.key] == one.number {
			delete(r.last, one.key)
		}
	}
}

// has reports whether a refusal of the command is on its way.
func (r *refusals) has(key engine.OrderID) bool {
	_, ok := r.last[key]
	return ok
}
