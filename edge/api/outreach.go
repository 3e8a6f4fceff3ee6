package api

import "time"

// FollowOrganization asks that an address gets mails about an organization's new events. The address must
// first confirm this (ConfirmFollow).
type FollowOrganization struct {
	OrgID string `path:"orgId" maxLength:"128" example:"lagos-nights-3f9c1a7b5e2d4860" description:"The organization's number, public id or slug."`
	Email string `json:"email" required:"true" format:"email" maxLength:"254" example:"ada@example.org" description:"The address that is to get the mails."`
	Name  string `json:"name,omitzero" format:"name" maxLength:"120" example:"Ada Obi" description:"How the mails address the reader; left out, they name nobody."`
}

// ConfirmFollow makes an address follow an organization. Its token comes from the link in the mail that
// FollowOrganization sends.
type ConfirmFollow struct {
	Token string `path:"token" maxLength:"1200" description:"The token of the link in the mail; it names the reader and the organization."`
}

// Followed tells whether an address follows an organization now.
type Followed struct {
	Following bool `json:"following" description:"Whether this request makes the address follow: false until the link in the mail to it is opened, and its button pressed."`
}

// Unsubscribe names an address that wants no more bulk mail of an organization. Each bulk mail has a link
// with the token.
type Unsubscribe struct {
	Token string `path:"token" maxLength:"600" description:"The token of the link in the mail; it names the reader and the organization."`
}

// Unsubscribed says that an address gets no more bulk mail of an organization.
type Unsubscribed struct {
	Unsubscribed bool `json:"unsubscribed" description:"Always true: the address gets no more of it."`
}

// SendBroadcast mails a text to those who attend an event.
type SendBroadcast struct {
	EventID   string `path:"eventId" format:"id" maxLength:"128"`
	Subject   string `json:"subject" required:"true" format:"name" minLength:"1" maxLength:"200" example:"Doors open early" description:"The subject line of the mail."`
	Body      string `json:"body" required:"true" minLength:"1" maxLength:"5000" example:"<p>Doors open at <b>seven</b>.</p>" description:"Plain text, or HTML of p, br, b, strong, i, em, u, ul, ol, li, blockquote and a; whatever else is in it is left out."`
	TagFilter string `json:"tagFilter,omitzero" maxLength:"200" example:"vip" description:"Only those get the mail whose tickets have this tag; left out, all do."`
}

// BroadcastSent says how many addresses get a broadcast.
type BroadcastSent struct {
	BroadcastID string `json:"broadcastId" description:"The UUID by which the list of broadcasts shows it."`
	Recipients  int64  `json:"recipients" description:"How many addresses get the mail, each once."`
}

// ListBroadcasts asks for an event's broadcasts, the newest first.
type ListBroadcasts struct {
	EventID string `path:"eventId" format:"id" maxLength:"128"`
	Page
}

// Broadcast is a mail that was sent to those who attend an event, with how far its sending has come.
type Broadcast struct {
	ID           string    `json:"id" description:"The broadcast's UUID."`
	Subject      string    `json:"subject" description:"The subject line of the mail."`
	Body         string    `json:"body" description:"The mail as it is sent, in HTML."`
	TagFilter    *string   `json:"tagFilter" description:"The tag that its recipients' tickets had; null if it went to all."`
	Status       string    `json:"status" enum:"sending,sent" description:"sending until every recipient's mail is out or dropped, then sent."`
	Recipients   int64     `json:"recipients" description:"How many addresses it was written to, each once."`
	Sent         int64     `json:"sent" description:"How many of the mails are out."`
	Unsubscribed int64     `json:"unsubscribed" description:"How many recipients had unsubscribed by the time that their mail was due, and got none."`
	CreatedAt    time.Time `json:"createdAt" description:"When it was ordered."`
}
