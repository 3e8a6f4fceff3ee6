package route

import "boxoffice/engine"

// Reason is the detail of a refusal whose code can have several reasons.
type Reason struct {
	Reason string `json:"reason"`
}

// EmailNotProven is the refusal for a session whose user has not proven to own the mailbox of the
// account's address.
var EmailNotProven = &engine.Refusal{
	Code: engine.Forbidden, Message: "Confirm your e-mail address first: by the link that was mailed, or by signing in with a mailed code.",
	Details: Reason{Reason: "EMAIL_NOT_PROVEN"},
}

// OrganizationNotProven is the refusal for an organization that would write to people before any of
// those who made it has proven a mailbox.
var OrganizationNotProven = &engine.Refusal{
	Code: engine.Forbidden, Message: "Whoever registered the organization must confirm the e-mail address before it may write to people.",
	Details: Reason{Reason: "EMAIL_NOT_PROVEN"},
}

// CheckEmailProven refuses such a session.
func CheckEmailProven(c *Call) error {
	if !c.Principal.EmailProven {
		return EmailNotProven
	}
	return nil
}
