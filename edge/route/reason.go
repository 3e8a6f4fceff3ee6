package route

import "boxoffice/engine"

// Reason holds the details of a refusal whose code alone does not tell why: Reason says which case it is.
type Reason struct {
	Reason string `json:"reason"`
}

// EmailNotProven is the refusal for a session whose user has not proven to own the mailbox of the
// account's address.
var EmailNotProven = &engine.Refusal{
	Code: engine.Forbidden, Message: "Confirm your e-mail address first: by the link that was mailed, or by signing in with a mailed code.",
	Details: Reason{Reason: "EMAIL_NOT_PROVEN"},
}

// OrganizationNotProven is the refusal for an organization that tries to send mail to people before any of
// the users who made it has proven to own a mailbox.
var OrganizationNotProven = &engine.Refusal{
	Code: engine.Forbidden, Message: "Whoever registered the organization must confirm the e-mail address before it may write to people.",
	Details: Reason{Reason: "EMAIL_NOT_PROVEN"},
}

// CheckEmailProven returns EmailNotProven if the caller's session is not proven (Principal.EmailProven).
func CheckEmailProven(c *Call) error {
	if !c.Principal.EmailProven {
		return EmailNotProven
	}
	return nil
}
