package cluster_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// authority gives nodes their certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	a := &authority{t: t, key: key}
	a.cert, err = x509.ParseCertificate(a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, &key.PublicKey))
	require.NoError(t, err)
	return a
}

func (a *authority) sign(c, by *x509.Certificate, key *ecdsa.PublicKey) []byte {
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if by == nil {
		by = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, key, a.key)
	require.NoError(a.t, err)
	return der
}

// config is a node's, as cmd/boxoffice makes it.
func (a *authority) config() *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	der := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "node"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, a.cert, &key.PublicKey)
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
}

// lines is a log that a test reads.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lines) say(what string) func() bool {
	return func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return bytes.Contains(l.buf.Bytes(), []byte(what))
	}
}

// Nodes with certificates of one authority talk. One with another authority's, and
// one without, get nowhere, in either direction, and their logs say why.
func TestLinksOverMutualTLS(t *testing.T) {
	t.Parallel()
	ours, theirs := newAuthority(t), newAuthority(t)
	logs := map[string]*lines{"a": {}, "b": {}, "other": {}, "plain": {}}
	p := newPartyWith(t, func(name string, cfg *cluster.Config) {
		cfg.Log = slog.New(slog.NewTextHandler(logs[name], nil))
		switch name {
		case "a", "b":
			cfg.TLS = ours.config()
		case "other":
			cfg.TLS = theirs.config()
		}
	}, "a", "b")
	for number := int64(1); number <= partyEvents; number++ {
		p.onSaleFrom("a", number, 2)
		require.Equal(t, order.StatusCompleted, p.from("b", engine.EventRef(number), placeIn(number, 1)).(*ledger.OrderReply).Status)
	}
	require.Equal(t, []string{"a", "b"}, p.hosts())
	require.Equal(t, 1, p.nodes["a"].Census().Links)

	for name, why := range map[string]string{
		"other": "certificate signed by unknown authority",
		"plain": "may want TLS",
	} {
		p.open(name)
		p.tell()
		require.True(t, assertGrows(logs[name].say(why)), "%s does not say %q:\n%s", name, why, &logs[name].buf)
		require.True(t, assertGrows(logs["a"].say("member="+name)), "a does not say that it has no link to %s", name)
		for number := int64(1); number <= partyEvents; number++ {
			_, err := p.nodes[name].Ask(t.Context(), engine.EventRef(number), placeIn(number, 2))
			if err == nil {
				continue // its own
			}
			var r *engine.Refusal
			require.ErrorAs(t, err, &r)
			require.Equal(t, engine.Unavailable, r.Code)
			break // the first that needs a link
		}
		p.stop(name)
		p.tell()
	}
	for number := int64(1); number <= partyEvents; number++ {
		p.from("a", engine.EventRef(number), placeIn(number, 1))
	}
}

// Whoever reaches the port for links gets no further without a certificate.
func TestLinksRefuseStrangers(t *testing.T) {
	t.Parallel()
	ours, theirs := newAuthority(t), newAuthority(t)
	p := newPartyWith(t, func(_ string, cfg *cluster.Config) { cfg.TLS = ours.config() }, "a")
	a := p.nodes["a"]
	trusting := ours.config().RootCAs
	for name, c := range map[string]struct {
		cfg *tls.Config
		why string
	}{
		"no certificate":      {&tls.Config{MinVersion: tls.VersionTLS13, RootCAs: trusting}, "certificate required"},
		"another authority's": {&tls.Config{MinVersion: tls.VersionTLS13, RootCAs: trusting, Certificates: theirs.config().Certificates}, "unknown certificate authority"},
		"an old TLS":          {&tls.Config{MaxVersion: tls.VersionTLS12, RootCAs: trusting, Certificates: ours.config().Certificates}, "protocol version"}, //nolint:gosec // that it is refused
	} {
		conn, err := tls.Dial("tcp", a.member.Link, c.cfg)
		if err == nil {
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
			_, err = conn.Read(make([]byte, 1))
			require.NoError(t, conn.Close())
		}
		require.ErrorContains(t, err, c.why, name)
	}
	conn, err := net.Dial("tcp", a.member.Link)
	require.NoError(t, err)
	_, err = conn.Write([]byte("\x00\x00\x00\x10\x01 and so on, in the clear"))
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	for err == nil {
		_, err = conn.Read(make([]byte, 100))
	}
	var late net.Error
	require.False(t, errors.As(err, &late) && late.Timeout(), "the connection stays open")
	require.NoError(t, conn.Close())
	require.True(t, assertGrows(func() bool { return a.Census().Strangers == 4 }))
}
