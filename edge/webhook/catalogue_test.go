package webhook_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/webhook"
	"boxoffice/engine/all"
)

// specified is what the API promises: types and data keys.
const specified = `
event.created event
event.updated event
event.published event
event.cancelled event
event.completed event
ticket_type.created ticketType
ticket_type.sold_out ticketType
order.created order
order.completed order tickets
order.failed order
order.cancelled order
ticket.created ticket
ticket.transferred ticket
ticket.checked_in ticket checkin
ticket.checkin_denied ticket
refund.requested refund
refund.approved refund
refund.processed refund
refund.denied refund
report.submitted report
report.resolved report
message.received message
payout.scheduled payout
payout.paid payout
payout.failed payout
attendee.tagged attendee
agent.action tool method path statusCode at`

func TestCatalogueIsTheSpecifications(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(specified), "\n")
	require.Len(t, webhook.Catalogue, len(lines))
	require.Len(t, lines, 27)
	for i, line := range lines {
		row, words := webhook.Catalogue[i], strings.Fields(line)
		require.Equal(t, words[0], row.Name)
		require.Subset(t, row.Keys, words[1:], row.Name)
		require.Regexp(t, `^[A-Z].*\.$`, row.Description, row.Name)
		found, ok := webhook.Find(row.Name)
		require.True(t, ok)
		require.Equal(t, row.Name, found.Name)
	}
	_, ok := webhook.Find("webhook.test")
	require.False(t, ok)
}

// TestDataHasItsKeys holds the keys of a row against its data.
func TestDataHasItsKeys(t *testing.T) {
	t.Parallel()
	for _, row := range webhook.Catalogue {
		require.Equal(t, row.Active(), row.Data != nil, row.Name)
		if row.Data == nil {
			continue
		}
		var keys []string
		for f := range reflect.TypeOf(row.Data).Fields() {
			keys = append(keys, f.Tag.Get("json"))
		}
		require.Equal(t, row.Keys, keys, row.Name)
	}
}

// TestEveryFactHasARow finds the facts that the catalogue neither tells nor marks
// as internal. A new type of facts comes here.
func TestEveryFactHasARow(t *testing.T) {
	t.Parallel()
	told := map[string]bool{}
	for _, row := range webhook.Catalogue {
		for _, from := range row.From {
			told[from] = true
		}
	}
	var known []string
	teller := new(webhook.Teller)
	for _, kind := range all.Kinds {
		for _, def := range kind.Facts {
			why, internal := webhook.Internal[def.Name]
			require.NotEqual(t, told[def.Name], internal, "%s: is it told, or internal?", def.Name)
			require.Equal(t, internal, why != "", def.Name)
			require.Equal(t, told[def.Name], teller.Covers(kind.Kind, def.Type), def.Name)
			require.NotContains(t, known, def.Name, "two kinds have a fact of this name")
			known = append(known, def.Name)
		}
	}
	for name := range told {
		require.True(t, slices.Contains(known, name), "%s is no fact", name)
	}
	for name := range webhook.Internal {
		require.True(t, slices.Contains(known, name), "%s is no fact", name)
	}
}
