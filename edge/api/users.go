package api

import (
	"time"

	"boxoffice/edge/route"
)

// UpdateMe changes those fields of the caller's account that are sent. Null clears a field.
type UpdateMe struct {
	FullName route.Opt[string] `json:"fullName,omitzero" format:"name" maxLength:"200" example:"Ada Obi" description:"The first name up to the first space, then the last; null clears both."`
	Phone    route.Opt[string] `json:"phone,omitzero" maxLength:"20" example:"+2348012345678" description:"A phone number as the owner writes it; null clears it."`
	Locale   route.Opt[string] `json:"locale,omitzero" format:"locale" maxLength:"35" example:"en-NG" description:"A language tag of BCP 47; null clears it."`
}

// EraseMe closes the caller's account and erases the person's data. It can't be undone.
type EraseMe struct {
	Code string `json:"code,omitzero" maxLength:"40" example:"271828" description:"Six digits of the authenticator app, or a recovery code; needed with two-factor authentication on, and not read otherwise."`
}

// Erased is the answer to EraseMe, after the account was closed. It tells whether the person's other data is
// erased too.
type Erased struct {
	Erased bool `json:"erased" description:"False if the account is gone and the rest takes some minutes more."`
}

// Me is the caller's own account, with the organizations for which the session may act.
type Me struct {
	ID               string    `json:"id" description:"The account's UUID."`
	Email            string    `json:"email" description:"The address in lower case."`
	FullName         *string   `json:"fullName" description:"First and last name; null if neither was given."`
	Phone            *string   `json:"phone" description:"The phone number; null if none was given."`
	Locale           *string   `json:"locale" example:"en-NG" description:"The language tag that was set; null if none was."`
	TwoFactorEnabled bool      `json:"twoFactorEnabled" description:"True if a sign-in asks for a second factor."`
	Organizations    []MyRole  `json:"organizations" description:"The organizations for which this session may act; one that the account was invited to needs a proven address."`
	CreatedAt        time.Time `json:"createdAt" description:"When the account was made."`
}

// MyRole is the caller's role in an organization.
type MyRole struct {
	ID   string `json:"id" description:"The organization's number."`
	Name string `json:"name" description:"The organization's name."`
	Role string `json:"role" enum:"owner,admin,member" description:"owner and admin may do everything in the organization, but only an owner makes, changes or removes an owner; member sells and admits."`
}
