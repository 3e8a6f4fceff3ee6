package web

import (
	"cmp"
	_ "embed"
	"html/template"
	"io"

	"boxoffice/edge/api"
)

//go:embed organizer.html
var organizerSource string

var organizerTemplate = template.Must(template.New("organizer").Parse(organizerSource))

// OrganizerPage writes the public pages of organizations, as EventPage writes the pages of events.
type OrganizerPage struct {
	base  string // the address at which people reach the node, which begins whole addresses
	built *Built
}

// NewOrganizerPage returns the page as it was built, on a node that people reach at base.
func NewOrganizerPage(base string) (*OrganizerPage, error) {
	b, err := ReadBuilt(organizerEntry)
	if err != nil {
		return nil, err
	}
	return &OrganizerPage{base, b}, nil
}

// shownOrganizer is what the template of an organization's page shows.
type shownOrganizer struct {
	*api.OrganizerPage
	Canonical, Summary, Picture string
	Upcoming, Past              []shownCard
	Data                        template.JS
	Told                        template.JS // the organization in the vocabulary of schema.org
}

// shownCard is an event in a list. When is the moment at which it begins, or "" if the event has no
// beginning. Cost is its lowest price with all fees, or "" if that is zero or nothing is on sale.
type shownCard struct {
	api.Card
	When, Cost string
}

// Write writes the page of an organization. If o is nil, there is no such organization, and the
// page says so.
func (p *OrganizerPage) Write(w io.Writer, o *api.OrganizerPage) error {
	shown := shownOrganizer{OrganizerPage: o}
	if o == nil {
		return p.built.Write(w, organizerTemplate, &shown)
	}
	shown.Canonical = p.base + "/by/" + o.Organizer.Slug
	shown.Summary = cutText(cmp.Or(textOrEmpty(o.Organizer.Description), "What "+o.Organizer.Name+" has on."), 160)
	shown.Picture = sharedPicture(p.base, textOrEmpty(o.Organizer.LogoURL))
	shown.Upcoming, shown.Past = cardsOf(o.Upcoming), cardsOf(o.Past)
	told := map[string]any{"@context": "https://schema.org", "@type": "Organization", "name": o.Organizer.Name, "url": shown.Canonical, "description": shown.Summary}
	if shown.Picture != "" {
		told["logo"] = shown.Picture
	}
	if o.Average != nil {
		told["aggregateRating"] = map[string]any{"@type": "AggregateRating", "ratingValue": *o.Average, "reviewCount": o.Count}
	}
	var err error
	if shown.Data, err = scriptJSON(o); err != nil {
		return err
	}
	if shown.Told, err = scriptJSON(told); err != nil {
		return err
	}
	return p.built.Write(w, organizerTemplate, &shown)
}

// cardsOf adds to each event of a list when it begins and what it costs. A digital product is delivered at once, so
// it shows no date, even if its record has one.
func cardsOf(cards []api.Card) []shownCard {
	shown := make([]shownCard, len(cards))
	for i := range cards {
		c := &cards[i]
		shown[i].Card, shown[i].Cost = *c, showPrice(textOrEmpty(c.LowestPriceTotal), c.Currency, false)
		if c.StartDate != nil && c.ProductType != "digital" {
			shown[i].When = inZone(*c.StartDate, c.Timezone).Format(spelled)
		}
	}
	return shown
}
