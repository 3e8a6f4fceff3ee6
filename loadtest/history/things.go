package history

import (
	"fmt"
	"slices"
)

// Seat returns the history of a seat that is held and released. Nobody has it at the beginning, and
// no hold ends by itself.
func Seat(name string) *History {
	return &History{Name: name, strict: true, witness: heldOnce, model: model(0, func(holder int, op Operation) (int, bool) {
		// The state is the client who has the seat, or 0. An unknown hold or release is allowed to have had its
		// effect.
		free, own := holder == 0, holder == op.Client
		switch {
		case op.What == Hold && op.Answer == Granted:
			return op.Client, free || own
		case op.What == Hold && op.Answer == Refused:
			return holder, !free && !own
		case op.What == Hold:
			if free {
				holder = op.Client
			}
			return holder, true
		case op.Answer == Granted:
			return 0, own
		case op.Answer == Refused:
			return holder, !own
		default:
			if own {
				holder = 0
			}
			return holder, true
		}
	})}
}

// heldOnce checks that no two clients certainly had the seat at the same moment.
func heldOnce(ops []Operation) error {
	had := surely(ops)
	for i, a := range had {
		for _, b := range had[i+1:] {
			if a.client != b.client && a.overlaps(b) {
				return fmt.Errorf("clients %d and %d both had it at %v", a.client, b.client, later(a, b))
			}
		}
	}
	return nil
}

// later returns the first moment that two overlapping times share.
func later(a, b having) string {
	at := a.from
	if b.from.After(at) {
		at = b.from
	}
	return at.Format("15:04:05.000")
}

// Ticket returns the history of a ticket that is scanned. It admits only once.
func Ticket(name string) *History {
	return &History{Name: name, strict: true, witness: admittedOnce, model: model(false, func(used bool, op Operation) (bool, bool) {
		if op.Answer == Unknown {
			return true, true
		}
		return true, used == (op.Answer == Refused)
	})}
}

// admittedOnce checks that no two scans were told that the ticket admits.
func admittedOnce(ops []Operation) error {
	if had := surely(ops); len(had) > 1 {
		return fmt.Errorf("it admitted client %d and client %d", had[0].client, had[1].client)
	}
	return nil
}

// Stock returns the history of a number of tickets that are taken and given back. Refusals are not
// judged, because tickets may be on their way back, or reserved for an order that was never made.
// An audit afterwards has to check that all tickets come back.
func Stock(name string, quantity int) *History {
	witness := func(ops []Operation) error { return neverMore(ops, quantity) }
	return &History{Name: name, witness: witness, model: model(quantity, func(left int, op Operation) (int, bool) {
		switch {
		case op.What == GiveBack:
			return left + op.Quantity, true
		case op.Answer == Granted:
			return left - op.Quantity, op.Quantity <= left
		case op.Quantity <= left:
			return left - op.Quantity, true // one that was not carried out is put last
		default:
			return left, true
		}
	})}
}

// neverMore checks that clients never certainly had more tickets than there are. At each moment
// when a client was told that it has some, it adds up all tickets that clients had and had not yet
// asked to give back.
func neverMore(ops []Operation, quantity int) error {
	for _, at := range ops {
		if at.What != Take || at.Answer != Granted {
			continue
		}
		// Tickets that a client has asked to give back no longer count: they may be somebody else's already.
		sum := 0
		for _, op := range ops {
			switch {
			case op.What == Take && op.Answer == Granted && !op.Return.After(at.Return):
				sum += op.Quantity
			case op.What == GiveBack && !op.Call.After(at.Return):
				sum -= op.Quantity
			}
		}
		if sum > quantity {
			return fmt.Errorf("clients had %d of %d at %v", sum, quantity, at.Return.Format("15:04:05.000"))
		}
	}
	return nil
}

// Contenders returns how many clients took part.
func (h *History) Contenders() int {
	var clients []int
	for _, op := range h.Operations() {
		if !slices.Contains(clients, op.Client) {
			clients = append(clients, op.Client)
		}
	}
	return len(clients)
}
