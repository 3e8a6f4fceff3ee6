package main

import (
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

// loginCode asks for a login code and reads the mail.
func (s *shop) loginCode(email, name string) string {
	s.t.Helper()
	before := time.Now()
	a := s.call("POST", "/auth/token/request", object{"email": email, "name": name}).is(200, "")
	require.Equal(s.t, words("sent expiresIn"), a.keys(""))
	require.Equal(s.t, "600", a.str("expiresIn"))
	code := sixDigits.FindString(s.mail(s.t, email, "login_code", before).Text)
	require.NotEmpty(s.t, code)
	return code
}

func (s *shop) exchange(email, code string) answer {
	s.t.Helper()
	return s.call("POST", "/auth/token/exchange", object{"email": email, "code": code})
}

// buyer is a shop whose token is that of a buyer who has just come.
func (s *shop) buyer(email string) *shop {
	s.t.Helper()
	c := *s
	c.token = s.exchange(email, s.loginCode(email, "Grace Hopper")).is(200, "").str("accessToken")
	return &c
}

// other is a code that is not the given one.
func other(code string) string {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

// later lets time pass for the limit of codes to an address.
func (s *shop) later(email string, d time.Duration) {
	s.t.Helper()
	tag, err := s.pool.Exec(s.t.Context(), `UPDATE login_codes SET sent = array(SELECT s - $2::interval FROM unnest(sent) s ORDER BY s) WHERE email = $1`, email, d)
	require.NoError(s.t, err)
	require.EqualValues(s.t, 1, tag.RowsAffected())
}

func (a answer) reason(want string) {
	a.t.Helper()
	a.refused(401, "UNAUTHORIZED", object{"reason": want})
}

func TestBuyerLogin(t *testing.T) {
	t.Parallel()
	s := open(t)
	const grace = "grace@example.org"
	code := s.loginCode(grace, "Grace Hopper")
	var users int
	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM users`).Scan(&users))
	require.Zero(t, users, "who cannot read the mail makes no account")
	a := s.exchange("GRACE@example.org", code).is(200, "")
	require.Equal(t, words("user accessToken refreshToken expiresIn"), a.keys(""))
	require.Equal(t, grace, a.str("user.email"))
	require.Equal(t, "Grace Hopper", a.str("user.firstName"))
	require.Empty(t, a.data("user.organizations"))
	s.call("GET", "/auth/sessions", nil, "Authorization", "Bearer "+a.str("accessToken")).is(200, "")
	s.call("GET", "/organizer/events", nil, "Authorization", "Bearer "+a.str("accessToken")).is(403, "FORBIDDEN")
	s.exchange(grace, code).reason("CODE_EXPIRED")
	s.call("POST", "/auth/login", object{"email": grace, "password": ""}).invalid("password", "min_length")
	s.call("POST", "/auth/login", object{"email": grace, "password": "x"}).is(401, "UNAUTHORIZED")
	s.call("POST", "/auth/register", object{"email": grace, "password": "correct horse"}).is(409, "EMAIL_TAKEN")

	t.Log("the same account the next time")
	s.later(grace, time.Minute)
	again := s.exchange(grace, s.loginCode(grace, "Somebody")).is(200, "")
	require.Equal(t, a.data("user"), again.data("user"))

	t.Log("an organizer may come this way too")
	s.own("GET", "/organizer/events", nil).is(200, "")
	own := s.buyer("owner@example.org")
	own.own("GET", "/organizer/events", nil).is(200, "")

	t.Log("requests that are none")
	for _, f := range []field{{"email", absent, "", "required"}, {"email", "x", "", "format"}, {"name", text(101), "", "max_length"}, {"name", "a\u0000", "", "format"}} {
		s.call("POST", "/auth/token/request", with(object{"email": "x@example.org"}, object{f.name: f.value})).invalid(f.name, f.code)
	}
	for _, f := range []field{{"email", absent, "", "required"}, {"code", absent, "", "required"}, {"code", "12345", "", "min_length"}, {"code", "1234567", "", "max_length"}, {"code", 123456, "", "type"}} {
		s.call("POST", "/auth/token/exchange", with(object{"email": "x@example.org", "code": "123456"}, object{f.name: f.value})).invalid(f.name, f.code)
	}
}

func TestLoginCodeGuesses(t *testing.T) {
	t.Parallel()
	s := open(t)
	const grace = "grace@example.org"
	s.exchange(grace, "123456").reason("CODE_EXPIRED")
	code := s.loginCode(grace, "")
	for range 5 {
		s.exchange(grace, other(code)).reason("CODE_INVALID")
	}
	s.exchange(grace, code).reason("CODE_EXPIRED")

	t.Log("newest only")
	s.later(grace, time.Minute)
	first := s.loginCode(grace, "")
	s.later(grace, time.Minute)
	second := s.loginCode(grace, "")
	if first != second { // once in a million
		s.exchange(grace, first).reason("CODE_INVALID")
	}
	s.exchange("eve@example.org", second).reason("CODE_EXPIRED")

	t.Log("several at once with the right code")
	statuses := make([]int, 5)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() { statuses[i] = s.exchange(grace, second).status })
	}
	wg.Wait()
	require.ElementsMatch(t, []int{200, 401, 401, 401, 401}, statuses)

	t.Log("ten minutes")
	s.later(grace, time.Minute)
	code = s.loginCode(grace, "")
	_, err := s.pool.Exec(t.Context(), `UPDATE login_codes SET expires_at = expires_at - interval '10 minutes'`)
	require.NoError(t, err)
	s.exchange(grace, code).reason("CODE_EXPIRED")
}

// Who asks too often is told so, in the same words whether there is an account
// or not.
func TestLoginCodeLimits(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.own("GET", "/organizer/events", nil).is(200, "")
	ask := func(email string) reply {
		r := s.raw("POST", "/auth/token/request", "application/json", encode(t, object{"email": email}))
		r.body = regexp.MustCompile(`req_[^"]*`).ReplaceAllString(r.body, "")
		return r
	}
	known, unknown := "owner@example.org", "nobody@example.org"
	for n := range 5 {
		granted := ask(known)
		require.Equal(t, 200, granted.status, granted.body)
		require.Equal(t, granted.body, ask(unknown).body)
		refused := ask(known)
		require.Equal(t, 429, refused.status)
		require.Contains(t, refused.body, `"RATE_LIMITED"`)
		require.Equal(t, refused.body, ask(unknown).body)
		var wait int
		_, err := fmt.Sscan(refused.header.Get("Retry-After"), &wait)
		require.NoError(t, err)
		if n < 4 {
			require.InDelta(t, 60, wait, 5)
		} else {
			require.InDelta(t, 56*60, wait, 10)
		}
		s.later(known, time.Minute)
		s.later(unknown, time.Minute)
	}
	require.Equal(t, 429, ask(known).status)
	require.Equal(t, 429, ask(unknown).status)
	s.later(known, time.Hour)
	require.Equal(t, 200, ask(known).status)
}

// The name that a buyer gives at checkout is the name of the account that the mailbox's
// owner gets, unless the owner has one.
func TestNameOfCheckoutReachesTheAccount(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.sell(nil, typeBody(0, 100), typeBody(25, 100))
	order := func(email, name string) {
		t.Helper()
		s.call("POST", "/orders", with(orderBody(email, ids[0], 1), object{"guestName": name})).is(201, "")
		s.mailed()
	}
	signIn := func(email, name string) answer {
		t.Helper()
		return s.exchange(email, s.loginCode(email, name)).is(200, "")
	}
	order("Grace@Example.org", "Grace")
	order("grace@example.org", "Grace Hopper")
	a := signIn("grace@example.org", "")
	require.Equal(t, "Grace Hopper", a.str("user.firstName"))
	require.Equal(t, "Grace Hopper", s.as(a.str("accessToken")).own("GET", "/users/me", nil).is(200, "").str("fullName"))

	t.Log("a later checkout, which anybody can make, changes nothing")
	order("grace@example.org", "Mallory")
	s.later("grace@example.org", time.Minute)
	require.Equal(t, "Grace Hopper", signIn("grace@example.org", "").str("user.firstName"))

	t.Log("the name of the sign-in comes first")
	order("joan@example.org", "Mallory")
	require.Equal(t, "Joan", signIn("joan@example.org", "Joan").str("user.firstName"))

	t.Log("an account that signs in before its order is confirmed gets the name with the next sign-in")
	require.Contains(t, []any{nil, ""}, signIn("late@example.org", "").data("user.firstName"))
	order("late@example.org", "Late")
	s.later("late@example.org", time.Minute)
	require.Equal(t, "Late", signIn("late@example.org", "").str("user.firstName"))

	t.Log("an account with a password has the name that it was registered with, or none")
	s.confirmed("reg@example.org")
	order("reg@example.org", "Mallory")
	require.Contains(t, []any{nil, ""}, signIn("reg@example.org", "").data("user.firstName"))

	t.Log("an order that is not paid tells nothing")
	s.call("POST", "/orders", with(orderBody("open@example.org", ids[1], 1), object{"guestName": "Mallory"})).is(201, "")
	s.mailed()
	require.Contains(t, []any{nil, ""}, signIn("open@example.org", "").data("user.firstName"))

	t.Log("names that nobody has asked for are forgotten")
	order("never@example.org", "Never")
	_, err := s.pool.Exec(t.Context(), `UPDATE buyer_names SET noted_at = now() - interval '91 days'`)
	require.NoError(t, err)
	require.NoError(t, s.areas.Identity.Accounts.Prune(t.Context()))
	var left int
	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM buyer_names WHERE email = 'never@example.org'`).Scan(&left))
	require.Zero(t, left)
}
