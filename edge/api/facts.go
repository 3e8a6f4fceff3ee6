package api

import "time"

// Fact is a public fact: the body of a webhook, and an item of the feed that readers poll (ListFacts). It is
// the same in each delivery.
type Fact struct {
	ID      string    `json:"id" example:"evt_5t8w0n3x2q6k9m1j4h7g0f2d8s" description:"The same however often it is delivered, at every endpoint and in the feed: drop what you have seen."`
	Type    string    `json:"type" example:"order.completed" description:"The type in the catalogue."`
	Created time.Time `json:"created" description:"When it happened."`
	Seq     int64     `json:"seq" example:"4711" description:"Of two facts about the same thing, the one with the higher seq is the later; numbers are left out."`
	Data    JSON      `json:"data" format:"object" description:"What happened, by type; see the webhooks of this document."`
}

// ListFacts asks for the facts of an organization that come after a place in the feed, the oldest first.
type ListFacts struct {
	OrgID  string   `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	After  string   `query:"after" maxLength:"500" description:"The cursor of an earlier page, or now for what happens from now on; left out, the feed begins with the oldest that is kept."`
	Cursor string   `query:"cursor" maxLength:"500" description:"The same as after, under the name that other lists have for it."`
	Types  []string `query:"types" maxItems:"64" maxLength:"40" description:"Only these types of the catalogue; left out, all."`
	Limit  int      `query:"limit" minimum:"1" maximum:"100" default:"20" description:"At most so many facts are answered, 1 to 100."`
}

// Facts is a page of the feed. An empty page need not be the last one: the service looks through a limited number
// of facts for a page, and maybe none of them was of the types that the request asks for.
type Facts struct {
	Items      []Fact  `json:"items" description:"The facts of this page, the oldest first."`
	NextCursor *string `json:"nextCursor" description:"The same as cursor; null when there is nothing more now."`
	Cursor     string  `json:"cursor" description:"Where this page ends: the next request's after, now or later, so that nothing is missed."`
}

// FactType is a type of public facts, as the catalogue describes it.
type FactType struct {
	Type        string   `json:"type" description:"What a fact of this type has as its type, and what an endpoint subscribes to."`
	Description string   `json:"description" description:"When it is told."`
	DataKeys    []string `json:"dataKeys" description:"The names of the members of its data."`
	Active      bool     `json:"active" description:"False if nothing tells it yet."`
	Schema      string   `json:"schema" description:"Where its payload is described: a JSON pointer into /api/v1/openapi.json."`
}

// These types are the data of public facts, by the fact's type. They contain the records that answers show
// (docs/rules.md, Records), without secrets that would stay valid.
type (
	// EventData is the data of an event's facts. It leaves out the links to what is sold, because only buyers
	// may have them.
	EventData struct {
		Event Event `json:"event" description:"The event as it then was, without links to what is sold."`
	}
	// TicketTypeData is the data of a ticket type's facts. It leaves out the presale code, the access link
	// and the access note.
	TicketTypeData struct {
		TicketType EventTicketType `json:"ticketType" description:"The ticket type as it then was, without presale code, access link and note."`
	}
	// EventTicketType is a ticket type with the event that sells it.
	EventTicketType struct {
		EventID string `json:"eventId" description:"The UUID of the event that sells it."`
		TicketType
	}
	// OrderData is the data of the facts that an order was created, failed or was cancelled.
	OrderData struct {
		Order OrderRecord `json:"order" description:"The order as it then was, without its tickets and its token."`
	}
	// CompletedOrderData is the data of the fact that an order was completed. It has the tickets too.
	CompletedOrderData struct {
		Order   OrderRecord    `json:"order" description:"The order as it was completed."`
		Tickets []IssuedTicket `json:"tickets" description:"Its tickets with their codes."`
	}
	// IssuedTicket is a ticket with the QR payload of the time at which the fact was written, which is out of
	// date soon.
	IssuedTicket struct {
		TicketRecord
		QR          string `json:"qr" description:"The QR payload as it was when this was told; it rotates."`
		QRExpiresAt Time   `json:"qrExpiresAt" description:"Until when a gate takes that payload."`
	}
	// IssuedTicketData is the data of the fact that a ticket was issued.
	IssuedTicketData struct {
		Ticket IssuedTicket `json:"ticket" description:"The ticket with its codes."`
	}
	// TicketData is the data of the fact that a ticket was transferred to another holder. It has no codes.
	TicketData struct {
		Ticket TicketRecord `json:"ticket" description:"The ticket as it then was, without its codes."`
	}
	// CheckinData is the data of the fact that a scan admitted a ticket.
	CheckinData struct {
		Ticket  TicketRecord `json:"ticket" description:"The ticket that was admitted."`
		Checkin Checkin      `json:"checkin" description:"The scan that admitted it."`
	}
	// DeniedCheckinData is the data of the fact that a scan was denied.
	DeniedCheckinData struct {
		Ticket  *TicketRecord `json:"ticket" description:"The ticket that was denied; null when the code is not that of a ticket of the event."`
		Checkin Checkin       `json:"checkin" description:"The scan that was denied."`
	}
	// Checkin is a scan at a gate, with its verdict.
	Checkin struct {
		EventID  string  `json:"eventId" description:"The UUID of the event whose gate scanned."`
		Status   string  `json:"status" enum:"success,denied_duplicate,denied_cancelled,denied_expired,denied_wrong_event,denied_not_inside" description:"The verdict: success is an admission; denied_not_inside is of somebody who was to go out and is not inside."`
		At       Time    `json:"at" description:"When it was scanned."`
		GateName *string `json:"gateName" description:"The gate; null if the device named none."`
		DeviceID *string `json:"deviceId" description:"The device; null if it named itself nothing."`
		Method   *string `json:"method" description:"How the code was read, such as qr_scan; null if the device did not say."`
	}
	// ReportData is the data of the facts about a report (see CreateReport).
	ReportData struct {
		Report Report `json:"report" description:"The report as its reporter sees it, without who that is."`
	}
	// MessageData is the data of the fact that a buyer has written a message.
	MessageData struct {
		Message Message `json:"message" description:"The message that a buyer has written."`
	}
	// AttendeeData is the data of the fact that an attendee's ticket got a tag.
	AttendeeData struct {
		Attendee TaggedAttendee `json:"attendee" description:"The person who attends, with all tags."`
	}
	// AgentActionData is the data of the fact that an AI agent has changed something through the MCP server,
	// with an API key of the organization.
	AgentActionData struct {
		Tool       string    `json:"tool" description:"The tool that the agent called."`
		Method     string    `json:"method" description:"The HTTP method that the tool stands for."`
		Path       string    `json:"path" description:"The path that was called."`
		StatusCode int       `json:"statusCode" description:"The HTTP status of the answer, 2xx."`
		At         time.Time `json:"at" description:"When it was carried out."`
	}
	// TaggedAttendee is the person who attends with a ticket, and the tags of that ticket.
	TaggedAttendee struct {
		TicketID   string   `json:"ticketId" description:"The ticket's UUID."`
		TicketCode *string  `json:"ticketCode" description:"Always null, for a code admits whoever has it."`
		Email      *string  `json:"email" description:"The attendee's address; null if none is known."`
		Name       *string  `json:"name" description:"The attendee's name; null if none is known."`
		Tags       []string `json:"tags" description:"All tags of the ticket."`
	}
	// RefundData is the data of a refund's facts.
	RefundData struct {
		Refund Refund `json:"refund" description:"The refund as it then was."`
	}
)
