package mail

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// eachLetter calls a check for each mail of each product and state, in each language. state and product are the
// parts of its sample's name: "order_confirmation.back" of "gift".
func eachLetter(t *testing.T, check func(t *testing.T, state, product string, l Language, m Message)) {
	t.Helper()
	for _, l := range Languages {
		for name, m := range samples(t, "Ada", l) {
			state, product := name, ""
			if i := strings.LastIndexByte(name, '.'); i >= 0 {
				state, product = name[:i], name[i+1:]
			}
			t.Run(l.String()+"/"+name, func(t *testing.T) { check(t, state, product, l, m) })
		}
	}
}

// isGoods reports whether a product is used rather than attended.
func isGoods(product string) bool { return product == "file" || product == "link" || product == "course" }

// says holds that a mail says one of the texts, which are by language, or that it does not.
func says(t *testing.T, is bool, l Language, m Message, texts ...string) {
	t.Helper()
	if is {
		require.Contains(t, m.Text, texts[l])
	} else {
		require.NotContains(t, m.Text, texts[l])
	}
}

// TestNothingLeft: a confirmation, or an attendee's copy, of what can't be used any more greets nobody and leads
// nowhere but to the order. What is used rather than attended stays its buyer's when its sale is cancelled.
func TestNothingLeft(t *testing.T) {
	t.Parallel()
	eachLetter(t, func(t *testing.T, state, product string, l Language, m Message) {
		kind, since, _ := strings.Cut(state, ".")
		if kind != "order_confirmation" && kind != "attendee_tickets" || since != "cancelled" && since != "back" {
			return
		}
		isLeft := since == "cancelled" && isGoods(product)
		says(t, isLeft, l, m, "stays yours until", "bleibt deins, bis")
		says(t, isLeft && kind == "order_confirmation", l, m, "is complete", "ist abgeschlossen")
		says(t, isLeft && (product == "link"), l, m, "https://learn.example.org", "https://learn.example.org")
		for _, gone := range []string{"https://meet.example.org", "calendar.ics", "tickets.pdf", "See you there!", "gives you", "schenkt dir"} {
			require.NotContains(t, m.Text, gone)
		}
		if kind == "order_confirmation" && since == "cancelled" {
			says(t, product != "free" && product != "gift", l, m, "Your order shows what you can do", "Deine Bestellung zeigt, was du tun kannst")
		}
	})
}
