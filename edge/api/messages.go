package api

import "time"

// MessageFields are the contents of a message, which both sides of a thread send.
type MessageFields struct {
	Body           string   `json:"body" required:"true" minLength:"1" maxLength:"5000" example:"Where is the door?" description:"What is written, in plain text."`
	AttachmentURLs []string `json:"attachmentUrls" maxItems:"5" format:"uri" maxLength:"2048" description:"Up to five addresses of files, http or https, that belong to it."`
}

// WriteMessage sends a message from the holder of a ticket to the organization that sold it.
type WriteMessage struct {
	TicketID string `path:"ticketId" format:"id" maxLength:"128"`
	MessageFields
}

// ReplyToThread sends the organization's answer to a buyer.
type ReplyToThread struct {
	ThreadID string `path:"threadId" format:"id" maxLength:"128" description:"The thread's UUID."`
	MessageFields
}

// ListOwnThreads asks for the threads in which the caller writes as a buyer. The one with the newest message
// comes first.
type ListOwnThreads struct{ Page }

// ListThreads asks for the threads between buyers and an organization. The one with the newest message comes
// first.
type ListThreads struct {
	OrgID   string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	EventID string `query:"eventId" maxLength:"128" description:"Only threads about this event's tickets: its UUID or its number."`
	Status  string `query:"status" enum:"open,replied,closed" description:"Only threads that stand so: open, if the buyer wrote last, or replied, if the organization did."`
	Page
}

// Message is a message's record.
type Message struct {
	ID             string    `json:"id" description:"The message's UUID."`
	ThreadID       string    `json:"threadId" description:"The UUID of the thread that it stands in."`
	TicketID       string    `json:"ticketId" description:"The UUID of the ticket that the thread is about."`
	From           string    `json:"from" enum:"buyer,organizer" description:"Which side wrote it."`
	Body           string    `json:"body" description:"What was written, in plain text."`
	AttachmentURLs []string  `json:"attachmentUrls" description:"The addresses of files that belong to it; empty without any."`
	CreatedAt      time.Time `json:"createdAt" description:"When it was written."`
	ReadAt         Time      `json:"readAt" description:"When the other side wrote next, and so has read it; null until then."`
}

// Thread has the messages that a buyer and an organization send each other about one ticket.
type Thread struct {
	ID             string    `json:"id" description:"The thread's UUID."`
	TicketID       string    `json:"ticketId" description:"The UUID of the ticket that it is about."`
	EventID        string    `json:"eventId" description:"The UUID of the ticket's event."`
	OrganizationID string    `json:"organizationId" description:"The number of the organization that sold the ticket."`
	Status         string    `json:"status" enum:"open,replied,closed" description:"open if the buyer wrote last, replied if the organization did."`
	Messages       []Message `json:"messages" description:"The newest 50 messages, the oldest of them first."`
	CreatedAt      time.Time `json:"createdAt" description:"When its first message was written."`
}

// BuyersThread is a thread as the organization sees it: it names the buyer.
type BuyersThread struct {
	Thread
	Buyer Buyer `json:"buyer" description:"The account that writes for the buyer's side."`
}
