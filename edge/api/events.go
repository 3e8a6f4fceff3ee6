package api

import (
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine/event"
)

// EventFields are the optional fields of an event, which CreateEvent and UpdateEvent share.
type EventFields struct {
	Subcategory       route.Opt[string]            `json:"subcategory,omitzero" maxLength:"100" example:"jazz" description:"A finer category, in words of your own."`
	ShortDesc         route.Opt[string]            `json:"shortDesc,omitzero" maxLength:"130" example:"An evening on the water" description:"A line for lists and previews, up to 130 characters. GET /search looks into it."`
	Description       route.Opt[string]            `json:"description,omitzero" minLength:"50" maxLength:"50000" description:"All that guests should know, in 50 characters or more."`
	Tags              route.Opt[[]string]          `json:"tags,omitzero" maxItems:"10" minLength:"1" maxLength:"50" example:"[\"jazz\",\"live\"]" description:"Up to 10 words by which GET /search finds the event. What is sent replaces all."`
	Visibility        route.Opt[string]            `json:"visibility,omitzero" enum:"public,unlisted,private" description:"public: it is listed; unlisted: whoever has its address sees it; private: nobody but the organization does. public by default."`
	EndDate           route.Opt[time.Time]         `json:"endDate,omitzero" example:"2031-06-20T23:00:00Z" description:"When it ends: after startDate, within 5 years, and required of the product type event. A product without one is always sold; reservations have none."`
	Capacity          route.Opt[int64]             `json:"capacity,omitzero" minimum:"1" maximum:"4000000000000000000" example:"500" description:"At most so many tickets over all types; null, the default, is unlimited. More than 1,000,000 counts as 1,000,000."`
	DoorOpenTime      route.Opt[time.Time]         `json:"doorOpenTime,omitzero" example:"2031-06-20T18:00:00Z" description:"When the doors open, not after startDate."`
	VenueName         route.Opt[string]            `json:"venueName,omitzero" format:"name" maxLength:"200" example:"Harbour Hall" description:"What the venue is called."`
	VenueAddress      route.Opt[string]            `json:"venueAddress,omitzero" maxLength:"500" example:"12 Marina Road" description:"The venue's street and number."`
	VenueCity         route.Opt[string]            `json:"venueCity,omitzero" format:"name" maxLength:"100" example:"Lagos" description:"The venue's city, by which lists can be narrowed."`
	VenueCountry      route.Opt[string]            `json:"venueCountry,omitzero" format:"country" example:"NG" description:"The venue's country as two letters of ISO 3166-1, in either case; it is kept in upper case."`
	VenueLat          route.Opt[float64]           `json:"venueLat,omitzero" minimum:"-90" maximum:"90" example:"6.4541" description:"The venue's latitude in degrees."`
	VenueLng          route.Opt[float64]           `json:"venueLng,omitzero" minimum:"-180" maximum:"180" example:"3.3947" description:"The venue's longitude in degrees."`
	OnlineLink        route.Opt[string]            `json:"onlineLink,omitzero" format:"hosted" maxLength:"2048" description:"Where it takes place online, for all to see; of digital products what buyers get, and they alone. An http(s) address or /media/<id>."`
	OnlineLinkNote    route.Opt[string]            `json:"onlineLinkNote,omitzero" maxLength:"2000" description:"What one needs at onlineLink, such as a password; buyers alone are shown it."`
	ReturnPolicy      route.Opt[string]            `json:"returnPolicy,omitzero" maxLength:"5000" example:"No returns in the last week." description:"How the organizer deals with returns, in words. What a buyer may ask for is a matter of the ticket types."`
	HighlightVideoURL route.Opt[string]            `json:"highlightVideoUrl,omitzero" format:"uri" maxLength:"2048" example:"https://youtu.be/dQw4w9WgXcQ" description:"A video about the event, on YouTube or Vimeo."`
	CoverImage        route.Opt[string]            `json:"coverImage,omitzero" format:"hosted" maxLength:"2048" description:"The picture of lists and of the page's head: an http(s) address, or /media/<id> of an image of the organization's."`
	CoverVideo        route.Opt[string]            `json:"coverVideo,omitzero" format:"hosted" maxLength:"2048" description:"A video for the page's head: an http(s) address, or /media/<id> of a file of the organization's."`
	Gallery           route.Opt[[]string]          `json:"gallery,omitzero" maxItems:"20" format:"hosted" minLength:"1" maxLength:"2048" description:"Up to 20 more pictures, each an http(s) address or /media/<id>. What is sent replaces all."`
	Currency          route.Opt[string]            `json:"currency,omitzero" format:"currency" nullable:"false" example:"NGN" description:"The currency of all its prices; USD by default. It is locked once there is a ticket type."`
	AbsorbFees        route.Opt[bool]              `json:"absorbFees,omitzero" nullable:"false" description:"True: the fee is taken out of the payout; false, the default: buyers pay it on top of the price."`
	OfflineDoorCodes  route.Opt[bool]              `json:"offlineDoorCodes,omitzero" nullable:"false" description:"True: gates that are offline know door codes, and whoever has such a gate's manifest can find them all. False by default."`
	Branding          route.Opt[JSON]              `json:"branding,omitzero" maxLength:"20000" format:"object" description:"An object of your own, kept as it was sent. requireIdCheck has gates ask for papers; of the rest the public sees courseType and certificateTemplate."`
	SEOData           route.Opt[JSON]              `json:"seoData,omitzero" maxLength:"20000" format:"object" description:"An object of your own for search engines, kept as it was sent, and public."`
	Entities          route.Opt[[]event.Entity]    `json:"entities,omitzero" maxItems:"80" description:"Who and what there is to see: the line-up, speakers, sponsors. What is sent replaces all; reservations have none."`
	OrderWindow       route.Opt[int64]             `json:"orderWindowMinutes,omitzero" minimum:"5" maximum:"60" nullable:"false" description:"How many minutes a pending order holds its tickets; 15 by default."`
	Reservation       route.Opt[ReservationFields] `json:"reservation,omitzero" description:"How an event of the category reservations is booked; only what is sent changes. Other categories can't have it."`
	Extensions        route.Opt[bool]              `json:"extensions,omitzero" nullable:"false" description:"False: buyers can't ask for more time for an order or for held seats. True by default; people who need longer to read or type depend on it."`
	TransferDays      route.Opt[int64]             `json:"transferDays,omitzero" minimum:"1" maximum:"30" example:"7" description:"How many days an order waits for its bank transfer, and never past the end of the sale; null is the deployment's default."`
	Rescheduling      route.Opt[bool]              `json:"rescheduling,omitzero" nullable:"false" description:"False: holders can't move a ticket of a reservation to another date or slot. True by default."`
	RotatingOnly      route.Opt[bool]              `json:"rotatingOnly,omitzero" nullable:"false" description:"True: gates refuse printed codes, which don't rotate. False by default."`
	Exits             route.Opt[bool]              `json:"exits,omitzero" nullable:"false" description:"True: gates let holders out, and in again, and count who is inside. False by default: a ticket admits once."`
	InsideLimit       route.Opt[int64]             `json:"insideLimit,omitzero" minimum:"1" maximum:"1000000" example:"1200" description:"How many may be inside at a time. Gates are warned at 90 and at 100 percent and go on letting people in; null, the default, is no limit."`
	Velocity          route.Opt[Velocity]          `json:"velocity,omitzero" description:"The event's own limits of what one buyer may do; only what is sent changes, and null is the default."`

	CourseFields
}

