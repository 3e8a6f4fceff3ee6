package api

import "time"

// Register makes an account and an organization that it owns.
type Register struct {
	Email            string `json:"email" required:"true" format:"email" maxLength:"254" example:"ada@example.org" description:"The account's address, by which its owner signs in."`
	Password         string `json:"password" required:"true" format:"password" minLength:"8" maxLength:"128" example:"correct horse battery" description:"8 to 128 characters; nothing else is asked of it."`
	FirstName        string `json:"firstName" format:"name" minLength:"1" maxLength:"100" example:"Ada" description:"The owner's first name."`
	LastName         string `json:"lastName" format:"name" minLength:"1" maxLength:"100" example:"Obi" description:"The owner's last name."`
	Phone            string `json:"phone" maxLength:"20" example:"+2348012345678" description:"A phone number as the owner writes it; it is not checked."`
	OrganizationName string `json:"organizationName" format:"name" minLength:"1" maxLength:"200" example:"Lagos Nights" description:"The name of the organization that the account gets; left out, the owner's name, else what is before the @."`
}

// Login signs a user in with a password.
type Login struct {
	Email    string `json:"email" required:"true" format:"email" maxLength:"254" example:"ada@example.org" description:"The account's address, in any case."`
	Password string `json:"password" required:"true" format:"password" minLength:"1" maxLength:"128" example:"correct horse battery" description:"The account's password."`
}

// CodeRequest asks for a mail with a login code, with which one signs in without a password.
type CodeRequest struct {
	Email string `json:"email" required:"true" format:"email" maxLength:"254" example:"ada@example.org" description:"The address that the code is mailed to."`
	Name  string `json:"name" format:"name" maxLength:"100" example:"Ada Obi" description:"The name of the account, if the code makes one."`
}

// CodeExchange signs a user in with a login code.
type CodeExchange struct {
	Email string `json:"email" required:"true" format:"email" maxLength:"254" example:"ada@example.org" description:"The address that the code was mailed to."`
	Code  string `json:"code" required:"true" minLength:"6" maxLength:"6" example:"271828" description:"The six digits of the mail."`
	Nonce string `json:"nonce,omitzero" minLength:"1" maxLength:"100" example:"K6PVZ2GCFWN4XQJB7D3RMTYHUA" description:"What the answer to the request for this code had; left out, the code must be the newest of the address."`
}

// Refresh asks for new tokens of a session in exchange for its refresh token.
type Refresh struct {
	RefreshToken string `json:"refreshToken" required:"true" minLength:"1" maxLength:"1000" example:"lR6_Km1uyu1eD1vssG0QKMxOTUSAzE444aEwxguA44kW0WqxqyW13JEYnTKLENhspBg67Q" description:"The refresh token of the last answer that had one."`
}

// Logout names the session that is to end. Without a refresh token, that is the session of the request.
type Logout struct {
	RefreshToken string `json:"refreshToken,omitzero" minLength:"1" maxLength:"1000" example:"lR6_Km1uyu1eD1vssG0QKMxOTUSAzE444aEwxguA44kW0WqxqyW13JEYnTKLENhspBg67Q" description:"Any refresh token of the session that is to end; left out, the session of the request's access token ends."`
}

// ForgotPassword asks for a mail with a link through which a new password can be set.
type ForgotPassword struct {
	Email string `json:"email" required:"true" format:"email" maxLength:"254" example:"ada@example.org" description:"The account's address."`
}

// ResetPassword sets a new password with the token of the link that ForgotPassword asked for.
type ResetPassword struct {
	Token    string `json:"token" required:"true" minLength:"1" maxLength:"200" example:"mOfxjUto85TlgwlDjjZtRvbaTZSGmltofYxHHoqg70w" description:"What stands behind # in the mailed link; it is good for an hour, once."`
	Password string `json:"password" required:"true" format:"password" minLength:"8" maxLength:"128" example:"correct horse battery" description:"8 to 128 characters; nothing else is asked of it."`
}

// ConfirmEmail proves that the user of an account reads its address: it brings the token of a link that was
// mailed there.
type ConfirmEmail struct {
	Token    string `json:"token" required:"true" minLength:"1" maxLength:"200" example:"mOfxjUto85TlgwlDjjZtRvbaTZSGmltofYxHHoqg70w" description:"What stands behind # in the mailed link; it is good for 24 hours, once."`
	Password string `json:"password,omitzero" format:"password" minLength:"1" maxLength:"128" example:"correct horse battery" description:"The account's password; it may be left out with an access token of the account."`
}

