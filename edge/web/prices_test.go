package web_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/api"
	"boxoffice/edge/web"
)

// TestPricesWithoutScripts: what the server writes by itself has prices as the pages with scripts and letters have them.
func TestPricesWithoutScripts(t *testing.T) {
	t.Parallel()
	list, err := web.Files(true)
	require.NoError(t, err)
	frame, err := web.NewEmbedPage("", list)
	require.NoError(t, err)
	pay, err := web.NewPayPage(list)
	require.NoError(t, err)
	page, err := web.NewEventPage("")
	require.NoError(t, err)
	by, err := web.NewOrganizerPage("")
	require.NoError(t, err)
	var event, organizer strings.Builder
	require.NoError(t, page.Write(&event, &api.Event{Page: new(api.Customization), TicketTypes: []api.TicketType{{Name: "Stalls", PriceTotal: "1250.50", Currency: "EUR"}, {Name: "Lawn", PriceTotal: "0.00", Currency: "EUR"}}}))
	require.Contains(t, event.String(), "<li>Stalls: €1,250.50, with all fees</li>\n<li>Lawn: free</li>")
	total := "1250.50"
	require.NoError(t, by.Write(&organizer, &api.OrganizerPage{Upcoming: []api.Card{{Title: "Night", LowestPriceTotal: &total, Currency: "EUR"}}}))
	require.Contains(t, organizer.String(), "Night</a>, from €1,250.50</li>")
	for german, price := range map[bool]string{false: "€1,250.50", true: "1.250,50\u00a0€"} {
		var framed, asked strings.Builder
		require.NoError(t, frame.Write(&framed, &web.Embed{German: german, Event: &api.Event{TicketTypes: []api.TicketType{{PriceTotal: "1250.50", Currency: "EUR"}, {PriceTotal: "0.00", Currency: "EUR"}}}}))
		require.NoError(t, pay.Write(&asked, &web.Pay{German: german, Order: &api.LinkedOrder{Status: "paid", Items: []api.LinkedLine{{UnitPrice: "1250.50"}}, Total: "1250.50", Currency: "EUR"}}))
		require.Equal(t, 1, strings.Count(framed.String(), price), "the other one is free")
		require.Equal(t, 2, strings.Count(asked.String(), price), "of the line, and the total")
	}
}
