package room

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// outcome is right: three visitors have ordered, each from a place of its own.
func outcome() *Outcome {
	return &Outcome{Visitors: 3, Placed: 3, Places: []int64{2, 1, 3}, Attempted: 10}
}

func TestRightOutcomeHasNoFindings(t *testing.T) {
	t.Parallel()
	for _, c := range Audit(outcome()) {
		require.Empty(t, c.Findings, c.Name)
		require.Positive(t, c.Checked, c.Name)
	}
}

// TestEachFaultIsFound injures the right outcome in every way that a check is for.
func TestEachFaultIsFound(t *testing.T) {
	t.Parallel()
	for name, injure := range map[string]func(*Outcome){
		"nobody ordered without an admission": func(o *Outcome) { o.Skipped = []string{"201 "} },
		"everybody who joined has ordered":    func(o *Outcome) { o.Placed-- },
		"every place is one visitor's":        func(o *Outcome) { o.Places[0] = 1 },
	} {
		o := outcome()
		injure(o)
		for _, c := range Audit(o) {
			require.Equal(t, c.Name == name, c.Failed > 0, "%s: %s", name, c.Name)
		}
	}
}
