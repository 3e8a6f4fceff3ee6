package api

// TransferTicket offers a ticket to the owner of an address. The ticket gets its new holder only when the
// offer is claimed.
type TransferTicket struct {
	ID         string `path:"id" format:"id" maxLength:"128"`
	QueryToken string `query:"token" maxLength:"100"`
	ToEmail    string `json:"toEmail" required:"true" format:"email" maxLength:"254" example:"bob@example.org" description:"Where the link goes that claims the ticket; not the holder's own address."`
	ToName     string `json:"toName,omitzero" format:"name" maxLength:"200" description:"The name of whom it is for, who holds the ticket under it once it is claimed."`
	Token      string `json:"token,omitzero" maxLength:"100" description:"The access token of the ticket's order, of a buyer who is not signed in."`
}

// RevokeTransfer takes back the offer of a ticket that nobody has claimed yet.
type RevokeTransfer struct {
	ID    string `path:"id" format:"id" maxLength:"128"`
	Token string `query:"token" maxLength:"100" description:"The access token of the ticket's order, of a buyer who is not signed in."`
}

// ClaimTransfer makes the person who was offered a ticket its holder.
type ClaimTransfer struct {
	Token string `path:"token" format:"id" maxLength:"100" description:"The token of the mailed link."`
}

// RescheduleTicket moves a ticket of a reservation to another date or slot.
type RescheduleTicket struct {
	TicketID string `path:"ticketId" format:"id" maxLength:"128"`
	Date     string `json:"date" required:"true" format:"date" example:"2031-06-21" description:"The new date, on the clocks of the event's place, from tomorrow on."`
	SlotID   string `json:"slotId,omitzero" maxLength:"40" example:"slot_AAABXY_BJp" description:"The new slot, by its id; none where tickets are for whole dates."`
}

// Transfer is the offer of a ticket to somebody, and what has become of the offer.
type Transfer struct {
	ID        string  `json:"id" example:"00000000-0400-84f4-a8e6-402f00000007-t1" description:"The offer's id: its ticket's, -t and a number."`
	TicketID  string  `json:"ticketId" example:"00000000-0400-84f4-a8e6-402f00000007" description:"The ticket that is offered, by its UUID."`
	FromEmail string  `json:"fromEmail" example:"ada@example.org" description:"Who offers it."`
	ToEmail   string  `json:"toEmail" example:"bob@example.org" description:"Whom it is offered to."`
	ToName    *string `json:"toName" example:"Bob Ade" description:"The name of whom it is offered to; null if none was given."`
	Status    string  `json:"status" enum:"pending,claimed,revoked,expired" description:"pending until it is claimed, taken back, or seven days have passed."`
	CreatedAt Time    `json:"createdAt" description:"When it was offered."`
	ExpiresAt Time    `json:"expiresAt" description:"Until when it may be claimed: seven days after that."`
	ClaimedAt Time    `json:"claimedAt" description:"When it was claimed; null if it was not."`
}
