// Package venuemap owns the format in which organizers write venue maps: its
// structs, whose tags are the rules for single fields, Expand, which checks
// everything else and makes the columns that the seatmap kind works with, and
// three sample maps made by code. docs/venue-maps.md explains the format, and
// docs/venue-map.schema.json is printed from the structs.
//
// The edge calls it for the maps that organizers send, and cmd for the samples. All functions are
// pure, and nothing runs on its own.
package venuemap

// maxRowSeats is the most seats of a row, and maxID the most characters of a seat's id. The tags
// have the bounds of single fields, and seatmap.MaxSeats bounds all seats of a map.
const (
	maxRowSeats = 1_000
	maxID       = 40
)

// Document is a map as its author writes it. Distances are in units of the canvas. The author
// decides what a unit stands for, such as a centimetre. x grows to the right and y downwards. A
// point is a list of its x and y.
type Document struct {
	Name     string    `json:"name" required:"true" format:"name" minLength:"1" maxLength:"200" example:"Small hall" description:"The map's name, by which its organization finds it."`
	Canvas   Canvas    `json:"canvas" required:"true" example:"{\"width\":1000,\"height\":800}" description:"The room that the map is drawn in. Its units are the author's: a centimetre, say."`
	Focus    []int     `json:"focus" required:"true" minItems:"2" maxItems:"2" minimum:"0" maximum:"100000" example:"[500,50]" description:"The point that everybody looks at, x and y. The best seats are those nearest to it."`
	Sections []Section `json:"sections" maxItems:"500" example:"[{\"id\":\"stalls\",\"name\":\"Stalls\",\"rows\":[{\"label\":\"A\",\"from\":[200,300],\"to\":[800,300],\"count\":12,\"repeat\":8,\"step\":[0,60]}]}]" description:"The parts of the house that have seats, each priced as one. A draft may have none; what is published has one."`
	Elements []Element `json:"elements" maxItems:"200" example:"[{\"type\":\"stage\",\"x\":300,\"y\":20,\"width\":400,\"height\":80,\"label\":\"Stage\"}]" description:"What is drawn besides seats: stage, doors, texts and the like."`
}

// Canvas is the area in which the map is drawn. It reaches from the point 0, 0 to the point Width,
// Height.
type Canvas struct {
	Width  int `json:"width" required:"true" minimum:"100" maximum:"100000" description:"How wide it is: x grows from 0 on the left to this."`
	Height int `json:"height" required:"true" minimum:"100" maximum:"100000" description:"How high it is: y grows from 0 at the top to this."`
}

// Section is a part of the house whose seats are all sold as the same ticket type.
type Section struct {
	ID   string `json:"id" required:"true" minLength:"1" maxLength:"20" pattern:"^[A-Za-z0-9._:-]+$" description:"What names the section when it is priced; unique in the map."`
	Name string `json:"name" required:"true" format:"name" minLength:"1" maxLength:"40" description:"The section's name as it is printed on tickets."`
	Rows []Row  `json:"rows" required:"true" minItems:"1" maxItems:"1000" description:"The section's rows. Each lists its seats, or is a straight line or an arc of them."`
}

