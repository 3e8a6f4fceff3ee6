package witness_test

import (
	"crypto/sha256"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/witness"
	"boxoffice/edge/witness/witnesstest"
)

// rootsOf are the roots of an authority.
func rootsOf(t *testing.T, a *witnesstest.Authority) *x509.CertPool {
	t.Helper()
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(a.Root))
	return roots
}

func TestStamp(t *testing.T) {
	t.Parallel()
	a, digest := witnesstest.Open(t), sha256.Sum256([]byte("a statement"))
	began := time.Now().Add(-time.Second)
	token, err := witness.New(a.URL).Stamp(t.Context(), digest)
	require.NoError(t, err)
	seen, err := witness.Check(token, digest, rootsOf(t, a))
	require.NoError(t, err)
	require.Equal(t, "CN="+witnesstest.Name, seen.Name)
	require.WithinRange(t, seen.At, began.Truncate(time.Second), time.Now())

	t.Log("of something else")
	_, err = witness.Check(token, sha256.Sum256([]byte("another")), nil)
	require.ErrorIs(t, err, witness.ErrToken)
	t.Log("of somebody else")
	_, err = witness.Check(token, digest, rootsOf(t, witnesstest.Open(t)))
	require.ErrorIs(t, err, witness.ErrToken)
}

// TestSpoiledTokens changes each byte of a token in turn. None but those that a signature does not
// cover may pass, and then the token says the same.
func TestSpoiledTokens(t *testing.T) {
	t.Parallel()
	a, digest, at := witnesstest.Open(t), sha256.Sum256([]byte("a statement")), time.Now().Truncate(time.Second)
	token := a.Token(digest, at)
	roots := rootsOf(t, a)
	for i := range token {
		spoiled := append([]byte(nil), token...)
		spoiled[i] ^= 1
		seen, err := witness.Check(spoiled, digest, roots)
		if err == nil {
			require.True(t, seen.At.Equal(at) && seen.Name == "CN="+witnesstest.Name, "byte %d says %v", i, seen)
		}
	}
	for n := range token {
		_, err := witness.Check(token[:n], digest, nil)
		require.ErrorIs(t, err, witness.ErrToken, "%d bytes", n)
	}
}

// TestAuthorityMisbehaves has an authority that is away, answers nonsense, or without end.
func TestAuthorityMisbehaves(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"away":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"nonsense": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) },
		"endless":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat("a", 1<<20))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(answer)
			defer srv.Close()
			_, err := witness.New(srv.URL).Stamp(t.Context(), [32]byte{})
			require.Error(t, err)
		})
	}
}
