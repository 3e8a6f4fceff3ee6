package web

// payWords are what the page of a payment link says in one language.
type payWords struct {
	Lang                   string
	Clock                  string // how a moment is written, as time.Format takes it
	Gone, GoneHint         string
	Head, Until            string // Until takes a time
	OnItsWay, OnItsWayHint string
	Paid, PaidHint         string
	Over, OverHint         string
	Discount               string
	How, Email, Pay        string
	GoOn, Coins            string // GoOn takes a way to pay, Coins an amount and a coin
	Address, Memo          string
	Look, Reloads          string
	Card                   string
	wayOf                  map[string]string // the names of the ways to pay, by provider; a provider that is missing takes cards
	refused                map[string]string // the texts for refusals, by the error's code; the text for "" is for all others
}

// providerNames are the names of the providers that take cards, as people know them.
var providerNames = map[string]string{"paystack": "Paystack", "flutterwave": "Flutterwave", "stripe": "Stripe", "mollie": "Mollie", "paypal": "PayPal"}

var pays = bilingual[payWords]{
	english: payWords{
		Lang: "en", Clock: "2 January 2006, 15:04 MST",
		Gone: "This link pays for nothing", GoneHint: "It may be incomplete. Ask for it again where you have it from.",
		Head: "Pay for somebody else", Until: "Somebody asks you to pay this order. It waits until %s. The tickets go to whoever ordered; nobody is shown who pays.",
		OnItsWay: "The money is on its way", OnItsWayHint: "The provider has seen your payment and confirms it within some minutes. There is nothing more to do.",
		Paid: "It is paid", PaidHint: "Thank you. The tickets are with whoever ordered them.",
		Over: "This order has ended", OverHint: "It was not paid in time, or was given up. Money that still arrives for it goes back.",
		Discount: "Discount", How: "How to pay", Email: "Your e-mail address, for the provider's receipt", Pay: "Go on",
		GoOn: "Pay: %s", Coins: "Send exactly %s %s to this address", Address: "Address", Memo: "Memo or tag",
		Look: "I have paid: look whether it has come", Reloads: "This page looks again by itself every 25 seconds.", Card: "Card",
		wayOf: map[string]string{"nowpayments": "Crypto", "transfer": "Bank transfer"},
		refused: map[string]string{
			"RATE_LIMITED": "Very many requests come from your network. Wait a minute, and try again.", "ORDER_NOT_PAYABLE": "This order can't be paid so at the moment. Look again in some minutes.",
			"PROVIDER_ERROR": "The provider does not answer. Try again, or choose another way.", "PROVIDER_TIMEOUT": "The provider does not answer. Try again, or choose another way.",
			"": "That did not work. Look at what you wrote, or choose another way.",
		},
	},
	german: payWords{
		Lang: "de", Clock: "02.01.2006, 15:04 MST",
		Gone: "Dieser Link bezahlt nichts", GoneHint: "Vielleicht ist er unvollständig. Frage noch einmal da nach ihm, wo du ihn her hast.",
		Head: "Für jemand anderen bezahlen", Until: "Jemand bittet dich, diese Bestellung zu bezahlen. Sie wartet bis %s. Die Karten bekommt, wer bestellt hat; wer bezahlt, sieht niemand.",
		OnItsWay: "Das Geld ist unterwegs", OnItsWayHint: "Der Anbieter hat deine Zahlung gesehen und bestätigt sie in einigen Minuten. Du musst nichts mehr tun.",
		Paid: "Es ist bezahlt", PaidHint: "Danke. Die Karten sind bei dem, der sie bestellt hat.",
		Over: "Diese Bestellung ist zu Ende", OverHint: "Sie wurde nicht rechtzeitig bezahlt oder aufgegeben. Geld, das dafür noch ankommt, geht zurück.",
		Discount: "Rabatt", How: "Wie du zahlst", Email: "Deine E-Mail-Adresse, für den Beleg des Anbieters", Pay: "Weiter",
		GoOn: "Bezahlen: %s", Coins: "Sende genau %s %s an diese Adresse", Address: "Adresse", Memo: "Memo oder Tag",
		Look: "Ich habe bezahlt: nachsehen, ob es da ist", Reloads: "Diese Seite sieht alle 25 Sekunden von selbst wieder nach.", Card: "Bankkarte",
		wayOf: map[string]string{"nowpayments": "Krypto", "transfer": "Überweisung"},
		refused: map[string]string{
			"RATE_LIMITED": "Aus deinem Netz kommen sehr viele Anfragen. Warte eine Minute, und versuche es noch einmal.", "ORDER_NOT_PAYABLE": "So kann diese Bestellung gerade nicht bezahlt werden. Sieh in einigen Minuten wieder nach.",
			"PROVIDER_ERROR": "Der Anbieter antwortet nicht. Versuche es noch einmal, oder wähle einen anderen Weg.", "PROVIDER_TIMEOUT": "Der Anbieter antwortet nicht. Versuche es noch einmal, oder wähle einen anderen Weg.",
			"": "Das hat nicht geklappt. Prüfe, was du geschrieben hast, oder wähle einen anderen Weg.",
		},
	},
}
