// Package witness asks an external time-stamping authority (RFC 3161) to sign that a digest existed
// at a moment, and checks such signatures. It starts no goroutine, so nothing has to be stopped.
package witness

import (
	"bytes"
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/digitorus/pkcs7"
	"github.com/digitorus/timestamp"
)

const (
	askTime  = 5 * time.Second
	maxReply = 64 << 10 // bytes; a token with three certificates has about 7 KB
)

// ErrToken says that a token is not a valid time stamp of the digest.
var ErrToken = errors.New("witness: the token does not hold")

// Authority is a time-stamping authority. Its methods may be called by any goroutine.
type Authority struct {
	url  string
	http *http.Client
}

// New returns the authority with a URL. The authority must accept requests by HTTP POST (RFC 3161,
// section 3.4).
func New(url string) *Authority {
	return &Authority{url: url, http: &http.Client{Timeout: askTime}}
}

// Stamp asks the authority to sign that a SHA-256 digest exists now, and returns the authority's
// token (a DER TimeStampToken with the authority's certificate). It has checked the token by that
// certificate, but not who issued the certificate.
func (a *Authority) Stamp(ctx context.Context, digest [sha256.Size]byte) ([]byte, error) {
	ask := timestamp.Request{HashAlgorithm: crypto.SHA256, HashedMessage: digest[:], Certificates: true}
	body, err := ask.Marshal()
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	req.Header.Set("Content-Type", "application/timestamp-query")
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("witness: %s answers %d", a.url, resp.StatusCode)
	}
	stamp, err := timestamp.ParseResponse(reply)
	if err != nil {
		return nil, fmt.Errorf("witness: %w", err)
	}
	if _, err := Check(stamp.RawToken, digest, nil); err != nil {
		return nil, err
	}
	return stamp.RawToken, nil
}

// Testimony is what a valid token proves.
type Testimony struct {
	At   time.Time // the digest existed at this time, by the authority's clock
	Name string    // the subject of the signer's certificate
}

// Check checks that a token is a time stamp of a digest, and returns what the token proves. If
// roots is nil, it does not check who issued the signer's certificate, so anybody may have signed.
// Its errors wrap ErrToken.
func Check(token []byte, digest [sha256.Size]byte, roots *x509.CertPool) (*Testimony, error) {
	stamp, err := timestamp.Parse(token) // Parse checks the signature with the certificate in the token
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if stamp.HashAlgorithm != crypto.SHA256 || !bytes.Equal(stamp.HashedMessage, digest[:]) {
		return nil, fmt.Errorf("%w: it is of something else", ErrToken)
	}
	signed, err := pkcs7.Parse(token)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	signer := signed.GetOnlySigner()
	if signer == nil {
		return nil, fmt.Errorf("%w: it has no certificate, or several have signed", ErrToken)
	}
	if roots != nil {
		if err := verifyIssuer(signed, signer, roots, stamp.Time); err != nil {
			return nil, err
		}
	}
	return &Testimony{At: stamp.Time, Name: signer.Subject.String()}, nil
}

// verifyIssuer returns an error unless one of the roots has issued the signer's certificate,
// directly or through other certificates of the token, and the certificate was valid at that moment
// and is for time-stamping (RFC 3161, section 2.3).
func verifyIssuer(signed *pkcs7.PKCS7, signer *x509.Certificate, roots *x509.CertPool, at time.Time) error {
	between := x509.NewCertPool()
	for _, c := range signed.Certificates {
		between.AddCert(c)
	}
	_, err := signer.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping},
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrToken, err)
	}
	return nil
}
