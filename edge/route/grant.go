package route

import "boxoffice/engine"

// CheckGrant refuses a grant that lacks one of the row's scopes.
func CheckGrant(op *Op, g Grant) error {
	if op.Scope&^g.Scopes != 0 {
		return engine.Refuse(engine.Forbidden, missing{op.Scope.Names(), g.Scopes.Names()})
	}
	return nil
}

// A write for an organization takes at least writeCost bytes of tables and logs, and each byte that
// it brings is kept bodyCost times: in the journal and in the tables that are made of it.
const (
	writeCost = 1 << 10
	bodyCost  = 2
)

// ActFor makes sure that the caller may do the operation in the grant's organization, and counts what
// the call writes there.
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

// Charge counts bytes that the call is about to write for an organization, beside its body, or
// refuses.
func (c *Call) Charge(org, bytes int64) error {
	if c.Gate == nil {
		return nil
	}
	c.Org = org
	return c.Gate.Charge(c, org, bytes)
}

// missing is the detail of a FORBIDDEN for a missing scope (docs/rules.md, Credentials).
type missing struct {
	Required []string `json:"required"`
	Granted  []string `json:"granted"`
}
