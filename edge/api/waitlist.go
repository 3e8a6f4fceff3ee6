package api

import "boxoffice/edge/route"

// JoinWaitlist asks for a place on an event's waitlist, for tickets that are sold out. An address that is not
// proven gets a mail with a link first (ConfirmWaitlist).
type JoinWaitlist struct {
	EventID      string `path:"eventId" format:"id" maxLength:"128"`
	Email        string `json:"email" required:"true" format:"email" maxLength:"254" example:"ada@example.org" description:"The address that an offer is mailed to; it waits once for each type."`
	Name         string `json:"name" required:"true" format:"name" minLength:"1" maxLength:"120" example:"Ada Obi" description:"How the mail addresses the reader, and who the buyer of the order will be."`
	TicketTypeID string `json:"ticketTypeId,omitzero" format:"id" maxLength:"128" description:"The UUID of the type to wait for; left out, any type of the event that has a waitlist will do."`
	Quantity     int64  `json:"quantity,omitzero" minimum:"1" maximum:"10" default:"1" description:"How many tickets, all in one offer: what comes free in smaller numbers goes to others."`
}

// ListWaitlist asks for the entries of an event's waitlist, the oldest first.
type ListWaitlist struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
	Page
}

// OfferWaitlist offers free tickets to the oldest entries that they suffice for, even if
// WaitlistSettings.Auto is off.
type OfferWaitlist struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
	Count   int64  `json:"count" required:"true" minimum:"1" maximum:"500" example:"10" description:"To how many entries an offer may go out at most."`
}

// OffersMade says how many entries got an offer.
type OffersMade struct {
	Offered int64 `json:"offered" description:"To how many entries an offer goes out: fewer than asked for if fewer wait or nothing more fits."`
}

// SetWaitlist changes those settings of an event's waitlist that are sent.
type SetWaitlist struct {
	ID           string           `path:"id" format:"id" maxLength:"128"`
	Auto         route.Opt[bool]  `json:"auto,omitzero" nullable:"false" description:"True if what comes free is offered by itself; false if somebody calls POST .../waitlist/offer."`
	OfferMinutes route.Opt[int64] `json:"offerMinutes,omitzero" nullable:"false" minimum:"15" maximum:"4320" example:"720" description:"For how many minutes an offer may be claimed; offers that are out keep their time."`
}

// WaitlistSettings say whether free tickets are offered without a request of the organization, and how long
// an offer stands at most.
type WaitlistSettings struct {
	Auto         bool  `json:"auto" description:"True if what comes free is offered by itself."`
	OfferMinutes int64 `json:"offerMinutes" description:"For how many minutes an offer may be claimed."`
}

// WaitlistToken names an entry of a waitlist by the token of a mailed link. Anybody with the mail can claim the
// entry's offer or end the entry.
type WaitlistToken struct {
	Token string `path:"token" format:"id" maxLength:"100" description:"The token of the link in the mail; it is the entry's only credential."`
}

// ConfirmWaitlist makes the entry for which JoinWaitlist was sent, once the reader of the mail has opened its
// link.
type ConfirmWaitlist struct {
	Token string `path:"token" maxLength:"1200" description:"The token of the link in the mail; it names the reader and what they wait for."`
}

// WaitlistEntry is a place on a waitlist, and what has become of it.
type WaitlistEntry struct {
	ID             string  `json:"id" description:"The entry's UUID, and that of the order once it is claimed."`
	EventID        string  `json:"eventId" description:"The UUID of the event."`
	TicketTypeID   *string `json:"ticketTypeId" description:"The UUID of the type that was or is offered, else of the one waited for; null if any will do."`
	Email          string  `json:"email" description:"The address that an offer is mailed to."`
	Name           string  `json:"name" description:"The name that was given with it."`
	Quantity       int64   `json:"quantity" description:"How many tickets are waited for."`
	Position       *int    `json:"position" description:"The place among all who wait for the event, from 1; null if it does not wait."`
	Status         string  `json:"status" enum:"unconfirmed,waiting,offered,claimed,expired,cancelled" description:"unconfirmed until the link in the mail to the address is opened and its button pressed, and in no list; waiting; offered, and to be claimed until offerExpiresAt; claimed, expired and cancelled have ended."`
	OfferedAt      Time    `json:"offeredAt" description:"When it was offered something; null until then."`
	OfferExpiresAt Time    `json:"offerExpiresAt" description:"When the offer ends, and the next in line has its turn; null without one."`
	CreatedAt      Time    `json:"createdAt" description:"When the line was joined."`
}
