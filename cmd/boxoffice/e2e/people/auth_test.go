package people

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

func TestRegister(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	body := nodetest.Object{"email": "ada@example.org", "password": "correct horse"}
	long := strings.Repeat("a", 60) + "@" + strings.Repeat(strings.Repeat("b", 60)+".", 3) + "example"
	require.Len(t, long, 251)
	for _, f := range []field{
		{"email", nodetest.Absent, "", "required"},
		{"email", nil, "", "required"},
		{"email", "", "", "format"},
		{"email", "ada", "", "format"},
		{"email", "ada@example", "", "format"},
		{"email", " ada@example.org", "", "format"},
		{"email", "a@b.org,c@d.org", "", "format"},
		{"email", 7, "", "type"},
		{"email", "aaaa" + long, "", "format"},
		{"email", strings.Repeat("a", 65) + "@example.org", "", "format"},
		{"password", nodetest.Absent, "", "required"},
		{"password", nodetest.Text(7), "", "min_length"},
		{"password", nodetest.Text(129), "", "max_length"},
		{"password", 12345678, "", "type"},
		{"password", "12345678\u0000", "", "format"},
		{"firstName", "", "", "min_length"},
		{"firstName", nodetest.Text(101), "", "max_length"},
		{"lastName", "", "", "min_length"},
		{"lastName", nodetest.Text(101), "", "max_length"},
		{"phone", nodetest.Text(21), "", "max_length"},
		{"organizationName", nodetest.Text(201), "", "max_length"},
		{"organizationName", "", "", "min_length"},
	} {
		s.Call("POST", "/auth/register", nodetest.With(body, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	secret := nodetest.Text(127) + "!"
	a := s.Call("POST", "/auth/register", nodetest.Object{
		"email": "Ada@Example.ORG", "password": secret, "firstName": nodetest.Text(100), "lastName": nodetest.Text(100), "phone": nodetest.Text(20), "organizationName": nodetest.Text(200),
	}).Is(201, "")
	keys := nodetest.Words("user accessToken refreshToken expiresIn")
	require.Equal(t, keys, a.Keys(""))
	require.Equal(t, nodetest.Words("id email firstName lastName fullName phone locale twoFactorEnabled organizations createdAt"), a.Keys("user"))
	require.Equal(t, nodetest.Words("id publicId name slug role"), a.Keys("user.organizations.0"))
	require.Equal(t, "ada@example.org", a.Str("user.email"))
	require.Equal(t, nodetest.Text(200), a.Str("user.organizations.0.name"))
	require.Equal(t, "owner", a.Str("user.organizations.0.role"))
	require.Equal(t, "900", a.Str("expiresIn"))
	require.NotContains(t, nodetest.Encode(t, a.Body), secret)
	for _, again := range []string{"ada@example.org", "ADA@EXAMPLE.ORG"} {
		s.Call("POST", "/auth/register", nodetest.With(body, nodetest.Object{"email": again})).Refused(409, "EMAIL_TAKEN", nil)
	}
	for _, c := range []struct {
		changes nodetest.Object
		want    string
	}{
		{nodetest.Object{"email": "bob@example.org"}, "bob"}, {nodetest.Object{"email": "aaa" + long, "organizationName": "A"}, "A"}, {nodetest.Object{"email": "eve@example.org", "firstName": "Eve", "lastName": "Moss"}, "Eve Moss"}, {nodetest.Object{"email": "kim@example.org", "lastName": "Kim"}, "Kim"},
	} {
		a := s.Call("POST", "/auth/register", nodetest.With(nodetest.Object{"password": nodetest.Text(8)}, c.changes)).Is(201, "")
		require.Equal(t, c.want, a.Str("user.organizations.0.name"))
		require.Equal(t, c.changes["email"], s.Call("POST", "/auth/login", nodetest.With(nodetest.Object{"password": nodetest.Text(8)}, nodetest.Object{"email": c.changes["email"]})).Is(200, "").Str("user.email"))
	}

	t.Log("login")
	a = s.Call("POST", "/auth/login", nodetest.Object{"email": "ADA@example.org", "password": secret}).Is(200, "")
	require.Equal(t, keys, a.Keys(""))
	s.Call("GET", "/organizer/events", nil, "Authorization", "Bearer "+a.Str("accessToken")).Is(200, "")
	s.Call("GET", "/organizer/events", nil, "Authorization", "bearer "+a.Str("accessToken")).Is(200, "")
	wrong := s.Call("POST", "/auth/login", nodetest.Object{"email": "ada@example.org", "password": "wrong"}).Is(401, "UNAUTHORIZED")
	unknown := s.Call("POST", "/auth/login", nodetest.Object{"email": "nobody@example.org", "password": "wrong"}).Is(401, "UNAUTHORIZED")
	require.Equal(t, wrong.Get("error"), unknown.Get("error"), "who has an account is not told")
	s.Call("POST", "/auth/login", nodetest.Object{"email": "ada@example.org"}).Invalid("password", "required")
	s.Call("POST", "/auth/login", nodetest.Object{"email": "ada@example.org", "password": ""}).Invalid("password", "min_length")
	s.Call("POST", "/auth/login", nodetest.Object{"email": "ada@example.org", "password": nodetest.Text(129)}).Invalid("password", "max_length")
	s.Call("POST", "/auth/login", nodetest.Object{"email": "x", "password": "y"}).Invalid("email", "format")

	t.Log("one address, several at once")
	var wg sync.WaitGroup
	statuses := make([]int, 3)
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = s.Patient("POST", "/auth/register", nodetest.With(body, nodetest.Object{"email": "race@example.org"})).Status // a busy node answers 503
		})
	}
	wg.Wait()
	require.ElementsMatch(t, []int{201, 409, 409}, statuses)
}

