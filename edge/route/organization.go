package route

import (
	"strconv"

	"boxoffice/engine"
)

// NoOrganization is the refusal for an organization that does not exist, or that the caller does
// not belong to.
var NoOrganization = &engine.Refusal{Code: engine.NotFound, Message: "No such organization."}

// SeesMore reports whether the caller belongs to an organization and has the row's scopes there, so that a
// public read shows them also what is not public.
func SeesMore(c *Call, org int64) bool {
	g, ok := c.Principal.Grant(org)
	return ok && c.Op.Scope&^g.Scopes == 0
}

// checkOrganization makes sure that the caller may do the operation in an organization, and charges the
// organization for a write (ActFor). For the caller, an organization that they do not belong to does not exist.
func checkOrganization(c *Call, org int64) error {
	g, ok := c.Principal.Grant(org)
	if !ok {
		return NoOrganization
	}
	return ActFor(c, g)
}

// FindOrganization returns the number of the organization that the caller acts for: the named one or, if all names are
// empty, the only one that the caller belongs to. It refuses two different names, no name from a caller who belongs to
// none or to several, and a caller who lacks a grant there with the row's scopes. It charges the organization for a
// write (ActFor).
func FindOrganization(c *Call, named ...string) (int64, error) {
	org := ""
	for _, n := range named {
		if n != "" && org != "" && n != org {
			return 0, Invalid(Issue{Path: "orgId", Code: IssueDuplicate, Message: "is not the same in query and body"})
		}
		if n != "" {
			org = n
		}
	}
	if org == "" {
		if n := len(c.Principal.Grants); n != 1 {
			belong := map[bool]string{true: "no organization", false: "several organizations"}[n == 0]
			return 0, Invalid(Issue{Path: "orgId", Code: IssueRequired, Message: "is required: you belong to " + belong})
		}
		g := c.Principal.Grants[0]
		return g.Org, ActFor(c, g)
	}
	id, ok := ReadNumber(org)
	if !ok {
		return 0, NoOrganization
	}
	return id, checkOrganization(c, id)
}

// ReadNumber reads a number of 1 to 18 digits that is greater than 0, as the ids of organizations are.
// It returns false if s is anything else.
func ReadNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n > 0 && len(s) <= 18 && s[0] != '+'
}
