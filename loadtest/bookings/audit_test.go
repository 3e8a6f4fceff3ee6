package bookings

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/rush"
)

// outcome makes an outcome without a fault: of a slot with three places, somebody gave up two
// before others had them, and the money of one order came too late.
func outcome() *Outcome {
	began := time.Unix(1_700_000_000, 0)
	at := place{"2030-01-01", "noon"}
	return &Outcome{
		Places: 3, Cap: 2, Tried: 5,
		Orders: []Order{
			{ID: "a", Customer: "ada", place: at, Units: 2, From: began, Until: began.Add(time.Second), Status: rush.Cancelled},
			{ID: "b", Customer: "bob", place: at, Units: 1, From: began, Status: rush.Completed},
			{ID: "c", Customer: "ada", place: at, Units: 2, From: began.Add(time.Second), Status: rush.Completed},
			{ID: "d", Customer: "dan", place: place{at.date, "night"}, Units: 1, From: began, Until: began.Add(time.Second), Status: "refunded", Late: true, Refunds: 1},
		},
		Left:       map[place]int{at: 0, {at.date, "night"}: 3},
		LeftAtLast: map[place]int{at: 3, {at.date, "night"}: 3},
	}
}

func TestRightOutcomeHasNoFindings(t *testing.T) {
	t.Parallel()
	for _, c := range Audit(outcome()) {
		require.Empty(t, c.Findings, c.Name)
		require.Positive(t, c.Checked, c.Name)
	}
}

// TestWrongOutcomesAreFound plants one mistake at a time.
func TestWrongOutcomesAreFound(t *testing.T) {
	t.Parallel()
	const (
		answers  = "every order was granted or refused, as a contest can have it"
		slots    = "no slot had more than its places at any time"
		customer = "no customer had more than a day's places at any time"
		money    = "every order has ended, and late money has gone back once"
		left     = "what is left of each slot is what was not sold"
		back     = "all places come back"
	)
	for what, plant := range map[string]struct {
		found string
		spoil func(o *Outcome)
	}{
		"an internal error":               {answers, func(o *Outcome) { o.Odd = []string{"500"} }},
		"a place too many":                {slots, func(o *Outcome) { o.Orders[1].Units = 2 }},
		"places before they came back":    {slots, func(o *Outcome) { o.Orders[2].From = o.Orders[0].From }},
		"a customer with too many":        {customer, func(o *Outcome) { o.Orders[1].Customer = "ada" }},
		"an order that hangs":             {money, func(o *Outcome) { o.Orders[0].Status = rush.Pending }},
		"late money that stays":           {money, func(o *Outcome) { o.Orders[3].Refunds = 0 }},
		"late money that goes back twice": {money, func(o *Outcome) { o.Orders[3].Refunds = 2 }},
		"places, and the money back":      {money, func(o *Outcome) { o.Orders[3].Status = rush.Completed }},
		"a place that is sold again":      {left, func(o *Outcome) { o.Left[o.Orders[0].place] = 1 }},
		"a place that is lost":            {left, func(o *Outcome) { o.Left[o.Orders[3].place] = 2 }},
		"a place that does not come back": {back, func(o *Outcome) { o.LeftAtLast[o.Orders[0].place] = 2 }},
	} {
		o := outcome()
		plant.spoil(o)
		var failed []string
		for _, c := range Audit(o) {
			if c.Failed > 0 {
				failed = append(failed, c.Name)
			}
		}
		require.Contains(t, failed, plant.found, what)
	}
}
