package people

import (
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// later lets time pass for the limit of codes to an address.
func later(s *nodetest.Shop, email string, d time.Duration) {
	s.T.Helper()
	tag, err := s.Pool().Exec(s.T.Context(), `UPDATE open_codes SET asked_at = asked_at - $2::interval WHERE email = $1`, email, d)
	require.NoError(s.T, err)
	require.Positive(s.T, tag.RowsAffected())
}

func reason(a nodetest.Answer, want string) {
	a.T.Helper()
	a.Refused(401, "UNAUTHORIZED", nodetest.Object{"reason": want})
}

func TestBuyerLogin(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const grace = "grace@example.org"
	code := s.LoginCode(grace, "Grace Hopper")
	var users int
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM users`).Scan(&users))
	require.Zero(t, users, "who cannot read the mail makes no account")
	a := s.Exchange("GRACE@example.org", code).Is(200, "")
	require.Equal(t, nodetest.Words("user accessToken refreshToken expiresIn"), a.Keys(""))
	require.Equal(t, grace, a.Str("user.email"))
	require.Equal(t, "Grace Hopper", a.Str("user.firstName"))
	require.Empty(t, a.Data("user.organizations"))
	s.Call("GET", "/auth/sessions", nil, "Authorization", "Bearer "+a.Str("accessToken")).Is(200, "")
	s.Call("GET", "/organizer/events", nil, "Authorization", "Bearer "+a.Str("accessToken")).Is(403, "FORBIDDEN")
	reason(s.Exchange(grace, code), "CODE_EXPIRED")
	s.Call("POST", "/auth/login", nodetest.Object{"email": grace, "password": ""}).Invalid("password", "min_length")
	s.Call("POST", "/auth/login", nodetest.Object{"email": grace, "password": "x"}).Is(401, "UNAUTHORIZED")
	s.Call("POST", "/auth/register", nodetest.Object{"email": grace, "password": "correct horse"}).Is(409, "EMAIL_TAKEN")

	t.Log("the same account the next time")
	later(s, grace, time.Minute)
	again := s.Exchange(grace, s.LoginCode(grace, "Somebody")).Is(200, "")
	require.Equal(t, a.Data("user"), again.Data("user"))

	t.Log("an organizer may come this way too")
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	own := s.Buyer("owner@example.org")
	own.Own("GET", "/organizer/events", nil).Is(200, "")

	t.Log("requests that are none")
	for _, f := range []field{{"email", nodetest.Absent, "", "required"}, {"email", "x", "", "format"}, {"name", nodetest.Text(101), "", "max_length"}, {"name", "a\u0000", "", "format"}} {
		s.Call("POST", "/auth/token/request", nodetest.With(nodetest.Object{"email": "x@example.org"}, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	for _, f := range []field{{"email", nodetest.Absent, "", "required"}, {"code", nodetest.Absent, "", "required"}, {"code", "12345", "", "min_length"}, {"code", "1234567", "", "max_length"}, {"code", 123456, "", "type"}} {
		s.Call("POST", "/auth/token/exchange", nodetest.With(nodetest.Object{"email": "x@example.org", "code": "123456"}, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
}

func TestLoginCodeGuesses(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const grace = "grace@example.org"
	reason(s.Exchange(grace, "123456"), "CODE_EXPIRED")
	code := s.LoginCode(grace, "")
	for range 5 {
		reason(s.Exchange(grace, nodetest.Other(code)), "CODE_INVALID")
	}
	reason(s.Exchange(grace, code), "CODE_EXPIRED")

	t.Log("newest only")
	later(s, grace, time.Minute)
	first := s.LoginCode(grace, "")
	later(s, grace, time.Minute)
	second := s.LoginCode(grace, "")
	if first != second { // once in a million
		reason(s.Exchange(grace, first), "CODE_INVALID")
	}
	reason(s.Exchange("eve@example.org", second), "CODE_EXPIRED")

	t.Log("several at once with the right code")
	statuses := make([]int, 5)
	var wg sync.WaitGroup
	for i := range statuses {
		wg.Go(func() { statuses[i] = s.Exchange(grace, second).Status })
	}
	wg.Wait()
	require.ElementsMatch(t, []int{200, 401, 401, 401, 401}, statuses)

	t.Log("ten minutes")
	later(s, grace, time.Minute)
	code = s.LoginCode(grace, "")
	_, err := s.Pool().Exec(t.Context(), `UPDATE open_codes SET expires_at = expires_at - interval '10 minutes'`)
	require.NoError(t, err)
	reason(s.Exchange(grace, code), "CODE_EXPIRED")
}

// Somebody who asks too often is told so, in the same words whether there is an account or not.
func TestLoginCodeLimits(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	ask := func(email string) nodetest.Reply {
		r := s.Raw("POST", "/auth/token/request", "application/json", nodetest.Encode(t, nodetest.Object{"email": email}))
		r.Body = regexp.MustCompile(`req_[^"]*|"nonce":"[^"]*"`).ReplaceAllString(r.Body, "")
		return r
	}
	known, unknown := "owner@example.org", "nobody@example.org"
	for n := range 5 {
		granted := ask(known)
		require.Equal(t, 200, granted.Status, granted.Body)
		require.Equal(t, granted.Body, ask(unknown).Body)
		refused := ask(known)
		require.Equal(t, 429, refused.Status)
		require.Contains(t, refused.Body, `"RATE_LIMITED"`)
		require.Equal(t, refused.Body, ask(unknown).Body)
		var wait int
		_, err := fmt.Sscan(refused.Header.Get("Retry-After"), &wait)
		require.NoError(t, err)
		if n < 4 {
			require.InDelta(t, 60, wait, 5)
		} else {
			require.InDelta(t, 56*60, wait, 10)
		}
		later(s, known, time.Minute)
		later(s, unknown, time.Minute)
	}
	require.Equal(t, 429, ask(known).Status)
	require.Equal(t, 429, ask(unknown).Status)
	later(s, known, time.Hour)
	require.Equal(t, 200, ask(known).Status)
}

// The name that a buyer gives at checkout is the name of the account that the mailbox's
// owner gets, unless the owner has one.
func TestNameOfCheckoutReachesTheAccount(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.Sell(nil, nodetest.TypeBody(0, 100), nodetest.TypeBody(25, 100))
	order := func(email, name string) {
		t.Helper()
		s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody(email, ids[0], 1), nodetest.Object{"guestName": name})).Is(201, "")
		s.Mailed()
	}
	signIn := func(email, name string) nodetest.Answer {
		t.Helper()
		return s.Exchange(email, s.LoginCode(email, name)).Is(200, "")
	}
	order("Grace@Example.org", "Grace")
	order("grace@example.org", "Grace Hopper")
	a := signIn("grace@example.org", "")
	require.Equal(t, "Grace Hopper", a.Str("user.firstName"))
	require.Equal(t, "Grace Hopper", s.As(a.Str("accessToken")).Own("GET", "/users/me", nil).Is(200, "").Str("fullName"))

	t.Log("a later checkout, which anybody can make, changes nothing")
	order("grace@example.org", "Mallory")
	later(s, "grace@example.org", time.Minute)
	require.Equal(t, "Grace Hopper", signIn("grace@example.org", "").Str("user.firstName"))

	t.Log("the name of the sign-in comes first")
	order("joan@example.org", "Mallory")
	require.Equal(t, "Joan", signIn("joan@example.org", "Joan").Str("user.firstName"))

	t.Log("an account that signs in before its order is confirmed gets the name with the next sign-in")
	require.Contains(t, []any{nil, ""}, signIn("late@example.org", "").Data("user.firstName"))
	order("late@example.org", "Late")
	later(s, "late@example.org", time.Minute)
	require.Equal(t, "Late", signIn("late@example.org", "").Str("user.firstName"))

	t.Log("an account with a password has the name that it was registered with, or none")
	confirmed(s, "reg@example.org")
	order("reg@example.org", "Mallory")
	require.Contains(t, []any{nil, ""}, signIn("reg@example.org", "").Data("user.firstName"))

	t.Log("an order that is not paid tells nothing")
	s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody("open@example.org", ids[1], 1), nodetest.Object{"guestName": "Mallory"})).Is(201, "")
	s.Mailed()
	require.Contains(t, []any{nil, ""}, signIn("open@example.org", "").Data("user.firstName"))

	t.Log("names that nobody has asked for are forgotten")
	order("never@example.org", "Never")
	_, err := s.Pool().Exec(t.Context(), `UPDATE buyer_names SET noted_at = now() - interval '91 days'`)
	require.NoError(t, err)
	require.NoError(t, s.Areas().Identity.Accounts.Prune(t.Context()))
	var left int
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM buyer_names WHERE email = 'never@example.org'`).Scan(&left))
	require.Zero(t, left)
}
