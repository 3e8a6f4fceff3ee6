package web

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"boxoffice/edge/api"
)

// EmbedPolicy returns the Policy of an event's page that pages of the given origins may show in a
// frame. Without any origin no page may.
func EmbedPolicy(origins []string) string {
	if len(origins) == 0 {
		return Policy
	}
	return strings.Replace(Policy, "frame-ancestors 'none'", "frame-ancestors "+strings.Join(origins, " "), 1)
}

// Embed is what an EmbedPage shows of one event.
type Embed struct {
	Event  *api.Event // nil: there is no such event
	German bool       // the reader prefers German
	Now    time.Time
}

// embedWords are the words of an EmbedPage in one language.
type embedWords struct {
	Lang, Gone, Tickets, Free, Fees, Buy, NewTab, From, Closed, SoldOut, Cancelled, Over, Fewer, More, Number string
	spelled                                                                                                   string // the layout of a date and time
}

var embeds = bilingual[embedWords]{
	embedWords{"en", "This event is not here", "Tickets", "Free", "with all fees", "Get tickets", "opens a new tab", "On sale from", "The sale is over", "Sold out", "Cancelled", "Over", "One less of", "One more of", "How many of", "2 January 2006, 15:04"},
	embedWords{"de", "Diese Veranstaltung gibt es nicht", "Karten", "Kostenlos", "mit allen Gebühren", "Karten holen", "öffnet einen neuen Tab", "Ab", "Der Verkauf ist zu Ende", "Ausverkauft", "Abgesagt", "Vorbei", "Eine weniger von", "Eine mehr von", "Wie viele von", "02.01.2006, 15:04"},
}

//go:embed embed.html
var embedSource string

var embedTemplate = template.Must(template.New("embed").Parse(embedSource))

//go:embed widget.js
var widget []byte

// widgetFile is the script by which other sites show an event. Those sites have written its address
// into their pages, so the address must never change. Clients ask for it again after an hour, which
// is how long an old version may live.
var widgetFile = File{Path: "/embed.js", Type: types[".js"], Cache: "public, max-age=3600", Body: widget}

// EmbedPage writes the pages of events for frames on other sites. Such a page only leads to the
// shop, which opens in a tab of its own: nobody orders or pays inside a frame.
type EmbedPage struct{ base, style, script string }

// NewEmbedPage returns the page with the style sheet and the script that are among the files, on a node that people
// reach at base.
func NewEmbedPage(base string, files []File) (*EmbedPage, error) {
	p := EmbedPage{base: base}
	for _, f := range files {
		switch {
		case strings.HasSuffix(f.Path, "/embedded.css"):
			p.style = f.Path
		case strings.HasSuffix(f.Path, "/embedded.js"):
			p.script = f.Path
		}
	}
	if p.style == "" || p.script == "" {
		return nil, fmt.Errorf("web: the style sheet or the script of events in frames is missing")
	}
	return &p, nil
}

// embeddedType is a ticket type as the frame shows it at this moment.
type embeddedType struct {
	*api.TicketType
	Cost string // the price with all fees; "": the ticket is free
	Why  string // why nobody can buy the ticket now; "": people can
	Most int64  // the most tickets that the frame offers in one order
}

// Write writes the page of one event. If there is no such event, the page says so. If the event is cancelled or
// over, the page shows that in place of the ticket types.
func (p *EmbedPage) Write(w io.Writer, e *Embed) error {
	words := embeds.in(e.German)
	shown := struct {
		*Embed
		*embedWords
		Style, Script, Link, When, Picture, State string
		Types                                     []embeddedType
		Counted                                   bool // people choose here how many they want
	}{Embed: e, embedWords: words, Style: p.style, Script: p.script}
	if v := e.Event; v != nil {
		shown.Link = p.base + "/e/" + v.Slug
		// The page may load pictures of this server only, so the address must be without the base,
		// and a cover from elsewhere is replaced by the drawn one.
		shown.Picture = strings.TrimPrefix(textOrEmpty(v.CoverImage), p.base)
		if !strings.HasPrefix(shown.Picture, "/media/") {
			shown.Picture = strings.TrimSuffix(coverAddress(v), "/og.png")
		}
		if v.StartDate != nil && v.ProductType != "digital" {
			shown.When = inZone(*v.StartDate, v.Timezone).Format(words.spelled)
		}
		switch v.Status {
		case "cancelled":
			shown.State = words.Cancelled
		case "completed":
			shown.State = words.Over
		}
		// People choose in the frame how many tickets they want, unless one of the ticket types needs a seat or
		// the event needs a date, which only the shop can offer.
		shown.Counted = shown.State == "" && v.ProductType != "reservation"
		for i := range v.TicketTypes {
			t := p.describeType(&v.TicketTypes[i], e, words)
			shown.Counted = shown.Counted && !t.Seated
			shown.Types = append(shown.Types, t)
		}
	}
	if err := embedTemplate.Execute(w, &shown); err != nil {
		return fmt.Errorf("web: event in a frame: %w", err)
	}
	return nil
}

// describeType works out what the frame shows of a ticket type now: its price with all fees, how many tickets
// it offers in one order (at most the type's own limit, 100, and what is available), and why nobody can buy the
// ticket. If there are several reasons, the frame shows the first.
func (p *EmbedPage) describeType(t *api.TicketType, e *Embed, words *embedWords) embeddedType {
	d := embeddedType{TicketType: t, Cost: showPrice(t.PriceTotal, t.Currency, e.German), Most: min(t.MaxPerOrder, 100)}
	if t.Available != nil {
		d.Most = min(d.Most, *t.Available)
	}
	switch {
	case t.SaleStart != nil && t.SaleStart.After(e.Now):
		d.Why = words.From + " " + inZone(*t.SaleStart, e.Event.Timezone).Format(words.spelled)
	case t.SaleEnd != nil && t.SaleEnd.Before(e.Now):
		d.Why = words.Closed
	case t.Available != nil && *t.Available == 0:
		d.Why = words.SoldOut
	}
	return d
}