// Velocity sets an event's own velocity limits, in place of the service's defaults. Null restores a default.
type Velocity struct {
	OrdersPerBuyer     route.Opt[int64] `json:"ordersPerBuyer,omitzero" minimum:"1" maximum:"1000000" description:"Orders of a buyer's e-mail in 10 minutes; null is the default, 10."`
	OrdersPerAddress   route.Opt[int64] `json:"ordersPerAddress,omitzero" minimum:"1" maximum:"1000000" description:"Orders of a client's network in 10 minutes; null is the default, 20."`
	OpenOrdersPerBuyer route.Opt[int64] `json:"openOrdersPerBuyer,omitzero" minimum:"1" maximum:"1000000" description:"Unpaid orders of a buyer's e-mail at a time; null is the default, 5."`
	PresaleTries       route.Opt[int64] `json:"presaleTries,omitzero" minimum:"1" maximum:"1000000" description:"Wrong presale codes of a buyer or a client's network in a minute; null is the default, 3."`
	PaymentAttempts    route.Opt[int64] `json:"paymentAttempts,omitzero" minimum:"1" maximum:"1000000" description:"Attempts to pay an order in 10 minutes; null is the default, 3."`
}

// OwnVelocity shows an event's own velocity limits to its organization. A limit is null where the default
// holds.
type OwnVelocity struct {
	OrdersPerBuyer     *int64 `json:"ordersPerBuyer" description:"Orders of a buyer's e-mail in 10 minutes; null is the default, 10."`
	OrdersPerAddress   *int64 `json:"ordersPerAddress" description:"Orders of a client's network in 10 minutes; null is the default, 20."`
	OpenOrdersPerBuyer *int64 `json:"openOrdersPerBuyer" description:"Unpaid orders of a buyer's e-mail at a time; null is the default, 5."`
	PresaleTries       *int64 `json:"presaleTries" description:"Wrong presale codes of a buyer or a client's network in a minute; null is the default, 3."`
	PaymentAttempts    *int64 `json:"paymentAttempts" description:"Attempts to pay an order in 10 minutes; null is the default, 3."`
}

