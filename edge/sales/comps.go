package sales

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/names"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/route/format"
	"boxoffice/edge/sheets"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// The limits of a request that gives tickets away. Each ticket is an order of its own; the request makes all of
// them or none.

const (
	maxRows = 500 // most rows of data in a file
	maxName = 200 // most characters of a recipient's name
)

// giveTickets gives a ticket to each recipient in the request. It refuses an address that occurs twice.
func (h *Handlers) giveTickets(c *route.Call, in *api.GiveTickets) (*api.Given, error) {
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(in.Recipients))
	for i := range in.Recipients {
		email := order.NormalEmail(in.Recipients[i].Email)
		if known[email] {
			return nil, route.Invalid(route.Issue{
				Path: fmt.Sprintf("recipients[%d].email", i), Code: route.IssueDuplicate, Message: "is that of an earlier recipient",
			})
		}
		known[email] = true
	}
	tickets, err := h.issueComps(c, number, in.TicketTypeID, in.Note, in.Recipients)
	if err != nil {
		return nil, err
	}
	return &api.Given{Issued: len(tickets), Tickets: tickets}, nil
}

// importTickets gives a ticket to each recipient in a CSV file. It skips rows that are wrong or repeat an address,
// and lists them in the answer.
func (h *Handlers) importTickets(c *route.Call, in *api.ImportTickets) (*api.ImportedTickets, error) {
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	recipients, skipped, issue := readRecipients(in.CSV)
	if issue != nil {
		return nil, route.Invalid(*issue)
	}
	if _, err := typeOf(number, in.TicketTypeID); err != nil {
		return nil, err
	}
	if len(recipients) > 0 {
		if _, err := h.issueComps(c, number, in.TicketTypeID, "", recipients); err != nil {
			return nil, err
		}
	}
	return &api.ImportedTickets{Imported: len(recipients), Skipped: len(skipped), Errors: skipped}, nil
}

// typeOf returns the number of a ticket type from its id. It refuses an id of another event or of another form, but
// does not check whether the type exists.
func typeOf(number int64, id string) (int64, error) {
	t, err := engine.ParseID(id)
	if err != nil || t.Event() != number || t != engine.NumberedID(number, t.Number()) {
		return 0, &engine.Refusal{Code: engine.TicketTypeNotFound}
	}
	return t.Number(), nil
}

// issueComps makes the recipients' orders, all in one command. The orders' ids are derived from the request's name
// (secrets.Master.Request), so a request that is repeated with its Idempotency-Key finds the same orders.
func (h *Handlers) issueComps(c *route.Call, number int64, ticketType, note string, recipients []api.Recipient) ([]api.Ticket, error) {
	typ, err := typeOf(number, ticketType)
	if err != nil {
		return nil, err
	}
	body, name := c.BodyHash(), h.Secrets.Request(c.Scope())
	var cmd ledger.PlaceAll
	for i := range recipients {
		r := &recipients[i]
		p := ledger.Place{
			Fingerprint: binary.BigEndian.Uint64(body[:8]),
			Email:       r.Email, Name: r.Name, Customer: order.CustomerOf(order.NormalEmail(r.Email)),
			Lines: []order.Line{{Type: typ, Quantity: 1}},
			Issue: &order.Issue{Comp: true, Note: note},
		}
		own := sha256.Sum256(binary.BigEndian.AppendUint32(name[:], uint32(i))) //nolint:gosec // few
		p.Order, p.Alias = orders.NewIDs(c, number, own)
		cmd.Orders = append(cmd.Orders, p)
	}
	made, err := cluster.AskFor[ledger.AllReply](c.Context, h.Node, engine.EventRef(number), cmd)
	if err != nil {
		return nil, placesIssue(err)
	}
	var tickets []api.Ticket
	for i := range made.Orders {
		v, _, err := h.issuedView(c, &made.Orders[i])
		if err != nil {
			return nil, err
		}
		tickets = append(tickets, v.Tickets...)
	}
	return tickets, nil
}

// placesIssue turns an actor's VALIDATION_ERROR, which means that the tickets are for a seat or a date, into an issue
// of the request. It returns any other error unchanged.
func placesIssue(err error) error {
	if r, ok := errors.AsType[*engine.Refusal](err); ok && r.Code == engine.Validation {
		return route.Invalid(route.Issue{
			Path: "ticketTypeId", Code: route.IssueFormat, Message: "is of tickets for a seat or a date: give them away with POST /events/{eventId}/issue",
		})
	}
	return err
}

// readRecipients reads the recipients in a file. skipped holds the rows that it leaves out, with the reason. It
// returns an issue if the file is no CSV, lacks a column or has too many rows.
func readRecipients(text string) (recipients []api.Recipient, skipped []api.SkippedRow, issue *route.Issue) {
	broken := func(err error) *route.Issue {
		return &route.Issue{Path: "csv", Code: route.IssueFormat, Message: "is not CSV by RFC 4180: " + err.Error()}
	}
	rows, ok, err := sheets.Open(text, "email", "name")
	if err != nil {
		return nil, nil, broken(err)
	}
	if !ok {
		return nil, nil, &route.Issue{Path: "csv", Code: route.IssueFormat, Message: "must begin with a row that names the columns name and email"}
	}
	skipped = []api.SkippedRow{}
	known := make(map[string]bool)
	for n := 1; ; n++ {
		cells, row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return recipients, skipped, nil
		}
		if err != nil {
			return nil, nil, broken(err)
		}
		if n > maxRows {
			return nil, nil, &route.Issue{Path: "csv", Code: route.IssueMaxItems, Message: fmt.Sprintf("must have at most %d rows of data", maxRows)}
		}
		r, reason := readRecipient(cells[0], cells[1])
		if reason == "" && known[order.NormalEmail(r.Email)] {
			reason = "DUPLICATE"
		}
		if reason != "" {
			skipped = append(skipped, api.SkippedRow{Row: row, Reason: reason})
			continue
		}
		known[order.NormalEmail(r.Email)] = true
		recipients = append(recipients, r)
	}
}

// readRecipient reads the recipient in a row, or returns the reason why the row is skipped.
func readRecipient(email, name string) (r api.Recipient, reason string) {
	r.Email, r.Name = format.CanonicalEmail(names.Clean(email)), names.Clean(name)
	switch {
	case !format.ValidEmail(r.Email):
		return r, "INVALID_EMAIL"
	case utf8.RuneCountInString(r.Name) > maxName:
		return r, "INVALID_NAME"
	}
	return r, ""
}
