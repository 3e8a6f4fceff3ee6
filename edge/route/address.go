package route

import "net/netip"

// Within reports whether one of the prefixes contains the address.
func Within(prefixes []netip.Prefix, a netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
