package route

import "net/netip"

// Within says whether one of the prefixes holds the address.
func Within(prefixes []netip.Prefix, a netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
