package waitlist

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// outcome is right: of three tickets two went to the first in line, and one to the third,
// for the second waits for two.
func outcome() *Outcome {
	began := time.Unix(1_700_000_000, 0)
	told := map[string]int{"<1@load.test>": 2} // the same mail, again after a crash
	return &Outcome{
		Units: 3, Sold: 3, Given: 4, Wanted: 4, Passed: 10,
		Line: []Waiting{
			{Quantity: 2, Status: "claimed", OfferedAt: began, mails: told},
			{Quantity: 2, Status: "waiting"},
			{Quantity: 1, Status: "claimed", OfferedAt: began.Add(time.Second), mails: told},
			{Quantity: 1, Status: "waiting"},
		},
		Orders: []Order{{"a", "refunded", 2}, {"b", "expired", 1}, {"c", "completed", 2}, {"d", "completed", 1}},
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
		passers = "nothing that came free went to a passer-by"
		oldest  = "every offer went to the oldest whom it fits"
		told    = "whoever was offered something was told so once, and nobody else was"
		kept    = "no ticket is lost, and none is there twice"
	)
	for what, plant := range map[string]struct {
		found string
		spoil func(o *Outcome)
	}{
		"a passer-by was let in":             {passers, func(o *Outcome) { o.LetIn = []string{"e"} }},
		"a passer-by was answered an error":  {passers, func(o *Outcome) { o.Odd = []string{"500"} }},
		"somebody older was passed over":     {oldest, func(o *Outcome) { o.Line[1].Quantity = 1 }},
		"somebody younger was offered first": {oldest, func(o *Outcome) { o.Line[0].OfferedAt, o.Line[0].Quantity = o.Line[2].OfferedAt.Add(1), 1 }},
		"an offer that nobody was told of":   {told, func(o *Outcome) { o.Line[0].mails = nil }},
		"two mails of one offer":             {told, func(o *Outcome) { o.Line[0].mails = map[string]int{"<1@load.test>": 1, "<2@load.test>": 1} }},
		"a mail of no offer":                 {told, func(o *Outcome) { o.Line[3].mails = map[string]int{"<3@load.test>": 1} }},
		"an offer that nobody got":           {told, func(o *Outcome) { o.Line[0].Status = "offered" }},
		"a ticket that is lost":              {kept, func(o *Outcome) { o.Orders[3].Status = "expired" }},
		"a ticket that is there twice":       {kept, func(o *Outcome) { o.Orders[1].Status = "completed" }},
		"an order that hangs":                {kept, func(o *Outcome) { o.Orders[2].Status = "processing" }},
		"a count that is wrong":              {kept, func(o *Outcome) { o.Sold = 2 }},
		"too few came free":                  {kept, func(o *Outcome) { o.Given = 3 }},
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
