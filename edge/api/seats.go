package api

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boxoffice/edge/route"
)

// SeatsByEvent names the event of a seat map.
type SeatsByEvent struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
}

// WatchSeats asks for the live seats of an event.
type WatchSeats struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
	Packed  bool   `query:"packed" description:"Snapshots are { venueMapId, version, states }: two bits a seat in the order of the drawing, lowest bits first, in base64; 0 available, 1 held, 2 sold, 3 blocked."`
}

// PackedSeats are the states of all seats of a map, for those who have its drawing. A hall
// of 20,000 seats takes 7 KB, however many are sold.
type PackedSeats struct {
	VenueMapID string `json:"venueMapId" description:"The UUID of the map whose drawing gives the order of the seats."`
	Version    int32  `json:"version" description:"The published version of the map."`
	States     []byte `json:"states" description:"Two bits for each seat in base64: 0 available, 1 held, 2 sold, 3 blocked."`
}

// HoldSeats replaces a holder's selection.
type HoldSeats struct {
	EventID         string   `path:"eventId" format:"id" maxLength:"128"`
	Holder          string   `json:"holder" required:"true" minLength:"8" maxLength:"80" example:"shopper-7c1f" description:"A name of your own for the checkout session, hard to guess: whoever knows it may change the selection, and buys the seats."`
	SeatIDs         []string `json:"seatIds" required:"true" maxItems:"50" minLength:"1" maxLength:"40" example:"[\"stalls-A-5\",\"stalls-A-6\"]" description:"The whole selection, up to 50 ids of seats: seats of an earlier one that are not listed are given back. An empty list gives back all."`
	Admission       string   `json:"admission,omitzero" maxLength:"200" description:"The admission of an event with a waiting room, if it is not sent as X-Queue-Admission."`
	AdmissionHeader string   `header:"X-Queue-Admission" maxLength:"200" description:"The admission of an event with a waiting room."`
}

// LimitHolder names the checkout session that is counted.
func (in *HoldSeats) LimitHolder() string { return in.Holder }

// ReleaseSeats takes seats out of a holder's selection.
type ReleaseSeats struct {
	EventID string   `path:"eventId" format:"id" maxLength:"128"`
	Holder  string   `json:"holder" required:"true" minLength:"8" maxLength:"80" example:"shopper-7c1f" description:"The name that the checkout session gave when it held the seats."`
	SeatIDs []string `json:"seatIds,omitzero" maxItems:"50" minLength:"1" maxLength:"40" example:"[\"stalls-A-6\"]" description:"The ids of the seats to give back; all of the selection without it."`
}

// LimitHolder names the checkout session that is counted.
func (in *ReleaseSeats) LimitHolder() string { return in.Holder }

// ExtendSeats asks for more time for a holder's selection.
type ExtendSeats struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
	Holder  string `json:"holder" required:"true" minLength:"8" maxLength:"80" example:"shopper-7c1f" description:"The name that the seats are held under."`
}

// LimitHolder names the checkout session that is counted.
func (in *ExtendSeats) LimitHolder() string { return in.Holder }

// BestSeats replaces a holder's selection by the best seats there are.
type BestSeats struct {
	EventID         string   `path:"id" format:"id" maxLength:"128"`
	Holder          string   `json:"holder" required:"true" minLength:"8" maxLength:"80" example:"shopper-7c1f" description:"A name of your own for the checkout session, hard to guess: whoever knows it may change the selection, and buys the seats."`
	Quantity        int      `json:"quantity" required:"true" minimum:"1" maximum:"50" example:"2" description:"How many seats, 1 to 50."`
	SectionIDs      []string `json:"sectionIds,omitzero" maxItems:"500" minLength:"1" maxLength:"40" description:"The ids of the sections to look in; any without it."`
	TicketTypeID    string   `json:"ticketTypeId,omitzero" format:"uuid" description:"Only seats that are sold as this ticket type; any without it."`
	Accessible      bool     `json:"accessible,omitzero" description:"True: one of the seats is a wheelchair place."`
	Adjacent        bool     `json:"adjacent,omitzero" description:"True: only seats beside each other in one row, or none at all."`
	Admission       string   `json:"admission,omitzero" maxLength:"200" description:"The admission of an event with a waiting room, if it is not sent as X-Queue-Admission."`
	AdmissionHeader string   `header:"X-Queue-Admission" maxLength:"200" description:"The admission of an event with a waiting room."`
}

// LimitHolder names the checkout session that is counted.
func (in *BestSeats) LimitHolder() string { return in.Holder }

// HeldSeats is a selection after it was replaced.
type HeldSeats struct {
	Held      []string          `json:"held" description:"The ids of the seats that the holder has now."`
	Failed    []string          `json:"failed" description:"The ids of those that are not to be had."`
	Reasons   map[string]string `json:"reasons" description:"Why each has failed, by its id: unknown, not_for_sale, taken, blocked, needs_wheelchair or leaves_single."`
	ExpiresAt Time              `json:"expiresAt" description:"When the selection ends unless it is ordered; null when it is empty. Changing it may move this, to three times the hold's time in all; the extension of a hold comes on top."`
}

