// Package client is a raw keep-alive HTTP/1.1 client that sends from many client addresses at a
// small cost for each request.
//
// It owns the connections. A Network dials only loopback, unless it was made Remote. Then it puts
// the client addresses into X-Forwarded-For, which the target must be configured to believe. Close
// ends it.
package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// ErrNotLoopback says that the network refuses to send load to another machine.
var ErrNotLoopback = errors.New("the target is not a loopback address (use --remote if it is yours and trusts X-Forwarded-For)")

// errDial says that there was no connection over which to send a request.
var errDial = errors.New("dial")

// MaxSources is the largest number of client addresses: 127.1.1.1 to 127.250.254.254.
const MaxSources = 250 * 254 * 254

// Config says how a network behaves. Zero values stand for the defaults given here.
type Config struct {
	Sources int           // how many client addresses there are; 0: 256
	Timeout time.Duration // how long one request may take; 0: 10 s
	Remote  bool          // allows other hosts than loopback; client addresses then go into X-Forwarded-For
	IdleFor time.Duration // a connection that was unused for longer is closed instead of used; 0: 30 s
	PerIdle int           // how many idle connections each source keeps for a host; 0: 4
}

// Network is a set of client addresses with their connections.
type Network struct {
	cfg     Config
	sources []*Source

	mu    sync.Mutex
	hosts map[string]netip.AddrPort // the hosts that were resolved and allowed
}

// NewNetwork makes the client addresses; it opens no connection yet.
func NewNetwork(cfg Config) (*Network, error) {
	if cfg.Sources == 0 {
		cfg.Sources = 256
	}
	if cfg.Sources < 0 || cfg.Sources > MaxSources {
		return nil, fmt.Errorf("client addresses: %d is not within 1 and %d", cfg.Sources, MaxSources)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	if cfg.IdleFor == 0 {
		cfg.IdleFor = 30 * time.Second
	}
	if cfg.PerIdle == 0 {
		cfg.PerIdle = 4
	}
	n := &Network{cfg: cfg, hosts: make(map[string]netip.AddrPort)}
	for i := range cfg.Sources {
		n.sources = append(n.sources, &Source{net: n, ip: sourceAddr(i, cfg.Remote), idle: make(map[string][]*conn)})
	}
	return n, nil
}

// sourceAddr returns the i-th client address. None ends in 0 or 255. 127.0.0.0/16 is left to the
// machine's own services. For a remote target, which is only told the address, it is one of those
// reserved for benchmarks (RFC 2544), which repeat after 129,032.
func sourceAddr(i int, remote bool) netip.Addr {
	net, low, high := i/(254*254), byte(1+i/254%254), byte(1+i%254)
	if remote {
		return netip.AddrFrom4([4]byte{198, byte(18 + net%2), low, high})
	}
	return netip.AddrFrom4([4]byte{127, byte(1 + net), low, high})
}

// Source returns the i-th client address; after the last one it begins again with the first.
func (n *Network) Source(i int) *Source { return n.sources[i%len(n.sources)] }

// Sources returns how many client addresses there are.
func (n *Network) Sources() int { return len(n.sources) }

// Close closes the idle connections; a connection in use is closed when it is put back.
func (n *Network) Close() {
	for _, s := range n.sources {
		s.close()
	}
}

// CloseIdle closes the connections that no request uses.
func (n *Network) CloseIdle() {
	for _, s := range n.sources {
		s.closeIdle()
	}
}

// Check resolves a host:port and returns an error if the network may not send to it.
func (n *Network) Check(ctx context.Context, host string) error {
	_, err := n.resolveHost(ctx, host)
	return err
}

// resolveHost looks a host:port up once, and refuses it if the network may not send to it: unless the network is
// Remote, it must be an IPv4 address of loopback. So a wrong word on the command line can't put load on another
// machine.
func (n *Network) resolveHost(ctx context.Context, host string) (netip.AddrPort, error) {
	n.mu.Lock()
	addr, known := n.hosts[host]
	n.mu.Unlock()
	if known {
		return addr, nil
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("host %q: %w", host, err)
	}
	portNumber, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("host %q: %w", host, err)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("host %q: %w", host, err)
	}
	for _, ip := range ips {
		ip = ip.Unmap()
		// 127.a.b.c can be bound only for an IPv4 connection.
		if n.cfg.Remote || (ip.IsLoopback() && ip.Is4()) {
			addr = netip.AddrPortFrom(ip, uint16(portNumber))
			n.mu.Lock()
			n.hosts[host] = addr
			n.mu.Unlock()
			return addr, nil
		}
	}
	return netip.AddrPort{}, fmt.Errorf("%s: %w", host, ErrNotLoopback)
}

// dialFrom opens a connection from a source address. To a remote host it uses the machine's own address, and the
// request carries the source address in a header. An error of the connection itself is errDial.
func (n *Network) dialFrom(ctx context.Context, from netip.Addr, host string) (net.Conn, error) {
	to, err := n.resolveHost(ctx, host)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: n.cfg.Timeout}
	if !n.cfg.Remote {
		d.LocalAddr = &net.TCPAddr{IP: from.AsSlice()}
		d.ControlContext = BindWithoutPort
	}
	c, err := d.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, fmt.Errorf("%w %s from %s: %w", errDial, host, from, err)
	}
	return c, nil
}
