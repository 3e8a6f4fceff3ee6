package main

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
)

// Credentials of the security suite that prove nothing.

// worthless are Authorization headers that prove nothing, by what is wrong with
// them: to every operation that asks who is there they are 401.
func (w *world) worthless() map[string]string {
	w.t.Helper()
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
	all["no scheme"] = w.token
	all["other scheme"] = "Token " + w.token
	all["two schemes"] = bearer(bearer(w.token))
	all["two tokens"] = bearer(w.token + " " + w.token)
	all["two tokens, comma"] = bearer(w.token + ", " + bearer(w.secret))
	all["long"] = bearer(strings.Repeat("a", 5_000))
	all["dots"] = bearer("..")
	all["NUL"] = bearer("null")
	return all
}

// spent are access tokens of sessions that have ended.
func (w *world) spent() map[string]string {
	w.t.Helper()
	out := w.person(w.email())
	w.call("POST", "/auth/logout", object{"refreshToken": out.str("refreshToken")}).is(200, "")
	everywhere := w.guest()
	everywhere.own("POST", "/auth/logout-all", nil).is(200, "")
	email := w.email()
	reset := w.person(email)
	w.call("POST", "/auth/password/reset", object{"token": w.resetToken(email), "password": "another horse"}).is(200, "")
	return map[string]string{
		"token after logout": out.str("accessToken"), "token after logout-all": everywhere.token, "token after a password reset": reset.str("accessToken"),
	}
}

// misplaced are secrets that are good for something else.
func (w *world) misplaced() map[string]string {
	w.t.Helper()
	email := w.email()
	p, device := w.enrolled(email)
	p.own("POST", "/auth/2fa/activate", object{"code": device.code(time.Now(), 0)}).is(200, "")
	return map[string]string{
		"challenge":      w.person(email).str("challengeToken"),
		"refresh token":  w.person(w.email()).str("refreshToken"),
		"reset token":    w.resetToken(email),
		"login code":     w.loginKey(w.email()),
		"order token":    w.orderToken,
		"master's token": w.secrets.OrderToken([16]byte{}),
	}
}

// forged are access tokens that are none of ours, or not for this.
func (w *world) forged() map[string]string {
	w.t.Helper()
	claims := object(claimsOf(w.t, w.token))
	header := object{"alg": "EdDSA", "typ": "at+jwt", "kid": "k1"}
	first, second := w.secrets.SigningKey(1), w.secrets.SigningKey(2)
	ours := func(headers, changes object) string {
		return w.forge(with(header, headers), with(claims, changes), func(b []byte) []byte { return ed25519.Sign(first, b) })
	}
	require.Equal(w.t, 200, w.works(ours(nil, nil)), "but for what is wrong with them, these are good")
	now := time.Now()
	parts := strings.Split(w.token, ".")
	flipped := []byte(parts[2])
	flipped[10] ^= 1
	all := map[string]string{
		"expired": ours(nil, object{"exp": now.Add(-31 * time.Second).Unix()}), "expired long ago": ours(nil, object{"exp": 1}), "no end": ours(nil, object{"exp": absent}),
		"end in words": ours(nil, object{"exp": "never"}), "end null": ours(nil, object{"exp": nil}), "not yet": ours(nil, object{"nbf": now.Add(time.Hour).Unix()}),
		"other issuer": ours(nil, object{"iss": "evil"}), "no issuer": ours(nil, object{"iss": absent}),
		"other environment": ours(nil, object{"aud": "live"}), "other environments": ours(nil, object{"aud": []string{"live", "prod"}}), "no audience": ours(nil, object{"aud": absent}),
		"no subject": ours(nil, object{"sub": absent}), "another's subject": ours(nil, object{"sub": claimsOf(w.t, w.stranger.token)["sub"]}),
		"subject in words": ours(nil, object{"sub": "1 OR 1=1"}), "subject 0": ours(nil, object{"sub": "0"}),
		"no session": ours(nil, object{"sid": absent}), "no such session": ours(nil, object{"sid": uuid.NewString()}), "another's session": ours(nil, object{"sid": claimsOf(w.t, w.stranger.token)["sid"]}),
		"session in words": ours(nil, object{"sid": "x"}),
		"typ JWT":          ours(object{"typ": "JWT"}, nil), "no typ": ours(object{"typ": absent}, nil), "typ in another case": ours(object{"typ": "AT+JWT"}, nil),
		"no kid": ours(object{"kid": absent}, nil), "other kid": ours(object{"kid": "k2"}, nil), "kid 0": ours(object{"kid": "k0"}, nil), "kid spelled otherwise": ours(object{"kid": "k01"}, nil),
		"kid of a path": ours(object{"kid": "../../dev/null"}, nil), "kid of a statement": ours(object{"kid": "k1' OR '1'='1"}, nil), "kid of a number": ours(object{"kid": 1}, nil),
		"key that is not live": w.forge(with(header, object{"kid": "k2"}), claims, func(b []byte) []byte { return ed25519.Sign(second, b) }),
		"signed by another":    w.forge(header, claims, func(b []byte) []byte { return ed25519.Sign(second, b) }),
		"no signature":         parts[0] + "." + parts[1] + ".", "two parts": parts[0] + "." + parts[1], "four parts": w.token + ".x",
		"signature cut": w.token[:len(w.token)-10], "signature flipped": parts[0] + "." + parts[1] + "." + string(flipped), "signature of another token": parts[0] + "." + parts[1] + "." + strings.Split(w.stranger.token, ".")[2],
		"tampered": parts[0] + "." + part(encode(w.t, with(claims, object{"sub": "1", "admin": true}))) + "." + parts[2],
	}
	maps.Copy(all, w.confused(claims))
	return all
}

