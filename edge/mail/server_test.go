package mail

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	user     = "boxoffice"
	password = "a password @ with signs/"
)

// server is a real mail server in this process. Its hooks, if set, decide.
type server struct {
	addr      string
	clientTLS *tls.Config
	got       chan delivery
	dials     atomic.Int64
	mail      func(c *smtp.Conn) error
	rcpt      func(c *smtp.Conn, to string) error
	data      func(c *smtp.Conn) error
}

// delivery is a message that the server took.
type delivery struct {
	from, to string
	login    bool
	secure   bool
	raw      string
}

func (d delivery) parse(t *testing.T) *netmail.Message {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(d.raw))
	require.NoError(t, err)
	return m
}

// security of a server.
type protection int

const (
	startTLS protection = iota
	fromTheStart
	none
)

func serve(t *testing.T, p protection, change ...func(*server)) *server {
	t.Helper()
	s := &server{got: make(chan delivery, 100)}
	for _, f := range change {
		f(s)
	}
	serverTLS, clientTLS := certificates(t)
	s.clientTLS = clientTLS
	srv := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &smtpSession{server: s, conn: c}, nil
	}))
	srv.Domain, srv.AllowInsecureAuth = "localhost", p == none
	srv.ErrorLog = discard{}
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.addr = ln.Addr().String()
	ln = counting{ln, &s.dials}
	switch p {
	case startTLS:
		srv.TLSConfig = serverTLS
	case fromTheStart:
		ln = tls.NewListener(ln, serverTLS)
	case none:
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(ln) })
	t.Cleanup(func() {
		_ = srv.Close()
		wg.Wait()
	})
	return s
}

// counting counts the connections.
type counting struct {
	net.Listener
	n *atomic.Int64
}

func (c counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

type discard struct{}

func (discard) Printf(string, ...any) {}
func (discard) Println(...any)        {}

type smtpSession struct {
	*server
	conn     *smtp.Conn
	delivery delivery
}

func (s *smtpSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *smtpSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, u, p string) error {
		if u != user || p != password {
			return smtp.ErrAuthFailed
		}
		s.delivery.login = true
		return nil
	}), nil
}

func (s *smtpSession) Reset()        {}
func (s *smtpSession) Logout() error { return nil }

func (s *smtpSession) Mail(from string, _ *smtp.MailOptions) error {
	s.delivery.from = from
	_, s.delivery.secure = s.conn.TLSConnectionState()
	if s.mail != nil {
		return s.mail(s.conn)
	}
	return nil
}

func (s *smtpSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.delivery.to = to
	if s.rcpt != nil {
		return s.rcpt(s.conn, to)
	}
	return nil
}

func (s *smtpSession) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if s.data != nil {
		if err := s.data(s.conn); err != nil {
			return err
		}
	}
	s.delivery.raw = string(b)
	s.got <- s.delivery
	return nil
}

// certificates are a server's, and what a client trusts.
func certificates(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12},
		&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// origin of all mails here.
func origin(t testing.TB) Origin {
	t.Helper()
	o, err := ParseOrigin("Box Office <tickets@example.org>")
	require.NoError(t, err)
	return o
}
