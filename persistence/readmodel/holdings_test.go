package readmodel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/readmodel"
)

// TestHoldings passes one of a buyer's two tickets on to a friend, and back. Each time the holder has the ticket once,
// by its newest version, and nobody else has it.
func TestHoldings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	number := w.event(1, func(d *event.Details) { d.Category = event.Course })
	w.ticketType(number, 11, func(d *inventory.Details) { d.Price, d.Type = 0, "free" })
	w.publish(number)
	w.do(engine.EventRef(number), engine.Wake{})
	o := w.place(number, 2, 11)
	first, second := o.FirstTicket, o.FirstTicket+1
	const friend = "friend@example.com"
	held := func(email string) []readmodel.Holding {
		t.Helper()
		w.settled()
		list, err := w.model.Holdings(t.Context(), o.Customer, email, event.Course)
		require.NoError(t, err)
		return list
	}
	pass := func(round uint16, version byte, from, to string) {
		t.Helper()
		offer := admission.Transfer{Ticket: first, Version: version, From: from, To: to, Name: "New Holder"}
		require.IsType(t, new(admission.TransferReply), w.do(engine.EventRef(number), offer))
		require.IsType(t, new(admission.TransferReply), w.do(engine.EventRef(number), admission.ClaimTransfer{Ticket: first, Round: round}))
	}
	kept := readmodel.Holding{Event: number, Serial: second, Version: 1, Name: o.Name}
	require.ElementsMatch(t, []readmodel.Holding{{Event: number, Serial: first, Version: 1, Name: o.Name}, kept}, held(o.Email))
	pass(1, 1, o.Email, friend)
	require.Equal(t, []readmodel.Holding{kept}, held(o.Email))
	require.Equal(t, []readmodel.Holding{{Event: number, Serial: first, Version: 2}}, held(friend))
	pass(2, 2, friend, o.Email)
	require.ElementsMatch(t, []readmodel.Holding{{Event: number, Serial: first, Version: 3, Name: o.Name}, kept}, held(o.Email))
	require.Empty(t, held(friend))
}
