package security

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"maps"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// Credentials of the security suite that prove nothing.

// worthless are Authorization headers that prove nothing, by what is wrong with
// them: to every operation that asks who is there they are 401.
func (w *world) worthless() map[string]string {
	w.T.Helper()
	all := w.deadKeys()
	for name, token := range w.forged() {
		all["token: "+name] = bearer(token)
	}
	for name, token := range w.spent() {
		all[name] = bearer(token)
	}
	for name, token := range w.misplaced() {
		all[name+" as access token"] = bearer(token)
	}
	all["garbage"] = bearer("x")
	all["no token"] = "Bearer"
	all["empty token"] = bearer(" ")
	all["basic"] = "Basic b3duZXJAZXhhbXBsZS5vcmc6Y29ycmVjdCBob3JzZQ=="
	all["no scheme"] = w.Token
	all["other scheme"] = "Token " + w.Token
	all["two schemes"] = bearer(bearer(w.Token))
	all["two tokens"] = bearer(w.Token + " " + w.Token)
	all["two tokens, comma"] = bearer(w.Token + ", " + bearer(w.secret))
	all["long"] = bearer(strings.Repeat("a", 5_000))
	all["dots"] = bearer("..")
	all["NUL"] = bearer("null")
	return all
}

// spent are access tokens of sessions that have ended.
func (w *world) spent() map[string]string {
	w.T.Helper()
	out := w.person(w.email())
	w.Call("POST", "/auth/logout", nodetest.Object{"refreshToken": out.Str("refreshToken")}).Is(200, "")
	everywhere := w.guest()
	everywhere.Own("POST", "/auth/logout-all", nil).Is(200, "")
	email := w.email()
	reset := w.person(email)
	w.Call("POST", "/auth/password/reset", nodetest.Object{"token": w.resetToken(email), "password": "another horse"}).Is(200, "")
	return map[string]string{
		"token after logout": out.Str("accessToken"), "token after logout-all": everywhere.Token, "token after a password reset": reset.Str("accessToken"),
	}
}

// misplaced are secrets that are good for something else.
func (w *world) misplaced() map[string]string {
	w.T.Helper()
	email := w.email()
	p, device := w.enrolled(email)
	p.Own("POST", "/auth/2fa/activate", nodetest.Object{"code": device.Code(time.Now(), 0)}).Is(200, "")
	return map[string]string{
		"challenge":      w.person(email).Str("challengeToken"),
		"refresh token":  w.person(w.email()).Str("refreshToken"),
		"reset token":    w.resetToken(email),
		"login code":     w.loginKey(w.email()),
		"order token":    w.orderToken,
		"master's token": w.Secrets().OrderToken([16]byte{}),
	}
}

// forged are access tokens that are none of ours, or not for this.
func (w *world) forged() map[string]string {
	w.T.Helper()
	claims := nodetest.Object(nodetest.ClaimsOf(w.T, w.Token))
	second := w.Secrets().SigningKey(2)
	ours := func(headers, changes nodetest.Object) string {
		return w.forgeOurs(headers, nodetest.With(claims, changes))
	}
	require.Equal(w.T, 200, w.Works(ours(nil, nil)), "but for what is wrong with them, these are good")
	now := time.Now()
	parts := strings.Split(w.Token, ".")
	flipped := []byte(parts[2])
	flipped[10] ^= 1
	all := map[string]string{
		"expired": ours(nil, nodetest.Object{"exp": now.Add(-31 * time.Second).Unix()}), "expired long ago": ours(nil, nodetest.Object{"exp": 1}), "no end": ours(nil, nodetest.Object{"exp": nodetest.Absent}),
		"end in words": ours(nil, nodetest.Object{"exp": "never"}), "end null": ours(nil, nodetest.Object{"exp": nil}), "not yet": ours(nil, nodetest.Object{"nbf": now.Add(time.Hour).Unix()}),
		"other issuer": ours(nil, nodetest.Object{"iss": "evil"}), "no issuer": ours(nil, nodetest.Object{"iss": nodetest.Absent}),
		"other environment": ours(nil, nodetest.Object{"aud": "live"}), "other environments": ours(nil, nodetest.Object{"aud": []string{"live", "prod"}}), "no audience": ours(nil, nodetest.Object{"aud": nodetest.Absent}),
		"no subject": ours(nil, nodetest.Object{"sub": nodetest.Absent}), "another's subject": ours(nil, nodetest.Object{"sub": nodetest.ClaimsOf(w.T, w.stranger.Token)["sub"]}),
		"subject in words": ours(nil, nodetest.Object{"sub": "1 OR 1=1"}), "subject 0": ours(nil, nodetest.Object{"sub": "0"}),
		"no session": ours(nil, nodetest.Object{"sid": nodetest.Absent}), "no such session": ours(nil, nodetest.Object{"sid": uuid.NewString()}), "another's session": ours(nil, nodetest.Object{"sid": nodetest.ClaimsOf(w.T, w.stranger.Token)["sid"]}),
		"session in words": ours(nil, nodetest.Object{"sid": "x"}),
		"typ JWT":          ours(nodetest.Object{"typ": "JWT"}, nil), "no typ": ours(nodetest.Object{"typ": nodetest.Absent}, nil), "typ in another case": ours(nodetest.Object{"typ": "AT+JWT"}, nil),
		"no kid": ours(nodetest.Object{"kid": nodetest.Absent}, nil), "other kid": ours(nodetest.Object{"kid": "k2"}, nil), "kid 0": ours(nodetest.Object{"kid": "k0"}, nil), "kid spelled otherwise": ours(nodetest.Object{"kid": "k01"}, nil),
		"kid of a path": ours(nodetest.Object{"kid": "../../dev/null"}, nil), "kid of a statement": ours(nodetest.Object{"kid": "k1' OR '1'='1"}, nil), "kid of a number": ours(nodetest.Object{"kid": 1}, nil),
		"key that is not live": w.forge(nodetest.With(ourHeader, nodetest.Object{"kid": "k2"}), claims, func(b []byte) []byte { return ed25519.Sign(second, b) }),
		"signed by another":    w.forge(ourHeader, claims, func(b []byte) []byte { return ed25519.Sign(second, b) }),
		"no signature":         parts[0] + "." + parts[1] + ".", "two parts": parts[0] + "." + parts[1], "four parts": w.Token + ".x",
		"signature cut": w.Token[:len(w.Token)-10], "signature flipped": parts[0] + "." + parts[1] + "." + string(flipped), "signature of another token": parts[0] + "." + parts[1] + "." + strings.Split(w.stranger.Token, ".")[2],
		"tampered": parts[0] + "." + part(nodetest.Encode(w.T, nodetest.With(claims, nodetest.Object{"sub": "1", "admin": true}))) + "." + parts[2],
	}
	maps.Copy(all, w.confused(claims))
	return all
}

