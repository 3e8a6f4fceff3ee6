package web

// mailedWords are what one of the pages to which mailed links lead says in one language.
type mailedWords struct {
	Title, Hint     string
	Password, Again string // labels of the fields for a password and for its repetition; "": there is no such field
	Button, Done    string
}

// mailedRefusalWords are what all pages to which mailed links lead say in one language when the API
// refuses.
type mailedRefusalWords struct {
	Lang        string
	NeedsScript string
	// Refused holds texts by the codes or reasons of the API's errors. The page's script uses "again" if the two
	// passwords differ, and OFFLINE if there is no answer. The text for "" is for all other errors.
	Refused map[string]string
}

var mailedRefusals = bilingual[mailedRefusalWords]{
	english: mailedRefusalWords{
		Lang: "en", NeedsScript: "This page needs JavaScript.",
		Refused: map[string]string{
			"again": "The two passwords are not the same.", "TOKEN_EXPIRED": "This link is not valid, or no longer. The newest mail has the one that is.",
			"NOT_FOUND": "This link is not valid, or no longer. The newest mail has the one that is.", "UNAUTHORIZED": "This is not the account's password.",
			"WAITLIST_CLOSED": "Nobody can join this waitlist at the moment. Look at the event's page: there may be tickets.",
			"RATE_LIMITED":    "Very many requests come from your network. Wait a minute, and try again.",
			"OFFLINE":         "The server cannot be reached. Try again in a moment.", "": "That did not work. Try again in a moment.",
		},
	},
	german: mailedRefusalWords{
		Lang: "de", NeedsScript: "Diese Seite braucht JavaScript.",
		Refused: map[string]string{
			"again": "Die beiden Passwörter sind nicht gleich.", "TOKEN_EXPIRED": "Dieser Link gilt nicht, oder nicht mehr. In der neuesten Mail steht der richtige.",
			"NOT_FOUND": "Dieser Link gilt nicht, oder nicht mehr. In der neuesten Mail steht der richtige.", "UNAUTHORIZED": "Das ist nicht das Passwort des Kontos.",
			"WAITLIST_CLOSED": "Auf diese Warteliste kommt gerade niemand. Sieh auf der Seite der Veranstaltung nach: Vielleicht gibt es Karten.",
			"RATE_LIMITED":    "Aus deinem Netz kommen sehr viele Anfragen. Warte eine Minute und versuche es noch einmal.",
			"OFFLINE":         "Der Server ist nicht zu erreichen. Versuche es gleich noch einmal.", "": "Das hat nicht geklappt. Versuche es gleich noch einmal.",
		},
	},
}

var mailedPages = []mailedPage{
	{Path: "/follow", API: "/community/follows/{token}", words: bilingual[mailedWords]{
		mailedWords{Title: "Follow an organizer", Hint: "You hear of the organizer's new events by mail, until you unsubscribe.", Button: "Follow", Done: "Done. You hear of the new events."},
		mailedWords{Title: "Einem Veranstalter folgen", Hint: "Du erfährst per Mail von neuen Veranstaltungen, bis du dich abmeldest.", Button: "Folgen", Done: "Erledigt. Du erfährst von den neuen Veranstaltungen."},
	}},
	{Path: "/waitlist/confirm", API: "/community/waitlist/{token}/confirm", words: bilingual[mailedWords]{
		mailedWords{Title: "Join a waitlist", Hint: "When tickets come free and it is your turn, we keep them for you for a while and mail you. You pay nothing until then.", Button: "Join the waitlist", Done: "Done. You wait. Our next mail lets you leave the waitlist."},
		mailedWords{Title: "Auf die Warteliste", Hint: "Werden Karten frei und bist du an der Reihe, so halten wir sie eine Weile für dich und schreiben dir. Bis dahin zahlst du nichts.", Button: "Auf die Warteliste", Done: "Erledigt. Du wartest. Mit unserer nächsten Mail kannst du die Warteliste wieder verlassen."},
	}},
	{Path: "/unsubscribe", API: "/community/unsubscribe/{token}", words: unsubscribing},
	{Path: "/email/confirm", API: "/auth/email/confirm", Forget: "unproven", words: bilingual[mailedWords]{ // the organizer's pages remind of it
		mailedWords{Title: "Confirm your address", Hint: "Type the password that the account was opened with.", Password: "Password", Button: "Confirm", Done: "Thank you. Your address is confirmed."},
		mailedWords{Title: "Adresse bestätigen", Hint: "Gib das Passwort ein, mit dem das Konto eröffnet wurde.", Password: "Passwort", Button: "Bestätigen", Done: "Danke. Deine Adresse ist bestätigt."},
	}},
	{Path: "/password/reset", API: "/auth/password/reset", words: bilingual[mailedWords]{
		mailedWords{Title: "Set a new password", Hint: "Every device that is signed in to the account is signed out.", Password: "New password, of at least 8 characters", Again: "The same password again", Button: "Set password", Done: "Thank you. Sign in with the new password from now on."},
		mailedWords{Title: "Neues Passwort setzen", Hint: "Alle Geräte, die mit dem Konto angemeldet sind, werden abgemeldet.", Password: "Neues Passwort, mindestens 8 Zeichen", Again: "Dasselbe Passwort noch einmal", Button: "Passwort setzen", Done: "Danke. Melde dich von jetzt an mit dem neuen Passwort an."},
	}},
}

var unsubscribing = bilingual[mailedWords]{
	mailedWords{Title: "Get no more news", Hint: "You get no more news and invitations of this organizer. Mails about your orders still come.", Button: "Unsubscribe", Done: "Done. You get no more of it."},
	mailedWords{Title: "Keine Neuigkeiten mehr", Hint: "Du bekommst keine Neuigkeiten und Einladungen dieses Veranstalters mehr. Mails zu deinen Bestellungen kommen weiterhin.", Button: "Abmelden", Done: "Erledigt. Du bekommst nichts mehr davon."},
}
