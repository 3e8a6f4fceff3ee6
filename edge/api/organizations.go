package api

import (
	"time"

	"boxoffice/edge/route"
)

// OrganizationID names an organization by its number.
type OrganizationID struct {
	ID string `path:"id" format:"id" maxLength:"128"`
}

// OrganizationPage is an organization's record with its wallets, for its members. OrganizerPage is what the
// public sees.
type OrganizationPage struct {
	Organization OrganizationProfile `json:"organization" description:"The organization's profile."`
	Wallets      []Wallet            `json:"wallets" description:"Its money, a wallet for each currency."`
}

// OrganizationProfile is an organization's record.
type OrganizationProfile struct {
	ID           string    `json:"id" example:"7" description:"The organization's number."`
	PublicID     string    `json:"publicId" description:"The organization's UUID."`
	Name         string    `json:"name" example:"Lagos Nights" description:"The name that buyers see."`
	Slug         string    `json:"slug" example:"lagos-nights-3f9c1a7b5e2d4860" description:"The name as it stands in addresses; it stays when the name changes."`
	Description  *string   `json:"description" description:"Text about the organization; null if there is none."`
	Website      *string   `json:"website" description:"The address of its site; null if there is none."`
	ContactEmail *string   `json:"contactEmail" description:"The address to which buyers may write; null if there is none."`
	ContactPhone *string   `json:"contactPhone" description:"The phone number for buyers; null if there is none."`
	LogoURL      *string   `json:"logoUrl" description:"The address of its logo, or a file of ours, /media/<id>; null if there is none."`
	Type         string    `json:"type" description:"What kind of organization it is: organizer."`
	Verified     bool      `json:"verified" description:"True if the platform has checked who it is."`
	Status       string    `json:"status" enum:"active,suspended" description:"active, or suspended if the platform has marked it so."`
	SocialLinks  JSON      `json:"socialLinks" format:"object" description:"Addresses by platform, such as instagram."`
	PageTheme    JSON      `json:"pageTheme" format:"object" description:"An object for the organization's own pages; the service keeps it and does not read it."`
	EmbedOrigins []string  `json:"embedOrigins" description:"The origins, such as https://lagosnights.example, whose pages may show the organization's events in a frame."`
	CreatedAt    time.Time `json:"createdAt" description:"When it was made."`
}

// UpdateOrganization changes those fields of an organization's record that are sent. Null clears a field, if
// the field may be empty.
type UpdateOrganization struct {
	ID           string            `path:"id" format:"id" maxLength:"128"`
	Name         route.Opt[string] `json:"name,omitzero" format:"name" minLength:"1" maxLength:"200" nullable:"false" description:"The name that buyers see; the slug stays as it is."`
	Description  route.Opt[string] `json:"description,omitzero" maxLength:"5000" example:"Concerts on the lagoon since 2019." description:"Text about the organization; null clears it."`
	Website      route.Opt[string] `json:"website,omitzero" format:"uri" maxLength:"2048" example:"https://lagosnights.example" description:"The address of its site; null clears it."`
	ContactEmail route.Opt[string] `json:"contactEmail,omitzero" format:"email" maxLength:"254" example:"hello@lagosnights.example" description:"The address to which buyers may write; null clears it."`
	ContactPhone route.Opt[string] `json:"contactPhone,omitzero" maxLength:"20" example:"+2348012345678" description:"The phone number for buyers; null clears it."`
	LogoURL      route.Opt[string] `json:"logoUrl,omitzero" format:"hosted" maxLength:"2048" description:"The address of its logo, or /media/<id> of a file of the organization's own; null clears it."`
	SocialLinks  route.Opt[JSON]   `json:"socialLinks,omitzero" format:"links" maxLength:"50000" example:"{\"instagram\":\"https://instagram.com/lagosnights\"}" description:"Up to 20 addresses by platform, instead of those before; null clears them."`
	PageTheme    route.Opt[JSON]   `json:"pageTheme,omitzero" format:"object" maxLength:"20000" description:"An object that the service keeps unread, instead of the one before; null clears it."`

	EmbedOrigins route.Opt[[]string] `json:"embedOrigins,omitzero" maxItems:"20" format:"origin" maxLength:"260" example:"[\"https://lagosnights.example\"]" description:"The origins whose pages may show the organization's events in a frame, instead of those before: https, a host and maybe a port; to test, also http with localhost. Null or an empty list lets none."`
}

// ListMembers asks for an organization's members.
type ListMembers struct {
	ID string `path:"id" format:"id" maxLength:"128"`
	Page
}

// AddMember makes a person, named by mail address, a member of an organization at once.
type AddMember struct {
	ID    string `path:"id" format:"id" maxLength:"128"`
	Email string `json:"email" required:"true" format:"email" maxLength:"254" example:"bola@example.org" description:"The address of the person, with an account or without."`
	Role  string `json:"role" required:"true" enum:"owner,admin,member" description:"owner and admin may do everything in the organization, but only an owner makes, changes or removes an owner; member sells and admits."`
	Name  string `json:"name" format:"name" minLength:"1" maxLength:"100" example:"Bola Ade" description:"How members see the person; also the account's name, if the address is new."`
}

// MemberID names a member of an organization.
type MemberID struct {
	ID     string `path:"id" format:"id" maxLength:"128"`
	UserID string `path:"userId" format:"id" maxLength:"128"`
}

// UpdateMember changes a member's role.
type UpdateMember struct {
	MemberID
	Role string `json:"role" required:"true" enum:"owner,admin,member" description:"owner and admin may do everything in the organization, but only an owner makes, changes or removes an owner; member sells and admits."`
}

// Member is a user in an organization.
type Member struct {
	UserID   string    `json:"userId" description:"The UUID of the member's account."`
	Email    string    `json:"email" description:"The member's address."`
	FullName *string   `json:"fullName" description:"The name that was given with the invitation, or the account's own of who founded it; null if there is none."`
	Role     string    `json:"role" enum:"owner,admin,member" description:"owner and admin may do everything in the organization, but only an owner makes, changes or removes an owner; member sells and admits."`
	JoinedAt time.Time `json:"joinedAt" description:"When the person became a member."`
}

// OrganizerPage is the public page of an organization: its events and what guests say of them.
type OrganizerPage struct {
	Organizer Organizer         `json:"organizer" description:"Who it is."`
	Upcoming  []Card            `json:"upcoming" description:"Its public events that are not over, the next ones first."`
	More      bool              `json:"more" description:"True if it has more of them than are listed."`
	Past      []Card            `json:"past" description:"Its public events that are over, the last ones first."`
	Reviews   []OrganizerReview `json:"reviews" description:"What guests say of its public events, the newest first."`
	Count     int               `json:"count" description:"How many reviews there are of them, listed or not."`
	Average   *float64          `json:"average" description:"The mean of all their ratings, to two decimals; null without a review."`
}

// OrganizerReview is a review in the list on an organization's page, with the event that it is about.
type OrganizerReview struct {
	Event      string    `json:"event" description:"The title of the event that it is of."`
	Slug       string    `json:"slug" description:"What names that event's page in addresses."`
	Rating     int       `json:"rating" description:"From 1, the worst, to 5, the best."`
	Body       string    `json:"body" description:"What the guest says, in plain text."`
	AuthorName *string   `json:"authorName" description:"The name that the guest gave; null if none."`
	Reply      *string   `json:"reply" description:"The organizer's public answer; null until there is one."`
	CreatedAt  time.Time `json:"createdAt" description:"When it was written."`
}
