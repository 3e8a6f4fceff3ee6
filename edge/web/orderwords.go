package web

// OrderWords are the words of an order's page in one language. OrderOf, TicketOf and RefundOf have words for
// statuses, by their names in the API. A status without a word is shown by that name.
type OrderWords struct {
	Lang                              string // tag of BCP 47
	Order, Yours, NoSuch              string // titles
	Returned, ReturnedHint, NoMail    string // for a payer who comes back without the order's token
	NoOrder, NoOrderHint              string
	Each, Free, Discount, Fees, Total string
	Tickets, For, QR, DoorCode        string
	Goods                             string // the title of the list of tickets for a product that is not an event
	Pay, Show, Begin, Open, All       string // what the page with scripts is good for; Order.LiveFor has one of them
	NeedsScript, More                 string
	Waits, Rotates                    string
	Transfer, TransferBy              string // TransferBy takes the time until which the money must arrive
	TransferSent                      string // replaces TransferBy once the buyer has said that the money is sent
	Holder, Account, Amount           string
	Reference, ReferenceHint          string
	Giro, GiroHint                    string
	AdmitsNobody, Cancelled, AskMoney string // Cancelled takes the event's title, AskMoney an address
	NoGoods, NotSold                  string // replace AdmitsNobody and Cancelled for a product that is not an event
	StaysYours                        string // for a product that is not an event and was cancelled
	Why                               string // takes the organizer's text about a cancellation or a refused refund
	Withdraw                          string // takes the time until which the buyer may withdraw
	Unpaid                            string // takes the time until which the order is kept
	Moved, MovedFree                  string // take the time until which the tickets may be given back, and an address
	Refund                            string // takes an amount and the refund's status
	Return                            string // takes the status of a refund without money
	PassedOn                          string // the status of a ticket that now belongs to somebody else
	OrderOf, TicketOf, RefundOf       map[string]string
	NoticeOf                          map[string]string // what the page says of an order's outcome, by its status; nothing for a status that is missing
}

var orderWords = bilingual[OrderWords]{english: englishOrder, german: germanOrder}

