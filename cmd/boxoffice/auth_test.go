package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

func TestRegister(t *testing.T) {
	t.Parallel()
	s := open(t)
	body := object{"email": "ada@example.org", "password": "correct horse"}
	long := strings.Repeat("a", 60) + "@" + strings.Repeat(strings.Repeat("b", 60)+".", 3) + "example"
	require.Len(t, long, 251)
	for _, f := range []field{
		{"email", absent, "", "required"},
		{"email", nil, "", "required"},
		{"email", "", "", "format"},
		{"email", "ada", "", "format"},
		{"email", "ada@example", "", "format"},
		{"email", " ada@example.org", "", "format"},
		{"email", "a@b.org,c@d.org", "", "format"},
		{"email", 7, "", "type"},
		{"email", "aaaa" + long, "", "format"},
		{"email", strings.Repeat("a", 65) + "@example.org", "", "format"},
		{"password", absent, "", "required"},
		{"password", text(7), "", "min_length"},
		{"password", text(129), "", "max_length"},
		{"password", 12345678, "", "type"},
		{"password", "12345678\u0000", "", "format"},
		{"firstName", "", "", "min_length"},
		{"firstName", text(101), "", "max_length"},
		{"lastName", "", "", "min_length"},
		{"lastName", text(101), "", "max_length"},
		{"phone", text(21), "", "max_length"},
		{"organizationName", text(201), "", "max_length"},
		{"organizationName", "", "", "min_length"},
	} {
		s.call("POST", "/auth/register", with(body, object{f.name: f.value})).invalid(f.name, f.code)
	}
	secret := text(127) + "!"
	a := s.call("POST", "/auth/register", object{
		"email": "Ada@Example.ORG", "password": secret, "firstName": text(100), "lastName": text(100), "phone": text(20), "organizationName": text(200),
	}).is(201, "")
	keys := words("user accessToken refreshToken expiresIn")
	require.Equal(t, keys, a.keys(""))
	require.Equal(t, words("id email firstName lastName phone organizations createdAt"), a.keys("user"))
	require.Equal(t, words("id publicId name slug role"), a.keys("user.organizations.0"))
	require.Equal(t, "ada@example.org", a.str("user.email"))
	require.Equal(t, text(200), a.str("user.organizations.0.name"))
	require.Equal(t, "owner", a.str("user.organizations.0.role"))
	require.Equal(t, "900", a.str("expiresIn"))
	require.NotContains(t, encode(t, a.body), secret)
	for _, again := range []string{"ada@example.org", "ADA@EXAMPLE.ORG"} {
		s.call("POST", "/auth/register", with(body, object{"email": again})).refused(409, "EMAIL_TAKEN", nil)
	}
	for _, c := range []struct {
		changes object
		want    string
	}{
		{object{"email": "bob@example.org"}, "bob"}, {object{"email": "aaa" + long, "organizationName": "A"}, "A"}, {object{"email": "eve@example.org", "firstName": "Eve", "lastName": "Moss"}, "Eve Moss"}, {object{"email": "kim@example.org", "lastName": "Kim"}, "Kim"},
	} {
		a := s.call("POST", "/auth/register", with(object{"password": text(8)}, c.changes)).is(201, "")
		require.Equal(t, c.want, a.str("user.organizations.0.name"))
		require.Equal(t, c.changes["email"], s.call("POST", "/auth/login", with(object{"password": text(8)}, object{"email": c.changes["email"]})).is(200, "").str("user.email"))
	}

	t.Log("login")
	a = s.call("POST", "/auth/login", object{"email": "ADA@example.org", "password": secret}).is(200, "")
	require.Equal(t, keys, a.keys(""))
	s.call("GET", "/organizer/events", nil, "Authorization", "Bearer "+a.str("accessToken")).is(200, "")
	s.call("GET", "/organizer/events", nil, "Authorization", "bearer "+a.str("accessToken")).is(200, "")
	wrong := s.call("POST", "/auth/login", object{"email": "ada@example.org", "password": "wrong"}).is(401, "UNAUTHORIZED")
	unknown := s.call("POST", "/auth/login", object{"email": "nobody@example.org", "password": "wrong"}).is(401, "UNAUTHORIZED")
	require.Equal(t, wrong.get("error"), unknown.get("error"), "who has an account is not told")
	s.call("POST", "/auth/login", object{"email": "ada@example.org"}).invalid("password", "required")
	s.call("POST", "/auth/login", object{"email": "ada@example.org", "password": ""}).invalid("password", "min_length")
	s.call("POST", "/auth/login", object{"email": "ada@example.org", "password": text(129)}).invalid("password", "max_length")
	s.call("POST", "/auth/login", object{"email": "x", "password": "y"}).invalid("email", "format")

	t.Log("one address, several at once")
	var wg sync.WaitGroup
	statuses := make([]int, 3)
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = s.call("POST", "/auth/register", with(body, object{"email": "race@example.org"})).status
		})
	}
	wg.Wait()
	require.ElementsMatch(t, []int{201, 409, 409}, statuses)
}

