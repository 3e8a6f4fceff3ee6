package chaos

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/report"
)

// sparing are outages as they should be: the others sell all the while, unless a node was killed
// too, and the shard's events are back in time.
func sparing() []report.ShardOutage {
	return []report.ShardOutage{
		{What: shardKilled, Timed: 4, Back: time.Second, Lost: report.Half{Orders: 100, Errors: 40}, Others: report.Half{Orders: 100}},
		{What: shardStalled, Shard: 1, Timed: 4, Back: backWithin, Lost: report.Half{Orders: 200, Errors: 200}, Others: report.Half{Orders: 200}},
		{What: shardAndNode, Node: "node-1", Timed: 2, Back: time.Second, Others: report.Half{Orders: 100, Errors: 7}},
	}
}

func TestSparingOutagesHaveNoFindings(t *testing.T) {
	t.Parallel()
	for _, c := range checkShards(sparing()) {
		require.Empty(t, c.Findings, c.Name)
		require.Positive(t, c.Checked, c.Name)
	}
}

// TestHurtfulOutagesAreFound plants one mistake at a time.
func TestHurtfulOutagesAreFound(t *testing.T) {
	t.Parallel()
	const spared, back = 0, 1 // checks
	for what, plant := range map[string]struct {
		found int
		spoil func(killed, stalled, beside *report.ShardOutage)
	}{
		"an error at another shard's event": {spared, func(o, _, _ *report.ShardOutage) { o.Others.Errors = 1 }},
		"nobody ordered at other events":    {spared, func(_, _, o *report.ShardOutage) { o.Others.Orders = 0 }},
		"back late":                         {back, func(_, o, _ *report.ShardOutage) { o.Back++ }},
		"back late, beside a killed node":   {back, func(_, _, o *report.ShardOutage) { o.Back += backWithin }},
	} {
		all := sparing()
		plant.spoil(&all[0], &all[1], &all[2])
		for i, c := range checkShards(all) {
			require.Equal(t, i == plant.found, c.Failed > 0, "%s: %s", what, c.Name)
			require.Len(t, c.Findings, int(c.Failed), "%s: %s", what, c.Name)
		}
	}
}

func TestOrdersAreTallied(t *testing.T) {
	t.Parallel()
	hurt := time.Now()
	orders := []timedOrder{
		{hurt.Add(-2), 5 * time.Millisecond, openloop.Result{Status: 201}},
		{hurt.Add(-1), 9 * time.Millisecond, openloop.Result{Status: 503, Code: "UNAVAILABLE"}}, // of no outage
		{hurt, 700 * time.Millisecond, openloop.Result{Status: 503, Code: "UNAVAILABLE"}},
	}
	for range 200 {
		orders = append(orders, timedOrder{hurt.Add(1), 7 * time.Millisecond, openloop.Result{Status: 201}})
	}
	require.Equal(t, report.Half{
		Orders: 201, Errors: 1, Failures: map[string]int64{"503 UNAVAILABLE": 1}, Before: 9 * time.Millisecond, During: 7 * time.Millisecond,
	}, tallyOrders(hurtOrders{orders, hurt}))
	require.Zero(t, tallyOrders().During)

	later := hurt.Add(time.Hour) // of another outage, all of whose orders came before it
	both := tallyOrders(hurtOrders{orders, hurt}, hurtOrders{[]timedOrder{{hurt.Add(2), time.Second, openloop.Result{Status: 201}}}, later})
	require.EqualValues(t, 201, both.Orders)
	require.Equal(t, time.Second, both.Before)
}
