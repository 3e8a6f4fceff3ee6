package webhook

import (
	"context"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// forbidden are hosts as somebody may write them, each of which leads, or may be
// read as leading, to where nothing public is.
var forbidden = []string{
	// private, RFC 1918
	"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1",
	// loopback, this network, unspecified
	"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3",
	// link-local, metadata services
	"169.254.0.1", "169.254.169.254", "169.254.170.2", "192.0.0.192", "100.100.100.200", "168.63.129.16",
	// shared (CGNAT), protocol assignments, benchmarking, documentation
	"100.64.0.1", "100.127.255.255", "192.0.0.1", "198.18.0.1", "198.19.255.255", "192.0.2.1", "198.51.100.1", "203.0.113.1",
	// 6to4 relays, AS112, multicast, reserved, broadcast
	"192.88.99.1", "192.175.48.1", "192.31.196.1", "192.52.193.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	// IPv6: unspecified, loopback, IPv4-compatible and IPv4-mapped
	"[::]", "[::1]", "[::7f00:1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::ffff:a9fe:a9fe]",
	// link-local, with a zone, site-local, unique local, multicast
	"[fe80::1]", "[fe80::1%25lo]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]",
	// NAT64, its local use, 6to4, Teredo, ORCHID, documentation, discard, SRv6
	"[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001::1]", "[2001:0:7f00:1::]",
	"[2001:10::1]", "[2001:20::1]", "[2001:db8::1]", "[3fff::1]", "[100::1]", "[5f00::1]", "[2620:4f:8000::1]",
}

// disguised are 127.0.0.1 and 169.254.169.254 in forms that inet_aton takes.
var disguised = []string{
	"2130706433", "017700000001", "0x7f000001", "0X7F000001", "127.1", "127.0.1", "0177.0.0.1", "0x7f.0.0.1", "0x7f.1", "127.0.0.1.", "0",
	"2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "[0:0:0:0:0:ffff:7f00:1]", "[::ffff:0x7f.1]",
}

// names are hosts of the test's own DNS that lead to private addresses.
var names = map[string][]string{
	"private.example.com":  {"10.0.0.7"},
	"loopback.example.com": {"127.0.0.1"},
	"v6.example.com":       {"::1"},
	"mapped.example.com":   {"::ffff:127.0.0.1"},
	"nat64.example.com":    {"64:ff9b::7f00:1"},
	"metadata.example.com": {"169.254.169.254"},
	"several.example.com":  {"127.0.0.1", "10.0.0.1", "::1", "169.254.169.254"},
	"self.example.com":     {"0.0.0.0", "::"},
}

// TestRefuses: what is plainly private is refused at once.
func TestRefuses(t *testing.T) {
	t.Parallel()
	public := NewTargets(false)
	for _, u := range []string{
		"https://example.org", "https://example.org/", "https://hooks.example.org:443/a/b?c=d", "https://8.8.8.8/x", "https://[2606:4700::1111]/",
		"https://xn--bcher-kva.example/", "https://a_b.example.org/", "HTTPS://EXAMPLE.ORG/", "https://example.org./", "https://0x.example.org/",
	} {
		require.Empty(t, public.Refuses(u), u)
	}
	for _, host := range append(append([]string{"[::ffff:8.8.8.8]"}, forbidden...), disguised...) {
		require.NotEmpty(t, public.Refuses("https://"+host+"/"), host)
	}
	for u, why := range map[string]string{
		"http://example.org/":               "must be an https address",
		"ftp://example.org/":                "must be an https address",
		"file:///etc/passwd":                "must be an https address in ASCII",
		"//example.org/":                    "must be an https address",
		"example.org":                       "must be an https address in ASCII",
		"https:example.org":                 "must be an https address in ASCII",
		"https://":                          "must be an https address in ASCII",
		"https://exam ple.org/":             "must be an https address in ASCII",
		"https://example.org/\r\nX: y":      "must be an https address in ASCII",
		"https://bücher.example/":           "must be an https address in ASCII",
		"https://１２７.0.0.1/":                "must be an https address in ASCII",
		"https://127。0。0。1/":                "must be an https address in ASCII",
		"https://me@example.org/":           "must not carry a user name or password",
		"https://example.org@127.0.0.1/":    "must not carry a user name or password",
		"https://example.org/#x":            "must not have a fragment",
		"https://example.org/#":             "must not have a fragment",
		"https://example.org:8443/":         "must use port 443",
		"https://example.org:80/":           "must use port 443",
		"https://localhost/":                "must have a public host name",
		"https://LOCALHOST./":               "must have a public host name",
		"https://a.localhost/":              "must have a public host name",
		"https://metadata.google.internal/": "must have a public host name",
		"https://printer.local/":            "must have a public host name",
		"https://router.home.arpa/":         "must have a public host name",
		"https://intranet/":                 "must have a public host name",
		"https://a..org/":                   "must have a public host name",
		"https://exam%70le.org/":            "must be an https address in ASCII",
	} {
		require.Equal(t, why, strings.TrimSuffix(public.Refuses(u), lifted), u)
	}
	for _, u := range []string{"http://hooks.example.org/", "https://example.org:8443/", "https://localhost/", "https://127.0.0.1/"} {
		require.Contains(t, public.Refuses(u), "BOXOFFICE_WEBHOOK_ALLOW_PRIVATE", u)
	}
	private := NewTargets(true)
	for _, u := range []string{"http://127.0.0.1:9000/x", "https://localhost:8443/", "http://[::1]:80/"} {
		require.Empty(t, private.Refuses(u), u)
	}
	for _, u := range []string{"ftp://127.0.0.1/", "http://", "http://me:you@127.0.0.1/", "nonsense"} {
		require.NotEmpty(t, private.Refuses(u), u)
	}
}

// resolver is a DNS server of the test's own, on loopback.
type resolver struct {
	conn net.PacketConn
	done chan struct{}
	mu   sync.Mutex
	// answers are the addresses of a name, by how often it was asked before.
	answers func(name string, asked int) []string
	asked   map[string]int
}

func startResolver(t *testing.T, answers func(name string, asked int) []string) *resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &resolver{conn: conn, done: make(chan struct{}), answers: answers, asked: map[string]int{}}
	go r.serve()
	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		<-r.done
	})
	return r
}

