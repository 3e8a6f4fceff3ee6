package route

import "boxoffice/engine"

// CheckGrant refuses a grant that lacks one of the row's scopes.
func CheckGrant(op *Op, g Grant) error {
	if op.Scope&^g.Scopes != 0 {
		return engine.Refuse(engine.Forbidden, missing{op.Scope.Names(), g.Scopes.Names()})
	}
	return nil
}

// missing is the detail of a FORBIDDEN for a missing scope (docs/rules.md, Credentials).
type missing struct {
	Required []string `json:"required"`
	Granted  []string `json:"granted"`
}
