package api

import (
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine/event"
)

// EventFields are the optional fields of an event on create and update.
type EventFields struct {
	Subcategory       route.Opt[string]         `json:"subcategory,omitzero" maxLength:"100"`
	ShortDesc         route.Opt[string]         `json:"shortDesc,omitzero" maxLength:"130" example:"An evening on the water"`
	Description       route.Opt[string]         `json:"description,omitzero" minLength:"50" maxLength:"50000"`
	Tags              route.Opt[[]string]       `json:"tags,omitzero" maxItems:"10" minLength:"1" maxLength:"50"`
	Visibility        route.Opt[string]         `json:"visibility,omitzero" enum:"public,unlisted,private"`
	EndDate           route.Opt[time.Time]      `json:"endDate,omitzero" example:"2031-06-20T23:00:00Z"`
	Capacity          route.Opt[int64]          `json:"capacity,omitzero" minimum:"1" maximum:"4000000000000000000" example:"500" description:"larger values are clamped to 1,000,000; null is unlimited"`
	DoorOpenTime      route.Opt[time.Time]      `json:"doorOpenTime,omitzero"`
	VenueName         route.Opt[string]         `json:"venueName,omitzero" maxLength:"200" example:"Harbour Hall"`
	VenueAddress      route.Opt[string]         `json:"venueAddress,omitzero" maxLength:"500"`
	VenueCity         route.Opt[string]         `json:"venueCity,omitzero" maxLength:"100" example:"Lagos"`
	VenueCountry      route.Opt[string]         `json:"venueCountry,omitzero" format:"country" example:"NG" description:"in either case; kept in upper case"`
	VenueLat          route.Opt[float64]        `json:"venueLat,omitzero" minimum:"-90" maximum:"90"`
	VenueLng          route.Opt[float64]        `json:"venueLng,omitzero" minimum:"-180" maximum:"180"`
	OnlineLink        route.Opt[string]         `json:"onlineLink,omitzero" format:"hosted" maxLength:"2048"`
	OnlineLinkNote    route.Opt[string]         `json:"onlineLinkNote,omitzero" maxLength:"2000"`
	ReturnPolicy      route.Opt[string]         `json:"returnPolicy,omitzero" maxLength:"5000"`
	HighlightVideoURL route.Opt[string]         `json:"highlightVideoUrl,omitzero" format:"uri" maxLength:"2048"`
	CoverImage        route.Opt[string]         `json:"coverImage,omitzero" format:"hosted" maxLength:"2048"`
	CoverVideo        route.Opt[string]         `json:"coverVideo,omitzero" format:"hosted" maxLength:"2048"`
	Gallery           route.Opt[[]string]       `json:"gallery,omitzero" maxItems:"20" format:"hosted" minLength:"1" maxLength:"2048"`
	Currency          route.Opt[string]         `json:"currency,omitzero" enum:"USD,NGN,ZAR" nullable:"false" example:"NGN"`
	AbsorbFees        route.Opt[bool]           `json:"absorbFees,omitzero" nullable:"false"`
	Branding          route.Opt[JSON]           `json:"branding,omitzero" maxLength:"20000" format:"object" description:"an object; the public sees courseType, certificateTemplate and requireIdCheck"`
	SEOData           route.Opt[JSON]           `json:"seoData,omitzero" maxLength:"20000" format:"object" description:"an object"`
	Entities          route.Opt[[]event.Entity] `json:"entities,omitzero" maxItems:"80"`
	OrderWindow       route.Opt[int64]          `json:"orderWindowMinutes,omitzero" minimum:"5" maximum:"60" nullable:"false" description:"how long a pending order holds its tickets; 15 by default"`
	Velocity          route.Opt[Velocity]       `json:"velocity,omitzero" description:"limits of what one buyer may do; only what is sent changes, and null is the default"`

	_ route.NotYet `name:"reservation"`
	_ route.NotYet `name:"courseType"`
	_ route.NotYet `name:"syllabus"`
	_ route.NotYet `name:"unifiedPdf"`
	_ route.NotYet `name:"unifiedVideo"`
	_ route.NotYet `name:"unifiedMaterials"`
	_ route.NotYet `name:"exam"`
	_ route.NotYet `name:"certificateTemplate"`
}

