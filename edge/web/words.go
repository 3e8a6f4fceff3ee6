package web

import (
	"html/template"
	"strings"

	"boxoffice/edge/mail"
)

// bilingual is what a page that the server writes says in each of our languages. The type W has the
// words of one language.
type bilingual[W any] struct{ english, german W }

// in returns the German words, or else the English ones.
func (b *bilingual[W]) in(german bool) *W {
	if german {
		return &b.german
	}
	return &b.english
}

// showPrice writes a price with its currency in the form that mails use. It returns "" for a price
// of zero, for which pages have words.
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