// TestTokens sends every sort of access token that is none of ours, or no longer.
func TestTokens(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.OnSale(nodetest.TypeBody(0, 10))
	slug := s.Own("GET", "/organizer/events", nil).Str("items.0.slug")
	key := s.Secrets().SigningKey(1)
	_, stranger, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	require.NoError(t, err)
	now := time.Now()
	own, other := nodetest.ClaimsOf(t, s.Token), nodetest.ClaimsOf(t, s.Register("other@example.org").Token)
	claims := func(changes nodetest.Object) jwt.MapClaims {
		return jwt.MapClaims(nodetest.With(nodetest.Object{"iss": "boxoffice", "aud": "test", "sub": own["sub"], "sid": own["sid"], "exp": now.Add(time.Minute).Unix()}, changes))
	}
	signWith := func(header nodetest.Object, method jwt.SigningMethod, key any, c jwt.MapClaims) string {
		token := jwt.NewWithClaims(method, c)
		token.Header = nodetest.With(nodetest.Object{"alg": method.Alg(), "typ": "at+jwt", "kid": "k1"}, header)
		text, err := token.SignedString(key)
		require.NoError(t, err)
		return text
	}
	sign := func(method jwt.SigningMethod, key any, c jwt.MapClaims) string { return signWith(nil, method, key, c) }
	ours := func(changes nodetest.Object) string { return sign(jwt.SigningMethodEdDSA, key, claims(changes)) }
	headed := func(header nodetest.Object) string { return signWith(header, jwt.SigningMethodEdDSA, key, claims(nil)) }
	parts := strings.Split(ours(nil), ".")
	login := s.Call("POST", "/auth/login", nodetest.Object{"email": "owner@example.org", "password": "correct horse"}).Is(200, "")
	bad := map[string]string{
		"none": sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(nil)), "HS256 by the public key": sign(jwt.SigningMethodHS256, []byte(key.Public().(ed25519.PublicKey)), claims(nil)),
		"HS256 by its DER": sign(jwt.SigningMethodHS256, public, claims(nil)), "another's key": sign(jwt.SigningMethodEdDSA, stranger, claims(nil)),
		"our next key":            sign(jwt.SigningMethodEdDSA, s.Secrets().SigningKey(2), claims(nil)),
		"our next key by its kid": signWith(nodetest.Object{"kid": "k2"}, jwt.SigningMethodEdDSA, s.Secrets().SigningKey(2), claims(nil)),
		"expired":                 ours(nodetest.Object{"exp": now.Add(-31 * time.Second).Unix()}), "no end": ours(nodetest.Object{"exp": nodetest.Absent}), "other environment": ours(nodetest.Object{"aud": "live"}), "no audience": ours(nodetest.Object{"aud": nodetest.Absent}),
		"other issuer": ours(nodetest.Object{"iss": "evil"}), "no session": ours(nodetest.Object{"sid": nodetest.Absent}), "no subject": ours(nodetest.Object{"sub": nodetest.Absent}), "subject": ours(nodetest.Object{"sub": "' OR 1=1"}), "not yet": ours(nodetest.Object{"nbf": now.Add(time.Hour).Unix()}),
		"session of none": ours(nodetest.Object{"sid": "x"}), "another's session": ours(nodetest.Object{"sid": other["sid"]}), "session of another": ours(nodetest.Object{"sub": other["sub"]}),
		"no signature": parts[0] + "." + parts[1] + ".", "cut": parts[0] + "." + parts[1] + "." + parts[2][:80], "moved": parts[0] + "." + strings.Split(ours(nodetest.Object{"sub": "2"}), ".")[1] + "." + parts[2],
		"typ of any JWT": headed(nodetest.Object{"typ": "JWT"}), "no typ": headed(nodetest.Object{"typ": nodetest.Absent}), "no kid": headed(nodetest.Object{"kid": nodetest.Absent}), "kid": headed(nodetest.Object{"kid": "k01"}), "kid of none": headed(nodetest.Object{"kid": "k0"}),
		"kid as number": headed(nodetest.Object{"kid": 1}), "kid as path": headed(nodetest.Object{"kid": "../k1"}), "huge kid": headed(nodetest.Object{"kid": "k99999999999999999999"}),
		"a key of its own": signWith(nodetest.Object{"jwk": nodetest.Object{"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(stranger.Public().(ed25519.PublicKey))}}, jwt.SigningMethodEdDSA, stranger, claims(nil)),
		"garbage":          "x", "dots": "..", "long": strings.Repeat("a", 5000), "order token": s.Secrets().OrderToken([16]byte{}), "refresh token": login.Str("refreshToken"),
	}
	headers := map[string]string{"no scheme": ours(nil), "basic": "Basic YTpi", "no token": "Bearer", "empty": "Bearer  ", "two": "Bearer " + ours(nil) + " x"}
	for name, token := range bad {
		headers[name] = "Bearer " + token
	}
	for name, h := range headers {
		for _, r := range []nodetest.Reply{
			s.Raw("GET", "/organizer/events", "", "", "Authorization", h),
			s.Raw("POST", "/checkin/scan", "application/json", `{}`, "Authorization", h),
			s.Raw("GET", "/events/"+slug, "", "", "Authorization", h), // also where none is needed
			s.Raw("POST", "/orders", "application/json", nodetest.Encode(t, nodetest.OrderBody("a@example.org", ids[0], 1)), "Authorization", h),
		} {
			require.Equal(t, 401, r.Status, "%s: %s", name, r.Body)
			require.Contains(t, r.Body, `"UNAUTHORIZED"`)
			require.Equal(t, "Bearer", r.Header.Get("WWW-Authenticate"))
			require.Equal(t, name == "order token" || name == "refresh token" || name == "garbage" || name == "dots", strings.Contains(r.Body, "send it as token"), "%s: %s", name, r.Body)
		}
	}
	for name, token := range map[string]string{"plain": ours(nil), "leeway": ours(nodetest.Object{"exp": now.Add(-10 * time.Second).Unix()})} {
		require.Equal(t, 200, s.Raw("GET", "/organizer/events", "", "", "Authorization", "Bearer "+token).Status, name)
	}
}

// Keys rotate while the node runs: its tokens are signed with the new key, those
// of the one before stay good, and of older ones do not.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	root := strings.TrimSuffix(s.URL, "/api/v1")
	keys := func() map[string]ed25519.PublicKey {
		at := *s
		at.URL = root
		r := at.Raw("GET", "/.well-known/jwks.json", "", "")
		require.Equal(t, 200, r.Status)
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		var set struct {
			Keys []struct{ Kty, Crv, Use, Alg, Kid, X string }
		}
		require.NoError(t, json.Unmarshal([]byte(r.Body), &set))
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
		return s.Call("POST", "/auth/login", nodetest.Object{"email": "owner@example.org", "password": "correct horse"}).Is(200, "").Str("accessToken")
	}
	status := func(token string) int {
		return s.Call("GET", "/organizer/events", nil, "Authorization", "Bearer "+token).Status
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

	n, err := s.Areas().Identity.Accounts.RotateSigningKey(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
	var second string
	s.Becomes("k2", func() string {
		second = login()
		return signer(second)
	})
	require.Len(t, keys(), 2)
	require.Equal(t, 200, status(first))
	require.Equal(t, 200, status(second))

	t.Log("a token of a key that another node knew of first is good at once")
	_, err = s.Areas().Identity.Accounts.RotateSigningKey(t.Context())
	require.NoError(t, err)
	newest := jwt.NewWithClaims(jwt.SigningMethodEdDSA, nodetest.ClaimsOf(t, second))
	newest.Header["typ"], newest.Header["kid"] = "at+jwt", "k3"
	third, err := newest.SignedString(s.Secrets().SigningKey(3))
	require.NoError(t, err)
	s.Becomes("200", func() string { return fmt.Sprint(status(third)) })
	s.Becomes("401", func() string { return fmt.Sprint(status(first)) })
	require.Equal(t, 200, status(second))
	require.Contains(t, keys(), "k3")
	require.NotContains(t, keys(), "k1")
}

// TestKeysThatCannotBeRead: keys are rotated while a node cannot read them. It tries again until it can, so a token of a
// key that no longer signs does not stay good.
func TestKeysThatCannotBeRead(t *testing.T) {
	t.Parallel()
	var log nodetest.LogBuffer
	s := nodetest.OpenLogged(t, slog.New(slog.NewTextHandler(&log, nil)))
	s.Own("GET", "/organizer/events", nil).Is(200, "") // registers the organizer
	token := s.Call("POST", "/auth/login", nodetest.Object{"email": "owner@example.org", "password": "correct horse"}).Is(200, "").Str("accessToken")
	status := func() string {
		return fmt.Sprint(s.Call("GET", "/organizer/events", nil, "Authorization", "Bearer "+token).Status)
	}
	require.Equal(t, "200", status())
	// The node sees the notes of both rotations only when the table is away already.
	_, err := s.Pool().Exec(t.Context(), `INSERT INTO signing_keys (number) VALUES (2), (3); ALTER TABLE signing_keys RENAME TO elsewhere`)
	require.NoError(t, err)
	s.Becomes("true", func() string { return fmt.Sprint(strings.Contains(log.String(), "read signing keys")) })
	_, err = s.Pool().Exec(t.Context(), `ALTER TABLE elsewhere RENAME TO signing_keys`)
	require.NoError(t, err)
	s.Becomes("401", status)
}

// However many log in at once, hashing takes its share of the machine and no more. Those for
// whom there is no room are told so at once.
func TestLoginFlood(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	count := map[int]int{}
	// A machine of many cores may have room for 60 at once, but not for any number.
	for clients := 60; count[503] == 0 && clients < 2000; clients *= 2 {
		replies := make([]nodetest.Reply, clients)
		var wg sync.WaitGroup
		for i := range replies {
			wg.Go(func() {
				replies[i] = s.Raw("POST", "/auth/login", "application/json", nodetest.Encode(t, nodetest.Object{"email": "owner@example.org", "password": "correct horse"}))
			})
		}
		wg.Wait()
		clear(count)
		for _, r := range replies {
			count[r.Status]++
			if r.Status == 503 {
				require.Regexp(t, `"(OVERLOADED|UNAVAILABLE)"`, r.Body) // the latter when a hash takes too long
				require.NotEmpty(t, r.Header.Get("Retry-After"))
			}
		}
		require.Equal(t, clients, count[200]+count[503], "%v", count)
	}
	require.NotZero(t, count[200])
	require.NotZero(t, count[503])
}

// The configured administrator is there from the start, and has taken the
// account of whoever had the address before.
func TestPlatformAdmin(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.AdminEmail, c.AdminPassword = "Root@Example.org", "correct horse battery" })
	login := func(email, password string) nodetest.Answer {
		return s.Call("POST", "/auth/login", nodetest.Object{"email": email, "password": password})
	}
	login("root@example.org", "correct horse battery").Is(200, "")
	squatter := s.Register("next@example.org")
	squatter.Own("GET", "/organizer/events", nil).Is(200, "")
	require.NoError(t, s.Areas().Identity.EnsureAdmin(t.Context(), "next@example.org", "configured since"))
	login("next@example.org", "correct horse").Is(401, "UNAUTHORIZED")
	login("next@example.org", "configured since").Is(200, "")
	s.Becomes("401", func() string { return fmt.Sprint(squatter.Own("GET", "/organizer/events", nil).Status) })
	var admins int
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM users WHERE platform_admin`).Scan(&admins))
	require.Equal(t, 2, admins)
}

// TestEnvelopes checks what is no operation at all.
func TestEnvelopes(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
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
		r := s.Raw(c.method, c.path, "", "")
		require.Equal(t, c.status, r.Status, "%s %s: %s", c.method, c.path, r.Body)
		require.Contains(t, r.Body, fmt.Sprintf(`"code":%q`, c.code))
		require.Contains(t, r.Body, `"details":null`)
		require.NotEmpty(t, r.Header.Get("X-Request-Id"))
		require.Contains(t, r.Body, r.Header.Get("X-Request-Id"))
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		if c.status == 405 {
			require.NotEmpty(t, r.Header.Get("Allow"), "%s %s", c.method, c.path)
		}
	}
}
