package holders

import (
	"bytes"
	"context"
	"strings"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/sheets"
)

// csvPage is how many attendees are read at once for a CSV file. Only one such page is in memory at
// a time.
const csvPage = 500

// csvColumns are the names in the first row of the file. csvRow writes the values in the same
// order.
var csvColumns = []string{
	"ticketId", "orderId", "ticketType", "status", "name", "email", "holderName", "holderEmail", "section", "row", "seat",
	"date", "slot", "faceValue", "currency", "tags", "checkedInAt", "gateName", "issuedAt",
}

// exportAttendees writes attendees into a CSV file, page by page while a client reads it. The
// status 200 is sent before the first page is read. So an error after that cannot change the
// status; the file just ends early.
func (h *Handlers) exportAttendees(c *route.Call, in *api.AttendeeFilter) (*route.Content, error) {
	number, filter, err := h.findAttendees(c, in)
	if err != nil {
		return nil, err
	}
	var last uint32 // serial of the ticket that was written last
	return makeFile("text/csv; charset=utf-8", "attendees.csv", func(ctx context.Context, out *bytes.Buffer) (bool, error) {
		list, err := h.Attendees.List(ctx, number, filter, last, csvPage)
		if err != nil {
			return false, err
		}
		var rows [][]string
		// No ticket has the serial 0, so a last of 0 means that this is the first page.
		if last == 0 {
			sheets.Begin(out)
			rows = append(rows, csvColumns)
		}
		for i := range list {
			v, err := h.attendeeView(ctx, &list[i], c.Now)
			if err != nil {
				return false, err
			}
			rows = append(rows, csvRow(v))
			last = list[i].Serial
		}
		return len(list) < csvPage, sheets.Write(out, rows...)
	}), nil
}

// csvRow makes the row of an attendee, with the values in the order of csvColumns. A missing value becomes an
// empty cell.
func csvRow(v *api.Attendee) []string {
	var seat api.TicketSeat
	if v.Seat != nil {
		seat = *v.Seat
	}
	var booked api.Booked
	if v.Reservation != nil {
		booked = *v.Reservation
	}
	return []string{
		v.ID, v.OrderID, v.TierName, v.Status, shown(v.Name), shown(v.Email), shown(v.Holder.Name), v.Holder.Email, seat.Section, seat.Row, seat.Label,
		booked.Date, shown(booked.Label), v.FaceValue, v.Currency, strings.Join(v.Tags, " "), csvTime(v.CheckedInAt), shown(v.GateName), csvTime(v.IssuedAt),
	}
}

// shown returns a text that may be missing, or "" if it is.
func shown(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// csvTime writes a time as RFC 3339 in UTC, or "" if there is none.
func csvTime(t api.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