// CreateEvent makes an event, which is a draft at first.
type CreateEvent struct {
	QueryOrg  string    `query:"orgId" maxLength:"40" description:"The number of the organization that gets the event, if the caller acts for several. It may stand in the body instead."`
	OrgID     string    `json:"orgId" maxLength:"40" description:"The number of the organization that gets the event, if the caller acts for several."`
	Title     string    `json:"title" required:"true" format:"name" minLength:"3" maxLength:"200" example:"Lagos Jazz Night" description:"The event's title. The slug of its page is made of it, once."`
	Category  string    `json:"category" required:"true" minLength:"1" maxLength:"100" example:"music" description:"What it is, in a word. reservations is booked by date; online-course, digital-product, e-books, downloadable-files and online-service are digital."`
	StartDate time.Time `json:"startDate" required:"true" example:"2031-06-20T19:00:00Z" description:"When it starts, in the future; of a course in UTC, with a Z. Products and reservations have one too, and do not begin at it."`
	Timezone  string    `json:"timezone" required:"true" format:"timezone" description:"The IANA time zone on whose clocks it is shown and booked."`
	VenueType string    `json:"venueType" required:"true" enum:"physical,online,hybrid" description:"Whether one goes there, takes part online, or either."`
	EventFields
}

// UpdateEvent changes those fields of an event that are sent.
type UpdateEvent struct {
	ID        string               `path:"id" format:"id" maxLength:"128"`
	Title     route.Opt[string]    `json:"title,omitzero" format:"name" minLength:"3" maxLength:"200" nullable:"false" description:"The event's title. The slug of its page stays."`
	Category  route.Opt[string]    `json:"category,omitzero" minLength:"1" maxLength:"100" nullable:"false" description:"What it is, in a word. Once there is a ticket type it stays within its product type."`
	StartDate route.Opt[time.Time] `json:"startDate,omitzero" nullable:"false" description:"When it starts; a new one is in the future, and of a course in UTC with a Z."`
	Timezone  route.Opt[string]    `json:"timezone,omitzero" format:"timezone" nullable:"false" description:"The IANA time zone on whose clocks it is shown and booked."`
	VenueType route.Opt[string]    `json:"venueType,omitzero" enum:"physical,online,hybrid" nullable:"false" description:"Whether one goes there, takes part online, or either."`
	// ShiftWindows moves the times that depend on StartDate by as much as StartDate moves.
	ShiftWindows bool `json:"shiftWindows,omitzero" description:"Whether the windows of sale, the refund deadlines and the opening of the doors move with startDate, by as much. Without it a move that leaves one outside is refused."`
	EventFields
}

// ByID is the request of an operation that takes only the id of a resource, from the path.
type ByID struct {
	ID string `path:"id" format:"id" maxLength:"128"`
}

// SetStatus moves an event to another status, if the event's present status allows the move.
type SetStatus struct {
	ID     string `path:"id" format:"id" maxLength:"128"`
	Status string `json:"status" required:"true" enum:"draft,review,published,on_sale,sold_out,in_progress,completed,cancelled" example:"published" description:"The status to move to. Where the event has it already, nothing changes."`
}

// DeleteEvent removes a draft that has sold nothing, and cancels any other event.
type DeleteEvent struct {
	ID     string `path:"id" format:"id" maxLength:"128"`
	Reason string `json:"reason" maxLength:"2000" example:"The artist is ill." description:"Why it is cancelled, as those who have tickets will read it. Of a draft that is removed nobody is told."`
}