// ReleasedSeats counts what was given back.
type ReleasedSeats struct {
	Released int `json:"released" description:"How many seats were given back."`
}

// BestHeld is a selection made by the service.
type BestHeld struct {
	Held      []string `json:"held" description:"The ids of the seats that the holder has now."`
	Adjacent  bool     `json:"adjacent" description:"True if all are beside each other in one row."`
	ExpiresAt Time     `json:"expiresAt" description:"When the selection ends unless it is ordered."`
}

// SeatStates are the seats that are not available, by state.
type SeatStates struct {
	Sold    []string `json:"sold" description:"The ids of the seats that are bought, or in an order that is not over."`
	Blocked []string `json:"blocked" description:"The ids of the seats that the organization withholds."`
	Held    []string `json:"held" description:"The ids of the seats that shoppers hold."`
}

// ReadSeatMap asks for an event's seat map.
type ReadSeatMap struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
	Live    bool   `query:"live" description:"True: without seats and elements, which the drawing at drawingUrl has."`
}

// SeatMap is a seat map to draw.
type SeatMap struct {
	VenueMapID string           `json:"venueMapId" description:"The UUID of the venue map."`
	Version    int32            `json:"version" description:"The published version of it that the event is seated by."`
	DrawingURL string           `json:"drawingUrl" description:"The path of the map's drawing, by rows. It never changes, so clients and proxies keep it."`
	Canvas     Canvas           `json:"canvas" description:"The room that the map is drawn in."`
	Focus      []int32          `json:"focus" description:"The point that everybody looks at, x and y."`
	Sections   []SeatSection    `json:"sections" description:"The parts of the map with what they are sold as."`
	Seats      []Seat           `json:"seats" description:"All seats, in the order of the drawing; empty with live=true."`
	Elements   []jsontext.Value `json:"elements" description:"What is drawn besides seats, as the author wrote it: stage, texts and the like; empty with live=true."`

	// Text is the map in JSON, if it has been encoded before.
	Text []byte `json:"-"`
}

// AppendJSON adds the map's JSON.
func (m *SeatMap) AppendJSON(b []byte) []byte { return appendText(b, m.Text, m) }

// appendText adds what has been encoded before, or else encodes it now.
func appendText[T any](b, text []byte, v *T) []byte {
	if text == nil {
		text, _ = json.Marshal(v, route.Encoding) // there is nothing in it that JSON does not have
	}
	return append(b, text...)
}

// ReadDrawing names a published version of a venue map.
type ReadDrawing struct {
	ID      string `path:"id" format:"id" maxLength:"36" description:"The venue map's UUID, in lower case."`
	Version string `path:"version" format:"id" maxLength:"10" description:"The published version's number, from 1."`
}

// Drawing is a published version of a venue map as it is drawn.
type Drawing struct {
	VenueMapID string           `json:"venueMapId" description:"The UUID of the venue map."`
	Version    int32            `json:"version" description:"The published version that this is."`
	Canvas     Canvas           `json:"canvas" description:"The room that the map is drawn in."`
	Focus      []int32          `json:"focus" description:"The point that everybody looks at, x and y."`
	Sections   []DrawnSection   `json:"sections" description:"The parts of the map; their prices are the event's."`
	Rows       []DrawnRow       `json:"rows" description:"The rows with their seats. All seats, in this order, are what a packed stream counts by."`
	Elements   []jsontext.Value `json:"elements" description:"What is drawn besides seats, as the author wrote it: stage, texts and the like."`

	// Text is the drawing in JSON, if it has been encoded before.
	Text []byte `json:"-"`
}

// AppendJSON adds the drawing's JSON.
func (d *Drawing) AppendJSON(b []byte) []byte { return appendText(b, d.Text, d) }

// DrawnSection is a part of a drawing.
type DrawnSection struct {
	ID   string `json:"id" description:"The section's id, by which an event prices it."`
	Name string `json:"name" description:"The section's name as it is printed on tickets."`
}

// DrawnRow is a row of seats of a drawing. Its lists have an entry for each seat.
type DrawnRow struct {
	Section string   `json:"sectionId" description:"The id of the section that the row is in."`
	Label   string   `json:"label" description:"The row's label as it is printed on tickets."`
	IDs     []string `json:"ids" description:"The ids of the row's seats, along the row."`
	Labels  []string `json:"labels" description:"The label of each seat, in the same order."`
	X       []int32  `json:"x" description:"Where each seat is from the left, in units of the canvas."`
	Y       []int32  `json:"y" description:"Where each seat is from the top, in units of the canvas."`
	Kinds   []string `json:"kinds,omitzero" enum:"standard,wheelchair,companion" description:"The kind of each seat, in the same order; left out when all are standard."`
}

// Canvas is the room that a map is drawn in, in its own units.
type Canvas struct {
	Width  int32 `json:"width" description:"How wide it is, in units of the map's own: x grows from 0 on the left to this."`
	Height int32 `json:"height" description:"How high it is, in the same units: y grows from 0 at the top to this."`
}

