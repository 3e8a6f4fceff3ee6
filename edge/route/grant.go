package route

import "boxoffice/engine"

// CheckGrant says whether a grant has the row's scopes.
func CheckGrant(op *Op, g Grant) error {
	if op.Scope&^g.Scopes != 0 {
		return engine.Refuse(engine.Forbidden, missing{op.Scope.Names(), g.Scopes.Names()})
	}
	return nil
}

// missing is the detail of FORBIDDEN for want of a scope (docs/rules.md,
// Credentials).
type missing struct {
	Required []string `json:"required"`
	Granted  []string `json:"granted"`
}
