package order

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/keeper"
)

func TestVisits(t *testing.T) {
	t.Parallel()
	first, second, third := keeper.Visit{Date: 1}, keeper.Visit{Date: 2}, keeper.Visit{Date: 3}
	o := &Order{FirstTicket: 7, Lines: []Line{{Quantity: 2, Visit: &first}, {Quantity: 1, Visit: &second}}}
	days := func(o *Order) (all []keeper.Day) {
		for _, v := range o.Visits() {
			all = append(all, v.Date)
		}
		return all
	}
	require.Equal(t, []keeper.Day{1, 2}, days(o))
	o = (&TicketRescheduled{Ticket: 7, Visit: third}).Fold(o)
	require.Equal(t, []keeper.Day{1, 2, 3}, days(o), "the other ticket of the line stays")
	o = (&TicketRescheduled{Ticket: 8, Visit: second}).Fold(o)
	require.Equal(t, []keeper.Day{2, 3}, days(o))
	require.Equal(t, keeper.Day(2), o.VisitOf(8).Date)
	require.Equal(t, keeper.Day(2), o.VisitOf(9).Date)

	damaged := &Order{FirstTicket: 1, Lines: []Line{{Quantity: math.MaxInt64, Visit: &first}}}
	require.Equal(t, []keeper.Day{1}, days(damaged), "it ends, however many tickets a fact claims")
}
