package mail

import (
	"regexp"
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
			says(t, product == "visit" || product == "day", l, m, "move it", "umbuchen")
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
			says(t, true, l, m, "only for the time", "nur für den Termin")
			require.Empty(t, m.Pictures)
			m, err = AttendeeTickets(to, "", p.order, p.event)
			require.NoError(t, err)
			says(t, true, l, m, "only for the time", "nur für den Termin")
			says(t, true, l, m, "ask the person", "bitte die Person")
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
		if strings.HasSuffix(why, "by_hand") {
			says(t, false, l, m, "the way it came", "auf dem Weg, auf dem das Geld kam")
			says(t, false, l, m, "We have sent", "Wir haben dir")
			says(t, kind == "refund_due", l, m, " sends it by hand", " schickt es von Hand")
			says(t, kind == "refund_processed", l, m, " has sent ", " hat dir ")
		}
		if isGoods(product) {
			says(t, false, l, m, " ticket", "Karte")
			if why == "cancelled" && kind != "refund_due" {
				says(t, true, l, m, "yours", "deins")
			}
			says(t, false, l, m, "valid", "gilt")
		}
		if kind == "refund_due" && why == "unasked" {
			require.Contains(t, m.Text, "> A <b>slip</b> of ours.\n> See www. example. org", "why the organizer gives the money")
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
		case "event_cancelled.several":
			for _, number := range []string{"16-ABCDEFGHJKM", "16-MKJHGFEDCBA"} {
				require.GreaterOrEqual(t, strings.Count(m.Text, number), 2, "with what goes back for it, and with its link")
			}
			says(t, false, l, m, "your order ", "deine Bestellung ")
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
			says(t, !isGoods(product), l, m, "One of the tickets was passed on or given back.", "Eine der Karten wurde weitergegeben oder zurückgegeben.")
			says(t, isGoods(product), l, m, "One of them was passed on or given back.", "Eins davon wurde weitergegeben oder zurückgegeben.")
		case "order_confirmation.passed_on":
			says(t, !isGoods(product), l, m, "All of the tickets were passed on or given back.", "Alle Karten wurden weitergegeben oder zurückgegeben.")
			says(t, isGoods(product), l, m, "All of it was passed on or given back.", "Alles davon wurde weitergegeben oder zurückgegeben.")
			says(t, true, l, m, "can open your order", "kann deine Bestellung sehen")
			require.NotContains(t, m.Text, "Room code", "it is for who has the ticket now")
			require.Nil(t, m.Calendar, "it is their date, too")
		}
	})
}

// isOfOne reports whether a state's letter is about one ticket.
func isOfOne(state string) bool {
	for _, kind := range []string{"event_cancelled.passed_on", "transfer_", "ticket_rescheduled", "ticket_void.taken_back", "ticket_void.given_back", "ticket_void.passed_on", "refund_requested", "refund_denied", "refund_due.nothing", "refund_due.passed_on"} {
		if strings.HasPrefix(state, kind) {
			return true
		}
	}
	return state == "attendee_tickets" || state == "attendee_tickets.given"
}

// TestCountsAgree: a letter about one ticket speaks of no others, and one about a gift of all that was given.
func TestCountsAgree(t *testing.T) {
	t.Parallel()
	several := []*regexp.Regexp{regexp.MustCompile(`\b([Tt]ickets|them)\b`), regexp.MustCompile(`\bKarten\b`)}
	eachLetter(t, func(t *testing.T, state, product string, l Language, m Message) {
		if isOfOne(state) && !strings.HasPrefix(state, "transfer_taken") { // "it belongs to them now" is a person
			require.NotRegexp(t, several[l], strings.ReplaceAll(m.Subject+"\n"+m.Text, "tickets.example.org", ""))
		}
		if product == "gift" && (state == "order_confirmation" || state == "order_confirmation.part") {
			says(t, true, l, m, "gives you 2 tickets", "schenkt dir 2 Karten")
		}
	})
}