// client is a resolver that asks nobody else.
func (r *resolver) client() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", r.conn.LocalAddr().String())
	}}
}

func (r *resolver) serve() {
	defer close(r.done)
	buf := make([]byte, 1500)
	for {
		n, from, err := r.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		_, _ = r.conn.WriteTo(r.reply(buf[:n]), from)
	}
}

// reply answers a question of type A or AAAA (RFC 1035).
func (r *resolver) reply(query []byte) []byte {
	const header, a, aaaa = 12, 1, 28
	var labels []string
	at := header
	for query[at] > 0 {
		n := int(query[at])
		labels, at = append(labels, string(query[at+1:at+1+n])), at+1+n
	}
	end := at + 5
	kind := binary.BigEndian.Uint16(query[at+1:])
	name := strings.ToLower(strings.Join(labels, "."))
	r.mu.Lock()
	addresses := r.answers(name, r.asked[name])
	if kind == a {
		r.asked[name]++
	}
	r.mu.Unlock()
	out := append([]byte(nil), query[:end]...)
	copy(out[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}) // an answer, recursion available, one question
	count := uint16(0)
	for _, text := range addresses {
		ip := netip.MustParseAddr(text)
		if ip.Is4() != (kind == a) || kind != a && kind != aaaa {
			continue
		}
		count++
		raw := ip.AsSlice()
		out = append(out, 0xc0, header) // the question's name
		out = binary.BigEndian.AppendUint16(out, kind)
		out = append(out, 0, 1, 0, 0, 0, 0) // IN, no time to live
		out = binary.BigEndian.AppendUint16(out, uint16(len(raw)))
		out = append(out, raw...)
	}
	binary.BigEndian.PutUint16(out[6:], count)
	return out
}

// trap is what must not be reached: listeners on one port of loopback addresses.
type trap struct {
	port    uint16
	touched atomic.Int64
}

func setTrap(t *testing.T) *trap {
	t.Helper()
	x := &trap{}
	first, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	x.port = first.Addr().(*net.TCPAddr).AddrPort().Port()
	listeners := []net.Listener{first}
	if six, err := net.Listen("tcp6", fmt.Sprintf("[::1]:%d", x.port)); err == nil { // where there is IPv6
		listeners = append(listeners, six)
	}
	var open sync.WaitGroup
	for _, ln := range listeners {
		open.Go(func() {
			for {
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				x.touched.Add(1)
				_ = conn.Close()
			}
		})
	}
	t.Cleanup(func() {
		for _, ln := range listeners {
			require.NoError(t, ln.Close())
		}
		open.Wait()
	})
	return x
}

