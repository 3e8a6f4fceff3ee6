package api

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"boxoffice/edge/route"
)

// SeatsByEvent names an event with a seat map.
type SeatsByEvent struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
}

// WatchSeats opens the stream of the states of an event's seats.
type WatchSeats struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
	Packed  bool   `query:"packed" description:"Snapshots are { venueMapId, version, states }: two bits a seat in the order of the drawing, lowest bits first, in base64; 0 available, 1 held, 2 sold, 3 blocked."`
}

// PackedSeats has the states of all seats of a map, in the order of the map's drawing. It always takes 7 KB
// for a hall of 20,000 seats, however many of them are sold.
type PackedSeats struct {
	VenueMapID string `json:"venueMapId" description:"The UUID of the map whose drawing gives the order of the seats."`
	Version    int32  `json:"version" description:"The published version of the map."`
	States     []byte `json:"states" description:"Two bits for each seat in base64: 0 available, 1 held, 2 sold, 3 blocked."`
}

// HoldSeats replaces all seats that a checkout session holds by the seats in the request. Seats that can't be
// held are left out, and HeldSeats tells why.
type HoldSeats struct {
	EventID         string   `path:"eventId" format:"id" maxLength:"128"`
	Holder          string   `json:"holder" required:"true" minLength:"8" maxLength:"80" example:"shopper-7c1f" description:"A name of your own for the checkout session, hard to guess: whoever knows it may change the selection, and buys the seats."`
	SeatIDs         []string `json:"seatIds" required:"true" maxItems:"50" minLength:"1" maxLength:"40" example:"[\"stalls-A-5\",\"stalls-A-6\"]" description:"The whole selection, up to 50 ids of seats: seats of an earlier one that are not listed are given back. An empty list gives back all."`
	Admission       string   `json:"admission,omitzero" maxLength:"200" description:"The admission of an event with a waiting room, if it is not sent as X-Queue-Admission."`
	AdmissionHeader string   `header:"X-Queue-Admission" maxLength:"200" description:"The admission of an event with a waiting room."`
}

// LimitHolder returns the secret word of the checkout session (holder). The rate limit counts a caller
// without credentials by this word.
func (in *HoldSeats) LimitHolder() string { return in.Holder }

// ReleaseSeats gives back some or all of the seats that a checkout session holds.
type ReleaseSeats struct {
	EventID string   `path:"eventId" format:"id" maxLength:"128"`
	Holder  string   `json:"holder" required:"true" minLength:"8" maxLength:"80" example:"shopper-7c1f" description:"The name that the checkout session gave when it held the seats."`
	SeatIDs []string `json:"seatIds,omitzero" maxItems:"50" minLength:"1" maxLength:"40" example:"[\"stalls-A-6\"]" description:"The ids of the seats to give back; all of the selection without it."`
}

// LimitHolder returns the secret word of the checkout session (holder). The rate limit counts a caller
// without credentials by this word.
func (in *ReleaseSeats) LimitHolder() string { return in.Holder }

// ExtendSeats asks for more time for the seats that a checkout session holds.
type ExtendSeats struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
	Holder  string `json:"holder" required:"true" minLength:"8" maxLength:"80" example:"shopper-7c1f" description:"The name that the seats are held under."`
}

// LimitHolder returns the secret word of the checkout session (holder). The rate limit counts a caller
// without credentials by this word.
func (in *ExtendSeats) LimitHolder() string { return in.Holder }

// BestSeats lets the service choose the best seats that are free, and replaces the seats that a checkout
// session holds by them.
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

// LimitHolder returns the secret word of the checkout session (holder). The rate limit counts a caller
// without credentials by this word.
func (in *BestSeats) LimitHolder() string { return in.Holder }

// HeldSeats says which seats a checkout session holds now, and why it did not get the others that it asked
// for.
type HeldSeats struct {
	Held      []string          `json:"held" description:"The ids of the seats that the holder has now."`
	Failed    []string          `json:"failed" description:"The ids of those that are not to be had."`
	Reasons   map[string]string `json:"reasons" description:"Why each has failed, by its id: unknown, not_for_sale, taken, blocked, needs_wheelchair or leaves_single."`
	ExpiresAt Time              `json:"expiresAt" description:"When the selection ends unless it is ordered; null when it is empty. Changing it may move this, to three times the hold's time in all; the extension of a hold comes on top."`
}

// ReleasedSeats says how many seats were given back.
type ReleasedSeats struct {
	Released int `json:"released" description:"How many seats were given back."`
}

// BestHeld says which seats the service chose for BestSeats. The checkout session holds them now.
type BestHeld struct {
	Held      []string `json:"held" description:"The ids of the seats that the holder has now."`
	Adjacent  bool     `json:"adjacent" description:"True if all are beside each other in one row."`
	ExpiresAt Time     `json:"expiresAt" description:"When the selection ends unless it is ordered."`
}

