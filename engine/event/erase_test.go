package event_test

import (
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// After a person is erased, no snapshot and no fact contains the name or the address, whatever role
// the person had; what belongs to others stays.
func TestErase(t *testing.T) {
	t.Parallel()
	const ada, bob, pseudonym = "Ada@Example.org", "bob@example.org", "xyz@erased.invalid"
	customer := order.CustomerOf(order.NormalEmail(ada))
	made := func(n byte, email, name string, lines ...order.Line) *order.Created {
		for i := range lines {
			lines[i].Type, lines[i].Quantity = 11, 1
		}
		return &order.Created{Order: &order.Order{
			ID: engine.NewID(1, []byte{9: n}), Serial: keeper.NewSerial(1, uint32(n)), Status: order.StatusPending,
			Email: email, Name: name, Customer: order.CustomerOf(order.NormalEmail(email)), Lines: lines,
		}}
	}
	hers := made(1, ada, "Ada Lovelace", order.Line{AttendeeName: "Byron"}, order.Line{AttendeeName: "Bob Bobson", AttendeeEmail: bob})
	his := made(2, bob, "Bob Bobson", order.Line{}, order.Line{AttendeeName: "Ada Lovelace", AttendeeEmail: ada})
	s := event.New(engine.EventRef(1))
	apply := func(facts ...engine.Fact) {
		for _, f := range facts {
			s.Apply(f)
		}
	}
	apply(&event.Created{Details: &event.Details{Title: "Show", Capacity: event.NoCapacity}}, hers, his)
	for i, o := range []*order.Created{hers, his} {
		apply(&order.Completed{ID: o.Order.ID, Serial: o.Order.Serial, First: uint32(1 + 2*i)})
	}
	apply(
		&order.TransferOffered{ID: his.Order.ID, Ticket: 3, Round: 1, From: bob, To: ada, Name: "Ada Lovelace", ExpiresAt: 1},
		&order.TicketTransferred{ID: his.Order.ID, Ticket: 3, Round: 1, Version: 2, Email: ada, Name: "Ada Lovelace"},
		&order.TransferOffered{ID: hers.Order.ID, Ticket: 2, Round: 1, From: ada, To: bob, Name: "Bob Bobson", ExpiresAt: 1 << 60},
		&order.RefundDue{ID: his.Order.ID, Refund: order.Refund{
			Reason: "my aunt Ada Lovelace is ill", Status: order.RefundRequested, Ask: &order.Ask{Tickets: []uint32{3}, By: order.AskedByBuyer, Message: "write to Ada@Example.org"},
		}},
		&waitlist.Joined{Entry: &waitlist.Entry{ID: engine.NewID(1, []byte{9: 3}), Number: 1, Quantity: 1, Email: ada, Name: "Ada Lovelace", Customer: customer, Status: waitlist.StatusWaiting}},
		&waitlist.Joined{Entry: &waitlist.Entry{ID: engine.NewID(1, []byte{9: 4}), Number: 2, Quantity: 1, Email: bob, Name: "Bob Bobson", Status: waitlist.StatusWaiting}},
	)
	require.NoError(t, s.Check())
	require.Contains(t, frozen(t, s), "Ada Lovelace")

	d := s.Decide(event.Erase{Customer: customer, Pseudonym: pseudonym, Orders: []*order.Order{hers.Order, his.Order}}, time.Now())
	require.IsType(t, &event.Record{}, d.Reply)
	text, err := cbor.Marshal(d.Facts)
	require.NoError(t, err)
	apply(d.Facts...)
	require.NoError(t, s.Check())
	for _, text := range []string{frozen(t, s), string(text)} {
		for _, gone := range []string{"Ada", "Lovelace", "Byron", ada, "ada@example.org"} {
			require.NotContains(t, text, gone)
		}
	}
	for _, kept := range []string{"Bob Bobson", bob, pseudonym} {
		require.Contains(t, frozen(t, s), kept)
	}
	again, err := event.Thaw(engine.EventRef(1), s.Freeze())
	require.NoError(t, err)
	require.Equal(t, frozen(t, s), frozen(t, again))
}

func frozen(t *testing.T, s engine.State) string {
	t.Helper()
	b, err := cbor.Marshal(s.Freeze())
	require.NoError(t, err)
	return string(b)
}
