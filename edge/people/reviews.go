package people

import (
	"errors"
	"math"

	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/persistence/community"
)

var noReview = &engine.Refusal{Code: engine.NotFound, Message: "No such review."}

// createReview stores a guest's review of an event, one for each ticket. The ticket's code and an address are
// the guest's proof, so no account is needed. It refuses a wrong code or address with TICKET_NOT_FOUND, a
// ticket that no gate has admitted with NOT_CHECKED_IN, and a second review of a ticket with REVIEW_EXISTS.
func (h *Handlers) createReview(c *route.Call, in *api.CreateReview) (*api.Review, error) {
	if err := h.Settled(c.Context); err != nil { // Somebody who has just come in may review.
		return nil, err
	}
	t, err := h.findByCode(c, in.TicketCode, in.Email)
	if err != nil {
		return nil, err
	}
	// Only a guest whom a gate has admitted can say how the event was.
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

// replyToReview sets the organizer's public answer to a review, in place of an earlier answer. A
// member of another organization is answered as if there were no such review.
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

// moderateReview hides a review, or shows it again. Only the platform may do this, so that no
// organizer hides bad reviews of its own events.
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

// listReviews returns a page of an event's reviews, the newest first. Every page also has the
// counts of all the event's ratings.
func (h *Handlers) listReviews(c *route.Call, in *api.ListReviews) (*api.Reviews, error) {
	number, _, err := h.Pages.FindVisible(c, h.Known, in.EventID)
	if err != nil {
		return nil, err
	}
	before, err := readBefore(in.Cursor)
	if err != nil {
		return nil, err
	}
	c.Computed = true // The reviews are read from the database.
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

// average returns the number of ratings and their mean to two decimals, or a nil mean if there are
// none. counts[0] is the number of ratings with one star, counts[4] with five.
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
	after, err := cursors.ReadNumber(cursor)
	if after == 0 {
		after = firstBefore
	}
	return after, err
}

// notFoundAs turns the store's error for a missing row into the refusal none. It passes other
// errors on.
func notFoundAs(err error, none *engine.Refusal) error {
	if errors.Is(err, community.ErrNotFound) {
		return none
	}
	return err
}

// reviewView shows a review to everybody. Its author has only the name that the review itself
// gives, and no address.
func (h *Handlers) reviewView(r *community.Review) api.Review {
	return api.Review{
		ID: r.ID.String(), TicketID: h.Secrets.Event(r.Event).TicketID(r.Ticket).String(), Rating: r.Rating, Body: r.Body,
		AuthorName: view.Optional(r.AuthorName), Reply: view.Optional(r.Reply), CreatedAt: r.CreatedAt.UTC(),
	}
}
