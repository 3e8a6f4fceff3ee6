package api

import "time"

// OrganizationID names an organization by its number.
type OrganizationID struct {
	ID string `path:"id" format:"id" maxLength:"128"`
}

// OrganizationPage is an organization with its money.
type OrganizationPage struct {
	Organization OrganizationProfile `json:"organization"`
	Wallets      []Wallet            `json:"wallets"`
}

// OrganizationProfile is an organization's record.
type OrganizationProfile struct {
	ID           string    `json:"id" description:"numeric"`
	PublicID     string    `json:"publicId"`
	Name         string    `json:"name"`
	Slug         string    `json:"slug"`
	Description  *string   `json:"description"`
	Website      *string   `json:"website"`
	ContactEmail *string   `json:"contactEmail"`
	ContactPhone *string   `json:"contactPhone"`
	LogoURL      *string   `json:"logoUrl"`
	Type         string    `json:"type"`
	Verified     bool      `json:"verified"`
	Status       string    `json:"status" enum:"active,suspended"`
	SocialLinks  JSON      `json:"socialLinks" format:"object"`
	PageTheme    JSON      `json:"pageTheme" format:"object"`
	CreatedAt    time.Time `json:"createdAt"`
}

// ListMembers asks for an organization's members.
type ListMembers struct {
	ID string `path:"id" format:"id" maxLength:"128"`
	Page
}

// AddMember invites somebody into an organization.
type AddMember struct {
	ID    string `path:"id" format:"id" maxLength:"128"`
	Email string `json:"email" required:"true" format:"email" maxLength:"254"`
	Role  string `json:"role" required:"true" enum:"owner,admin,member"`
	Name  string `json:"name" minLength:"1" maxLength:"100" description:"how members see them; also of the account, if the e-mail is new"`
}

// MemberID names a member of an organization.
type MemberID struct {
	ID     string `path:"id" format:"id" maxLength:"128"`
	UserID string `path:"userId" format:"id" maxLength:"128"`
}

// UpdateMember changes a member's role.
type UpdateMember struct {
	MemberID
	Role string `json:"role" required:"true" enum:"owner,admin,member"`
}

// Member is a user in an organization.
type Member struct {
	UserID   string    `json:"userId"`
	Email    string    `json:"email"`
	FullName *string   `json:"fullName"`
	Role     string    `json:"role" enum:"owner,admin,member"`
	JoinedAt time.Time `json:"joinedAt"`
}
