package api

import "time"

// CreateReview is a review of an event by the holder of one of its tickets. The ticket's code and an address
// prove who it is.
type CreateReview struct {
	TicketCode string `json:"ticketCode" required:"true" minLength:"1" maxLength:"64" example:"K7M2QX3F9CXJAZBDGSWP" description:"The ticket's full code, as its holder has it."`
	Email      string `json:"email" required:"true" format:"email" maxLength:"254" example:"ada@example.org" description:"The address of the ticket's holder; until it changes hands also the buyer's or the attendee's."`
	Rating     int    `json:"rating" required:"true" minimum:"1" maximum:"5" example:"5" description:"From 1, the worst, to 5, the best."`
	Body       string `json:"body" required:"true" minLength:"10" maxLength:"2000" example:"A splendid evening." description:"What the guest says, in plain text."`
	AuthorName string `json:"authorName" format:"name" maxLength:"120" example:"Ada O." description:"The name that is shown with the review; without it none is."`
}

// ReplyToReview sets the organizer's public answer to a review.
type ReplyToReview struct {
	ID   string `path:"id" format:"id" maxLength:"128" description:"The review's UUID."`
	Body string `json:"body" required:"true" minLength:"1" maxLength:"2000" example:"Thank you for coming!" description:"The answer, in plain text; it replaces an earlier one."`
}

// ModerateReview lets the platform hide a review, or show it again.
type ModerateReview struct {
	ID     string `path:"id" format:"id" maxLength:"128" description:"The review's UUID."`
	Hidden bool   `json:"hidden" required:"true" description:"True hides the review, false shows it again."`
}

// ListReviews asks for the reviews of an event, the newest first.
type ListReviews struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
	Page
}

// Review is a review as everybody sees it.
type Review struct {
	ID         string    `json:"id" description:"The review's UUID."`
	TicketID   string    `json:"ticketId" description:"The UUID of the ticket whose holder was there."`
	Rating     int       `json:"rating" description:"From 1, the worst, to 5, the best."`
	Body       string    `json:"body" description:"What the guest says, in plain text."`
	AuthorName *string   `json:"authorName" description:"The name that the guest gave; null if none."`
	Reply      *string   `json:"reply" description:"The organizer's public answer; null until there is one."`
	CreatedAt  time.Time `json:"createdAt" description:"When it was written."`
}

// ModeratedReview is a review as the platform sees it: it tells whether the review is hidden.
type ModeratedReview struct {
	Review
	Hidden bool `json:"hidden" description:"True if neither the public list nor its numbers have the review."`
}

// Reviews is a page of an event's reviews, with figures about all reviews of the event.
type Reviews struct {
	Items      []Review  `json:"items" description:"The reviews of this page, the newest first."`
	NextCursor *string   `json:"nextCursor" description:"What the next page takes as its cursor, opaque; null on the last page."`
	Count      int       `json:"count" description:"How many reviews the event has, on all pages."`
	Average    *float64  `json:"average" description:"The mean of all ratings, to two decimals; null without a review."`
	Histogram  Histogram `json:"histogram" description:"How many reviews gave each rating."`
}

// Histogram says how many reviews of an event gave each rating.
type Histogram struct {
	One   int `json:"1" description:"How many reviews gave the rating 1."`
	Two   int `json:"2" description:"How many reviews gave the rating 2."`
	Three int `json:"3" description:"How many reviews gave the rating 3."`
	Four  int `json:"4" description:"How many reviews gave the rating 4."`
	Five  int `json:"5" description:"How many reviews gave the rating 5."`
}
