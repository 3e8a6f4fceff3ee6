package api

import "github.com/go-json-experiment/json/jsontext"

// SeatsByEvent names the event of a seat map.
type SeatsByEvent struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
}

// HoldSeats replaces a holder's selection.
type HoldSeats struct {
	EventID string   `path:"eventId" format:"id" maxLength:"128"`
	Holder  string   `json:"holder" required:"true" minLength:"8" maxLength:"80" example:"shopper-7c1f" description:"opaque, one per checkout session; whoever knows it may change the selection"`
	SeatIDs []string `json:"seatIds" required:"true" maxItems:"50" minLength:"1" maxLength:"40" description:"replaces the selection"`
}

// LimitHolder names the checkout session that is counted.
func (in *HoldSeats) LimitHolder() string { return in.Holder }

// ReleaseSeats takes seats out of a holder's selection.
type ReleaseSeats struct {
	EventID string   `path:"eventId" format:"id" maxLength:"128"`
	Holder  string   `json:"holder" required:"true" minLength:"8" maxLength:"80" example:"shopper-7c1f"`
	SeatIDs []string `json:"seatIds,omitzero" maxItems:"50" minLength:"1" maxLength:"40" description:"absent: all"`
}

// LimitHolder names the checkout session that is counted.
func (in *ReleaseSeats) LimitHolder() string { return in.Holder }

// BestSeats replaces a holder's selection by the best seats there are.
type BestSeats struct {
	EventID      string   `path:"id" format:"id" maxLength:"128"`
	Holder       string   `json:"holder" required:"true" minLength:"8" maxLength:"80" example:"shopper-7c1f"`
	Quantity     int      `json:"quantity" required:"true" minimum:"1" maximum:"50"`
	SectionIDs   []string `json:"sectionIds,omitzero" maxItems:"500" minLength:"1" maxLength:"40" description:"absent: any"`
	TicketTypeID string   `json:"ticketTypeId,omitzero" format:"uuid"`
	Accessible   bool     `json:"accessible,omitzero" description:"with a wheelchair place"`
	Adjacent     bool     `json:"adjacent,omitzero" description:"only beside each other"`
}

// LimitHolder names the checkout session that is counted.
func (in *BestSeats) LimitHolder() string { return in.Holder }

// HeldSeats is a selection after it was replaced.
type HeldSeats struct {
	Held      []string          `json:"held"`
	Failed    []string          `json:"failed" description:"those that are not to be had"`
	Reasons   map[string]string `json:"reasons" description:"why each has failed: unknown, not_for_sale, taken, blocked, needs_wheelchair or leaves_single"`
	ExpiresAt Time              `json:"expiresAt" description:"of the selection; null when it is empty"`
}

// ReleasedSeats counts what was given back.
type ReleasedSeats struct {
	Released int `json:"released"`
}

// BestHeld is a selection made by the service.
type BestHeld struct {
	Held      []string `json:"held"`
	Adjacent  bool     `json:"adjacent" description:"all beside each other in one row"`
	ExpiresAt Time     `json:"expiresAt"`
}

// SeatStates are the seats that are not available, by state.
type SeatStates struct {
	Sold    []string `json:"sold" description:"bought, or in a live order"`
	Blocked []string `json:"blocked"`
	Held    []string `json:"held"`
}

// SeatMap is a seat map to draw.
type SeatMap struct {
	VenueMapID string           `json:"venueMapId"`
	Version    int32            `json:"version"`
	Canvas     Canvas           `json:"canvas"`
	Focus      []int32          `json:"focus" description:"x and y of what everybody looks at"`
	Sections   []SeatSection    `json:"sections"`
	Seats      []Seat           `json:"seats"`
	Elements   []jsontext.Value `json:"elements" description:"what is drawn besides: stage, texts and the like"`
}

// Canvas is the room that a map is drawn in, in its own units.
type Canvas struct {
	Width  int32 `json:"width"`
	Height int32 `json:"height"`
}

// SeatSection is a part of the map that is priced as one.
type SeatSection struct {
	ID           string  `json:"id"`
	Name         string  `json:"name"`
	TicketTypeID *string `json:"ticketTypeId" description:"null: not for sale"`
	Price        *string `json:"price" description:"decimal, of one seat, without fees"`
	Currency     *string `json:"currency"`
}

// Seat is one seat.
type Seat struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Section string `json:"sectionId"`
	Row     string `json:"row"`
	X       int32  `json:"x"`
	Y       int32  `json:"y"`
	Kind    string `json:"kind" enum:"standard,wheelchair,companion"`
}

// SetSeating attaches a published venue map.
type SetSeating struct {
	ID      string `path:"id" format:"id" maxLength:"128"`
	Map     string `json:"venueMapId" required:"true" format:"uuid"`
	Version int32  `json:"version,omitzero" minimum:"1" maximum:"2147483647" description:"absent: the newest that is published"`
	Mode    string `json:"mode,omitzero" enum:"reserved,ga_mixed" default:"reserved"`
	Hold    int64  `json:"holdTtlSeconds,omitzero" minimum:"60" maximum:"3600" default:"300"`
}

// SetSeatPrices replaces the pricing of a map.
type SetSeatPrices struct {
	ID       string             `path:"id" format:"id" maxLength:"128"`
	Mappings []SectionTicketRef `json:"mappings" required:"true" maxItems:"500"`
}

// SectionTicketRef says which ticket type a section is sold as.
type SectionTicketRef struct {
	Section string `json:"venueSectionId" required:"true" minLength:"1" maxLength:"40"`
	Type    string `json:"ticketTypeId" required:"true" format:"uuid"`
}

// BlockSeats withholds seats and puts others back on sale.
type BlockSeats struct {
	ID      string   `path:"id" format:"id" maxLength:"128"`
	Block   []string `json:"block,omitzero" maxItems:"5000" minLength:"1" maxLength:"40"`
	Unblock []string `json:"unblock,omitzero" maxItems:"5000" minLength:"1" maxLength:"40"`
}

// BlockedSeats counts what has changed.
type BlockedSeats struct {
	Blocked   int `json:"blocked"`
	Unblocked int `json:"unblocked"`
}

// Seating is an event's seating as its organization sees it.
type Seating struct {
	Enabled        bool               `json:"enabled"`
	Mode           string             `json:"mode,omitzero"`
	HoldTTLSeconds int64              `json:"holdTtlSeconds,omitzero"`
	Map            *SeatMap           `json:"map,omitzero"`
	Pricing        []SectionTicketRef `json:"pricing,omitzero"`
	Counts         *SeatCounts        `json:"counts,omitzero"`
	Sold           []string           `json:"sold,omitzero" description:"bought, or in a live order"`
	Blocked        []string           `json:"blocked,omitzero"`
}

// SeatCounts are an event's seats by state.
type SeatCounts struct {
	Total     int `json:"total"`
	Available int `json:"available"`
	Held      int `json:"held"`
	Sold      int `json:"sold"`
	Blocked   int `json:"blocked"`
}
