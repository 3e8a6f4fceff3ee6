package catalog

import (
	"context"
	"regexp"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/mail"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/community"
	"boxoffice/persistence/readmodel"
)

// These are the most events and reviews that the page of an organization lists.
const (
	shownUpcoming = 48
	shownPast     = 12
	shownReviews  = 12
)

// slugForm is what the slugs of organizations look like.
var slugForm = regexp.MustCompile(`^[a-z0-9-]{1,128}$`)

// ShopOrganizer returns an organization as everybody may see it, by its slug. The result comes from the cache,
// which gives it to other callers too, so no caller may change it.
func (h *Handlers) ShopOrganizer(ctx context.Context, slug string, now time.Time) (*api.OrganizerPage, error) {
	// A slug that no organization can have is refused here, so that it never becomes a key of the cache.
	if !slugForm.MatchString(slug) {
		return nil, route.NoOrganization
	}
	c := newShopCall(ctx, now)
	defer c.End()
	return h.organizerPage(c, slug)
}

// organizerPage returns what the page of an organization shows, from the cache or from the tables.
func (h *Handlers) organizerPage(c *route.Call, slug string) (*api.OrganizerPage, error) {
	return live.CachePage(c.Context, h.Pages, "organizer/"+slug, func() (*api.OrganizerPage, error) {
		p, err := h.findShown(c.Context, slug)
		if err != nil {
			return nil, err
		}
		about := live.OrganizerOf(p)
		page := &api.OrganizerPage{Organizer: *h.organizerView(&about)}
		if err := h.listProgram(c.Context, page, p.ID, c.Now); err != nil {
			return nil, err
		}
		return page, h.listSaid(c.Context, page, p.ID)
	})
}

// findShown returns the organization that has a slug, if everybody may see it. A suspended organization is refused
// as if it did not exist.
func (h *Handlers) findShown(ctx context.Context, slug string) (*accounts.Profile, error) {
	o, err := h.Pages.Accounts.OrganizationNamed(ctx, slug)
	if err != nil {
		return nil, err
	}
	if o == nil || o.Slug != slug { // OrganizationNamed also accepts a number or an id, but these name no page.
		return nil, route.NoOrganization
	}
	p, err := h.Pages.Accounts.Profile(ctx, o.ID)
	if err != nil {
		return nil, err
	}
	if p == nil || p.Status != "active" {
		return nil, route.NoOrganization
	}
	return p, nil
}

// These are the limits of an organization's calendar.
const (
	calendarEvents = 500                 // most events in the calendar
	calendarPast   = 30 * 24 * time.Hour // how long after its end an event stays in the calendar
	calendarBytes  = 128 << 10           // about how many bytes a calendar takes in the cache
)

// ShopCalendar returns the calendar file (RFC 5545) of an organization's events, by its slug. languages is the
// reader's Accept-Language header. The cache shares the bytes, so no caller may change them.
func (h *Handlers) ShopCalendar(ctx context.Context, slug, languages string, now time.Time) ([]byte, error) {
	if !slugForm.MatchString(slug) { // Such a slug must not become a key of the cache.
		return nil, route.NoOrganization
	}
	l, ok := mail.ReadLanguage(languages)
	if !ok {
		l = h.Letters.Language
	}
	c := newShopCall(ctx, now)
	defer c.End()
	return h.organizerCalendar(c, slug, l)
}

// organizerCalendar returns the calendar file of an organization in a language, from the cache or from the tables.
func (h *Handlers) organizerCalendar(c *route.Call, slug string, l mail.Language) ([]byte, error) {
	return live.CacheSearch(c.Context, h.Pages, calendarBytes, "calendar/"+l.String()+"/"+slug, func() ([]byte, error) {
		o, err := h.findShown(c.Context, slug)
		if err != nil {
			return nil, err
		}
		events, err := h.Read.ProgramEvents(c.Context, o.ID, c.Now.Add(-calendarPast), c.Now, calendarEvents)
		if err != nil {
			return nil, err
		}
		p := mail.Program{Name: o.Name, Page: h.BaseURL + "/by/" + slug, Events: make([]*mail.Event, len(events))}
		for i := range events {
			p.Events[i] = h.Letters.EventMail(events[i].Details, &events[i], o.Name)
			p.Events[i].Page = h.BaseURL + "/e/" + events[i].Details.Slug
		}
		return p.Calendar(l), nil
	})
}

// listProgram fills in the organization's upcoming events, at most shownUpcoming and whether there are more, and its
// last past events, at most shownPast.
func (h *Handlers) listProgram(ctx context.Context, page *api.OrganizerPage, org int64, now time.Time) error {
	list, err := h.discover(ctx, readmodel.Discovery{Org: org, Now: now.UnixMilli(), Limit: shownUpcoming + 1}, shownUpcoming)
	if err != nil {
		return err
	}
	page.Upcoming, page.More = list.Items, list.NextCursor != nil
	past, err := h.Read.PastEvents(ctx, org, shownPast)
	if err != nil {
		return err
	}
	page.Past = make([]api.Card, len(past))
	for i := range past {
		page.Past[i] = h.card(&past[i])
	}
	return nil
}

// listSaid fills in what guests say of the organization's events: their ratings, and the newest reviews.
func (h *Handlers) listSaid(ctx context.Context, page *api.OrganizerPage, org int64) (err error) {
	if page.Count, page.Average, err = h.Community.OrganizationRatings(ctx, org); err != nil {
		return err
	}
	list, err := h.Community.OrganizationReviews(ctx, org, shownReviews)
	page.Reviews = make([]api.OrganizerReview, len(list))
	for i := range list {
		page.Reviews[i] = reviewOf(&list[i])
	}
	return err
}

// reviewOf shows a review with the event that it is about.
func reviewOf(r *community.OfEvent) api.OrganizerReview {
	return api.OrganizerReview{
		Event: r.Title, Slug: r.Slug, Rating: r.Rating, Body: r.Body, AuthorName: view.Optional(r.AuthorName), Reply: view.Optional(r.Reply), CreatedAt: r.CreatedAt.UTC(),
	}
}
