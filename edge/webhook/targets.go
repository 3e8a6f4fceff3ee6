package webhook

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// httpsPort is the only port that deliveries go to.
const httpsPort = 443

// lifted is appended to the refusals that a test deployment can switch off, because developers who run
// everything on one machine meet these refusals first.
const lifted = "; on a test deployment BOXOFFICE_WEBHOOK_ALLOW_PRIVATE=true lifts this"

// metadataV4 looks like a public address, but within Azure it serves the machine's metadata, which may contain
// credentials.
var metadataV4 = netip.MustParsePrefix("168.63.129.16/32")

// Targets decides where deliveries may go: HTTPS on port 443 of a public address, or, on a
// deployment for tests, anywhere (docs/rules.md, Webhooks). control makes the decision for each
// address that is dialled. Refuses only tells people earlier, when they name the endpoint.
type Targets struct {
	guard *ssrf.Guardian // nil: deliveries may go anywhere
}

// NewTargets makes the rule of a deployment. With private, deliveries may go anywhere; only test deployments
// set it.
func NewTargets(private bool) *Targets {
	if private {
		return &Targets{}
	}
	return &Targets{guard: ssrf.New(ssrf.WithPorts(httpsPort), ssrf.WithDeniedV4Prefixes(metadataV4))}
}

// control checks each address before a connection to it begins, and returns an error to prevent it. net.Dialer
// calls it with the address that it is about to dial, so no second look-up can give another address.
func (t *Targets) control(network, address string, c syscall.RawConn) error {
	if t.guard == nil {
		return nil
	}
	return t.guard.Safe(network, address, c)
}

// Refuses returns what is wrong with an endpoint's address, in words that complete "url ...", or "" if
// nothing is wrong. It looks up no host, so control may still refuse the address later.
func (t *Targets) Refuses(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "must be an https address in ASCII"
	case u.User != nil:
		return "must not carry a user name or password"
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return "must not have a fragment"
	case t.guard == nil && (u.Scheme == "https" || u.Scheme == "http"):
		return ""
	case u.Scheme != "https":
		return "must be an https address" + lifted
	case u.Port() != "" && u.Port() != "443":
		return "must use port 443" + lifted
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if a, err := netip.ParseAddr(host); err == nil {
		if t.guard.SafeAddr(a) != nil {
			return "must have a public address" + lifted
		}
		return ""
	}
	if !publicName(host) {
		return "must have a public host name" + lifted
	}
	return ""
}

// privateNames are endings of names that mean something only within a network.
var privateNames = []string{"localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa"}

// publicName reports whether a host may be a name of the public DNS. A host that ends in a number
// is not: some software reads it as an address, in decimal, octal or hexadecimal, or with fewer
// than four parts.
func publicName(host string) bool {
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	last := labels[len(labels)-1]
	if len(labels) < 2 || len(host) > 253 || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return false
	}
	return !slices.ContainsFunc(privateNames, func(p string) bool { return strings.HasSuffix(host, "."+p) })
}
