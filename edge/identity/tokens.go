package identity

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"boxoffice/edge/api"
	"boxoffice/engine"
)

const (
	// accessLife is short because other services check access tokens by their signatures alone
	// (KeySet). There a session that has ended still counts until its token expires.
	accessLife   = 15 * time.Minute
	accessLeeway = 30 * time.Second // by how much the clocks of two machines may differ
	accessType   = "at+jwt"         // RFC 9068 section 2.1
	issuer       = "boxoffice"
	maxToken     = 4 << 10     // bytes; a longer token is refused unread
	keyPause     = time.Second // least time between two reads of the table for an unknown key
)

// claims are the claims of an access token: the registered ones, and the session that the token belongs to. The
// subject is the user's number.
type claims struct {
	Session string `json:"sid"`
	jwt.RegisteredClaims
}

// signing holds the keys of access tokens: the current key, which signs, and the one before it,
// whose tokens are still valid. Readers load the pointer without a lock.
type signing struct {
	keys atomic.Pointer[signingKeys]
	mu   sync.Mutex // so that only one goroutine at a time reads the table
}

// signingKeys are the two keys that verify tokens, as the table had them at one time. A value is
// never changed after it was stored.
type signingKeys struct {
	number   int // the current key's number
	current  ed25519.PrivateKey
	previous ed25519.PublicKey // nil before the first rotation
	read     time.Time
}

// keyID returns the name of a signing key. The header field kid of a token holds it.
func keyID(number int) string { return "k" + strconv.Itoa(number) }

// public returns the public key with a number, or nil if neither of the two live keys has it. A
// token of an older key is refused.
func (k *signingKeys) public(number int) ed25519.PublicKey {
	switch {
	case k == nil:
		return nil
	case number == k.number:
		return k.current.Public().(ed25519.PublicKey) //nolint:errcheck,forcetypeassert // Public says so
	case number == k.number-1:
		return k.previous
	}
	return nil
}

// reloadSigning reads the live keys. The watch calls it when the table says that they were changed.
func (h *Handlers) reloadSigning(ctx context.Context) error {
	h.signing.mu.Lock()
	defer h.signing.mu.Unlock()
	return h.readSigning(ctx)
}

// readSigning reads the number of the current key from the table and derives that key, and the public key of the
// one before, from the master secret, so the table holds no private key. The caller holds the lock.
func (h *Handlers) readSigning(ctx context.Context) error {
	// Changes during the reading may be missing from it, so the keys count as read at its
	// beginning.
	read := time.Now()
	n, err := h.Accounts.SigningKey(ctx)
	if err != nil {
		return err
	}
	k := &signingKeys{number: n, current: h.Secrets.SigningKey(n), read: read}
	if n > 1 {
		k.previous = h.Secrets.SigningKey(n - 1).Public().(ed25519.PublicKey) //nolint:errcheck,forcetypeassert // Public says so
	}
	h.signing.keys.Store(k)
	return nil
}

// signingKeys returns the live keys. If the known keys do not reach up to number, it reads them again, because
// another node may sign with a newer key already. Forgers make up numbers too, so it does not read them again
// within keyPause of the last reading.
func (h *Handlers) signingKeys(ctx context.Context, number int) (*signingKeys, error) {
	fresh := func() *signingKeys {
		if k := h.signing.keys.Load(); k != nil && (number <= k.number || time.Since(k.read) < keyPause) {
			return k
		}
		return nil
	}
	if k := fresh(); k != nil {
		return k, nil
	}
	// Many requests may need the new key at once. The first of them reads the table; the others wait for the
	// lock and then find what it has read.
	h.signing.mu.Lock()
	defer h.signing.mu.Unlock()
	if k := fresh(); k != nil {
		return k, nil
	}
	if err := h.readSigning(ctx); err != nil {
		return nil, err
	}
	return h.signing.keys.Load(), nil
}

// parseAccess checks what an access token itself says: signature, kind, issuer, environment and time. It does
// not check that the session still exists; its caller looks that up.
func (h *Handlers) parseAccess(ctx context.Context, token string) (*claims, error) {
	if len(token) > maxToken {
		return nil, engine.Refuse(engine.Unauthorized, nil)
	}
	var away error // set if the table cannot be read, which is not the caller's fault
	cl := new(claims)
	_, err := jwt.ParseWithClaims(token, cl, func(t *jwt.Token) (any, error) {
		// The kind is checked so that no other JWT under our keys can pass for an access token.
		if t.Header["typ"] != accessType {
			return nil, errors.New("not an access token")
		}
		kid, _ := t.Header["kid"].(string)
		n, err := strconv.Atoi(strings.TrimPrefix(kid, "k"))
		// A second spelling of the number, such as k01, is refused: each key has one name.
		if err != nil || kid != keyID(n) {
			return nil, errors.New("not a key of ours")
		}
		k, err := h.signingKeys(ctx, n)
		if err != nil {
			away = err
			return nil, err
		}
		if p := k.public(n); p != nil {
			return p, nil
		}
		return nil, errors.New("not a live key")
	}, jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithExpirationRequired(),
		jwt.WithIssuer(issuer), jwt.WithAudience(h.Env), jwt.WithLeeway(accessLeeway))
	if away != nil {
		return nil, away
	}
	if err != nil || cl.Session == "" || cl.Subject == "" {
		return nil, engine.Refuse(engine.Unauthorized, nil)
	}
	return cl, nil
}

// signAccess makes the access token of a user's session. It is valid for accessLife from now.
func (h *Handlers) signAccess(ctx context.Context, user int64, session string, now time.Time) (string, error) {
	// Number 0 asks for any keys: the signer needs no newer key than this node knows.
	k, err := h.signingKeys(ctx, 0)
	if err != nil {
		return "", err
	}
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims{
		Session: session,
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Audience: jwt.ClaimStrings{h.Env}, Subject: strconv.FormatInt(user, 10),
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(accessLife)),
		},
	})
	t.Header["typ"], t.Header["kid"] = accessType, keyID(k.number)
	access, err := t.SignedString(k.current)
	if err != nil {
		return "", fmt.Errorf("sign access token: %w", err)
	}
	return access, nil
}

// KeySet returns the public halves of the live keys (RFC 7517), for other services that check our
// access tokens themselves. It has one key before the first rotation and two after it.
func (h *Handlers) KeySet(ctx context.Context) (*api.KeySet, error) {
	k, err := h.signingKeys(ctx, 0)
	if err != nil {
		return nil, err
	}
	set := new(api.KeySet)
	for n := k.number; n > 0 && n > k.number-2; n-- {
		set.Keys = append(set.Keys, api.Key{
			Type: "OKP", Curve: "Ed25519", Use: "sig", Algorithm: jwt.SigningMethodEdDSA.Alg(), ID: keyID(n),
			X: base64.RawURLEncoding.EncodeToString(k.public(n)),
		})
	}
	return set, nil
}
