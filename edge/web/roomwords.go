package web

// roomWords are what the page of a waiting room says in one language. Where a text has a #, a
// number comes in its place.
type roomWords struct {
	Lang                                             string
	Clock                                            string // how a moment is written, as time.Format takes it
	Gone, GoneHint                                   string
	None, NoneHint                                   string
	Before, BeforeHint                               string // a date and time follows BeforeHint
	JoinHead, JoinDraw, JoinArrival, JoinLate        string
	Party, Join, See                                 string
	Email, NeededEmail                               string // labels of the field for the address: Email if it may stay empty, NeededEmail if not
	Mailed, MailedHint                               string
	Proof, Work                                      string // why nobody can join without scripts: the room wants an account, or work
	Full, FullHint                                   string
	In, InDraw, InArrival                            string
	Closed, ClosedHint                               string
	Drawn, Waiting, Stays                            string
	Turn, TurnHint                                   string
	Expired, ExpiredHint                             string
	Paused, Draining, Test, Lost                     string
	Place, Ahead, Wait, Opens, Until, Sale, Cheapest string
	To, Soon, Minutes, Days, Unknown, Free, SoldOut  string
	Scripts, Receipt, ReceiptHint, Reloads           string
	refused                                          map[string]string // the texts for refusals, by code or reason; the text for "" is for all others
}

var rooms = bilingual[roomWords]{english: englishRoom, german: germanRoom}

var englishRoom = roomWords{
	Lang: "en", Clock: "2 January 2006, 15:04 MST",
	Gone: "This event is not here", GoneHint: "The address is wrong, or the event is not public any more.",
	None: "Nobody waits here", NoneHint: "This event has no waiting room, or it is closed. Nobody has to wait.",
	Before: "The waiting room opens soon", BeforeHint: "You can join from ",
	JoinHead: "Join the waiting room", JoinDraw: "It makes no difference when you come: places are drawn among all who are here before the list closes.",
	JoinArrival: "Who comes first is let in first.", JoinLate: "The list of the draw is closed. Whoever joins now stands behind all places that are drawn.",
	Party: "How many are you?", Join: "Join", See: "See your place",
	Email: "E-mail address for the link to your place, if you want one", NeededEmail: "E-mail address: everybody has one entry, and joins by a link that we mail",
	Mailed: "Look into your mail", MailedHint: "We have mailed you a link. You are in once you have opened it and pressed its button, not before. If no mail comes, try again in five minutes.",
	Proof: "In this room every account has one entry. To sign in needs JavaScript.", Work: "To keep robots out, joining this room takes a calculation, and that needs JavaScript.",
	Full: "Nobody can join any more", FullHint: "The line is coming to its end. When all who are in it have been let in, everybody can order.",
	In: "You are in", InDraw: "It makes no difference when you came. Keep the address of this page: it is your place.", InArrival: "Keep the address of this page: it is your place.",
	Closed: "The list is closed", ClosedHint: "Places are drawn within minutes, by a public random number that nobody knows yet. If it does not come, places go by arrival.",
	Drawn: "The places are drawn", Waiting: "You are in line", Stays: "Your place never gets worse. Keep the address of this page: it is your place.",
	Turn: "It is your turn", TurnHint: "Ordering needs JavaScript. Open the link below in a browser that has it; your admission comes along.",
	Expired: "Your time to order is over", ExpiredHint: "What you ordered in time is still yours to pay for. To order anything else, you need a new place.",
	Paused: "The organizer has paused admission. Everybody keeps their place.", Draining: "Nobody else can join. All who are in line are still let in.",
	Test: "Test beacon: this is a trial run, and its draw proves nothing.", Lost: "This address is of no place in this room.",
	Place: "Your place", Ahead: "Entries before you", Wait: "Expected wait", Opens: "The first are let in", Until: "Time to order, until", Sale: "Still on sale", Cheapest: "The cheapest tickets are gone.",
	To: " to ", Soon: "Any moment now", Minutes: "about # min", Days: "more than a day", Unknown: "cannot be told at the moment", Free: "free", SoldOut: "nothing right now; what others do not pay for comes back",
	Scripts: "Go on with JavaScript", Receipt: "Your receipt", ReceiptHint: "Keep it: with it you can check the draw without trusting us.", Reloads: "This page loads anew by itself.",
	refused: map[string]string{
		"not_open": "Nobody can join yet.", "over": "The waiting room has just closed. Nobody has to wait any more.", "full": "Nobody can join this line any more.",
		"entered": "You have joined already, with another number of people. Open the link of the first mail.", "NOT_FOUND": "This link has run out. Ask for another.",
		"RATE_LIMITED": "Very many requests come from your network. Wait a minute, and try again.", "": "That did not work. Try again.",
	},
}