// PublishedEvent is an event that was just published, with what prevents its sale.
type PublishedEvent struct {
	Event
	Warnings []EventWarning `json:"warnings" description:"What the organization should know about the sale; empty if nothing."`
}

// EventWarning is a reason why buyers can't pay for a published event.
type EventWarning struct {
	Code    string `json:"code" enum:"CURRENCY_NOT_SUPPORTED" example:"CURRENCY_NOT_SUPPORTED" description:"CURRENCY_NOT_SUPPORTED: no payment provider that is configured takes the event's currency, so nobody can pay for it."`
	Message string `json:"message" description:"The same for people, in English."`
}

// Deleted tells whether DeleteEvent removed a draft or cancelled an event.
type Deleted struct {
	Deleted   bool   `json:"deleted" description:"True if it was a draft, and is gone."`
	Cancelled bool   `json:"cancelled" description:"True if the event is cancelled, now or before."`
	Event     *Event `json:"event" description:"The cancelled event; null if a draft is gone."`
}

// EventFilter says which events a list has. The lists that embed it differ in whose events they list.
type EventFilter struct {
	Q           string    `query:"q" maxLength:"200" description:"What to look for; see the operation for where."`
	Category    string    `query:"category" maxLength:"100" description:"Only events of this very category."`
	ProductType string    `query:"productType" enum:"event,reservation,digital" description:"Only events of this product type."`
	Course      bool      `query:"course" description:"True: online courses alone."`
	City        string    `query:"city" maxLength:"100" description:"Only venues whose city has this in it, whatever its case and accents."`
	Country     string    `query:"country" format:"country" description:"Only venues of this country: two letters of ISO 3166-1, in either case."`
	Venue       string    `query:"venue" maxLength:"200" description:"Only venues whose name has this in it, whatever its case and accents."`
	DateFrom    time.Time `query:"date_from" dateOnly:"start" description:"Only events that run at this time or later; a date (2026-01-01) is the start of that day in UTC."`
	DateTo      time.Time `query:"date_to" dateOnly:"end" description:"Only events that start at this time or earlier; a date (2026-01-01) is the end of that day in UTC."`
	Page
}

// Discover lists the public events of all organizations, by start.
type Discover struct {
	EventFilter
	Sort string `query:"sort" enum:"date,popularity,relevance" default:"date" description:"The order of the list. It is by start in any case: popularity and relevance fall back to date."`
}

// Search looks for words in the public events of all organizations. Unlike Discover it can put the best match
// first.
type Search struct {
	EventFilter
	Sort string `query:"sort" enum:"relevance,date,popularity" default:"relevance" description:"relevance: what fits q best comes first. Without q, and for popularity, the list is by start."`
}

// ListOwn lists all events of one organization, the newest first, also drafts and private ones.
type ListOwn struct {
	OrgID string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	EventFilter
}

// BySlug names the page of an event, by the event's slug, UUID or number.
type BySlug struct {
	Slug string `path:"slug" format:"id" maxLength:"128" example:"lagos-jazz-night-sg" description:"The event's slug, its UUID or its number."`
}

// Card is an event in a public list: what discovery, search and an organization's page show of it.
type Card struct {
	ID               string  `json:"id" description:"The event's UUID."`
	Slug             string  `json:"slug" description:"What names the event's page in addresses; it never changes."`
	Title            string  `json:"title" description:"The event's title."`
	ShortDesc        *string `json:"shortDesc" description:"A line about it; null if nothing is said."`
	Category         string  `json:"category" description:"The organizer's category."`
	ProductType      string  `json:"productType" description:"event, reservation or digital, as the category decides."`
	Status           string  `json:"status" description:"Where the event stands: published, on_sale, sold_out or in_progress."`
	StartDate        Time    `json:"startDate" description:"When it starts; null of a reservation, whose dates are booked."`
	EndDate          Time    `json:"endDate" description:"When it ends; null of a reservation, and of a product without an end."`
	Timezone         string  `json:"timezone" description:"The IANA time zone on whose clocks it is shown."`
	VenueName        *string `json:"venueName" description:"What the venue is called; null if nothing is said."`
	VenueCity        *string `json:"venueCity" description:"The venue's city; null if nothing is said."`
	Country          *string `json:"venueCountry" description:"The venue's country as two letters of ISO 3166-1; null if nothing is said."`
	CoverImage       *string `json:"coverImage" description:"The absolute address of the event's picture; null without one."`
	Currency         string  `json:"currency" description:"The currency of its prices."`
	LowestPrice      *string `json:"lowestPrice" description:"The least that a ticket costs, as a decimal: of the types on sale now that have stock, else of those whose sale will begin; null without any."`
	LowestPriceTotal *string `json:"lowestPriceTotal" description:"What a buyer pays for that one, with the fee; null without lowestPrice."`
	HighestTotal     *string `json:"highestPriceTotal" description:"What a buyer pays at most for a ticket of the same types, with the fee; null without lowestPrice."`
	BookingOpen      *bool   `json:"bookingOpen,omitzero" description:"Whether dates can be booked, of reservations alone."`
}

