package web

import (
	"html/template"
	"strings"

	"boxoffice/edge/mail"
)

// bilingual holds the words of a page in each of our languages. The type W holds the words of one language.
type bilingual[W any] struct{ english, german W }

// in returns the German words, or else the English ones.
func (b *bilingual[W]) in(german bool) *W {
	if german {
		return &b.german
	}
	return &b.english
}

// showPrice writes a price with its currency, as mails do. It returns "" for a price of zero, because pages
// then say "free" or nothing.
func showPrice(decimal, currency string, german bool) string {
	if strings.Trim(decimal, "0.") == "" {
		return ""
	}
	language := mail.English
	if german {
		language = mail.German
	}
	return mail.Money{Amount: decimal, Currency: currency}.In(language)
}

// frameWords are the words of the header of the small pages.
type frameWords struct{ Tickets string }

var frames = bilingual[frameWords]{frameWords{"My tickets"}, frameWords{"Meine Karten"}}

// frameIn returns the header of the small pages: the links to the shop and to the reader's tickets.
func frameIn(german bool) template.HTML {
	return template.HTML(`<header><a class="mark" href="/">Boxoffice</a><nav><a href="/me">` + frames.in(german).Tickets + `</a></nav></header>`) //nolint:gosec // our own words
}