// SeatSection is a part of the map that is priced as one.
type SeatSection struct {
	ID           string  `json:"id" description:"The section's id, by which it is priced."`
	Name         string  `json:"name" description:"The section's name as it is printed on tickets."`
	TicketTypeID *string `json:"ticketTypeId" description:"The ticket type that its seats are sold as; null: they are not for sale."`
	Price        *string `json:"price" description:"What one seat costs without fees, as a decimal; null if the section is not for sale."`
	PriceTotal   *string `json:"priceTotal" description:"What a buyer pays for one seat, with the fee; null if the section is not for sale."`
	Currency     *string `json:"currency" description:"The price's currency; null if the section is not for sale."`
}

// Seat is one seat.
type Seat struct {
	ID      string `json:"id" description:"The seat's id, unique in the map: what is held, ordered and blocked."`
	Label   string `json:"label" description:"The seat's label as it is printed on tickets."`
	Section string `json:"sectionId" description:"The id of the section that it is in."`
	Row     string `json:"row" description:"The label of the row that it is in."`
	X       int32  `json:"x" description:"Where it is from the left, in units of the canvas."`
	Y       int32  `json:"y" description:"Where it is from the top, in units of the canvas."`
	Kind    string `json:"kind" enum:"standard,wheelchair,companion" description:"A standard seat, a space for a wheelchair, or a companion's seat, which needs a wheelchair's in the selection, three of them at the most."`
}

// SetSeating attaches a published venue map.
type SetSeating struct {
	ID      string `path:"id" format:"id" maxLength:"128"`
	Map     string `json:"venueMapId" required:"true" format:"uuid" description:"The UUID of the venue map, the organization's own or one that is shared."`
	Version int32  `json:"version,omitzero" minimum:"1" maximum:"2147483647" description:"The published version; the newest without it."`
	Mode    string `json:"mode,omitzero" enum:"reserved,ga_mixed" default:"reserved" description:"reserved: every ticket is a seat, and a type of no section is not for sale. ga_mixed: such a type sells without seats."`
	Hold    int64  `json:"holdTtlSeconds,omitzero" minimum:"60" maximum:"3600" default:"300" description:"How many seconds a shopper's selection is held. One that keeps changing lasts three times as long at the most."`
}

// SetSeatPrices replaces the pricing of a map.
type SetSeatPrices struct {
	ID       string             `path:"id" format:"id" maxLength:"128"`
	Mappings []SectionTicketRef `json:"mappings" required:"true" maxItems:"500" description:"What each section is sold as. A section that is not listed is not for sale."`
}

// SectionTicketRef says which ticket type a section is sold as.
type SectionTicketRef struct {
	Section string `json:"venueSectionId" required:"true" minLength:"1" maxLength:"40" example:"stalls" description:"The id of a section of the map."`
	Type    string `json:"ticketTypeId" required:"true" format:"uuid" description:"The UUID of the event's ticket type that the section is sold as, each seat at its price."`
}

// BlockSeats withholds seats and puts others back on sale.
type BlockSeats struct {
	ID      string   `path:"id" format:"id" maxLength:"128"`
	Block   []string `json:"block,omitzero" maxItems:"5000" minLength:"1" maxLength:"40" example:"[\"stalls-A-1\",\"stalls-A-2\"]" description:"The ids of seats to withhold. Those that are blocked already stay so."`
	Unblock []string `json:"unblock,omitzero" maxItems:"5000" minLength:"1" maxLength:"40" description:"The ids of seats to put back on sale. One that is in both lists stays blocked."`
}

// BlockedSeats counts what has changed.
type BlockedSeats struct {
	Blocked   int `json:"blocked" description:"How many seats are blocked now and were not before."`
	Unblocked int `json:"unblocked" description:"How many seats were put back."`
}

// Seating is an event's seating as its organization sees it.
type Seating struct {
	Enabled        bool               `json:"enabled" description:"False if the event has no seating; then nothing else is answered."`
	Mode           string             `json:"mode,omitzero" description:"reserved: every ticket is a seat; ga_mixed: types of no section sell without seats."`
	HoldTTLSeconds int64              `json:"holdTtlSeconds,omitzero" description:"How many seconds a shopper's selection is held."`
	Map            *SeatMap           `json:"map,omitzero" description:"The event's map, with what its sections are sold as."`
	Pricing        []SectionTicketRef `json:"pricing,omitzero" description:"What each section is sold as, of those that are for sale."`
	Counts         *SeatCounts        `json:"counts,omitzero" description:"How many seats there are of each state."`
	Sold           []string           `json:"sold,omitzero" description:"The ids of the seats that are bought, or in an order that is not over."`
	Blocked        []string           `json:"blocked,omitzero" description:"The ids of the seats that are withheld."`
}

// SeatCounts are an event's seats by state.
type SeatCounts struct {
	Total     int `json:"total" description:"All seats of the map."`
	Available int `json:"available" description:"Those that are in no other state, also where their section is not for sale."`
	Held      int `json:"held" description:"Those that shoppers hold."`
	Sold      int `json:"sold" description:"Those that are bought, or in an order that is not over."`
	Blocked   int `json:"blocked" description:"Those that are withheld."`
}
