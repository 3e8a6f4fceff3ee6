package webhook

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// Exempting is the rule of production, but for ports and addresses of the test's
// own.
func Exempting(ports []uint16, addresses ...netip.Prefix) *Targets {
	return &Targets{guard: ssrf.New(ssrf.WithPorts(ports...), ssrf.WithDeniedV4Prefixes(metadataV4), ssrf.WithAllowedV4Prefixes(addresses...))}
}
