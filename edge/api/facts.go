package api

import "time"

// Fact is what the world is told, once: the body of a webhook, and an item of the
// pull feed.
type Fact struct {
	ID      string    `json:"id" description:"the same however often it is delivered: drop what you have seen"`
	Type    string    `json:"type" description:"of the catalogue"`
	Created time.Time `json:"created" description:"when it happened"`
	Seq     int64     `json:"seq" description:"of two facts about the same thing, the one with the higher seq is the later; numbers are left out"`
	Data    JSON      `json:"data" format:"object" description:"by type; see the webhooks of this document"`
}

// ListFacts asks for the facts after a place in the feed.
type ListFacts struct {
	OrgID string   `query:"orgId" maxLength:"40"`
	After string   `query:"after" maxLength:"500" description:"the cursor of an earlier page; absent: from the oldest on"`
	Types []string `query:"types" maxItems:"64" maxLength:"40" description:"of the catalogue; absent: all"`
	Limit int      `query:"limit" minimum:"1" maximum:"100" default:"20"`
}

// Facts is a page of the feed. A page may be empty and yet not the last: it found
// none of its types among the facts that it looked through.
type Facts struct {
	Items      []Fact  `json:"items"`
	NextCursor *string `json:"nextCursor" description:"the same as cursor; null when there is no more now"`
	Cursor     string  `json:"cursor" description:"where this page ends: pass it as after, now or later, and miss nothing"`
}

// FactType is a type of the catalogue.
type FactType struct {
	Type        string   `json:"type"`
	Description string   `json:"description" description:"when it fires"`
	DataKeys    []string `json:"dataKeys" description:"the members of its data"`
	Active      bool     `json:"active" description:"false: nothing fires it yet"`
	Schema      string   `json:"schema" description:"of its payload: a JSON pointer into /api/v1/openapi.json"`
}

// The data of facts: the records that answers show, without secrets (docs/rules.md, Records).
type (
	// EventData is the data of an event's facts. Links to what is sold are
	// left out.
	EventData struct {
		Event Event `json:"event"`
	}
	// TicketTypeData is the data of a ticket type's facts. Presale code,
	// access link and note are left out.
	TicketTypeData struct {
		TicketType EventTicketType `json:"ticketType"`
	}
	// EventTicketType is a ticket type with the event that sells it.
	EventTicketType struct {
		EventID string `json:"eventId"`
		TicketType
	}
	// OrderData is the data of an order's facts.
	OrderData struct {
		Order OrderRecord `json:"order"`
	}
	// CompletedOrderData is the data of a completed order.
	CompletedOrderData struct {
		Order   OrderRecord    `json:"order"`
		Tickets []IssuedTicket `json:"tickets"`
	}
	// IssuedTicket is a ticket with its code, and with the QR payload of the
	// moment at which its issue was told.
	IssuedTicket struct {
		TicketRecord
		Code        string `json:"code"`
		QR          string `json:"qr" description:"as it was when this was told; rotates"`
		QRExpiresAt Time   `json:"qrExpiresAt"`
	}
	// IssuedTicketData is the data of a ticket's issue.
	IssuedTicketData struct {
		Ticket IssuedTicket `json:"ticket"`
	}
	// CheckinData is the data of a scan that admitted.
	CheckinData struct {
		Ticket  TicketRecord `json:"ticket"`
		Checkin Checkin      `json:"checkin"`
	}
	// DeniedCheckinData is the data of a scan that was denied.
	DeniedCheckinData struct {
		Ticket  *TicketRecord `json:"ticket" description:"null when the code is not that of a ticket of the event"`
		Checkin Checkin       `json:"checkin"`
	}
	// Checkin is a scan at a gate.
	Checkin struct {
		EventID  string  `json:"eventId"`
		Status   string  `json:"status" enum:"success,denied_duplicate,denied_cancelled,denied_expired,denied_wrong_event"`
		At       Time    `json:"at"`
		GateName *string `json:"gateName"`
		DeviceID *string `json:"deviceId"`
		Method   *string `json:"method"`
	}
	// RefundData is the data of a refund's facts.
	RefundData struct {
		Refund Refund `json:"refund"`
	}
)
