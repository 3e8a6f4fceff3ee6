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
func isGoods(product string) bool {
	return product == "file" || product == "link" || product == "course"
}

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

// TestCopiesHoldWhatTheySay: a mail with tickets warns of whoever has it only if one can use what is in it; it speaks
// of codes only where a door reads them, and brings what one needs to take part online.
func TestCopiesHoldWhatTheySay(t *testing.T) {
	t.Parallel()
	eachLetter(t, func(t *testing.T, state, product string, l Language, m Message) {
		isCopy := state == "attendee_tickets" || state == "attendee_tickets.given"
		if isCopy {
			isOfUse := strings.Contains(m.Text, "Code ABCDE") || strings.Contains(m.Text, "https://meet.") || strings.Contains(m.Text, "https://learn.")
			says(t, isOfUse, l, m, "Anyone who has this mail", "Wer diese Mail hat")
		}
		if product == "online" && (isCopy || state == "order_confirmation") {
			require.Contains(t, m.Text, "Room code: 4711")
		}
		if product == "online" {
			for _, door := range []string{"code that anybody", "codes that you", "den vorher jemand", "die du dafür hast"} {
				require.NotContains(t, m.Text, door)
			}
		}
		if strings.HasPrefix(state, "transfer_taken") && !isGoods(product) {
			says(t, product == "visit" || product == "day", l, m, "move it", "verlegen")
		}
	})
}

// TestRotatingVisit: a booked time is told as the only one that admits, also where no code on paper does.
func TestRotatingVisit(t *testing.T) {
	t.Parallel()
	for name, p := range products(t) {
		if name != "visit" && name != "visits" {
			continue
		}
		p.event.RotatingOnly = true
		for _, l := range Languages {
			to := envelope("ada@example.org", "Ada")
			to.Language = l
			m, err := OrderConfirmation(to, p.order, p.event)
			require.NoError(t, err)
			says(t, true, l, m, "only at the time", "nur zu der Zeit")
			require.Empty(t, m.Pictures)
			m, err = AttendeeTickets(to, "", p.order, p.event)
			require.NoError(t, err)
			says(t, true, l, m, "only at the time", "nur zu der Zeit")
			says(t, true, l, m, "ask the buyer", "bitte die Person")
		}
	}
}

// TestRefundsTellTheTruth: a letter about a refund speaks of a request only to somebody who asked, of money only if
// some goes back, and of tickets only where something is attended.
func TestRefundsTellTheTruth(t *testing.T) {
	t.Parallel()
	eachLetter(t, func(t *testing.T, state, product string, l Language, m Message) {
		kind, why, _ := strings.Cut(state, ".")
		if !strings.HasPrefix(kind, "refund_") {
			return
		}
		isUnasked := why == "taken" || why == "unasked" || why == "money" && kind == "refund_due"
		if isUnasked {
			says(t, false, l, m, "granted", "zugesagt")
			says(t, false, l, m, "request", "eine Bitte")
		}
		if why == "nothing" || why == "taken" {
			require.NotContains(t, m.Subject, []string{"refund", "Erstattung"}[l])
		}
		if why == "by_hand" {
			says(t, false, l, m, "We have sent", "Wir haben dir")
			says(t, kind == "refund_due", l, m, " sends it by hand", " schickt es von Hand")
			says(t, kind == "refund_processed", l, m, " has sent ", " hat dir ")
		}
		if isGoods(product) {
			says(t, false, l, m, " ticket", "Karte")
			says(t, false, l, m, "valid", "gilt")
		}
		if kind == "refund_due" && why == "part" {
			require.Contains(t, m.Text, "> We <b>miss</b> you.\n> See www. example. org", "what the organizer says of the request")
		}
	})
}

// TestEndsPromiseNothing: what has ended promises neither money that nobody has asked for nor a sale that may be over,
// and says where nothing goes back.
func TestEndsPromiseNothing(t *testing.T) {
	t.Parallel()
	eachLetter(t, func(t *testing.T, state, _ string, l Language, m Message) {
		switch state {
		case "event_cancelled.reason":
			says(t, true, l, m, "that person may ask for the money back", "so kann diese Person das Geld zurückverlangen")
		case "order_cancelled":
			says(t, false, l, m, "is for sale again", "ist wieder im Verkauf")
			says(t, true, l, m, "while it is for sale", "solange es im Verkauf ist")
		case "order_withdrawn.free":
			says(t, true, l, m, "money goes back for it", "Geld geht dafür nicht zurück")
		}
	})
}

// TestRestIsTold: a confirmation that shows fewer tickets than its lines have says what became of the others.
func TestRestIsTold(t *testing.T) {
	t.Parallel()
	eachLetter(t, func(t *testing.T, state, product string, l Language, m Message) {
		switch state {
		case "order_confirmation.part":
			says(t, !isGoods(product), l, m, "1 of the tickets was passed on or given back.", "Eine der Karten wurde weitergegeben oder zurückgegeben.")
			says(t, isGoods(product), l, m, "1 of what you bought was passed on or given back.", "1 davon wurde weitergegeben oder zurückgegeben.")
		case "order_confirmation.passed_on":
			says(t, !isGoods(product), l, m, "All of the tickets were passed on or given back.", "Alle Karten wurden weitergegeben oder zurückgegeben.")
			says(t, isGoods(product), l, m, "All that you bought was passed on or given back.", "Alles, was du gekauft hast, wurde weitergegeben oder zurückgegeben.")
			says(t, true, l, m, "can open your order", "kann deine Bestellung sehen")
			require.NotContains(t, m.Text, "Room code", "it is for who has the ticket now")
			require.Nil(t, m.Calendar, "it is their date, too")
		}
	})
}
