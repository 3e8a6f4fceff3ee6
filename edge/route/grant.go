package route

import "boxoffice/engine"

// CheckGrant returns a FORBIDDEN refusal if the grant lacks one of the row's scopes, otherwise nil.
func CheckGrant(op *Op, g Grant) error {
	if op.Scope&^g.Scopes != 0 {
		return engine.Refuse(engine.Forbidden, missing{op.Scope.Names(), g.Scopes.Names()})
	}
	return nil
}

// A write for an organization is counted as writeCost bytes, for its rows in tables and logs, and bodyCost
// bytes for each byte of its body: the journal keeps the body, and so do the tables made from the journal.
const (
	writeCost = 1 << 10
	bodyCost  = 2
)

// ActFor makes sure that the caller may do the operation in the grant's organization. For a row that
// Organizes, it also charges the organization for what the call writes: once, even if it is called again.
func ActFor(c *Call, g Grant) error {
	if err := CheckGrant(c.Op, g); err != nil {
		return err
	}
	bytes := writeCost + bodyCost*int64(len(c.Body))
	more := bytes - c.charged
	if !c.Op.Organizes() || more <= 0 {
		return nil
	}
	if err := c.Charge(g.Org, more); err != nil {
		return err
	}
	c.charged = bytes
	return nil
}

// Charge counts bytes that the call is about to write for an organization, or refuses the call. Handlers
// call it for what they write beyond the request's body, which ActFor counts.
func (c *Call) Charge(org, bytes int64) error {
	if c.Gate == nil {
		return nil
	}
	c.Org = org
	return c.Gate.Charge(c, org, bytes)
}

// missing holds the details of a FORBIDDEN refusal for a missing scope (docs/rules.md, Credentials).
type missing struct {
	Required []string `json:"required"`
	Granted  []string `json:"granted"`
}