var englishOrder = OrderWords{
	Lang: "en", Order: "Order", Yours: "Your order", NoSuch: "No such order",
	Returned:     "Open your order by the link in our mail",
	ReturnedHint: "This page cannot tell whether a payment went through. If it did, we mail you a link to your order and your tickets within some minutes. If it did not, nothing was charged, and the tickets are kept for you until the time that the order names.",
	NoMail:       "If no mail comes, look among the unwanted ones.",
	NoOrder:      "This link opens no order", NoOrderHint: "It may be incomplete, or too old. The newest mail about the order has a good one.",
	Each: "each", Free: "free", Discount: "Discount", Fees: "Fees", Total: "Total",
	Tickets: "Tickets", For: "for", QR: "QR code of the ticket", DoorCode: "door code", Goods: "What you have bought",
	Pay: "Pay", Show: "Keep the tickets on your screen", Begin: "Begin the course", Open: "Open what you have bought", All: "See all of this order", NeedsScript: "needs JavaScript", More: "More tickets",
	Waits:    "This page looks again by itself every 25 seconds.",
	Rotates:  "The QR codes change every 30 seconds. This page loads anew by itself.",
	Transfer: "Bank transfer", TransferBy: "Please transfer the money. By %s it must be there; the tickets come when it is.",
	TransferSent: "We wait for your money, which you have told us is sent. By %s it must be there; the tickets come when it is.",
	Holder:       "Account holder", Account: "IBAN or account", Amount: "Amount",
	Reference: "Reference", ReferenceHint: "Write the reference and nothing else: the transfer is known by it.",
	Giro: "QR code of the transfer", GiroHint: "Most banking apps read this code (GiroCode) and fill the transfer in.",
	AdmitsNobody: "Its tickets admit nobody any more.",
	Cancelled:    "%s is cancelled: it does not take place, and no ticket of it admits anybody.",
	AskMoney:     "You may ask for your money back, whatever the terms said when you bought: sign in with the address of this order, and ask for it at %s. Money of yours that arrives only now goes back without a request.",
	NoGoods:      "What you bought with it is not yours any more.",
	NotSold:      "%s is cancelled: it is not sold any more.",
	StaysYours:   "What you have bought stays yours until you give it back.",
	Why:          "The organizer writes: %s",
	Withdraw:     "You may withdraw from this purchase without a reason until %s, as long as you have opened nothing of it: on the page that the link below leads to.",
	Unpaid:       "This order is not paid yet. What is in it is kept for you until %s.",
	Moved:        "The event begins at another time than it did when you bought. If that does not suit you, you may ask for your money back until %s: sign in with the address of this order, and ask for it at %s.",
	MovedFree:    "The event begins at another time than it did when you ordered. If that does not suit you, you may give your tickets back until %s: sign in with the address of this order, at %s.",
	Refund:       "Refund of %s: %s.",
	Return:       "Giving back: %s.",
	PassedOn:     "passed on",
	OrderOf:      map[string]string{"partially_refunded": "partially refunded"},
	TicketOf:     map[string]string{"issued": "valid", "checked_in": "checked in", "cancelled": "not valid any more", "refunded": "given back", "expired": "over"},
	RefundOf: map[string]string{
		"requested": "asked for", "approved": "granted", "denied": "declined", "cancelled": "not asked for any more", "processing": "on its way", "processed": "sent", "failed": "not arrived yet",
	},
	NoticeOf: map[string]string{
		"cancelled":          "This order is cancelled. It has no tickets. If money of yours arrives for it, it goes back to you.",
		"expired":            "This order is expired. It has no tickets. If money of yours arrives for it, it goes back to you.",
		"failed":             "This order is failed. It has no tickets. If money of yours arrives for it, it goes back to you.",
		"refunded":           "This order was refunded.",
		"partially_refunded": "A part of this order was refunded.",
	},
}

