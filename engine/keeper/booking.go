package keeper

import (
	"errors"
	"time"
)

// Day is a date of the civil calendar, in days since 1 January 1970. It has no time zone: a
// calendar's dates are dates in its event's zone.
type Day int32

// dayFormat is how dates are written (ISO 8601).
const dayFormat = "2006-01-02"

// errDay says that a text is not a date.
var errDay = errors.New("not a date, such as 2031-06-20")

// ParseDay parses a date such as 2031-06-20. It refuses dates before 1970.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(dayFormat, text)
	if err != nil || t.Year() < 1970 {
		return 0, errDay
	}
	return Day(t.Unix() / (24 * 3600)), nil
}

// String writes the date in the form 2031-06-20.
func (d Day) String() string { return d.time().Format(dayFormat) }

// Weekday returns the date's day of the week.
func (d Day) Weekday() time.Weekday { return d.time().Weekday() }

func (d Day) time() time.Time { return time.Unix(int64(d)*24*3600, 0).UTC() }

// Booking is a place in a calendar: what a line of an order or a ticket that moves takes, or what a ticket gives
// back.
type Booking struct {
	Date Day    `cbor:"1,keyasint"`
	Slot string `cbor:"2,keyasint,omitempty"` // id of the slot; "" stands for the date as a whole
	// Units is how many tickets the booking is for. Line is the line's index in the order.
	Units int64 `cbor:"3,keyasint"`
	Line  int   `cbor:"4,keyasint,omitempty"`
	// Within says that a ticket moves within its date: it takes or gives back a slot, and counts
	// for the date all the time.
	Within bool `cbor:"5,keyasint,omitempty"`
	// Beside is, for a ticket that moves, how many other units of the date its order has.
	Beside int64 `cbor:"6,keyasint,omitempty"`
}

// Visit is what a calendar grants to a line: what was booked, and when its tickets admit. A later
// change of the calendar does not change it. Times are unix milliseconds.
type Visit struct {
	Date  Day    `cbor:"1,keyasint"`
	Slot  string `cbor:"2,keyasint,omitempty"`
	Label string `cbor:"3,keyasint,omitempty"`
	Start int64  `cbor:"4,keyasint"`
	End   int64  `cbor:"5,keyasint"`
	// Gates admit for the whole date, and until the slot ends if that is later. The visits of
	// early journals have neither of these times; they admit from Start to End.
	Opens  int64 `cbor:"6,keyasint,omitempty"`
	Closes int64 `cbor:"7,keyasint,omitempty"`
}

// Admits returns the times between which tickets of the visit admit, in unix milliseconds.
func (v *Visit) Admits() (opens, closes int64) {
	if v.Closes == 0 {
		return v.Start, v.End
	}
	return v.Opens, v.Closes
}

// These are the details of a calendar's refusals (docs/rules.md, Reservations).
type (
	// DateClosed is the detail of DATE_UNAVAILABLE. Reason is closed, past, too_far or
	// paused.
	DateClosed struct {
		Date   string  `json:"date"`
		SlotID *string `json:"slotId"`
		Reason string  `json:"reason"`
	}
	// DateFull is the detail of SLOT_FULL.
	DateFull struct {
		Date      string  `json:"date"`
		SlotID    *string `json:"slotId"`
		Requested int64   `json:"requested"`
		Remaining int64   `json:"remaining"`
	}
	// DateCap is the detail of EXCEEDS_MAX_PER_CUSTOMER and EXCEEDS_MAX_PER_ORDER for a date. The calendar sets
	// Line, and the ledger then sets TicketTypeID, the ticket type of that line.
	DateCap struct {
		TicketTypeID string `json:"ticketTypeId"`
		Line         int    `json:"-" cbor:"line,omitempty"`

		Date        string `json:"date"`
		Max         int64  `json:"max"`
		AlreadyHeld int64  `json:"alreadyHeld"`
		Requested   int64  `json:"requested"`
	}
	// Issue is one mistake in a request.
	Issue struct {
		Path    string `json:"path"`
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	// Issues is the detail of a VALIDATION_ERROR about mistakes that only actors can find.
	Issues struct {
		Issues []Issue `json:"issues"`
	}
)
