package activation

import (
	"boxoffice/engine"
	"boxoffice/engine/paged"
)

// refusals are the refused commands whose answers wait in the journal's lane, because facts were decided before
// them. A repeat of such a command might be granted now; that must not happen before the refusal has left.
type refusals struct {
	last  map[engine.OrderID]int64 // number of the entry with the last refusal, by the command's key
	order paged.Queue[refusal]     // refusals in the order of their numbers
}

// refusal is an entry of the journal that carries a refusal of a command.
type refusal struct {
	key    engine.OrderID
	number int64
}

// add notes the refusals in an entry; number is the entry's.
func (r *refusals) add(w *work, number int64) {
	if len(w.entry.Facts) > 0 {
		return // a command with facts was not refused: a repeat finds what they made
	}
	if w.call != nil {
		if cmd, keyed := w.call.Cmd.(engine.Keyed); keyed {
			r.noteRefusal(cmd.Key(), w.reply, number)
		}
	}
	for i := range w.answers {
		r.noteRefusal(w.answers[i].key, w.answers[i].reply, number)
	}
}

// noteRefusal notes a reply if it is a refusal, and replaces an earlier one with the same key. number is the
// number of the journal's entry that carries the refusal.
func (r *refusals) noteRefusal(key engine.OrderID, reply engine.Reply, number int64) {
	if _, refused := reply.(*engine.Refusal); !refused {
		return
	}
	if r.last == nil {
		r.last = make(map[engine.OrderID]int64)
	}
	r.last[key] = number
	r.order.Push(refusal{key, number})
}

// forgetUpTo drops the refusals of all entries up to a number.
func (r *refusals) forgetUpTo(number int64) {
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