// TestNothingWasBought: a letter about what cost nothing or was given does not say that it was bought.
func TestNothingWasBought(t *testing.T) {
	t.Parallel()
	bought := regexp.MustCompile(`(?i)bought|buyer|purchase|gekauft|\bkauf\b`)
	eachLetter(t, func(t *testing.T, _, product string, _ Language, m Message) {
		if product == "free" || product == "gift" {
			require.NotRegexp(t, bought, m.Subject+"\n"+m.Text)
		}
	})
}

// TestLettersClaimNoMoreThanTheyKnow holds each letter against sentences that are false in one of the states in which
// it is sent.
func TestLettersClaimNoMoreThanTheyKnow(t *testing.T) {
	t.Parallel()
	for _, claim := range []struct {
		why   string
		texts [len(wordsOf)]string // by language
		in    string               // a prefix of the states; "": all
	}{
		{"the code stands above its picture, and a text has no picture", [...]string{"below it", "darunter"}, ""},
		{"a booked ticket admits on its whole date", [...]string{"only at the time", "nur zu der Zeit"}, ""},
		{"a refund ends an offer as well", [...]string{"taken it back", "zurückgenommen"}, "transfer_revoked"},
		{"another slot may be on the same date", [...]string{"another date", "ein neues Datum"}, ""},
		{"nobody else may be in line", [...]string{"next in line", "die Nächsten"}, "waitlist_"},
		{"the page asks for it", [...]string{"We never ask for it:", "Wir fragen dich nie danach"}, "login_code"},
		{"mails about orders still come", [...]string{"To get no more mails of", "keine Mails"}, ""},
		{"one organizer's events end", [...]string{"hear of no more events", "nichts Neuem mehr"}, "event_published"},
	} {
		eachLetter(t, func(t *testing.T, state, _ string, l Language, m Message) {
			if strings.HasPrefix(state, claim.in) {
				require.NotContains(t, m.Subject+"\n"+m.Text, claim.texts[l], claim.why)
			}
		})
	}
}

// TestPayeeIsVerbatim: a bank compares the name of an account's holder, so it stands as it was given.
func TestPayeeIsVerbatim(t *testing.T) {
	t.Parallel()
	eachLetter(t, func(t *testing.T, state, _ string, _ Language, m Message) {
		if strings.HasPrefix(state, "bank_transfer") {
			require.Contains(t, m.Text, "Kulturverein Nord e.V.\n")
		}
	})
}

// TestOrdersAreNamed: a letter about a part of an order names the order to its buyer.
func TestOrdersAreNamed(t *testing.T) {
	t.Parallel()
	eachLetter(t, func(t *testing.T, state, _ string, _ Language, m Message) {
		kind, rest, _ := strings.Cut(state, ".")
		isPart := kind == "refund_requested" || kind == "refund_denied" || kind == "ticket_rescheduled" || kind == "transfer_taken" || state == "event_changed.moved"
		if isPart && rest != "passed_on" {
			require.Contains(t, m.Text, "16-ABCDEFGHJKM")
		}
	})
}

// TestMoneyGoesToThePayer: to somebody who was passed a ticket and asks, money is not promised, and no order is theirs.
func TestMoneyGoesToThePayer(t *testing.T) {
	t.Parallel()
	eachLetter(t, func(t *testing.T, state, _ string, l Language, m Message) {
		if !strings.HasPrefix(state, "refund_") || !strings.HasSuffix(state, "passed_on") {
			return
		}
		hasMoney := strings.Contains(m.Text, "$")
		says(t, hasMoney, l, m, "the person who paid", "gezahlt hat")
		says(t, !hasMoney, l, m, "No money goes back for it", "Geld geht dafür nicht zurück")
		says(t, hasMoney, l, Message{Text: m.Subject}, "request for a refund", "Bitte um Erstattung")
		says(t, false, l, m, "your order", "deine Bestellung")
		says(t, false, l, m, "your order", "deiner Bestellung")
		says(t, false, l, m, "You get back", "Du möchtest")
	})
}

