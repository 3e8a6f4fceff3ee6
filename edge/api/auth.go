package api

import "time"

// Register makes an organizer's account.
type Register struct {
	Email            string `json:"email" required:"true" format:"email" maxLength:"254"`
	Password         string `json:"password" required:"true" minLength:"8" maxLength:"128"`
	FirstName        string `json:"firstName" minLength:"1" maxLength:"100"`
	LastName         string `json:"lastName" minLength:"1" maxLength:"100"`
	Phone            string `json:"phone" maxLength:"20"`
	OrganizationName string `json:"organizationName" minLength:"1" maxLength:"200"`
}

// Login asks for tokens.
type Login struct {
	Email    string `json:"email" required:"true" format:"email" maxLength:"254"`
	Password string `json:"password" required:"true" minLength:"1" maxLength:"128"`
}

// Session is a signed-in user with tokens.
type Session struct {
	User         User   `json:"user"`
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
	ExpiresIn    int    `json:"expiresIn" description:"seconds until the access token ends"`
}

// User is an account.
type User struct {
	ID            string         `json:"id"`
	Email         string         `json:"email"`
	FirstName     string         `json:"firstName"`
	LastName      string         `json:"lastName"`
	Phone         *string        `json:"phone"`
	Organizations []Organization `json:"organizations"`
	CreatedAt     time.Time      `json:"createdAt"`
}

// Organization is one that the user belongs to.
type Organization struct {
	ID       string `json:"id" description:"numeric"`
	PublicID string `json:"publicId"`
	Name     string `json:"name"`
	Slug     string `json:"slug"`
	Role     string `json:"role" enum:"owner,admin,member"`
}
