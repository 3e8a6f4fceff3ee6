package route

import "strings"

// NormalEmail is the form in which addresses are compared.
func NormalEmail(s string) string { return strings.ToLower(strings.TrimSpace(s)) }