// TestVisitsAreTheReaders: a confirmation names the booked dates of the tickets that the buyer has, and takes the
// others out of the calendar.
func TestVisitsAreTheReaders(t *testing.T) {
	t.Parallel()
	for _, l := range Languages {
		m := samples(t, "Ada", l)["order_confirmation.part.visits"]
		says(t, true, l, m, "5 March 2026", "5. März 2026")
		says(t, false, l, m, "5 July 2026", "5. Juli 2026")
		says(t, true, l, m, "only for the time", "Die Karte gilt nur für den Termin")
		file := string(m.Calendar.Body)
		require.Equal(t, 2, strings.Count(file, "BEGIN:VEVENT"))
		require.Equal(t, 1, strings.Count(file, "STATUS:CANCELLED"))
	}
}

// TestLostTicketsAdmitNobody: whoever has lost a ticket that another person bought reads what became of it, that its
// codes admit nobody where a door reads them, and of money only where some goes back.
func TestLostTicketsAdmitNobody(t *testing.T) {
	t.Parallel()
	eachLetter(t, func(t *testing.T, state, product string, l Language, m Message) {
		kind, why, _ := strings.Cut(state, ".")
		if kind != "ticket_void" {
			return
		}
		says(t, why == "taken_back" || why == "paid" || why == "all", l, m, "has taken back", "zurückgenommen")
		says(t, why == "passed_on", l, m, "on to somebody else", "an jemand anderen weitergegeben")
		says(t, !isGoods(product) && product != "online", l, m, "admit nobody", "kommt niemand mehr hinein")
		says(t, why == "paid", l, m, "to the person who paid", "an die Person zurück, die gezahlt hat")
		says(t, why == "given_back", l, m, "What else you have", "Was du aus dieser Bestellung sonst noch hast")
		require.NotContains(t, m.Text, "16-ABCDEFGHJKM", "the order is another person's")
		require.NotContains(t, m.Text, "https://")
	})
}

// TestLastTicketLeavesTheCalendar: a refund of all that its reader has for a time takes that out of the calendar, and
// another leaves it there.
func TestLastTicketLeavesTheCalendar(t *testing.T) {
	t.Parallel()
	eachLetter(t, func(t *testing.T, state, product string, _ Language, m Message) {
		switch {
		case state == "refund_due.whole" && (product == "standing" || product == "visit" || product == "day"):
			require.NotNil(t, m.Calendar)
			require.Equal(t, "CANCEL", m.Calendar.Method)
		case (state == "ticket_void.taken_back" || state == "ticket_void.passed_on") && product == "standing":
			require.NotNil(t, m.Calendar)
			require.Equal(t, "CANCEL", m.Calendar.Method)
		case state == "transfer_taken.passed_on" && product == "standing":
			require.NotNil(t, m.Calendar)
			require.Equal(t, "CANCEL", m.Calendar.Method)
		case state == "transfer_taken" || state == "ticket_void.given_back" || state == "refund_due.part" || state == "refund_due.money" || isGoods(product) && m.Kind == "refund_due":
			require.Nil(t, m.Calendar)
		}
	})
}

// TestGoodsStay: a change of what is used rather than attended speaks of no tickets, and says that it stays.
func TestGoodsStay(t *testing.T) {
	t.Parallel()
	eachLetter(t, func(t *testing.T, state, product string, l Language, m Message) {
		if state == "event_changed.renamed" {
			says(t, !isGoods(product), l, m, "for which you have a ticket", "wofür du eine Karte hast")
			says(t, isGoods(product), l, m, "It stays yours", "Es bleibt deins")
			says(t, !isGoods(product) && product != "visit" && product != "day", l, m, "6 March 2026", "6. März 2026")
		}
	})
}

// TestLettersSayWhere: a letter that sends its reader to a page has a link to it.
func TestLettersSayWhere(t *testing.T) {
	t.Parallel()
	sends := regexp.MustCompile(`(?i)\b(sign in|log in with|ask for a new password|join it again|switch any on again|set the status)\b|melde dich|setze sofort|wieder eintragen|wieder einschaltest|setze den Status`)
	eachLetter(t, func(t *testing.T, _, _ string, _ Language, m Message) {
		if sends.MatchString(m.Text) {
			require.Contains(t, m.Text, "https://tickets.example.org/")
		}
	})
}