// Row is one row of seats, or several rows of the same form (Repeat). It has one of three forms:
// Seats lists the seats; From and To are the first and last seat of a straight row; Center, Radius
// and Angles describe an arc. The fields from Count on are only for straight rows and arcs.
// Positions are 1, 2, 3... along the row, beginning at From or at the first angle.
type Row struct {
	Label string `json:"label" required:"true" format:"name" minLength:"1" maxLength:"10" description:"The row's label as it is printed on tickets."`
	ID    string `json:"id,omitzero" maxLength:"20" pattern:"^[A-Za-z0-9._:-]+$" description:"What stands for the row in the ids of its seats, section-row-seat; the label without it."`

	Seats []Seat `json:"seats,omitzero" maxItems:"1000" description:"The row's seats, listed one by one in order along the row."`

	From []int `json:"from,omitzero" minItems:"2" maxItems:"2" minimum:"0" maximum:"100000" description:"Of a straight row: the point of its first seat, x and y."`
	To   []int `json:"to,omitzero" minItems:"2" maxItems:"2" minimum:"0" maximum:"100000" description:"Of a straight row: the point of its last seat, x and y."`

	Center []int     `json:"center,omitzero" minItems:"2" maxItems:"2" minimum:"-100000" maximum:"200000" description:"Of an arc: its center, x and y, which may lie outside of the canvas."`
	Radius int       `json:"radius,omitzero" minimum:"1" maximum:"200000" description:"Of an arc: its radius."`
	Angles []float64 `json:"angles,omitzero" minItems:"2" maxItems:"2" minimum:"-720" maximum:"720" description:"Of an arc: where its first and last seat are, in degrees clockwise from the right; 90 is below the center."`

	Count       int    `json:"count,omitzero" minimum:"1" maximum:"1000" description:"How many seats a straight row or an arc has, at equal distances."`
	FirstNumber *int   `json:"firstNumber,omitzero" minimum:"0" maximum:"100000" description:"The lowest number of the row's seats; without it 1, or 2 if the numbering is even."`
	Numbering   string `json:"numbering,omitzero" enum:"ascending,descending,odd,even" description:"How the positions are numbered, ascending without it; odd and even ascend in steps of 2."`
	AislesAfter []int  `json:"aislesAfter,omitzero" maxItems:"100" minimum:"1" maximum:"999" description:"The positions after which there is an aisle, as wide as a seat."`
	Wheelchair  []int  `json:"wheelchair,omitzero" maxItems:"1000" minimum:"1" maximum:"1000" description:"The positions that are spaces for wheelchairs."`
	Companion   []int  `json:"companion,omitzero" maxItems:"1000" minimum:"1" maximum:"1000" description:"The positions that are seats for those who come with a wheelchair."`

	Repeat     int     `json:"repeat,omitzero" minimum:"1" maximum:"200" description:"How many rows this makes, one behind the other, with labels that count on: 1, 2, 3 or A, B ... Z, AA; one without it."`
	Step       []int   `json:"step,omitzero" minItems:"2" maxItems:"2" minimum:"-100000" maximum:"100000" description:"Of a straight row that repeats: how far each row is from the one before, x and y."`
	RadiusStep int     `json:"radiusStep,omitzero" minimum:"-200000" maximum:"200000" description:"Of an arc that repeats: by how much the radius grows from row to row."`
	CountStep  float64 `json:"countStep,omitzero" minimum:"0" maximum:"20" description:"How many seats each row has more than the one before; fractions add up. A straight row grows at both ends, an arc gets denser."`
}

// Seat is one seat of a row that lists its seats.
type Seat struct {
	ID          string `json:"id,omitzero" maxLength:"40" pattern:"^[A-Za-z0-9._:-]+$" description:"The seat's id, unique in the map; section-row-label without it."`
	Label       string `json:"label" required:"true" format:"name" minLength:"1" maxLength:"10" description:"The seat's label as it is printed on tickets; unique in its section and row."`
	X           int    `json:"x" required:"true" minimum:"0" maximum:"100000" description:"Where the seat is, from the left."`
	Y           int    `json:"y" required:"true" minimum:"0" maximum:"100000" description:"Where the seat is, from the top."`
	Kind        string `json:"kind,omitzero" enum:"standard,wheelchair,companion" description:"A standard seat without it, a space for a wheelchair, or a seat for who comes with one."`
	AisleBefore bool   `json:"aisleBefore,omitzero" description:"True if there is an aisle between this seat and the one before."`
}

// Element is something that is drawn on the map and is not a seat, such as the stage.
type Element struct {
	Type   string `json:"type" required:"true" enum:"stage,field,text,rectangle,ellipse,entrance,exit,stairs,bar,restroom" description:"What it is, and so how it is drawn."`
	X      int    `json:"x" required:"true" minimum:"0" maximum:"100000" description:"Where its left edge is."`
	Y      int    `json:"y" required:"true" minimum:"0" maximum:"100000" description:"Where its upper edge is."`
	Width  int    `json:"width" required:"true" minimum:"1" maximum:"100000" description:"How wide it is."`
	Height int    `json:"height" required:"true" minimum:"1" maximum:"100000" description:"How high it is."`
	Label  string `json:"label,omitzero" format:"name" maxLength:"100" description:"What is written on it."`
}