var germanOrder = OrderWords{
	Lang: "de", Order: "Bestellung", Yours: "Deine Bestellung", NoSuch: "Keine solche Bestellung",
	Returned:     "Öffne deine Bestellung über den Link in unserer Mail",
	ReturnedHint: "Diese Seite weiß nicht, ob eine Zahlung geklappt hat. Wenn ja, schicken wir dir in einigen Minuten einen Link zu deiner Bestellung und deinen Karten. Wenn nicht, wurde nichts abgebucht, und die Karten bleiben dir bis zu der Zeit, die in der Bestellung steht.",
	NoMail:       "Kommt keine Mail, so sieh unter den unerwünschten nach.",
	NoOrder:      "Dieser Link öffnet keine Bestellung", NoOrderHint: "Vielleicht ist er unvollständig oder zu alt. In der neuesten Mail zur Bestellung steht ein guter.",
	Each: "je Stück", Free: "kostenlos", Discount: "Rabatt", Fees: "Gebühren", Total: "Summe",
	Tickets: "Karten", For: "für", QR: "QR-Code der Karte", DoorCode: "Türcode", Goods: "Was du gekauft hast",
	Pay: "Bezahlen", Show: "Die Karten auf dem Bildschirm behalten", Begin: "Kurs beginnen", Open: "Öffnen, was du gekauft hast", All: "Die ganze Bestellung sehen", NeedsScript: "braucht JavaScript", More: "Weitere Karten",
	Waits:    "Diese Seite sieht alle 25 Sekunden von selbst wieder nach.",
	Rotates:  "Die QR-Codes wechseln alle 30 Sekunden. Diese Seite lädt von selbst neu.",
	Transfer: "Überweisung", TransferBy: "Bitte überweise das Geld. Bis %s muss es da sein; die Karten kommen, sobald es da ist.",
	TransferSent: "Wir warten auf dein Geld, das du überwiesen hast. Bis %s muss es da sein; die Karten kommen, sobald es da ist.",
	Holder:       "Kontoinhaber", Account: "IBAN oder Konto", Amount: "Betrag",
	Reference: "Verwendungszweck", ReferenceHint: "Schreibe nur den Verwendungszweck: An ihm wird die Überweisung erkannt.",
	Giro: "QR-Code der Überweisung", GiroHint: "Die meisten Banking-Apps lesen diesen Code (GiroCode) und füllen die Überweisung aus.",
	AdmitsNobody: "Ihre Karten gelten für niemanden mehr.",
	Cancelled:    "%s ist abgesagt: Es findet nicht statt, und keine Karte dafür gilt.",
	AskMoney:     "Du kannst dein Geld zurückverlangen, was auch immer beim Kauf galt: Melde dich mit der Adresse dieser Bestellung an, und verlange es unter %s. Geld von dir, das erst jetzt ankommt, geht von selbst zurück.",
	NoGoods:      "Was du damit gekauft hast, gehört dir nicht mehr.",
	NotSold:      "%s ist abgesagt und wird nicht mehr verkauft.",
	StaysYours:   "Was du gekauft hast, bleibt deins, bis du es zurückgibst.",
	Why:          "Der Veranstalter schreibt: %s",
	Withdraw:     "Du kannst diesen Kauf bis %s ohne Grund widerrufen, solange du nichts davon geöffnet hast: auf der Seite, zu der der Link unten führt.",
	Unpaid:       "Diese Bestellung ist noch nicht bezahlt. Was darin ist, bleibt dir bis %s.",
	Moved:        "Die Veranstaltung beginnt zu einer anderen Zeit als bei deinem Kauf. Passt dir das nicht, so kannst du bis %s dein Geld zurückverlangen: Melde dich mit der Adresse dieser Bestellung an, und verlange es unter %s.",
	MovedFree:    "Die Veranstaltung beginnt zu einer anderen Zeit als bei deiner Bestellung. Passt dir das nicht, so kannst du deine Karten bis %s zurückgeben: Melde dich dafür mit der Adresse dieser Bestellung an, unter %s.",
	Refund:       "Rückzahlung von %s: %s.",
	Return:       "Rückgabe: %s.",
	PassedOn:     "weitergegeben",
	OrderOf: map[string]string{
		"pending": "offen", "processing": "Zahlung läuft", "offered": "angeboten", "completed": "abgeschlossen", "failed": "fehlgeschlagen", "cancelled": "storniert",
		"expired": "verfallen", "refunded": "zurückgezahlt", "partially_refunded": "teilweise zurückgezahlt",
	},
	TicketOf: map[string]string{"issued": "gültig", "checked_in": "eingelassen", "cancelled": "ungültig", "refunded": "zurückgegeben", "expired": "vorbei"},
	RefundOf: map[string]string{
		"requested": "verlangt", "approved": "bewilligt", "denied": "abgelehnt", "cancelled": "nicht mehr verlangt", "processing": "unterwegs", "processed": "zurückgezahlt", "failed": "noch nicht angekommen",
	},
	NoticeOf: map[string]string{
		"cancelled":          "Diese Bestellung ist storniert. Sie hat keine Karten. Kommt dafür noch Geld von dir an, geht es an dich zurück.",
		"expired":            "Diese Bestellung ist verfallen. Sie hat keine Karten. Kommt dafür noch Geld von dir an, geht es an dich zurück.",
		"failed":             "Diese Bestellung ist fehlgeschlagen. Sie hat keine Karten. Kommt dafür noch Geld von dir an, geht es an dich zurück.",
		"refunded":           "Diese Bestellung wurde zurückgezahlt.",
		"partially_refunded": "Ein Teil dieser Bestellung wurde zurückgezahlt.",
	},
}

// OrderWordsIn returns the German words of an order's page, or else the English ones.
func OrderWordsIn(german bool) *OrderWords { return orderWords.in(german) }