// Velocity are an event's own velocity limits.
type Velocity struct {
	OrdersPerBuyer     route.Opt[int64] `json:"ordersPerBuyer,omitzero" minimum:"1" maximum:"1000000" description:"orders of a buyer's e-mail in 10 minutes; 10 by default"`
	OrdersPerAddress   route.Opt[int64] `json:"ordersPerAddress,omitzero" minimum:"1" maximum:"1000000" description:"orders of a client address in 10 minutes; 20 by default"`
	OpenOrdersPerBuyer route.Opt[int64] `json:"openOrdersPerBuyer,omitzero" minimum:"1" maximum:"1000000" description:"unpaid orders of a buyer's e-mail at a time; 5 by default"`
	PresaleTries       route.Opt[int64] `json:"presaleTries,omitzero" minimum:"1" maximum:"1000000" description:"wrong presale codes of a buyer or a client address in a minute; 3 by default"`
	PaymentAttempts    route.Opt[int64] `json:"paymentAttempts,omitzero" minimum:"1" maximum:"1000000" description:"attempts to pay an order in 10 minutes; 3 by default"`
}

// OwnVelocity shows an event's own velocity limits to its organization: null is
// the default.
type OwnVelocity struct {
	OrdersPerBuyer     *int64 `json:"ordersPerBuyer"`
	OrdersPerAddress   *int64 `json:"ordersPerAddress"`
	OpenOrdersPerBuyer *int64 `json:"openOrdersPerBuyer"`
	PresaleTries       *int64 `json:"presaleTries"`
	PaymentAttempts    *int64 `json:"paymentAttempts"`
}

// CreateEvent makes a draft.
type CreateEvent struct {
	QueryOrg  string    `query:"orgId" maxLength:"40"`
	OrgID     string    `json:"orgId" maxLength:"40"`
	Title     string    `json:"title" required:"true" minLength:"3" maxLength:"200" example:"Lagos Jazz Night"`
	Category  string    `json:"category" required:"true" minLength:"1" maxLength:"100" example:"music"`
	StartDate time.Time `json:"startDate" required:"true" example:"2031-06-20T19:00:00Z"`
	Timezone  string    `json:"timezone" required:"true" format:"timezone"`
	VenueType string    `json:"venueType" required:"true" enum:"physical,online,hybrid"`
	EventFields
}

// UpdateEvent changes the fields that are sent.
type UpdateEvent struct {
	ID        string               `path:"id" format:"id" maxLength:"128"`
	Title     route.Opt[string]    `json:"title,omitzero" minLength:"3" maxLength:"200" nullable:"false"`
	Category  route.Opt[string]    `json:"category,omitzero" minLength:"1" maxLength:"100" nullable:"false"`
	StartDate route.Opt[time.Time] `json:"startDate,omitzero" nullable:"false"`
	Timezone  route.Opt[string]    `json:"timezone,omitzero" format:"timezone" nullable:"false"`
	VenueType route.Opt[string]    `json:"venueType,omitzero" enum:"physical,online,hybrid" nullable:"false"`
	EventFields
}

// ByID names a resource in the path.
type ByID struct {
	ID string `path:"id" format:"id" maxLength:"128"`
}

// SetStatus moves an event.
type SetStatus struct {
	ID     string `path:"id" format:"id" maxLength:"128"`
	Status string `json:"status" required:"true" enum:"draft,review,published,on_sale,sold_out,in_progress,completed,cancelled"`
}

// DeleteEvent removes a draft or cancels an event.
type DeleteEvent struct {
	ID     string `path:"id" format:"id" maxLength:"128"`
	Reason string `json:"reason" maxLength:"2000" example:"The artist is ill."`
}

// Deleted says what a delete came to.
type Deleted struct {
	Deleted   bool   `json:"deleted" description:"the draft is gone"`
	Cancelled bool   `json:"cancelled" description:"the event was cancelled"`
	Event     *Event `json:"event"`
}

// EventFilter narrows a list of events.
type EventFilter struct {
	Q           string `query:"q" maxLength:"200"`
	Category    string `query:"category" maxLength:"100"`
	ProductType string `query:"productType" enum:"event,reservation,digital"`
	Course      bool   `query:"course"`
	City        string `query:"city" maxLength:"100"`
	Country     string `query:"country" format:"country" description:"in either case"`
	Venue       string `query:"venue" maxLength:"200"`
	Page
}

