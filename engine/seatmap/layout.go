package seatmap

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"boxoffice/engine/paged"
)

// These are the limits of a layout.
const (
	MaxSeats    = 100_000
	MaxSections = 500
	MaxCanvas   = 1_000_000 // canvas units in either direction
	maxText     = 40        // bytes of an id or a label; a section's name may have four times as many
)

// Kind is the kind of a seat.
type Kind = uint8

// The kinds of seats. Numbers are stored.
const (
	Standard   Kind = 0
	Wheelchair Kind = 1
	Companion  Kind = 2 // sold only together with a wheelchair place, at most three to each
)

// Layout is a published version of a venue map, as far as selling needs it; what is drawn besides
// seats stays with the venue. It never changes. Its columns have one entry for each seat, in
// reading order: section by section, row by row, along the row. Facts name a seat by its index in
// them.
type Layout struct {
	Map      [16]byte      `cbor:"1,keyasint"` // the venue map's public id
	Version  int32         `cbor:"2,keyasint"`
	Width    int32         `cbor:"3,keyasint"` // size of the canvas, in canvas units
	Height   int32         `cbor:"4,keyasint"`
	Focus    [2]int32      `cbor:"5,keyasint"` // x, y of the stage; the best seats are nearest to it
	Sections []Section     `cbor:"6,keyasint"`
	Rows     []Row         `cbor:"7,keyasint"`
	SeatIDs  paged.Strings `cbor:"8,keyasint"` // unique in the map: 1-40 of [A-Za-z0-9._:-], e.g. "101-A-12"
	SeatRow  paged.Steps   `cbor:"9,keyasint"` // each seat's index into Rows, never decreasing
	SeatX    paged.Steps   `cbor:"10,keyasint"`
	SeatY    paged.Steps   `cbor:"11,keyasint"`
	SeatKind []Kind        `cbor:"12,keyasint"`
	Gap      paged.Bits    `cbor:"13,keyasint"` // for each seat, whether an aisle separates it from the one before it in its row
	Labels   paged.Strings `cbor:"14,keyasint"` // as printed on the ticket, e.g. "12"
}

// Section is a part of the map that is sold as one ticket type.
type Section struct {
	ID   string `cbor:"1,keyasint"` // unique in the map, of the same characters as a seat's
	Name string `cbor:"2,keyasint"`
}

// Row is a row of seats in a section.
type Row struct {
	Section int32  `cbor:"1,keyasint"` // the row's index into Sections
	Label   string `cbor:"2,keyasint"`
}

// Len returns the number of seats.
func (l *Layout) Len() int { return len(l.SeatIDs) }

// SectionOf returns the index of a seat's section.
func (l *Layout) SectionOf(seat int32) int32 { return l.Rows[l.SeatRow[seat]].Section }

// Validate returns the first thing that is wrong with a layout, or nil: its numbers and sizes first, then its columns,
// its sections and rows, and its seats.
func (l *Layout) Validate() error {
	n := l.Len()
	switch {
	case l.Version < 1:
		return errors.New("the version is below 1")
	case n < 1 || n > MaxSeats:
		return fmt.Errorf("a map has 1 to %d seats, not %d", MaxSeats, n)
	case len(l.Sections) < 1 || len(l.Sections) > MaxSections:
		return fmt.Errorf("a map has 1 to %d sections, not %d", MaxSections, len(l.Sections))
	case len(l.Rows) < 1 || len(l.Rows) > n:
		return fmt.Errorf("%d rows for %d seats", len(l.Rows), n)
	case l.Width < 1 || l.Width > MaxCanvas || l.Height < 1 || l.Height > MaxCanvas:
		return fmt.Errorf("a canvas measures 1 to %d units, not %d x %d", MaxCanvas, l.Width, l.Height)
	case !l.onCanvas(l.Focus[0], l.Focus[1]):
		return errors.New("the focal point is not on the canvas")
	}
	for _, column := range []int{len(l.SeatRow), len(l.SeatX), len(l.SeatY), len(l.SeatKind), len(l.Gap), len(l.Labels)} {
		if column != n {
			return fmt.Errorf("a column has %d entries for %d seats", column, n)
		}
	}
	if err := l.validateSections(); err != nil {
		return err
	}
	return l.validateSeats()
}

// validateSections checks the ids and names of sections, and the labels of rows. No section may stand twice. Each row
// must be in a section, and rows must stand in the order of their sections.
func (l *Layout) validateSections() error {
	known := make(map[string]bool, len(l.Sections))
	for _, s := range l.Sections {
		switch {
		case !validID(s.ID):
			return fmt.Errorf("section %q: not an id", s.ID)
		case known[s.ID]:
			return fmt.Errorf("section %q stands twice", s.ID)
		case !validText(s.Name, 4*maxText):
			return fmt.Errorf("section %q: not a name", s.ID)
		}
		known[s.ID] = true
	}
	for i, r := range l.Rows {
		switch {
		case r.Section < 0 || int(r.Section) >= len(l.Sections):
			return fmt.Errorf("row %d is in no section", i)
		case i > 0 && r.Section < l.Rows[i-1].Section:
			return fmt.Errorf("row %d is not with its section", i)
		case !validText(r.Label, maxText):
			return fmt.Errorf("row %d: not a label", i)
		}
	}
	return nil
}

// validateSeats checks every seat: its id is valid and unique, it is on the canvas, its kind and label are
// valid, and seats stand row by row.
func (l *Layout) validateSeats() error {
	known := make(map[string]struct{}, l.Len())
	row := int32(0)
	for i, id := range l.SeatIDs {
		known[id] = struct{}{}
		switch {
		case !validID(id):
			return fmt.Errorf("seat %q: not an id", id)
		case len(known) != i+1:
			return fmt.Errorf("seat %q stands twice", id)
		case l.SeatRow[i] < row || int(l.SeatRow[i]) >= len(l.Rows):
			return fmt.Errorf("seat %q is not with its row", id)
		case !l.onCanvas(l.SeatX[i], l.SeatY[i]):
			return fmt.Errorf("seat %q is not on the canvas", id)
		case l.SeatKind[i] > Companion:
			return fmt.Errorf("seat %q is of no kind", id)
		case !validText(l.Labels[i], maxText):
			return fmt.Errorf("seat %q: not a label", id)
		}
		row = l.SeatRow[i]
	}
	return nil
}

func (l *Layout) onCanvas(x, y int32) bool { return x >= 0 && x <= l.Width && y >= 0 && y <= l.Height }

func validID(s string) bool {
	for _, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '.' && c != '_' && c != ':' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= maxText
}

func validText(s string, most int) bool { return len(s) <= most && utf8.ValidString(s) }