// TwoFactorVerify completes a sign-in with a second factor. It brings the challenge token that the answer
// SignIn had.
type TwoFactorVerify struct {
	ChallengeToken string `json:"challengeToken" required:"true" minLength:"1" maxLength:"200" example:"EbHPKnM2O6sk0zwzbb1qlby4RoTHdAFpre-Kfl2mtWM" description:"The challengeToken of the sign-in, for five minutes and five tries."`
	Code           string `json:"code" required:"true" minLength:"6" maxLength:"40" example:"271828" description:"Six digits of the authenticator app, or a recovery code, which is used up."`
}

// TwoFactorCode shows a second factor, to switch two-factor authentication on or off.
type TwoFactorCode struct {
	Code string `json:"code" required:"true" minLength:"6" maxLength:"40" example:"271828" description:"Six digits of the authenticator app; to switch two-factor authentication off, a recovery code will do."`
}

// LimitEmail returns the address against which the rate limit counts the request. No other request is counted
// by an address. Mailed codes and links have limits of their own, so the owner of an account can still sign
// in with them after strangers have used up the limit of the address.
func (r *Login) LimitEmail() string { return r.Email }

// Session is the answer to a sign-in that is complete: the user, and the tokens of the new session.
type Session struct {
	User         User   `json:"user" description:"The account that is signed in."`
	AccessToken  string `json:"accessToken" description:"A JWT for the header Authorization: Bearer, for 15 minutes."`
	RefreshToken string `json:"refreshToken" description:"Brings the next tokens, once; it ends after 30 days without use, or 90 days after the sign-in."`
	ExpiresIn    int    `json:"expiresIn" description:"How many seconds the access token has left: 900."`
}

// Tokens are the new tokens of a session that was refreshed. The refresh token before them is used up.
type Tokens struct {
	AccessToken  string `json:"accessToken" description:"A JWT for the header Authorization: Bearer, for 15 minutes."`
	RefreshToken string `json:"refreshToken" description:"Brings the next tokens, once; it ends after 30 days without use, or 90 days after the sign-in."`
	ExpiresIn    int    `json:"expiresIn" description:"How many seconds the access token has left: 900."`
}

// SignIn is the answer to a password or a login code. It has the user and the tokens of a new session or, if
// the account asks for a second factor, only a challenge (see TwoFactorVerify).
type SignIn struct {
	User              *User  `json:"user,omitzero" description:"The account that is signed in."`
	AccessToken       string `json:"accessToken,omitzero" description:"A JWT for the header Authorization: Bearer, for 15 minutes."`
	RefreshToken      string `json:"refreshToken,omitzero" description:"Brings the next tokens, once; it ends after 30 days without use, or 90 days after the sign-in."`
	ExpiresIn         int    `json:"expiresIn,omitzero" description:"How many seconds the access token has left: 900."`
	RequiresTwoFactor bool   `json:"requires2fa,omitzero" description:"True when a second factor is due; then only challengeToken and email come with it."`
	ChallengeToken    string `json:"challengeToken,omitzero" description:"What POST /auth/2fa-verify takes, within five minutes."`
	Email             string `json:"email,omitzero" description:"The account's address, when a second factor is due."`
}

// CodeSent is the answer to CodeRequest. It does not tell whether the address has an account.
type CodeSent struct {
	Sent      bool   `json:"sent" description:"Always true, whether the address has an account or not."`
	ExpiresIn int    `json:"expiresIn" description:"How many seconds the code may be used: 600."`
	Nonce     string `json:"nonce" description:"Belongs to this code: sent along when the code is exchanged, it makes the code independent of others that anybody asks for."`
}

// Sent is the answer to a request for a mail. It does not tell whether the mail is sent.
type Sent struct {
	Sent bool `json:"sent" description:"Always true: whether a mail is due is found out when it is written."`
}

// EmailConfirmed says that the account's address is proven.
type EmailConfirmed struct {
	Confirmed bool `json:"confirmed" description:"Always true: the address is proven."`
}

// PasswordSet says that the password is the new one.
type PasswordSet struct {
	PasswordSet bool `json:"passwordSet" description:"Always true: the password is the new one."`
}

