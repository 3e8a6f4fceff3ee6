package enginetest

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/persistence/codec"

	"boxoffice/engine/all"
)

// kindOf is a command's name, e.g. "Reserve".
func kindOf(c engine.Command) string { return reflect.TypeOf(c).Name() }

// nick is a short name of an order: its number in the simulation.
func nick(id engine.OrderID) string { return fmt.Sprintf("o%d", id.Number()) }

func claimed(c keeper.Claim) string {
	return fmt.Sprintf("%s@%d.%d", nick(c.Order), c.Serial.Epoch(), uint32(c.Serial))
}

// brief says in a few words what a command asks.
func brief(c engine.Command) string {
	switch c := c.(type) {
	case keeper.Reserve:
		return fmt.Sprintf("Reserve %s %d late=%t", claimed(c.Claim), c.Line.Quantity, c.Line.Late)
	case keeper.Commit:
		return "Commit " + claimed(c.Claim)
	case keeper.Release:
		return "Release " + claimed(c.Claim)
	case keeper.Granted:
		return "Granted " + claimed(c.Claim) + " by " + c.Keeper.Name()
	case keeper.Refused:
		return "Refused " + claimed(c.Claim) + " by " + c.Keeper.Name() + ": " + string(c.Refusal.Code)
	case keeper.Closed:
		return "Closed " + claimed(c.Claim) + " by " + c.Keeper.Name()
	case keeper.Inquire:
		return "Inquire " + briefClaims(c.Claims) + " by " + c.Keeper.Name()
	case keeper.Confirmed:
		return "Confirmed " + briefClaims(c.Claims)
	case event.Place:
		return fmt.Sprintf("Place %s print %x", nick(c.Order), c.Fingerprint)
	case event.CancelOrder:
		return "CancelOrder " + nick(c.Order)
	case event.BeginPayment:
		return "BeginPayment " + nick(c.Order)
	case event.OpenPayment:
		return "OpenPayment " + c.Reference
	case event.ReportPayment:
		return fmt.Sprintf("ReportPayment %s %s %d", c.Reference, c.Status, c.Received)
	case event.ReportRefund:
		return "ReportRefund " + c.Reference + " " + c.Status
	case event.Scan:
		return fmt.Sprintf("Scan %d key %d at %s", c.Ticket, c.Key, c.Gate)
	case engine.Wake:
		return fmt.Sprintf("Wake %d", c.Epoch)
	case event.Move:
		return "Move " + c.To
	default:
		return kindOf(c)
	}
}

func briefClaims(cs []keeper.Claim) string {
	names := make([]string, len(cs))
	for i, c := range cs {
		names[i] = claimed(c)
	}
	return strings.Join(names, " ")
}

func briefReply(r engine.Reply) string {
	switch r := r.(type) {
	case *engine.Refusal:
		return string(r.Code)
	case *event.OrderReply:
		return r.Status
	case *event.ScanReply:
		return r.Status
	case *event.Record:
		return r.Status
	case *inventory.Record:
		return fmt.Sprintf("%d sold, %d available", r.Sold, r.Available)
	default:
		return fmt.Sprintf("%T", r)
	}
}

// replay is the state that a stream's facts come to, from its snapshot or from
// the start.
func (s *Sim) replay(st *stream, fromSnapshot bool) (engine.State, error) {
	kind, err := all.Kind(st.ref.Kind)
	if err != nil {
		return nil, err
	}
	state, seq := kind.New(st.ref), int64(0)
	if fromSnapshot && st.snapSeq > 0 {
		v := kind.Frozen()
		if err := codec.Unmarshal(st.snapshot, v); err != nil {
			return nil, err
		}
		if state, err = kind.Thaw(st.ref, v); err != nil {
			return nil, err
		}
		seq = st.snapSeq
		if s.bug == ShortSnapshot {
			seq++
		}
	}
	for _, r := range st.rows {
		if r.last <= seq {
			continue
		}
		facts, err := codec.Facts(st.ref.Kind, r.bytes)
		if err != nil {
			return nil, err
		}
		for i, f := range facts {
			if r.first+int64(i) > seq {
				state.Apply(f)
			}
		}
	}
	return state, nil
}

// same says whether two states are the same to the byte, apart from what a
// crash may forget.
func same(a, b engine.State) error {
	x, err := durable(a)
	if err != nil {
		return err
	}
	y, err := durable(b)
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return fmt.Errorf("not the same as all facts replayed:\n%+v\n%+v", a.Freeze(), b.Freeze())
	}
	return nil
}

// durable is the canonical form of a state without what a crash forgets: the
// serials that a keeper was told are dead before it ever saw them, and how far
// the ledger has judged the clock.
func durable(s engine.State) ([]byte, error) {
	switch f := s.Freeze().(type) {
	case *inventory.Frozen:
		f.Book.Ended, f.Book.Floor = nil, 0
		return codec.Marshal(f)
	case *event.Frozen:
		f.Clock = 0
		return codec.Marshal(f)
	default:
		return codec.Marshal(f)
	}
}

func sortedKeys[V any](m map[engine.OrderID]V) []engine.OrderID {
	keys := make([]engine.OrderID, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b engine.OrderID) int { return bytes.Compare(a[:], b[:]) })
	return keys
}

func trace() string {
	lines := strings.Split(string(debug.Stack()), "\n")
	return strings.Join(lines[min(len(lines), 7):min(len(lines), 25)], "\n")
}
