package api

import "time"

// Me is the caller's own account.
type Me struct {
	ID               string    `json:"id"`
	Email            string    `json:"email"`
	FullName         *string   `json:"fullName"`
	Phone            *string   `json:"phone"`
	Locale           *string   `json:"locale"`
	TwoFactorEnabled bool      `json:"twoFactorEnabled"`
	Organizations    []MyRole  `json:"organizations"`
	CreatedAt        time.Time `json:"createdAt"`
}

// MyRole is the caller's role in an organization.
type MyRole struct {
	ID   string `json:"id" description:"numeric"`
	Name string `json:"name"`
	Role string `json:"role" enum:"owner,admin,member"`
}
