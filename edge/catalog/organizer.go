package catalog

import (
	"context"
	"regexp"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/persistence/community"
	"boxoffice/persistence/readmodel"
)

// How much the page of an organization lists.
const (
	shownUpcoming = 48
	shownPast     = 12
	shownReviews  = 12
)

// slugForm is what the slugs of organizations look like.
var slugForm = regexp.MustCompile(`^[a-z0-9-]{1,128}$`)

// ShopOrganizer is an organization as everybody may see it, by its slug. Its callers share it, so
// none of them changes it.
func (h *Handlers) ShopOrganizer(ctx context.Context, slug string, now time.Time) (*api.OrganizerPage, error) {
	if !slugForm.MatchString(slug) {
		return nil, route.NoOrganization
	}
	return live.CachePage(ctx, h.Pages, "organizer/"+slug, func() (*api.OrganizerPage, error) {
		o, err := h.Pages.Accounts.OrganizationNamed(ctx, slug)
		if err != nil {
			return nil, err
		}
		if o == nil || o.Slug != slug { // its number leads to no page
			return nil, route.NoOrganization
		}
		p, err := h.Pages.Accounts.Profile(ctx, o.ID)
		if err != nil {
			return nil, err
		}
		if p == nil || p.Status != "active" {
			return nil, route.NoOrganization
		}
		about := live.OrganizerOf(p)
		page := &api.OrganizerPage{Organizer: *h.organizerView(&about)}
		if err := h.listProgram(ctx, page, o.ID, now); err != nil {
			return nil, err
		}
		return page, h.listSaid(ctx, page, o.ID)
	})
}

// listProgram fills in what the organization has on and had on.
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

// listSaid fills in what guests say.
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

func reviewOf(r *community.OfEvent) api.OrganizerReview {
	return api.OrganizerReview{
		Event: r.Title, Slug: r.Slug, Rating: r.Rating, Body: r.Body, AuthorName: view.Optional(r.AuthorName), Reply: view.Optional(r.Reply), CreatedAt: r.CreatedAt.UTC(),
	}
}
