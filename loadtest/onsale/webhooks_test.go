package onsale_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/rush"
	"boxoffice/loadtest/rush/rushtest"
)

func TestWebhooksOfARush(t *testing.T) {
	t.Parallel()
	s := rushtest.Start(t, rushtest.Bugs{Telling: rushtest.TellingBugs{Repeat: 7}})
	r, out, err := run(t, config(t, s.URL, "--webhooks", "--duration=500ms"))
	require.NoError(t, err, out)
	require.EqualValues(t, len(s.Told.Facts), r.Deliveries.Events)
	require.EqualValues(t, len(s.Told.Facts)/7, r.Deliveries.Again)
	require.Positive(t, r.Deliveries.Delay.P50)
	require.EqualValues(t, len(s.Told.Facts), rushtest.FindCheck(t, r, "each fact was delivered").Checked)
	require.EqualValues(t, s.Places, rushtest.FindCheck(t, r, "acknowledged orders are told").Checked)
	require.Contains(t, out, "webhooks, ms from fact to receipt")
}

func TestTheAuditFindsInWebhooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bugs  rushtest.TellingBugs
		check string
		text  string
	}{
		"a fact that nobody was told":    {rushtest.TellingBugs{Untold: 20}, "acknowledged orders are told", "no order.created tells of it"},
		"a delivery that never came":     {rushtest.TellingBugs{Lose: 20}, "each fact was delivered", "never came to"},
		"a signature of something else":  {rushtest.TellingBugs{Forge: 20}, "every delivery was signed", "not signed with its secret"},
		"a delivery of nothing":          {rushtest.TellingBugs{Invent: 20}, "nothing was delivered", "_of_nothing came to"},
		"deliveries in another sequence": {rushtest.TellingBugs{Late: 20}, "first attempts came in the order", "after a later one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := rushtest.Start(t, rushtest.Bugs{Telling: c.bugs})
			r, out, err := run(t, config(t, s.URL, "--webhooks", "--duration=500ms", "--hook-patience=1s"))
			require.ErrorIs(t, err, rush.ErrFindings)
			found := rushtest.FindCheck(t, r, c.check)
			require.Positive(t, found.Failed)
			require.Contains(t, strings.Join(found.Findings, "\n"), c.text)
			require.Contains(t, out, "FOUND "+found.Name)
		})
	}
}