// SeatStates has the ids of the seats of an event that are sold, blocked or held.
type SeatStates struct {
	Sold    []string `json:"sold" description:"The ids of the seats that are bought, or in an order that is not over."`
	Blocked []string `json:"blocked" description:"The ids of the seats that the organization withholds."`
	Held    []string `json:"held" description:"The ids of the seats that shoppers hold."`
}

// ReadSeatMap asks for an event's seat map, with or without its seats.
type ReadSeatMap struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
	Live    bool   `query:"live" description:"True: without seats and elements, which the drawing at drawingUrl has."`
}

// SeatMap is the seat map of one event, with the prices of its sections. It does not tell which seats are
// free (SeatStates).
type SeatMap struct {
	VenueMapID string           `json:"venueMapId" description:"The UUID of the venue map."`
	Version    int32            `json:"version" description:"The published version of it that the event is seated by."`
	DrawingURL string           `json:"drawingUrl" description:"The path of the map's drawing, by rows. It never changes, so clients and proxies keep it."`
	Canvas     Canvas           `json:"canvas" description:"The room that the map is drawn in."`
	Focus      []int32          `json:"focus" description:"The point that everybody looks at, x and y."`
	Sections   []SeatSection    `json:"sections" description:"The parts of the map with what they are sold as."`
	Seats      []Seat           `json:"seats" description:"All seats, in the order of the drawing; empty with live=true."`
	Elements   []jsontext.Value `json:"elements" description:"What is drawn besides seats, as the author wrote it: stage, texts and the like; empty with live=true."`

	// Text is the map's JSON if it was encoded before, so that it is encoded only once; else it is nil.
	Text []byte `json:"-"`
}

// AppendJSON appends the map's JSON to b.
func (m *SeatMap) AppendJSON(b []byte) []byte { return appendText(b, m.Text, m) }

// appendText appends text, the JSON of v, to b. If text is nil, it encodes v first.
func appendText[T any](b, text []byte, v *T) []byte {
	if text == nil {
		text, _ = json.Marshal(v, route.Encoding) // encoding these types never fails
	}
	return append(b, text...)
}

// ReadDrawing asks for the drawing of a published version of a venue map.
type ReadDrawing struct {
	ID      string `path:"id" format:"id" maxLength:"36" description:"The venue map's UUID, in lower case."`
	Version string `path:"version" format:"id" maxLength:"10" description:"The published version's number, from 1."`
}

// Drawing is a published version of a venue map, row by row, for pages that draw it. It has no prices and
// never changes, so it can be cached.
type Drawing struct {
	VenueMapID string           `json:"venueMapId" description:"The UUID of the venue map."`
	Version    int32            `json:"version" description:"The published version that this is."`
	Canvas     Canvas           `json:"canvas" description:"The room that the map is drawn in."`
	Focus      []int32          `json:"focus" description:"The point that everybody looks at, x and y."`
	Sections   []DrawnSection   `json:"sections" description:"The parts of the map; their prices are the event's."`
	Rows       []DrawnRow       `json:"rows" description:"The rows with their seats. All seats, in this order, are what a packed stream counts by."`
	Elements   []jsontext.Value `json:"elements" description:"What is drawn besides seats, as the author wrote it: stage, texts and the like."`

	// Text is the drawing's JSON if it was encoded before, so that it is encoded only once; else it is nil.
	Text []byte `json:"-"`
}

// AppendJSON appends the drawing's JSON to b.
func (d *Drawing) AppendJSON(b []byte) []byte { return appendText(b, d.Text, d) }

// DrawnSection is a section of a drawing. The rows name it by its ID.
type DrawnSection struct {
	ID   string `json:"id" description:"The section's id, by which an event prices it."`
	Name string `json:"name" description:"The section's name as it is printed on tickets."`
}

// DrawnRow is a row of seats of a drawing. Each of its lists has one entry for each seat, except that Kinds
// may be left out.
type DrawnRow struct {
	Section string   `json:"sectionId" description:"The id of the section that the row is in."`
	Label   string   `json:"label" description:"The row's label as it is printed on tickets."`
	IDs     []string `json:"ids" description:"The ids of the row's seats, along the row."`
	Labels  []string `json:"labels" description:"The label of each seat, in the same order."`
	X       []int32  `json:"x" description:"Where each seat is from the left, in units of the canvas."`
	Y       []int32  `json:"y" description:"Where each seat is from the top, in units of the canvas."`
	Kinds   []string `json:"kinds,omitzero" enum:"standard,wheelchair,companion" description:"The kind of each seat, in the same order; left out when all are standard."`
}

