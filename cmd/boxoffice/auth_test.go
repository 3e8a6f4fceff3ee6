package main

import (
	"crypto/ed25519"
	"crypto/x509"
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

// TestTokens sends every sort of access token that is none of ours, or no longer.
func TestTokens(t *testing.T) {
	t.Parallel()
	s := open(t)
	event, ids := s.onSale(typeBody(0, 10))
	slug := s.own("GET", "/organizer/events", nil).str("items.0.slug")
	key := s.desk.Secrets.SigningKey(1)
	_, stranger, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	require.NoError(t, err)
	now := time.Now()
	claims := func(changes object) jwt.MapClaims {
		return jwt.MapClaims(with(object{"iss": "boxoffice", "aud": "test", "sub": "1", "sid": "x", "exp": now.Add(time.Minute).Unix()}, changes))
	}
	sign := func(method jwt.SigningMethod, key any, c jwt.MapClaims) string {
		token, err := jwt.NewWithClaims(method, c).SignedString(key)
		require.NoError(t, err)
		return token
	}
	ours := func(changes object) string { return sign(jwt.SigningMethodEdDSA, key, claims(changes)) }
	parts := strings.Split(ours(nil), ".")
	bad := map[string]string{
		"none": sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(nil)), "HS256 by the public key": sign(jwt.SigningMethodHS256, []byte(key.Public().(ed25519.PublicKey)), claims(nil)),
		"HS256 by its DER": sign(jwt.SigningMethodHS256, public, claims(nil)), "another's key": sign(jwt.SigningMethodEdDSA, stranger, claims(nil)),
		"our next key": sign(jwt.SigningMethodEdDSA, s.desk.Secrets.SigningKey(2), claims(nil)),
		"expired":      ours(object{"exp": now.Add(-31 * time.Second).Unix()}), "no end": ours(object{"exp": absent}), "other environment": ours(object{"aud": "live"}), "no audience": ours(object{"aud": absent}),
		"other issuer": ours(object{"iss": "evil"}), "no session": ours(object{"sid": absent}), "no subject": ours(object{"sub": absent}), "subject": ours(object{"sub": "' OR 1=1"}), "not yet": ours(object{"nbf": now.Add(time.Hour).Unix()}),
		"no signature": parts[0] + "." + parts[1] + ".", "cut": parts[0] + "." + parts[1] + "." + parts[2][:80], "moved": parts[0] + "." + strings.Split(ours(object{"sub": "2"}), ".")[1] + "." + parts[2],
		"garbage": "x", "dots": "..", "long": strings.Repeat("a", 5000), "order token": s.desk.Secrets.OrderToken([16]byte{}),
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
	t.Log("a stranger with a token of no organization owns nothing")
	nobody := *s
	nobody.token = ours(object{"sub": "999"})
	nobody.own("PUT", "/organizer/events/"+event, object{}).is(404, "EVENT_NOT_FOUND")
	require.GreaterOrEqual(t, nobody.own("POST", "/organizer/events", eventBody()).status, 400)
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