// claimsOf reads an access token without checking it.
func claimsOf(t testing.TB, token string) jwt.MapClaims {
	t.Helper()
	c := jwt.MapClaims{}
	_, _, err := jwt.NewParser().ParseUnverified(token, c)
	require.NoError(t, err)
	return c
}

// TestTokens sends every sort of access token that is none of ours, or no longer.
func TestTokens(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.onSale(typeBody(0, 10))
	slug := s.own("GET", "/organizer/events", nil).str("items.0.slug")
	key := s.secrets.SigningKey(1)
	_, stranger, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	require.NoError(t, err)
	now := time.Now()
	own, other := claimsOf(t, s.token), claimsOf(t, s.register("other@example.org").token)
	claims := func(changes object) jwt.MapClaims {
		return jwt.MapClaims(with(object{"iss": "boxoffice", "aud": "test", "sub": own["sub"], "sid": own["sid"], "exp": now.Add(time.Minute).Unix()}, changes))
	}
	signWith := func(header object, method jwt.SigningMethod, key any, c jwt.MapClaims) string {
		token := jwt.NewWithClaims(method, c)
		token.Header = with(object{"alg": method.Alg(), "typ": "at+jwt", "kid": "k1"}, header)
		text, err := token.SignedString(key)
		require.NoError(t, err)
		return text
	}
	sign := func(method jwt.SigningMethod, key any, c jwt.MapClaims) string { return signWith(nil, method, key, c) }
	ours := func(changes object) string { return sign(jwt.SigningMethodEdDSA, key, claims(changes)) }
	headed := func(header object) string { return signWith(header, jwt.SigningMethodEdDSA, key, claims(nil)) }
	parts := strings.Split(ours(nil), ".")
	login := s.call("POST", "/auth/login", object{"email": "owner@example.org", "password": "correct horse"}).is(200, "")
	bad := map[string]string{
		"none": sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(nil)), "HS256 by the public key": sign(jwt.SigningMethodHS256, []byte(key.Public().(ed25519.PublicKey)), claims(nil)),
		"HS256 by its DER": sign(jwt.SigningMethodHS256, public, claims(nil)), "another's key": sign(jwt.SigningMethodEdDSA, stranger, claims(nil)),
		"our next key":            sign(jwt.SigningMethodEdDSA, s.secrets.SigningKey(2), claims(nil)),
		"our next key by its kid": signWith(object{"kid": "k2"}, jwt.SigningMethodEdDSA, s.secrets.SigningKey(2), claims(nil)),
		"expired":                 ours(object{"exp": now.Add(-31 * time.Second).Unix()}), "no end": ours(object{"exp": absent}), "other environment": ours(object{"aud": "live"}), "no audience": ours(object{"aud": absent}),
		"other issuer": ours(object{"iss": "evil"}), "no session": ours(object{"sid": absent}), "no subject": ours(object{"sub": absent}), "subject": ours(object{"sub": "' OR 1=1"}), "not yet": ours(object{"nbf": now.Add(time.Hour).Unix()}),
		"session of none": ours(object{"sid": "x"}), "another's session": ours(object{"sid": other["sid"]}), "session of another": ours(object{"sub": other["sub"]}),
		"no signature": parts[0] + "." + parts[1] + ".", "cut": parts[0] + "." + parts[1] + "." + parts[2][:80], "moved": parts[0] + "." + strings.Split(ours(object{"sub": "2"}), ".")[1] + "." + parts[2],
		"typ of any JWT": headed(object{"typ": "JWT"}), "no typ": headed(object{"typ": absent}), "no kid": headed(object{"kid": absent}), "kid": headed(object{"kid": "k01"}), "kid of none": headed(object{"kid": "k0"}),
		"kid as number": headed(object{"kid": 1}), "kid as path": headed(object{"kid": "../k1"}), "huge kid": headed(object{"kid": "k99999999999999999999"}),
		"a key of its own": signWith(object{"jwk": object{"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(stranger.Public().(ed25519.PublicKey))}}, jwt.SigningMethodEdDSA, stranger, claims(nil)),
		"garbage":          "x", "dots": "..", "long": strings.Repeat("a", 5000), "order token": s.secrets.OrderToken([16]byte{}), "refresh token": login.str("refreshToken"),
	}
	headers := map[string]string{"no scheme": ours(nil), "basic": "Basic YTpi", "no token": "Bearer", "empty": "Bearer  ", "two": "Bearer " + ours(nil) + " x"}
	for name, token := range bad {
		headers[name] = "Bearer " + token
	}
	for name, h := range headers {
		for _, r := range []reply{
			s.raw("GET", "/organizer/events", "", "", "Authorization", h),
			s.raw("POST", "/checkin/scan", "application/json", `{}`, "Authorization", h),
			s.raw("GET", "/events/"+slug, "", "", "Authorization", h), // also where none is needed
			s.raw("POST", "/orders", "application/json", encode(t, orderBody("a@example.org", ids[0], 1)), "Authorization", h),
		} {
			require.Equal(t, 401, r.status, "%s: %s", name, r.body)
			require.Contains(t, r.body, `"UNAUTHORIZED"`)
			require.Equal(t, "Bearer", r.header.Get("WWW-Authenticate"))
		}
	}
	for name, token := range map[string]string{"plain": ours(nil), "leeway": ours(object{"exp": now.Add(-10 * time.Second).Unix()})} {
		require.Equal(t, 200, s.raw("GET", "/organizer/events", "", "", "Authorization", "Bearer "+token).status, name)
	}
}

// Keys rotate while the node runs: its tokens are signed with the new key, those
// of the one before stay good, and of older ones do not.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.own("GET", "/organizer/events", nil).is(200, "")
	root := strings.TrimSuffix(s.url, "/api/v1")
	keys := func() map[string]ed25519.PublicKey {
		at := *s
		at.url = root
		r := at.raw("GET", "/.well-known/jwks.json", "", "")
		require.Equal(t, 200, r.status)
		require.Equal(t, "application/json", r.header.Get("Content-Type"))
		var set struct {
			Keys []struct{ Kty, Crv, Use, Alg, Kid, X string }
		}
		require.NoError(t, json.Unmarshal([]byte(r.body), &set))
		out := map[string]ed25519.PublicKey{}
		for _, k := range set.Keys {
			require.Equal(t, []string{"OKP", "Ed25519", "sig", "EdDSA"}, []string{k.Kty, k.Crv, k.Use, k.Alg})
			x, err := base64.RawURLEncoding.DecodeString(k.X)
			require.NoError(t, err)
			out[k.Kid] = x
		}
		return out
	}
	login := func() string {
		return s.call("POST", "/auth/login", object{"email": "owner@example.org", "password": "correct horse"}).is(200, "").str("accessToken")
	}
	status := func(token string) int {
		return s.call("GET", "/organizer/events", nil, "Authorization", "Bearer "+token).status
	}
	// signer finds the key of the set that a token verifies with.
	signer := func(token string) string {
		parsed, err := jwt.Parse(token, func(t *jwt.Token) (any, error) { return keys()[t.Header["kid"].(string)], nil }, jwt.WithValidMethods([]string{"EdDSA"}))
		require.NoError(t, err)
		require.Equal(t, "at+jwt", parsed.Header["typ"])
		return parsed.Header["kid"].(string)
	}
	first := login()
	require.Equal(t, "k1", signer(first))
	require.Len(t, keys(), 1)

	n, err := s.areas.Identity.Accounts.RotateSigningKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
	var second string
	s.becomes("k2", func() string {
		second = login()
		return signer(second)
	})
	require.Len(t, keys(), 2)
	require.Equal(t, 200, status(first))
	require.Equal(t, 200, status(second))

	t.Log("a token of a key that another node knew of first is good at once")
	_, err = s.areas.Identity.Accounts.RotateSigningKey(t.Context())
	require.NoError(t, err)
	newest := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claimsOf(t, second))
	newest.Header["typ"], newest.Header["kid"] = "at+jwt", "k3"
	third, err := newest.SignedString(s.secrets.SigningKey(3))
	require.NoError(t, err)
	s.becomes("200", func() string { return fmt.Sprint(status(third)) })
	s.becomes("401", func() string { return fmt.Sprint(status(first)) })
	require.Equal(t, 200, status(second))
	require.Contains(t, keys(), "k3")
	require.NotContains(t, keys(), "k1")
}