// Canvas is the size of the area on which a map is drawn. Its unit is the map's own and has no fixed length.
type Canvas struct {
	Width  int32 `json:"width" description:"How wide it is, in units of the map's own: x grows from 0 on the left to this."`
	Height int32 `json:"height" description:"How high it is, in the same units: y grows from 0 at the top to this."`
}

// SeatSection is a section of an event's seat map. All its seats are sold as one ticket type.
type SeatSection struct {
	ID           string  `json:"id" description:"The section's id, by which it is priced."`
	Name         string  `json:"name" description:"The section's name as it is printed on tickets."`
	TicketTypeID *string `json:"ticketTypeId" description:"The ticket type that its seats are sold as; null: they are not for sale."`
	Price        *string `json:"price" description:"What one seat costs without fees, as a decimal; null if the section is not for sale."`
	PriceTotal   *string `json:"priceTotal" description:"What a buyer pays for one seat, with the fee; null if the section is not for sale."`
	Currency     *string `json:"currency" description:"The price's currency; null if the section is not for sale."`
}

// Seat is a seat of an event's seat map, with its place on the canvas.
type Seat struct {
	ID      string `json:"id" description:"The seat's id, unique in the map: what is held, ordered and blocked."`
	Label   string `json:"label" description:"The seat's label as it is printed on tickets."`
	Section string `json:"sectionId" description:"The id of the section that it is in."`
	Row     string `json:"row" description:"The label of the row that it is in."`
	X       int32  `json:"x" description:"Where it is from the left, in units of the canvas."`
	Y       int32  `json:"y" description:"Where it is from the top, in units of the canvas."`
	Kind    string `json:"kind" enum:"standard,wheelchair,companion" description:"A standard seat, a space for a wheelchair, or a companion's seat, which needs a wheelchair's in the selection, three of them at the most."`
}

// SetSeating gives an event the seats of a published version of a venue map.
type SetSeating struct {
	ID      string `path:"id" format:"id" maxLength:"128"`
	Map     string `json:"venueMapId" required:"true" format:"uuid" description:"The UUID of the venue map, the organization's own or one that is shared."`
	Version int32  `json:"version,omitzero" minimum:"1" maximum:"2147483647" description:"The published version; the newest without it."`
	Mode    string `json:"mode,omitzero" enum:"reserved,ga_mixed" default:"reserved" description:"reserved: every ticket is a seat, and a type of no section is not for sale. ga_mixed: such a type sells without seats."`
	Hold    int64  `json:"holdTtlSeconds,omitzero" minimum:"60" maximum:"3600" default:"300" description:"How many seconds a shopper's selection is held. One that keeps changing lasts three times as long at the most."`
}

// SetSeatPrices says as which ticket type the seats of each section are sold. It replaces what was set
// before.
type SetSeatPrices struct {
	ID       string             `path:"id" format:"id" maxLength:"128"`
	Mappings []SectionTicketRef `json:"mappings" required:"true" maxItems:"500" description:"What each section is sold as. A section that is not listed is not for sale."`
}

// SectionTicketRef says as which ticket type the seats of one section are sold.
type SectionTicketRef struct {
	Section string `json:"venueSectionId" required:"true" minLength:"1" maxLength:"40" example:"stalls" description:"The id of a section of the map."`
	Type    string `json:"ticketTypeId" required:"true" format:"uuid" description:"The UUID of the event's ticket type that the section is sold as, each seat at its price."`
}

// BlockSeats takes seats of an event off sale and puts other seats back on sale.
type BlockSeats struct {
	ID      string   `path:"id" format:"id" maxLength:"128"`
	Block   []string `json:"block,omitzero" maxItems:"5000" minLength:"1" maxLength:"40" example:"[\"stalls-A-1\",\"stalls-A-2\"]" description:"The ids of seats to withhold. Those that are blocked already stay so."`
	Unblock []string `json:"unblock,omitzero" maxItems:"5000" minLength:"1" maxLength:"40" description:"The ids of seats to put back on sale. One that is in both lists stays blocked."`
}

// BlockedSeats says how many seats were taken off sale and how many were put back.
type BlockedSeats struct {
	Blocked   int `json:"blocked" description:"How many seats are blocked now and were not before."`
	Unblocked int `json:"unblocked" description:"How many seats were put back."`
}

// Seating has the seats of an event, their states and what they are sold as, for the event's organization.
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

// SeatCounts says how many seats of an event are in each state.
type SeatCounts struct {
	Total     int `json:"total" description:"All seats of the map."`
	Available int `json:"available" description:"Those that are in no other state, also where their section is not for sale."`
	Held      int `json:"held" description:"Those that shoppers hold."`
	Sold      int `json:"sold" description:"Those that are bought, or in an order that is not over."`
	Blocked   int `json:"blocked" description:"Those that are withheld."`
}
