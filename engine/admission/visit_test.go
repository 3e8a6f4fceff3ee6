package admission

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// TestVisits judges booked tickets by their dates, before and after a snapshot.
func TestVisits(t *testing.T) {
	t.Parallel()
	tickets := New()
	lines := func(visits ...*keeper.Visit) *order.Order {
		o := new(order.Order)
		for _, v := range visits {
			o.Lines = append(o.Lines, order.Line{Type: 1, Quantity: 2, Visit: v})
		}
		return o
	}
	tickets.Mint(lines(nil))
	require.Zero(t, tickets.rows.opens.Len(), "plain tickets have no columns")
	tickets.Mint(lines(&keeper.Visit{Start: 1_000, End: 2_000}, nil, &keeper.Visit{Start: 3_000, End: 4_000}))
	tickets.Mint(lines(&keeper.Visit{Start: 3_000, End: 4_000, Opens: 2_500, Closes: 5_000})) // a slot of a date
	frozen, scans := tickets.Freeze()
	thawed, err := Thaw(&frozen, &scans)
	require.NoError(t, err)
	for _, tickets := range []*Tickets{&tickets, &thawed} {
		for _, c := range []struct {
			ticket uint32
			at     int64
			want   byte
		}{
			{1, 1, verdictAdmitted},
			{2, 9_000, verdictAdmitted},
			{3, 999, verdictNotYet},
			{3, 1_000, verdictAdmitted},
			{4, 1_999, verdictAdmitted},
			{4, 2_000, verdictOver},
			{5, 1, verdictAdmitted},
			{6, 9_000, verdictAdmitted},
			{7, 2_999, verdictNotYet},
			{8, 3_999, verdictAdmitted},
			{8, 4_000, verdictOver},
			{9, 2_499, verdictNotYet},
			{9, 2_500, verdictAdmitted},
			{10, 4_999, verdictAdmitted},
			{10, 5_000, verdictOver},
		} {
			require.Equal(t, c.want, tickets.judgeScan(Scan{Ticket: c.ticket}, &Terms{}, c.at), "%+v", c)
		}
	}
}
