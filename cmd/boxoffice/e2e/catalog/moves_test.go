package catalog

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestMovesTakeTheirDependantsAlong moves an event to all sides. Whatever happens, no sale ends after
// the event and no refund is due after its start: a move that would leave one outside is refused and
// names it, or takes all of them along.
func TestMovesTakeTheirDependantsAlong(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	began := time.Now().UTC().Truncate(time.Hour)
	day := func(n float64) string { // to the minute, so that sums are exact
		return began.Add(time.Duration(n * 24 * float64(time.Hour)).Round(time.Minute)).Format(time.RFC3339)
	}
	at := func(a nodetest.Answer, field string) time.Time {
		moment, err := time.Parse(time.RFC3339, a.Str(field))
		require.NoError(t, err)
		return moment
	}
	is := func(n float64, a nodetest.Answer, field string) {
		t.Helper()
		require.Equal(t, day(n), at(a, field).Format(time.RFC3339), field)
	}
	event := s.Draft(nodetest.Object{"startDate": day(30), "endDate": day(31), "doorOpenTime": day(29.9)})
	path := "/organizer/events/" + event
	late := s.Own("POST", path+"/tickets", nodetest.With(nodetest.TypeBody(10, 100), nodetest.Object{
		"name": "Late", "saleEnd": day(30.9), "refundable": true, "refundDeadline": day(29.95),
	})).Is(201, "").Str("id")
	early := s.Own("POST", path+"/tickets", nodetest.With(nodetest.TypeBody(10, 100), nodetest.Object{"name": "Early", "saleEnd": day(2)})).Is(201, "").Str("id")
	s.Own("POST", path+"/publish", nil).Is(200, "")
	require.NoError(t, s.Settled(t.Context()))

	refused := s.Own("PUT", path, nodetest.Object{"startDate": day(3), "endDate": day(4), "doorOpenTime": day(2.9)}).Is(400, "INVALID_SALE_WINDOW")
	require.Equal(t, "Late", refused.Get("error.details.ticketTypes.0.name"))
	require.Equal(t, late, refused.Get("error.details.ticketTypes.0.id"))
	require.Equal(t, "saleEnd", refused.Get("error.details.ticketTypes.0.field"))
	require.Equal(t, "refundDeadline", refused.Get("error.details.ticketTypes.1.field"))
	require.Len(t, refused.Get("error.details.ticketTypes"), 2)
	s.Own("PUT", path, nodetest.Object{"startDate": day(29.92)}).Is(400, "INVALID_REFUND_DEADLINE") // the end stays, so the sale's does

	moved := s.Own("PUT", path, nodetest.Object{"startDate": day(3), "endDate": day(4), "shiftWindows": true}).Is(200, "")
	is(2.9, moved, "doorOpenTime")
	types := func() map[string]nodetest.Answer {
		require.NoError(t, s.Settled(t.Context()))
		out := map[string]nodetest.Answer{}
		list := s.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "")
		for i := range 2 {
			one := nodetest.Answer{T: t, Status: 200, Body: nodetest.Object{"data": list.Data(fmt.Sprintf("items.%d", i))}}
			out[one.Str("id")] = one
		}
		return out
	}
	shifted := types()
	is(3.9, shifted[late], "saleEnd")
	is(2.95, shifted[late], "refundDeadline")
	is(-25, shifted[early], "saleEnd")

	t.Log("whatever move is taken, nothing is outside")
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		start := 1 + 60*r.Float64()
		body := nodetest.Object{"startDate": day(start), "endDate": day(start + 3*r.Float64() + .01), "doorOpenTime": nil}
		if r.IntN(2) == 0 {
			body["shiftWindows"] = true
		}
		a := s.Own("PUT", path, body)
		if a.Status != 200 {
			require.Contains(t, []any{"INVALID_SALE_WINDOW", "INVALID_REFUND_DEADLINE"}, a.Get("error.code"), "%v", a.Body)
			require.NotEmpty(t, a.Get("error.details.ticketTypes"))
		}
		e := s.Own("GET", path, nil).Is(200, "")
		for _, one := range types() {
			require.False(t, at(one, "saleEnd").After(at(e, "endDate")))
			require.False(t, one.Data("refundDeadline") != nil && at(one, "refundDeadline").After(at(e, "startDate")))
		}
	}
}