// Discover lists public events.
type Discover struct {
	EventFilter
	DateFrom time.Time `query:"date_from" dateOnly:"start" description:"events that run at this time or later; a date (2026-01-01) is the start of that day in UTC"`
	DateTo   time.Time `query:"date_to" dateOnly:"end" description:"events that start at this time or earlier; a date (2026-01-01) is the end of that day in UTC"`
	Sort     string    `query:"sort" enum:"date,popularity,relevance" default:"date" description:"popularity and relevance fall back to date"`
}

// ListOwn lists an organization's events.
type ListOwn struct {
	OrgID string `query:"orgId" maxLength:"40"`
	EventFilter
}

// BySlug names an event's page: by the slug, the id or the number of the event.
type BySlug struct {
	Slug string `path:"slug" format:"id" maxLength:"128"`
}

// Card is an event in a list of discovery.
type Card struct {
	ID          string  `json:"id"`
	Slug        string  `json:"slug"`
	Title       string  `json:"title"`
	ShortDesc   *string `json:"shortDesc"`
	Category    string  `json:"category"`
	ProductType string  `json:"productType"`
	Status      string  `json:"status"`
	StartDate   Time    `json:"startDate"`
	EndDate     Time    `json:"endDate"`
	Timezone    string  `json:"timezone"`
	VenueName   *string `json:"venueName"`
	VenueCity   *string `json:"venueCity"`
	Country     *string `json:"venueCountry"`
	CoverImage  *string `json:"coverImage"`
	Currency    string  `json:"currency"`
	LowestPrice *string `json:"lowestPrice" description:"decimal; of the types that are on sale now and have stock, else of those that will be; null without any"`
}

// Event is an event's record. What the public does not see is left out.
type Event struct {
	ID                 string         `json:"id"`
	NumericID          string         `json:"numericId"`
	OrganizationID     string         `json:"organizationId,omitzero"`
	Organizer          *Organizer     `json:"organizer,omitzero"`
	Slug               string         `json:"slug"`
	Title              string         `json:"title"`
	Category           string         `json:"category"`
	ProductType        string         `json:"productType" enum:"event,reservation,digital"`
	Subcategory        *string        `json:"subcategory"`
	ShortDesc          *string        `json:"shortDesc"`
	Description        *string        `json:"description"`
	Tags               []string       `json:"tags"`
	Status             string         `json:"status" enum:"draft,review,published,on_sale,sold_out,in_progress,completed,cancelled"`
	Visibility         string         `json:"visibility" enum:"public,unlisted,private"`
	StartDate          Time           `json:"startDate"`
	EndDate            Time           `json:"endDate"`
	Timezone           string         `json:"timezone"`
	VenueType          string         `json:"venueType"`
	Capacity           *int64         `json:"capacity"`
	DoorOpenTime       Time           `json:"doorOpenTime"`
	VenueName          *string        `json:"venueName"`
	VenueAddress       *string        `json:"venueAddress"`
	VenueCity          *string        `json:"venueCity"`
	VenueCountry       *string        `json:"venueCountry"`
	VenueLat           *float64       `json:"venueLat"`
	VenueLng           *float64       `json:"venueLng"`
	OnlineLink         Hidden         `json:"onlineLink,omitzero"`
	OnlineLinkNote     Hidden         `json:"onlineLinkNote,omitzero"`
	ReturnPolicy       *string        `json:"returnPolicy"`
	HighlightVideoURL  *string        `json:"highlightVideoUrl"`
	CoverImage         *string        `json:"coverImage"`
	CoverVideo         *string        `json:"coverVideo"`
	Gallery            []string       `json:"gallery"`
	Currency           string         `json:"currency"`
	AbsorbFees         bool           `json:"absorbFees"`
	Branding           JSON           `json:"branding"`
	SEOData            JSON           `json:"seoData"`
	Entities           []event.Entity `json:"entities,omitzero"`
	OrderWindowMinutes int64          `json:"orderWindowMinutes,omitzero"`
	Velocity           *OwnVelocity   `json:"velocity,omitzero" description:"for the organization only"`
	BookingOpen        *bool          `json:"bookingOpen,omitzero" description:"reservations only"`
	Schedule           []JSON         `json:"schedule"`
	TicketTypes        []TicketType   `json:"ticketTypes,omitzero"`
	CreatedAt          Time           `json:"createdAt"`
	UpdatedAt          Time           `json:"updatedAt"`
}

// Organizer is what the public sees of an organization.
type Organizer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}
