package api

import "time"

// Register makes an organizer's account.
type Register struct {
	Email            string `json:"email" required:"true" format:"email" maxLength:"254"`
	Password         string `json:"password" required:"true" minLength:"8" maxLength:"128" example:"correct horse battery"`
	FirstName        string `json:"firstName" minLength:"1" maxLength:"100" example:"Ada"`
	LastName         string `json:"lastName" minLength:"1" maxLength:"100" example:"Obi"`
	Phone            string `json:"phone" maxLength:"20"`
	OrganizationName string `json:"organizationName" minLength:"1" maxLength:"200" example:"Lagos Nights"`
}

// Login asks for tokens.
type Login struct {
	Email    string `json:"email" required:"true" format:"email" maxLength:"254"`
	Password string `json:"password" required:"true" minLength:"1" maxLength:"128" example:"correct horse battery"`
}

// CodeRequest asks for a login code by mail.
type CodeRequest struct {
	Email string `json:"email" required:"true" format:"email" maxLength:"254"`
	Name  string `json:"name" maxLength:"100" description:"of the account, if the e-mail is new"`
}

// CodeExchange asks for tokens with a login code.
type CodeExchange struct {
	Email string `json:"email" required:"true" format:"email" maxLength:"254"`
	Code  string `json:"code" required:"true" minLength:"6" maxLength:"6" example:"271828"`
}

// Refresh brings the refresh token of a session.
type Refresh struct {
	RefreshToken string `json:"refreshToken" required:"true" minLength:"1" maxLength:"1000" example:"the refresh token of the last answer"`
}

// Logout says which session is to end.
type Logout struct {
	RefreshToken string `json:"refreshToken,omitzero" minLength:"1" maxLength:"1000" example:"the refresh token of the last answer" description:"left out: the session of the request's access token ends"`
}

// ForgotPassword asks for a link to set a new password with.
type ForgotPassword struct {
	Email string `json:"email" required:"true" format:"email" maxLength:"254"`
}

// ResetPassword sets a password with the token of such a link.
type ResetPassword struct {
	Token    string `json:"token" required:"true" minLength:"1" maxLength:"200" example:"the token of the mail"`
	Password string `json:"password" required:"true" minLength:"8" maxLength:"128" example:"correct horse battery"`
}

// ConfirmEmail confirms the address of an account with the token of a mailed link.
type ConfirmEmail struct {
	Token    string `json:"token" required:"true" minLength:"1" maxLength:"200" example:"the token of the mail"`
	Password string `json:"password,omitzero" minLength:"1" maxLength:"128" example:"correct horse battery" description:"the account's; it may be left out with an access token of the account"`
}

// TwoFactorVerify answers a challenge.
type TwoFactorVerify struct {
	ChallengeToken string `json:"challengeToken" required:"true" minLength:"1" maxLength:"200" example:"the token of the login"`
	Code           string `json:"code" required:"true" minLength:"6" maxLength:"40" example:"271828" description:"of six digits, or a recovery code"`
}

// TwoFactorCode brings a second factor.
type TwoFactorCode struct {
	Code string `json:"code" required:"true" minLength:"6" maxLength:"40" example:"271828" description:"of six digits, or, to switch two-factor authentication off, a recovery code"`
}

// LimitEmail is whom the rate limit counts.
func (r *Register) LimitEmail() string { return r.Email }

// LimitEmail is whom the rate limit counts.
func (r *Login) LimitEmail() string { return r.Email }

// LimitEmail is whom the rate limit counts.
func (r *CodeRequest) LimitEmail() string { return r.Email }

// LimitEmail is whom the rate limit counts.
func (r *CodeExchange) LimitEmail() string { return r.Email }

// LimitEmail is whom the rate limit counts.
func (r *ForgotPassword) LimitEmail() string { return r.Email }

// Session is a signed-in user with tokens.
type Session struct {
	User         User   `json:"user"`
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
	ExpiresIn    int    `json:"expiresIn" description:"seconds until the access token ends"`
}

// Tokens are new ones of a session.
type Tokens struct {
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
	ExpiresIn    int    `json:"expiresIn" description:"seconds until the access token ends"`
}

// SignIn is a signed-in user with tokens, or the challenge that asks for a second
// factor.
type SignIn struct {
	User              *User  `json:"user,omitzero"`
	AccessToken       string `json:"accessToken,omitzero"`
	RefreshToken      string `json:"refreshToken,omitzero"`
	ExpiresIn         int    `json:"expiresIn,omitzero" description:"seconds until the access token ends"`
	RequiresTwoFactor bool   `json:"requires2fa,omitzero" description:"true when a second factor is due; then only challengeToken and email come with it"`
	ChallengeToken    string `json:"challengeToken,omitzero" description:"for 2fa-verify, within 5 minutes"`
	Email             string `json:"email,omitzero"`
}

// CodeSent says that a login code is on its way.
type CodeSent struct {
	Sent      bool `json:"sent"`
	ExpiresIn int  `json:"expiresIn" description:"seconds until the code ends"`
}

// Sent says that a mail is on its way, if the address has an account.
type Sent struct {
	Sent bool `json:"sent"`
}

// EmailConfirmed says that the account's address is proven.
type EmailConfirmed struct {
	Confirmed bool `json:"confirmed"`
}

// PasswordSet says that the password is the new one.
type PasswordSet struct {
	PasswordSet bool `json:"passwordSet"`
}

// LoggedOut says that no session is left of those that were to end.
type LoggedOut struct {
	LoggedOut bool `json:"loggedOut"`
}

// TwoFactorSecret is what an authenticator app takes.
type TwoFactorSecret struct {
	Secret     string `json:"secret" description:"base32"`
	OTPAuthURL string `json:"otpauthUrl" description:"the same as a QR code carries it"`
}

// RecoveryCodes sign in once each when the device is lost. They are shown once.
type RecoveryCodes struct {
	RecoveryCodes []string `json:"recoveryCodes"`
}

// TwoFactorState says whether a second factor is due.
type TwoFactorState struct {
	TwoFactorEnabled bool `json:"twoFactorEnabled"`
}

// Sessions are those of a user that stand, the last used first, 100 at most.
type Sessions struct {
	Items []OpenSession `json:"items"`
}

// OpenSession is one of a user's sessions.
type OpenSession struct {
	ID            string    `json:"id"`
	Current       bool      `json:"current" description:"the session of this request"`
	ClientAddress string    `json:"clientAddress" description:"of the last refresh"`
	UserAgent     *string   `json:"userAgent"`
	CreatedAt     time.Time `json:"createdAt"`
	LastUsedAt    time.Time `json:"lastUsedAt" description:"of the last refresh"`
	ExpiresAt     time.Time `json:"expiresAt" description:"unless it is refreshed before"`
}

// KeySet is the public keys of access tokens (RFC 7517).
type KeySet struct {
	Keys []Key `json:"keys"`
}

// Key is an Ed25519 key (RFC 8037).
type Key struct {
	Type      string `json:"kty"`
	Curve     string `json:"crv"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	ID        string `json:"kid"`
	X         string `json:"x" description:"base64url"`
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
