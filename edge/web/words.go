package web

import (
	"html/template"
	"strings"

	"boxoffice/edge/mail"
)

// bilingual is what a page that the server writes says in each language that we have.
type bilingual[W any] struct{ english, german W }

// in returns the German or the English words.
func (b *bilingual[W]) in(german bool) *W {
	if german {
		return &b.german
	}
	return &b.english
}

// showPrice writes a price with its currency as letters do; "" for nothing.
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

// frameWords are the words of the head of the small pages.
type frameWords struct{ Tickets string }

var frames = bilingual[frameWords]{frameWords{"My tickets"}, frameWords{"Meine Karten"}}

// frameIn returns the head of the small pages: the links to the shop and to the reader's tickets.
func frameIn(german bool) template.HTML {
	return template.HTML(`<header><a class="mark" href="/">Boxoffice</a><nav><a href="/me">` + frames.in(german).Tickets + `</a></nav></header>`) //nolint:gosec // our own words
}