// outside stands for the public Internet: a TLS server on 127.0.0.2, which the
// test's rule takes for a public address.
var outside = netip.MustParsePrefix("127.0.0.2/32")

func startOutside(t *testing.T, h http.HandlerFunc) (port uint16, roots *x509.CertPool) {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.2:0")
	require.NoError(t, err)
	s := httptest.NewUnstartedServer(h)
	require.NoError(t, s.Listener.Close())
	s.Listener = ln
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	t.Cleanup(s.Close)
	roots = x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return ln.Addr().(*net.TCPAddr).AddrPort().Port(), roots
}

func hasIPv6() bool {
	ln, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	return ln.Close() == nil
}

// TestForbiddenTargets: whatever a host is written as and whatever DNS says of it,
// no connection to a private address is begun.
func TestForbiddenTargets(t *testing.T) {
	t.Parallel()
	x := setTrap(t)
	dns := startResolver(t, func(name string, _ int) []string {
		if addresses, ok := names[name]; ok {
			return addresses
		}
		return []string{"127.0.0.1"} // what inet_aton would make of a disguised address
	})
	rt := newTransport(Exempting([]uint16{x.port, httpsPort}, outside), nil, dns.client())
	t.Cleanup(rt.CloseIdleConnections)
	hosts := append(append([]string(nil), forbidden...), disguised...)
	for name := range names {
		hosts = append(hosts, name)
	}
	six := hasIPv6()
	for _, host := range hosts {
		for _, port := range []uint16{x.port, httpsPort} {
			for _, scheme := range []string{"https", "http"} {
				url := scheme + "://" + net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(int(port))) + "/"
				a := postOnce(t.Context(), rt, url, http.Header{}, []byte("secret"))
				require.Zero(t, a.status, url)
				if six || !strings.ContainsAny(host, ":6") {
					require.Contains(t, []string{outcomeProhibited, outcomeConnection}, a.outcome, url)
				}
				if netip.MustParsePrefix("0.0.0.0/0").Contains(addrOf(host)) {
					require.Equal(t, outcomeProhibited, a.outcome, "%s: %s", url, a.err)
				}
			}
		}
	}
	for name := range names {
		if name != "v6.example.com" && name != "nat64.example.com" || six {
			a := postOnce(t.Context(), rt, fmt.Sprintf("https://%s:%d/", name, x.port), http.Header{}, nil)
			require.Equal(t, outcomeProhibited, a.outcome, "%s: %s", name, a.err)
			require.Equal(t, "the host has no public address", a.err)
		}
	}
	require.Zero(t, x.touched.Load(), "a connection was made")
}

// addrOf is a host that is an address in its plain form.
func addrOf(host string) netip.Addr {
	a, _ := netip.ParseAddr(host)
	return a
}

// TestControl asks the rule itself about every address, also where this machine
// could not dial it.
func TestControl(t *testing.T) {
	t.Parallel()
	rule := NewTargets(false)
	for _, host := range forbidden {
		a, err := netip.ParseAddr(strings.ReplaceAll(strings.Trim(host, "[]"), "%25", "%"))
		require.NoError(t, err)
		network := "tcp6"
		if a.Is4() {
			network = "tcp4"
		}
		require.Error(t, rule.control(network, netip.AddrPortFrom(a, httpsPort).String(), nil), host)
	}
	for _, address := range []string{"8.8.8.8:443", "[2606:4700::1111]:443"} {
		network := "tcp4"
		if strings.HasPrefix(address, "[") {
			network = "tcp6"
		}
		require.NoError(t, rule.control(network, address, nil))
		require.Error(t, rule.control(network, strings.Replace(address, ":443", ":80", 1), nil), "another port")
		require.Error(t, rule.control(network, strings.Replace(address, ":443", ":22", 1), nil), "another port")
		require.Error(t, rule.control("udp4", address, nil))
		require.Error(t, rule.control("unix", "/run/x.sock", nil))
	}
}