// However many log in at once, hashing has its share of the machine and no more:
// who is beyond it is told so at once.
func TestLoginFlood(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.own("GET", "/organizer/events", nil).is(200, "")
	const clients = 60
	replies := make([]reply, clients)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			replies[i] = s.raw("POST", "/auth/login", "application/json", encode(t, object{"email": "owner@example.org", "password": "correct horse"}))
		})
	}
	wg.Wait()
	count := map[int]int{}
	for _, r := range replies {
		count[r.status]++
		if r.status == 503 {
			require.Regexp(t, `"(OVERLOADED|UNAVAILABLE)"`, r.body) // the latter when a hash takes too long
			require.NotEmpty(t, r.header.Get("Retry-After"))
		}
	}
	require.Equal(t, clients, count[200]+count[503], "%v", count)
	require.NotZero(t, count[200])
	require.NotZero(t, count[503])
}

// The configured administrator is there from the start, and has taken the
// account of whoever had the address before.
func TestPlatformAdmin(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *config) { c.AdminEmail, c.AdminPassword = "Root@Example.org", "correct horse battery" })
	login := func(email, password string) answer {
		return s.call("POST", "/auth/login", object{"email": email, "password": password})
	}
	login("root@example.org", "correct horse battery").is(200, "")
	squatter := s.register("next@example.org")
	squatter.own("GET", "/organizer/events", nil).is(200, "")
	require.NoError(t, s.areas.Identity.EnsureAdmin(t.Context(), "next@example.org", "configured since"))
	login("next@example.org", "correct horse").is(401, "UNAUTHORIZED")
	login("next@example.org", "configured since").is(200, "")
	s.becomes("401", func() string { return fmt.Sprint(squatter.own("GET", "/organizer/events", nil).status) })
	var admins int
	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM users WHERE platform_admin`).Scan(&admins))
	require.Equal(t, 2, admins)
}

// TestEnvelopes checks what is no operation at all.
func TestEnvelopes(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, c := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "/nothing", 404, "NOT_FOUND"},
		{"GET", "/orders/", 404, "NOT_FOUND"},
		{"GET", "//events", 404, "NOT_FOUND"},
		{"GET", "/events/", 404, "NOT_FOUND"},
		{"GET", "/EVENTS", 404, "NOT_FOUND"},
		{"GET", "/events/a%2Fb", 404, "NOT_FOUND"},
		{"GET", "/events/..%2F..%2Fx", 404, "NOT_FOUND"},
		{"GET", "/events/%00", 404, "NOT_FOUND"},
		{"GET", "/events/" + strings.Repeat("a", 129), 404, "NOT_FOUND"},
		{"GET", "/events/nothing", 404, "EVENT_NOT_FOUND"},
		{"DELETE", "/events", 405, "METHOD_NOT_ALLOWED"},
		{"PATCH", "/orders", 405, "METHOD_NOT_ALLOWED"},
		{"GET", "/orders", 405, "METHOD_NOT_ALLOWED"},
		{"PUT", "/auth/login", 405, "METHOD_NOT_ALLOWED"},
		{"TRACE", "/events", 405, "METHOD_NOT_ALLOWED"},
	} {
		r := s.raw(c.method, c.path, "", "")
		require.Equal(t, c.status, r.status, "%s %s: %s", c.method, c.path, r.body)
		require.Contains(t, r.body, fmt.Sprintf(`"code":%q`, c.code))
		require.Contains(t, r.body, `"details":null`)
		require.NotEmpty(t, r.header.Get("X-Request-Id"))
		require.Contains(t, r.body, r.header.Get("X-Request-Id"))
		require.Equal(t, "application/json", r.header.Get("Content-Type"))
		if c.status == 405 {
			require.NotEmpty(t, r.header.Get("Allow"), "%s %s", c.method, c.path)
		}
	}
}