// confused are tokens that name another algorithm than ours.
func (w *world) confused(claims nodetest.Object) map[string]string {
	w.T.Helper()
	public := w.Secrets().SigningKey(1).Public().(ed25519.PublicKey)
	der, err := x509.MarshalPKIXPublicKey(public)
	require.NoError(w.T, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	all := map[string]string{}
	sign := func(name string, header nodetest.Object, sign func([]byte) []byte) {
		all[name] = w.forge(nodetest.With(nodetest.Object{"typ": "at+jwt", "kid": "k1"}, header), claims, sign)
	}
	for name, key := range map[string][]byte{"the public key": public, "its DER": der, "its PEM": text, "nothing": {}} {
		sign("HS256 by "+name, nodetest.Object{"alg": "HS256"}, func(b []byte) []byte {
			mac := hmac.New(sha256.New, key)
			mac.Write(b)
			return mac.Sum(nil)
		})
	}
	for _, alg := range []any{"none", "None", "nOnE", "NONE", "", nil, nodetest.Absent} {
		name := "alg " + strings.TrimSpace(nodetest.Encode(w.T, nodetest.Object{"is": alg}))
		if alg == nodetest.Absent {
			name = "no alg"
		}
		sign(name, nodetest.Object{"alg": alg}, func([]byte) []byte { return nil })
		sign(name+", signed", nodetest.Object{"alg": alg}, func(b []byte) []byte { return ed25519.Sign(w.Secrets().SigningKey(1), b) })
	}
	sum := func(b []byte) []byte { h := sha256.Sum256(b); return h[:] }
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(w.T, err)
	sign("RS256", nodetest.Object{"alg": "RS256"}, func(b []byte) []byte {
		s, err := rsaKey.Sign(rand.Reader, sum(b), crypto.SHA256)
		require.NoError(w.T, err)
		return s
	})
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(w.T, err)
	sign("ES256", nodetest.Object{"alg": "ES256"}, func(b []byte) []byte {
		r, s, err := ecdsa.Sign(rand.Reader, ecKey, sum(b))
		require.NoError(w.T, err)
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	})
	theirs, stranger, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(w.T, err)
	jwk := nodetest.Object{"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(theirs)}
	sign("its own key in the header", nodetest.Object{"alg": "EdDSA", "jwk": jwk}, func(b []byte) []byte { return ed25519.Sign(stranger, b) })
	sign("its own key by address", nodetest.Object{"alg": "EdDSA", "jku": w.URL + "/jwks.json"}, func(b []byte) []byte { return ed25519.Sign(stranger, b) })
	return all
}

// ourHeader is the header of the service's access tokens.
var ourHeader = nodetest.Object{"alg": "EdDSA", "typ": "at+jwt", "kid": "k1"}

// forgeOurs makes an access token that is signed as the service signs its own, with a header that is changed.
func (w *world) forgeOurs(changes, claims nodetest.Object) string {
	w.T.Helper()
	key := w.Secrets().SigningKey(1)
	return w.forge(nodetest.With(ourHeader, changes), claims, func(b []byte) []byte { return ed25519.Sign(key, b) })
}

// forge makes a JWT by hand: no library of ours has a say in it.
func (w *world) forge(header, claims nodetest.Object, sign func(signed []byte) []byte) string {
	signed := part(nodetest.Encode(w.T, header)) + "." + part(nodetest.Encode(w.T, claims))
	return signed + "." + base64.RawURLEncoding.EncodeToString(sign([]byte(signed)))
}

func part(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
