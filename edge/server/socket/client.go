package socket

import (
	"bytes"
	"net/netip"
	"slices"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/route"
)

// ClientAddress returns the address that sent the request. That is the socket's peer or, if the peer is a
// trusted proxy, the right-most hop of X-Forwarded-For that is not a trusted proxy. Hops to the left of that
// are what the client says about itself, and are ignored. If the hops end before such a one is found, or one is
// not an address, it returns the last trusted proxy that it has read.
func ClientAddress(ctx *fasthttp.RequestCtx, trusted []netip.Prefix) netip.Addr {
	client := peerAddress(ctx.RemoteAddr())
	if !route.Within(trusted, client) {
		return client
	}
	for _, line := range slices.Backward(ctx.Request.Header.PeekAll(fasthttp.HeaderXForwardedFor)) {
		for len(line) > 0 {
			cut := bytes.LastIndexByte(line, ',')
			hop, ok := parseHop(line[cut+1:])
			if !ok {
				return client
			}
			client = hop
			if !route.Within(trusted, client) {
				return client
			}
			line = line[:max(cut, 0)]
		}
	}
	return client
}

// parseHop parses one hop, with or without a port, as an address alone. An IPv4 address in the form of IPv6 becomes an
// IPv4 address.
func parseHop(text []byte) (netip.Addr, bool) {
	s := string(bytes.TrimSpace(text))
	addr, err := netip.ParseAddr(s)
	if err != nil {
		withPort, err := netip.ParseAddrPort(s)
		if err != nil {
			return netip.Addr{}, false
		}
		addr = withPort.Addr()
	}
	return addr.Unmap().WithZone(""), true
}
