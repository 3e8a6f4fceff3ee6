package web

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boxoffice/edge/api"
)

//go:embed event.html
var eventSource string

var eventTemplate = template.Must(template.New("event").Parse(eventSource))

// EventPage writes the pages of events. It writes what search engines, messengers and readers
// without scripts see; the built page around it shows the rest by its scripts.
type EventPage struct {
	base  string // the address at which people reach the node, which begins whole addresses
	built *Built
}

// NewEventPage returns the page as it was built, on a node that people reach at base.
func NewEventPage(base string) (*EventPage, error) {
	b, err := ReadBuilt(eventEntry)
	if err != nil {
		return nil, err
	}
	return &EventPage{base, b}, nil
}

// shownEvent is what the template of an event's page shows.
type shownEvent struct {
	*api.Event
	Canonical, Summary, Picture string
	When, Machine               string      // the event's start, in words and as in RFC 3339; "" without one, and for a digital product
	Data                        template.JS // the event as the API answers it, so that the page's scripts need no request
	Told                        template.JS // the event in the vocabulary of schema.org
}

// CostOf returns what a ticket of a type costs with all fees, or "" if it is free.
func (*shownEvent) CostOf(t api.TicketType) string { return showPrice(t.PriceTotal, t.Currency, false) }

// Write writes the page of an event. If e is nil, there is no such event, and the page says so.
func (p *EventPage) Write(w io.Writer, e *api.Event) error {
	shown := shownEvent{Event: e}
	if e != nil {
		if err := p.addSummary(&shown); err != nil {
			return err
		}
	}
	return p.built.Write(w, eventTemplate, &shown)
}

// addSummary fills in the fields of s from its event: the page's address, a summary, a picture, the start, and
// the data for scripts and search engines.
func (p *EventPage) addSummary(s *shownEvent) error {
	e := s.Event
	s.Canonical = p.base + "/e/" + e.Slug
	// Search engines and messengers show about this many characters. The organizer's own text for
	// them comes first.
	s.Summary = cutText(cmp.Or(textOrEmpty(e.Page.SEODescription), textOrEmpty(e.ShortDesc), textOrEmpty(e.Description)), 160)
	s.Picture = sharedPicture(p.base, cmp.Or(textOrEmpty(e.Page.SEOImage), textOrEmpty(e.CoverImage), coverAddress(e)))
	if e.StartDate != nil && e.ProductType != "digital" { // A digital product is delivered at once and shows no date.
		at := inZone(*e.StartDate, e.Timezone)
		s.When, s.Machine = at.Format(spelled), at.Format(time.RFC3339)
	}
	if s.Summary == "" {
		// An event without any text is summed up by its title, its date and its place.
		s.Summary = strings.Join(slices.DeleteFunc([]string{e.Title, s.When, textOrEmpty(e.VenueName)}, func(part string) bool { return part == "" }), ", ")
	}
	data, err := scriptJSON(e)
	if err != nil {
		return err
	}
	told, err := scriptJSON(describeEvent(s))
	s.Data, s.Told = data, told
	return err
}

// spelled is the layout in which readers without scripts see a moment. It names the time zone,
// because the server does not know the reader's.
const spelled = "Monday 2 January 2006, 15:04 MST"

// inZone returns a moment by the clocks of a time zone. If this machine does not know the zone, the
// moment keeps the zone that it has: a page with another zone is better than none.
func inZone(at time.Time, name string) time.Time {
	if zone, err := time.LoadLocation(name); err == nil {
		return at.In(zone)
	}
	return at
}

// uploaded matches the addresses of images that organizations have uploaded, without a size or a
// format.
var uploaded = regexp.MustCompile(`^/media/\d+$`)

// coverAddress returns the address of the cover that is drawn for an event, in the form that messengers show.
func coverAddress(e *api.Event) string {
	return "/covers/" + url.PathEscape(e.Category) + "/" + e.ID + "/og.png"
}

// sharedPicture returns the address at which messengers and search engines find a picture. They
// take only whole addresses and show few formats. So the address of an uploaded image gets the suffix of the size
// and the format that the node makes for them. If at is "", the result is "" too.
func sharedPicture(base, at string) string {
	if uploaded.MatchString(strings.TrimPrefix(at, base)) {
		at += "/og.jpg"
	}
	if strings.HasPrefix(at, "/") {
		return base + at
	}
	return at
}

// scriptJSON returns a value as JSON that can stand inside a script of a page. It escapes the
// characters that could end the script, so a text of an organizer can't add a script of its own.
// The order of keys is fixed, so the same value gives the same page.
func scriptJSON(v any) (template.JS, error) {
	b, err := json.Marshal(v, jsontext.EscapeForHTML(true), jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("web: data of a page: %w", err)
	}
	return template.JS(b), nil //nolint:gosec // escaped
}

// describeEvent describes an event in the vocabulary of schema.org, from which search engines take dates,
// places and prices. Each ticket type is an offer with its price including fees, sold out if nothing is available. An
// event without a venue gets no place.
func describeEvent(s *shownEvent) map[string]any {
	e := s.Event
	told := map[string]any{
		"@context": "https://schema.org", "@type": "Event", "name": e.Title, "url": s.Canonical, "description": s.Summary,
		"eventStatus": "https://schema.org/EventScheduled",
	}
	if e.Status == "cancelled" {
		told["eventStatus"] = "https://schema.org/EventCancelled"
	}
	if s.Machine != "" {
		told["startDate"] = s.Machine
	}
	if s.Picture != "" {
		told["image"] = s.Picture
	}
	if e.VenueName != nil {
		told["location"] = map[string]any{"@type": "Place", "name": *e.VenueName, "address": map[string]any{
			"@type": "PostalAddress", "streetAddress": textOrEmpty(e.VenueAddress), "addressLocality": textOrEmpty(e.VenueCity), "addressCountry": textOrEmpty(e.VenueCountry),
		}}
	}
	if e.Organizer != nil {
		told["organizer"] = map[string]any{"@type": "Organization", "name": e.Organizer.Name}
	}
	offers := make([]any, 0, len(e.TicketTypes))
	for i := range e.TicketTypes {
		t := &e.TicketTypes[i]
		stock := "https://schema.org/InStock"
		if t.Available != nil && *t.Available == 0 {
			stock = "https://schema.org/SoldOut"
		}
		offers = append(offers, map[string]any{
			"@type": "Offer", "name": t.Name, "price": t.PriceTotal, "priceCurrency": t.Currency, "availability": stock, "url": s.Canonical,
		})
	}
	told["offers"] = offers
	return told
}

// textOrEmpty returns a text that may be missing, or "".
func textOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// cutText shortens a text to the given number of characters, the ellipsis at its end included. It
// counts characters and not bytes, so it never cuts one in two.
func cutText(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most-1]) + "…"
}