// TestRebinding: a name that was public is judged again each time.
func TestRebinding(t *testing.T) {
	t.Parallel()
	x := setTrap(t)
	var received atomic.Int64
	port, roots := startOutside(t, func(w http.ResponseWriter, _ *http.Request) {
		received.Add(1)
		w.Header().Set("Connection", "close")
	})
	dns := startResolver(t, func(name string, asked int) []string {
		if name == "mixed.example.com" {
			return []string{"127.0.0.1", "127.0.0.2", "10.0.0.1"}
		}
		if asked%2 == 0 {
			return []string{"127.0.0.2"}
		}
		return []string{"127.0.0.1"}
	})
	rt := newTransport(Exempting([]uint16{x.port, port}, outside), roots, dns.client())
	t.Cleanup(rt.CloseIdleConnections)
	for range 3 {
		a := postOnce(t.Context(), rt, fmt.Sprintf("https://rebind.example.com:%d/", port), http.Header{}, []byte("x"))
		require.Equal(t, outcomeSucceeded, a.outcome, a.err)
		a = postOnce(t.Context(), rt, fmt.Sprintf("https://rebind.example.com:%d/", x.port), http.Header{}, []byte("x"))
		require.Equal(t, outcomeProhibited, a.outcome)
	}
	require.EqualValues(t, 3, received.Load())
	t.Log("one public address among private ones: only that is dialled")
	a := postOnce(t.Context(), rt, fmt.Sprintf("https://mixed.example.com:%d/", port), http.Header{}, []byte("x"))
	require.Equal(t, outcomeSucceeded, a.outcome, a.err)
	t.Log("a certificate of another name, and another port")
	a = postOnce(t.Context(), rt, fmt.Sprintf("https://rebind.example.org:%d/", port), http.Header{}, []byte("x"))
	require.Equal(t, outcomeConnection, a.outcome)
	require.Contains(t, a.err, "TLS: ")
	a = postOnce(t.Context(), rt, "https://rebind2.example.com:8443/", http.Header{}, []byte("x"))
	require.Equal(t, outcomeProhibited, a.outcome)
	require.Zero(t, x.touched.Load(), "a connection was made")
}

// TestRedirects: none is followed, wherever it leads.
func TestRedirects(t *testing.T) {
	t.Parallel()
	x := setTrap(t)
	var received atomic.Int64
	location := fmt.Sprintf("http://127.0.0.1:%d/", x.port)
	port, roots := startOutside(t, func(w http.ResponseWriter, r *http.Request) {
		received.Add(1)
		status, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	})
	dns := startResolver(t, func(string, int) []string { return []string{"127.0.0.2"} })
	rt := newTransport(Exempting([]uint16{x.port, port}, outside), roots, dns.client())
	t.Cleanup(rt.CloseIdleConnections)
	statuses := []int{301, 302, 303, 307, 308}
	for _, status := range statuses {
		a := postOnce(t.Context(), rt, fmt.Sprintf("https://hook.example.com:%d/%d", port, status), http.Header{}, []byte("x"))
		require.Equal(t, outcomeStatus, a.outcome)
		require.Equal(t, status, a.status)
		require.Equal(t, fmt.Sprintf("HTTP %d: redirects are not followed", status), a.err)
	}
	require.EqualValues(t, len(statuses), received.Load())
	require.Zero(t, x.touched.Load(), "a redirect was followed")
}

// TestAnswersAreBounded: of what an endpoint answers little is read and less kept.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	port, roots := startOutside(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/headers":
			for i := range 100 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1_000))
			}
		case "/endless":
			w.WriteHeader(http.StatusBadGateway)
			for {
				if _, err := w.Write([]byte(strings.Repeat("<b>no\x00\r\n", 1_000))); err != nil {
					return
				}
			}
		case "/slow":
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	})
	dns := startResolver(t, func(string, int) []string { return []string{"127.0.0.2"} })
	rt := newTransport(Exempting([]uint16{port}, outside), roots, dns.client())
	t.Cleanup(rt.CloseIdleConnections)
	ask := func(path string) answer {
		return postOnce(t.Context(), rt, fmt.Sprintf("https://hook.example.com:%d%s", port, path), http.Header{}, []byte("x"))
	}
	require.Equal(t, outcomeConnection, ask("/headers").outcome)
	a := ask("/endless")
	require.Equal(t, 502, a.status)
	require.LessOrEqual(t, len(a.err), errorMax+20)
	require.Regexp(t, `^HTTP 502: <b>no <b>no [^\x00\r\n]*$`, a.err)
	began := time.Now()
	require.Equal(t, outcomeSucceeded, ask("/slow").outcome, "it was answered: how long the rest takes is its own matter")
	require.Less(t, time.Since(began), attemptTime)
}