var germanRoom = roomWords{
	Lang: "de", Clock: "02.01.2006, 15:04 MST",
	Gone: "Diese Veranstaltung gibt es hier nicht", GoneHint: "Die Adresse stimmt nicht, oder die Veranstaltung ist nicht mehr öffentlich.",
	None: "Hier wartet niemand", NoneHint: "Diese Veranstaltung hat keinen Warteraum, oder er ist geschlossen. Niemand muss warten.",
	Before: "Der Warteraum öffnet bald", BeforeHint: "Eintragen kannst du dich ab ",
	JoinHead: "In den Warteraum", JoinDraw: "Es ist gleich, wann du kommst: Die Plätze werden unter allen verlost, die da sind, bevor die Liste schließt.",
	JoinArrival: "Wer zuerst kommt, wird zuerst eingelassen.", JoinLate: "Die Liste für die Verlosung ist geschlossen. Trägst du dich jetzt ein, so stehst du hinter allen verlosten Plätzen.",
	Party: "Wie viele seid ihr?", Join: "Eintragen", See: "Zu deinem Platz",
	Email: "E-Mail-Adresse für den Link zu deinem Platz, wenn du einen möchtest", NeededEmail: "E-Mail-Adresse: Jeder hat einen Eintrag, und eingetragen wird er über einen Link, den wir mailen",
	Mailed: "Sieh in deine Mails", MailedHint: "Wir haben dir einen Link gemailt. Du bist dabei, sobald du ihn öffnest und den Knopf drückst, nicht vorher. Kommt keine Mail, so versuche es in fünf Minuten noch einmal.",
	Proof: "Hier hat jedes Konto einen Eintrag. Zum Anmelden braucht es JavaScript.", Work: "Damit Roboter es schwerer haben, kostet das Eintragen hier eine Rechnung, und die braucht JavaScript.",
	Full: "Niemand kann sich mehr eintragen", FullHint: "Die Reihe geht zu Ende. Sind alle eingelassen, die in ihr stehen, kann jeder bestellen.",
	In: "Du bist dabei", InDraw: "Es ist gleich, wann du gekommen bist. Bewahre die Adresse dieser Seite auf: Sie ist dein Platz.", InArrival: "Bewahre die Adresse dieser Seite auf: Sie ist dein Platz.",
	Closed: "Die Liste ist geschlossen", ClosedHint: "In wenigen Minuten werden die Plätze verlost, mit einer öffentlichen Zufallszahl, die noch niemand kennt. Bleibt sie aus, so gehen die Plätze der Reihe nach.",
	Drawn: "Die Plätze sind verlost", Waiting: "Du stehst in der Reihe", Stays: "Dein Platz wird nie schlechter. Bewahre die Adresse dieser Seite auf: Sie ist dein Platz.",
	Turn: "Du bist dran", TurnHint: "Zum Bestellen braucht es JavaScript. Öffne den Link unten in einem Browser, der es hat; dein Einlass kommt mit.",
	Expired: "Deine Zeit zum Bestellen ist um", ExpiredHint: "Was du rechtzeitig bestellt hast, kannst du noch bezahlen. Für alles andere brauchst du einen neuen Platz.",
	Paused: "Der Veranstalter hat den Einlass angehalten. Alle behalten ihren Platz.", Draining: "Niemand kann sich mehr eintragen. Wer in der Reihe steht, wird noch eingelassen.",
	Test: "Probelauf: Die Zufallszahl ist nicht öffentlich, und die Verlosung beweist nichts.", Lost: "Zu dieser Adresse gibt es hier keinen Platz.",
	Place: "Dein Platz", Ahead: "Einträge vor dir", Wait: "Voraussichtlich noch", Opens: "Die Ersten werden eingelassen", Until: "Zeit zum Bestellen, bis", Sale: "Noch im Verkauf", Cheapest: "Die günstigsten Karten sind weg.",
	To: " bis ", Soon: "Jeden Moment", Minutes: "etwa # Min.", Days: "mehr als ein Tag", Unknown: "lässt sich gerade nicht sagen", Free: "frei", SoldOut: "im Moment nichts; was andere nicht bezahlen, kommt zurück",
	Scripts: "Weiter mit JavaScript", Receipt: "Dein Beleg", ReceiptHint: "Bewahre ihn auf: Mit ihm kannst du die Verlosung prüfen, ohne uns zu trauen.", Reloads: "Diese Seite lädt von selbst neu.",
	refused: map[string]string{
		"not_open": "Noch kann sich niemand eintragen.", "over": "Der Warteraum ist eben zu Ende gegangen. Niemand muss mehr warten.", "full": "In diese Reihe kann sich niemand mehr eintragen.",
		"entered": "Du hast dich schon eingetragen, mit einer anderen Zahl von Personen. Öffne den Link der ersten Mail.", "NOT_FOUND": "Dieser Link gilt nicht mehr. Bitte um einen neuen.",
		"RATE_LIMITED": "Aus deinem Netz kommen sehr viele Anfragen. Warte eine Minute und versuche es noch einmal.", "": "Das hat nicht geklappt. Versuche es noch einmal.",
	},
}