// confused are tokens that name another algorithm than ours.
func (w *world) confused(claims object) map[string]string {
	w.t.Helper()
	public := w.secrets.SigningKey(1).Public().(ed25519.PublicKey)
	der, err := x509.MarshalPKIXPublicKey(public)
	require.NoError(w.t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	all := map[string]string{}
	sign := func(name string, header object, sign func([]byte) []byte) {
		all[name] = w.forge(with(object{"typ": "at+jwt", "kid": "k1"}, header), claims, sign)
	}
	for name, key := range map[string][]byte{"the public key": public, "its DER": der, "its PEM": text, "nothing": {}} {
		sign("HS256 by "+name, object{"alg": "HS256"}, func(b []byte) []byte {
			mac := hmac.New(sha256.New, key)
			mac.Write(b)
			return mac.Sum(nil)
		})
	}
	for _, alg := range []any{"none", "None", "nOnE", "NONE", "", nil, absent} {
		name := "alg " + strings.TrimSpace(encode(w.t, object{"is": alg}))
		if alg == absent {
			name = "no alg"
		}
		sign(name, object{"alg": alg}, func([]byte) []byte { return nil })
		sign(name+", signed", object{"alg": alg}, func(b []byte) []byte { return ed25519.Sign(w.secrets.SigningKey(1), b) })
	}
	sum := func(b []byte) []byte { h := sha256.Sum256(b); return h[:] }
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(w.t, err)
	sign("RS256", object{"alg": "RS256"}, func(b []byte) []byte {
		s, err := rsaKey.Sign(rand.Reader, sum(b), crypto.SHA256)
		require.NoError(w.t, err)
		return s
	})
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(w.t, err)
	sign("ES256", object{"alg": "ES256"}, func(b []byte) []byte {
		r, s, err := ecdsa.Sign(rand.Reader, ecKey, sum(b))
		require.NoError(w.t, err)
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	})
	theirs, stranger, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(w.t, err)
	jwk := object{"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(theirs)}
	sign("its own key in the header", object{"alg": "EdDSA", "jwk": jwk}, func(b []byte) []byte { return ed25519.Sign(stranger, b) })
	sign("its own key by address", object{"alg": "EdDSA", "jku": w.url + "/jwks.json"}, func(b []byte) []byte { return ed25519.Sign(stranger, b) })
	return all
}

// forge makes a JWT by hand: no library of ours has a say in it.
func (w *world) forge(header, claims object, sign func(signed []byte) []byte) string {
	signed := part(encode(w.t, header)) + "." + part(encode(w.t, claims))
	return signed + "." + base64.RawURLEncoding.EncodeToString(sign([]byte(signed)))
}

func part(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
