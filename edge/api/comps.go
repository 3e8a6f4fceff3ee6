package api

// GiveTickets gives tickets of one type away: it makes an order for each recipient, or none at all if one
// can't be made.
type GiveTickets struct {
	EventID      string      `path:"eventId" format:"id" maxLength:"128"`
	TicketTypeID string      `json:"ticketTypeId" required:"true" format:"uuid" description:"The ticket type to give, by its UUID; one without seats and dates."`
	Recipients   []Recipient `json:"recipients" required:"true" minItems:"1" maxItems:"200" description:"Who gets a ticket, 1 to 200, each e-mail once."`
	Note         string      `json:"note,omitzero" maxLength:"500" description:"A line of yours in the mail that brings the ticket."`
}

// Recipient is a person who is given one ticket.
type Recipient struct {
	Email string `json:"email" required:"true" format:"email" maxLength:"254" example:"ada@example.org" description:"Where the ticket goes."`
	Name  string `json:"name,omitzero" format:"name" maxLength:"200" example:"Ada Obi" description:"Who attends."`
}

// Given has the tickets that GiveTickets gave away.
type Given struct {
	Issued  int      `json:"issued" description:"How many tickets were made."`
	Tickets []Ticket `json:"tickets" description:"The tickets, one for each recipient, in their order."`
}

// ImportTickets gives a ticket of one type to each person in a CSV file. It skips rows that have no valid
// address or name, or the address of an earlier row.
type ImportTickets struct {
	EventID      string `path:"eventId" format:"id" maxLength:"128"`
	TicketTypeID string `json:"ticketTypeId" required:"true" format:"uuid" description:"The ticket type to give, by its UUID; one without seats and dates."`
	CSV          string `json:"csv" required:"true" minLength:"1" maxLength:"500000" example:"name,email\nAda Obi,ada@example.org" description:"The file, by RFC 4180, also with semicolons, tabs or what a line sep= says in place of commas. Its first row names the columns, of which name and email are read; at most 500 rows of data follow."`
}

// ImportedTickets says how many rows of a file got a ticket, and which rows were skipped.
type ImportedTickets struct {
	Imported int          `json:"imported" description:"How many rows got a ticket."`
	Skipped  int          `json:"skipped" description:"How many rows were skipped."`
	Errors   []SkippedRow `json:"errors" description:"The rows that were skipped, each with the reason."`
}

// SkippedRow is a row of the file for which no ticket was made, with the reason.
type SkippedRow struct {
	Row    int    `json:"row" description:"The number that a spreadsheet shows beside the row, blank rows counted: the names of the columns are row 1."`
	Reason string `json:"reason" enum:"INVALID_EMAIL,INVALID_NAME,DUPLICATE" description:"What is wrong with it; DUPLICATE is the e-mail of an earlier row."`
}
