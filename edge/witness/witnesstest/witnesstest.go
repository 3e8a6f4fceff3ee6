// Package witnesstest is a time-stamping authority (RFC 3161) for tests.
package witnesstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/digitorus/timestamp"
	"github.com/stretchr/testify/require"
)

// Name is the common name of the authority's certificate.
const Name = "Test Witness"

// Authority is an authority that answers at URL.
type Authority struct {
	URL  string
	Root []byte      // the certificate (PEM) that has issued the authority's
	Away atomic.Bool // requests are answered with 503

	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Open opens an authority for the time of a test.
func Open(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t}
	issuerKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	// The root signs the authority's certificate, and the authority signs the tokens, as with a real one: who
	// checks a token has to build that chain.
	issuer := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test Root"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, issuer, issuer, issuerKey.Public(), issuerKey)
	require.NoError(t, err)
	a.Root = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err = x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: Name}, NotBefore: issuer.NotBefore, NotAfter: issuer.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping},
	}, issuer, a.key.Public(), issuerKey)
	require.NoError(t, err)
	a.cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	srv := httptest.NewServer(http.HandlerFunc(a.answer))
	t.Cleanup(srv.Close)
	a.URL = srv.URL
	return a
}

// answer stamps the digest of a request with the time of now.
func (a *Authority) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || a.Away.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	ask, err := timestamp.ParseRequest(body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/timestamp-reply")
	_, _ = w.Write(a.reply(ask.HashedMessage, time.Now())) // a client that has gone needs no answer
}

// reply makes the answer of the protocol, which has the token and the authority's certificate.
func (a *Authority) reply(digest []byte, at time.Time) []byte {
	stamp := timestamp.Timestamp{
		HashAlgorithm: crypto.SHA256, HashedMessage: digest, Time: at, Policy: asn1.ObjectIdentifier{1, 2, 3, 4}, AddTSACertificate: true,
		SerialNumber: big.NewInt(at.UnixNano()),
	}
	reply, err := stamp.CreateResponseWithOpts(a.cert, a.key, crypto.SHA256)
	if err != nil {
		a.t.Error(err)
	}
	return reply
}

// Token returns the authority's token of a digest and a moment.
func (a *Authority) Token(digest [32]byte, at time.Time) []byte {
	a.t.Helper()
	stamp, err := timestamp.ParseResponse(a.reply(digest[:], at))
	require.NoError(a.t, err)
	return stamp.RawToken
}