// Event is an event's record, for its organization and for the public. Fields that only the organization may
// see are left out, or null, for the public.
type Event struct {
	ID                 string             `json:"id" description:"The event's UUID."`
	NumericID          string             `json:"numericId" description:"The event's number, which may stand wherever its UUID may."`
	OrganizationID     string             `json:"organizationId,omitzero" description:"The number of its organization, to which alone it is shown."`
	Organizer          *Organizer         `json:"organizer,omitzero" description:"The organization as the public sees it, on the event's page."`
	Slug               string             `json:"slug" description:"What names the event's page in addresses; it never changes."`
	Title              string             `json:"title" description:"The event's title."`
	Category           string             `json:"category" description:"What it is, in the organizer's word."`
	ProductType        string             `json:"productType" enum:"event,reservation,digital" description:"How it is sold, as the category decides."`
	Subcategory        *string            `json:"subcategory" description:"A finer category in the organizer's words; null without one."`
	ShortDesc          *string            `json:"shortDesc" description:"A line for lists and previews; null if nothing is said."`
	Description        *string            `json:"description" description:"All that guests should know; null if nothing is said."`
	Tags               []string           `json:"tags" description:"Words by which a search finds it; empty without any."`
	Status             string             `json:"status" enum:"draft,review,published,on_sale,sold_out,in_progress,completed,cancelled" description:"Where it stands. Published events move by themselves, by sale windows, stock and dates."`
	CancelReason       string             `json:"cancelReason,omitzero" description:"Why it was cancelled, in the organizer's words, of a cancelled event where something was said."`
	Visibility         string             `json:"visibility" enum:"public,unlisted,private" description:"public: it is listed; unlisted: whoever has its address sees it; private: nobody but the organization does."`
	StartDate          Time               `json:"startDate" description:"When it starts, in UTC; the public sees null of a reservation, whose dates are booked."`
	EndDate            Time               `json:"endDate" description:"When it ends, in UTC; null of a reservation, and of a product without an end."`
	MovedAt            Time               `json:"movedAt,omitzero" description:"When it got the start that it has, of an event that was on sale by then. Who bought before may ask the money back for 14 days from then, but no longer than until its start."`
	Timezone           string             `json:"timezone" description:"The IANA time zone on whose clocks it is shown and booked."`
	VenueType          string             `json:"venueType" description:"Whether one goes there, takes part online, or either: physical, online or hybrid."`
	Capacity           *int64             `json:"capacity" description:"At most so many tickets over all types; null is unlimited."`
	DoorOpenTime       Time               `json:"doorOpenTime" description:"When the doors open, in UTC; null if nothing is said."`
	VenueName          *string            `json:"venueName" description:"What the venue is called; null if nothing is said."`
	VenueAddress       *string            `json:"venueAddress" description:"The venue's street and number; null if nothing is said."`
	VenueCity          *string            `json:"venueCity" description:"The venue's city; null if nothing is said."`
	VenueCountry       *string            `json:"venueCountry" description:"The venue's country as two letters of ISO 3166-1; null if nothing is said."`
	VenueLat           *float64           `json:"venueLat" description:"The venue's latitude in degrees; null if nothing is said."`
	VenueLng           *float64           `json:"venueLng" description:"The venue's longitude in degrees; null if nothing is said."`
	OnlineLink         Hidden             `json:"onlineLink,omitzero" description:"Where it takes place online, null if nowhere. Of digital products only the organization is shown it."`
	OnlineLinkNote     Hidden             `json:"onlineLinkNote,omitzero" description:"What one needs there, null if nothing. Only the organization is shown it here."`
	ReturnPolicy       *string            `json:"returnPolicy" description:"How the organizer deals with returns, in words; null if nothing is said."`
	HighlightVideoURL  *string            `json:"highlightVideoUrl" description:"A video about the event, on YouTube or Vimeo; null without one."`
	CoverImage         *string            `json:"coverImage" description:"The picture of lists and of the page's head; null without one. The organization reads /media/<id> as it wrote it, the public an absolute address."`
	CoverVideo         *string            `json:"coverVideo" description:"A video for the page's head; null without one."`
	Gallery            []string           `json:"gallery" description:"More pictures; empty without any."`
	Currency           string             `json:"currency" description:"The currency of all its prices."`
	AbsorbFees         bool               `json:"absorbFees" description:"True: the fee is taken out of the payout; false: buyers pay it on top of the price."`
	OfflineDoorCodes   bool               `json:"offlineDoorCodes" description:"True: gates that are offline know door codes."`
	Exits              bool               `json:"exits" description:"Whether gates let holders out, and in again."`
	InsideLimit        *int64             `json:"insideLimit,omitzero" description:"How many may be inside before gates are warned; absent without a limit. Only the organization is shown it."`
	Extensions         bool               `json:"extensions" description:"Whether buyers may ask for more time for an order or for held seats, ten times at most."`
	Rescheduling       bool               `json:"rescheduling" description:"Whether holders may move a ticket of a reservation to another date or slot."`
	Branding           JSON               `json:"branding" description:"The organizer's object. The public sees courseType, certificateTemplate and requireIdCheck of it."`
	SEOData            JSON               `json:"seoData" description:"The organizer's object for search engines."`
	Entities           []event.Entity     `json:"entities,omitzero" description:"Who and what there is to see: the line-up, speakers, sponsors. Reservations have none."`
	OrderWindowMinutes int64              `json:"orderWindowMinutes,omitzero" description:"How many minutes a pending order holds its tickets."`
	RotatingOnly       *bool              `json:"rotatingOnly,omitzero" description:"True: gates refuse printed codes. Only the organization is shown it."`
	TransferDays       *int64             `json:"transferDays" description:"How many days an order waits for its bank transfer; null: as many as the deployment says."`
	Velocity           *OwnVelocity       `json:"velocity,omitzero" description:"The event's own limits of what one buyer may do. Only the organization is shown it."`
	BookingOpen        *bool              `json:"bookingOpen,omitzero" description:"Whether dates can be booked, on the page of a reservation."`
	Reservation        *Reservation       `json:"reservation,omitzero" description:"How it is booked, of the category reservations."`
	Schedule           []ScheduledSession `json:"schedule,omitzero" description:"The event's sessions, where one event is read."`
	Sections           []Section          `json:"sections,omitzero" description:"The parts of its room, where one event is read."`
	Page               *Customization     `json:"page,omitzero" description:"How the event's page looks, where one event is read."`
	LowestPrice        route.Opt[string]  `json:"lowestPrice,omitzero" description:"On the event's page: the least that a ticket costs, as on its card."`
	LowestPriceTotal   route.Opt[string]  `json:"lowestPriceTotal,omitzero" description:"On the event's page: what a buyer pays for that one, with the fee."`
	TicketTypes        []TicketType       `json:"ticketTypes,omitzero" description:"What it sells, where one event is read. Hidden types are for the organization alone to see."`
	CreatedAt          Time               `json:"createdAt" description:"When the draft was made."`
	UpdatedAt          Time               `json:"updatedAt" description:"When it changed last."`
	Course
}

// Organizer is the part of an organization's record that the public sees.
type Organizer struct {
	ID   string `json:"id" description:"The organization's number."`
	Name string `json:"name" description:"The organization's name."`
	Slug string `json:"slug" description:"What names the organization in addresses."`

	Description *string `json:"description" description:"What it says of itself; null if nothing."`
	Website     *string `json:"website" description:"The address of its own pages; null without any."`
	LogoURL     *string `json:"logoUrl" description:"The absolute address of its logo; null without one."`
	SocialLinks JSON    `json:"socialLinks" format:"object" description:"Its addresses by platform; an empty object without any."`
	Verified    bool    `json:"verified" description:"True once the platform has verified who it is."`
}
