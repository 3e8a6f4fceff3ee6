package people

import (
	"errors"
	"math"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/persistence/community"
)

var noReview = &engine.Refusal{Code: engine.NotFound, Message: "No such review."}

// createReview stores what somebody who was there says of an event: one review for each ticket. The ticket's code
// with an address is the proof, so no account is needed.
func (h *Handlers) createReview(c *route.Call, in *api.CreateReview) (*api.Review, error) {
	if err := h.Settled(c.Context); err != nil { // Somebody who has just come in may review.
		return nil, err
	}
	t, err := h.findByCode(c, in.TicketCode, in.Email)
	if err != nil {
		return nil, err
	}
	if !t.seen {
		return nil, &engine.Refusal{Code: engine.NotCheckedIn}
	}
	r, err := h.Community.AddReview(c.Context, &community.Review{
		ID: h.rowID(c), Org: t.org, Event: t.event, Ticket: t.serial, Rating: in.Rating, Body: in.Body, AuthorName: in.AuthorName,
	})
	if errors.Is(err, community.ErrExists) {
		return nil, &engine.Refusal{Code: engine.ReviewExists}
	}
	if err != nil {
		return nil, err
	}
	return new(h.reviewView(r)), nil
}

// replyToReview sets the organizer's answer, in place of an earlier one. For a member of another organization the
// review does not exist.
func (h *Handlers) replyToReview(c *route.Call, in *api.ReplyToReview) (*api.Review, error) {
	id, err := readRowID(in.ID, noReview)
	if err != nil {
		return nil, err
	}
	r, err := h.Community.Review(c.Context, id)
	if err != nil {
		return nil, notFoundAs(err, noReview)
	}
	g, ok := c.Principal.Grant(r.Org)
	if !ok {
		return nil, noReview
	}
	if err := route.ActFor(c, g); err != nil {
		return nil, err
	}
	if r, err = h.Community.ReplyToReview(c.Context, id, in.Body); err != nil {
		return nil, notFoundAs(err, noReview)
	}
	return new(h.reviewView(r)), nil
}

// moderateReview hides a review, or shows it again. Only the platform may, so that no organizer hides what is said
// of it.
func (h *Handlers) moderateReview(c *route.Call, in *api.ModerateReview) (*api.ModeratedReview, error) {
	id, err := readRowID(in.ID, noReview)
	if err != nil {
		return nil, err
	}
	r, err := h.Community.HideReview(c.Context, id, in.Hidden)
	if err != nil {
		return nil, notFoundAs(err, noReview)
	}
	return &api.ModeratedReview{Review: h.reviewView(r), Hidden: r.Hidden}, nil
}

// listReviews lists the reviews of an event, the newest first, with the counts of all its ratings.
func (h *Handlers) listReviews(c *route.Call, in *api.ListReviews) (*api.Reviews, error) {
	number, _, err := h.Pages.FindVisible(c, h.Known, in.EventID)
	if err != nil {
		return nil, err
	}
	before, err := readBefore(in.Cursor)
	if err != nil {
		return nil, err
	}
	c.Computed = true
	list, err := h.Community.Reviews(c.Context, number, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	counts, err := h.Community.Ratings(c.Context, number)
	if err != nil {
		return nil, err
	}
	page := pageOf(list, in.Limit, h.reviewView, func(r *community.Review) int64 { return r.Number })
	v := &api.Reviews{
		Items: page.Items, NextCursor: page.NextCursor,
		Histogram: api.Histogram{One: counts[0], Two: counts[1], Three: counts[2], Four: counts[3], Five: counts[4]},
	}
	v.Count, v.Average = average(counts)
	return v, nil
}

// average returns how many ratings there are, and their mean to two decimals; nil if there is none. The first count
// is of ratings with one star.
func average(counts [5]int) (n int, mean *float64) {
	sum := 0
	for i, count := range counts {
		n += count
		sum += (i + 1) * count
	}
	if n == 0 {
		return 0, nil
	}
	return n, new(math.Round(float64(sum)/float64(n)*100) / 100)
}

// firstBefore is greater than the number of every row, so that a list before it begins with the newest row.
const firstBefore = math.MaxInt64

// readBefore reads the cursor of a list of numbered rows, the newest first. Without a cursor it returns
// firstBefore.
func readBefore(cursor string) (int64, error) {
	after, err := route.ReadNumberCursor(cursor)
	if after == 0 {
		after = firstBefore
	}
	return after, err
}

// notFoundAs turns the tables' "not found" into a refusal. Other errors pass through.
func notFoundAs(err error, none *engine.Refusal) error {
	if errors.Is(err, community.ErrNotFound) {
		return none
	}
	return err
}

// reviewView shows a review to everybody: its author has the name that the review gives, and no address.
func (h *Handlers) reviewView(r *community.Review) api.Review {
	return api.Review{
		ID: r.ID.String(), TicketID: h.Secrets.Event(r.Event).TicketID(r.Ticket).String(), Rating: r.Rating, Body: r.Body,
		AuthorName: view.Optional(r.AuthorName), Reply: view.Optional(r.Reply), CreatedAt: r.CreatedAt.UTC(),
	}
}