// LoggedOut says that the session, or all sessions of the user, have ended.
type LoggedOut struct {
	LoggedOut bool `json:"loggedOut" description:"Always true: what was to end has ended, or never was."`
}

// TwoFactorSecret is the secret that the user gives to an authenticator app. It does nothing before a code of
// the app has been shown.
type TwoFactorSecret struct {
	Secret     string `json:"secret" example:"JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP" description:"The shared secret in base32, to be typed into an app."`
	OTPAuthURL string `json:"otpauthUrl" example:"otpauth://totp/Boxoffice:ada@example.org?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Boxoffice" description:"The same as an otpauth address, to be shown as a QR code."`
}

// RecoveryCodes stand in for the authenticator app when the device is lost, each of them once. No other
// answer shows them.
type RecoveryCodes struct {
	RecoveryCodes []string `json:"recoveryCodes" description:"Ten codes, each of which stands in for the app once; no other answer shows them."`
}

// TwoFactorState tells whether an account has two-factor authentication on.
type TwoFactorState struct {
	TwoFactorEnabled bool `json:"twoFactorEnabled" description:"True if a sign-in asks for a second factor."`
}

// Sessions are the sessions of a user that have not ended: at most 100, the one that was used last comes
// first.
type Sessions struct {
	Items []OpenSession `json:"items" description:"The sessions that stand, the last used first, 100 at most."`
}

// OpenSession is one of a user's sessions.
type OpenSession struct {
	ID            string    `json:"id" description:"The session's UUID."`
	Current       bool      `json:"current" description:"True of the session of this request."`
	ClientAddress string    `json:"clientAddress" example:"203.0.113.7" description:"The IP address of the last refresh."`
	UserAgent     *string   `json:"userAgent" description:"The User-Agent of the last refresh, up to 200 bytes; null if there was none."`
	CreatedAt     time.Time `json:"createdAt" description:"When it was opened."`
	LastUsedAt    time.Time `json:"lastUsedAt" description:"When its tokens were refreshed last."`
	ExpiresAt     time.Time `json:"expiresAt" description:"When it ends unless it is refreshed before."`
}

// KeySet is a JSON Web Key Set (RFC 7517): the public keys with which others can verify our access tokens.
type KeySet struct {
	Keys []Key `json:"keys" description:"The keys whose signatures hold; two during a rotation."`
}

// Key is an Ed25519 public key as a JSON Web Key (RFC 8037).
type Key struct {
	Type      string `json:"kty" description:"OKP: a key of RFC 8037."`
	Curve     string `json:"crv" description:"Ed25519."`
	Use       string `json:"use" description:"sig: it signs."`
	Algorithm string `json:"alg" description:"EdDSA."`
	ID        string `json:"kid" description:"What the header of an access token names the key by."`
	X         string `json:"x" description:"The public key in base64url."`
}

// User is an account as its owner sees it.
type User struct {
	ID            string         `json:"id" description:"The account's UUID."`
	Email         string         `json:"email" description:"The address in lower case."`
	FirstName     string         `json:"firstName" description:"The first name; empty if none was given."`
	LastName      string         `json:"lastName" description:"The last name; empty if none was given."`
	FullName      *string        `json:"fullName" description:"First and last name; null if neither was given."`
	Phone         *string        `json:"phone" description:"The phone number; null if none was given."`
	Locale        *string        `json:"locale" example:"en-NG" description:"The language tag that was set; null if none was."`
	TwoFactor     bool           `json:"twoFactorEnabled" description:"True if a sign-in asks for a second factor."`
	Organizations []Organization `json:"organizations" description:"The organizations that the account belongs to, the oldest first."`
	CreatedAt     time.Time      `json:"createdAt" description:"When the account was made."`
}

// Organization is an organization that a user belongs to, with the user's role in it.
type Organization struct {
	ID       string `json:"id" example:"7" description:"The number by which paths and orgId name it."`
	PublicID string `json:"publicId" description:"The organization's UUID."`
	Name     string `json:"name" example:"Lagos Nights" description:"The name that buyers see."`
	Slug     string `json:"slug" example:"lagos-nights-3f9c1a7b5e2d4860" description:"The name as it stands in addresses, with an ending that makes it unique."`
	Role     string `json:"role" enum:"owner,admin,member" description:"owner and admin may do everything in the organization, but only an owner makes, changes or removes an owner; member sells and admits."`
}
