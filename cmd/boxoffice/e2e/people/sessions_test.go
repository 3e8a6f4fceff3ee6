package people

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/web"
)

// signed is a login of an organizer.
func signed(s *nodetest.Shop, email string) nodetest.Answer {
	s.T.Helper()
	return s.Call("POST", "/auth/login", nodetest.Object{"email": email, "password": "correct horse"}, "User-Agent", "test\xff agent"+strings.Repeat("ü", 200)).Is(200, "")
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Register(ada)
	login := signed(s, ada)
	first := login.Str("refreshToken")
	a := s.Refresh(first).Is(200, "")
	require.Equal(t, nodetest.Words("accessToken refreshToken expiresIn"), a.Keys(""))
	require.Equal(t, "900", a.Str("expiresIn"))
	second := a.Str("refreshToken")
	require.NotEqual(t, first, second)
	require.Equal(t, 200, s.Works(a.Str("accessToken")))
	require.Equal(t, nodetest.ClaimsOf(t, login.Str("accessToken"))["sid"], nodetest.ClaimsOf(t, a.Str("accessToken"))["sid"])

	t.Log("an answer that was lost is given again, to several at once too")
	tokens := make([]string, 4)
	var wg sync.WaitGroup
	for i := range tokens {
		wg.Go(func() { tokens[i] = s.Refresh(first).Is(200, "").Str("refreshToken") })
	}
	wg.Wait()
	require.Equal(t, []string{second, second, second, second}, tokens)

	t.Log("a token that was used before its successor was ends them all, on every node within a second")
	third := s.Refresh(second).Is(200, "").Str("refreshToken")
	s.Refresh(first).Is(401, "UNAUTHORIZED")
	s.Refresh(third).Is(401, "UNAUTHORIZED")
	require.Equal(t, 401, s.Works(a.Str("accessToken")))

	t.Log("so does the one before, late")
	login = signed(s, ada)
	next := s.Refresh(login.Str("refreshToken")).Is(200, "")
	_, err := s.Pool().Exec(t.Context(), `UPDATE sessions SET rotated_at = rotated_at - interval '31 seconds'`)
	require.NoError(t, err)
	s.Refresh(login.Str("refreshToken")).Is(401, "UNAUTHORIZED")
	s.Refresh(next.Str("refreshToken")).Is(401, "UNAUTHORIZED")
	require.Equal(t, 401, s.Works(next.Str("accessToken")))

	for _, token := range []string{"x", login.Str("accessToken"), first[:len(first)-1] + "A", strings.Repeat("A", len(first))} {
		s.Refresh(token).Is(401, "UNAUTHORIZED")
		s.Call("POST", "/auth/logout", nodetest.Object{"refreshToken": token}).Is(200, "")
	}
	s.Call("POST", "/auth/refresh", nodetest.Object{}).Invalid("refreshToken", "required")
	s.Call("POST", "/auth/refresh", nodetest.Object{"refreshToken": nodetest.Text(1001)}).Invalid("refreshToken", "max_length")
}

func TestSessions(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Register("bob@example.org")
	bob := signed(s, "bob@example.org")
	own := s.Register(ada)
	one, two := signed(s, ada), signed(s, ada)
	a := own.Own("GET", "/auth/sessions", nil).Is(200, "")
	items := a.Data("items").([]any)
	require.Len(t, items, 3)
	require.Equal(t, nodetest.Words("id current clientAddress userAgent createdAt lastUsedAt expiresAt"), a.Keys("items.0"))
	current := 0
	for i := range items {
		require.Equal(t, "127.0.0.1", a.Str(fmt.Sprintf("items.%d.clientAddress", i)))
		if a.Data(fmt.Sprintf("items.%d.current", i)) == true {
			current++
			require.Equal(t, nodetest.ClaimsOf(t, own.Token)["sid"], a.Data(fmt.Sprintf("items.%d.id", i)))
		} else {
			require.True(t, strings.HasPrefix(a.Str(fmt.Sprintf("items.%d.userAgent", i)), "test agentü"))
		}
	}
	require.Equal(t, 1, current)

	t.Log("logout ends one, with its access token")
	require.Equal(t, 200, s.Works(one.Str("accessToken")))
	s.Call("POST", "/auth/logout", nodetest.Object{"refreshToken": one.Str("refreshToken")}).Is(200, "")
	s.Refresh(one.Str("refreshToken")).Is(401, "UNAUTHORIZED")
	require.Equal(t, 401, s.Works(one.Str("accessToken")))
	require.Equal(t, 200, s.Works(two.Str("accessToken")))

	t.Log("without a refresh token, the session of the access token; without either, none")
	here := signed(s, ada)
	s.Call("POST", "/auth/logout", nil).Is(200, "")
	require.Equal(t, 200, s.Works(here.Str("accessToken")))
	s.Call("POST", "/auth/logout", nil, "Authorization", "Bearer "+here.Str("accessToken")).Is(200, "")
	require.Equal(t, 401, s.Works(here.Str("accessToken")))
	require.Equal(t, 200, s.Works(two.Str("accessToken")))

	t.Log("logout-all ends all, this one too")
	own.Own("POST", "/auth/logout-all", nil).Is(200, "")
	for _, access := range []string{own.Token, two.Str("accessToken")} {
		require.Equal(t, 401, s.Works(access))
	}
	s.Refresh(two.Str("refreshToken")).Is(401, "UNAUTHORIZED")
	require.Equal(t, 200, s.Works(bob.Str("accessToken")))

	t.Log("what another node ends is over here within a second")
	three := signed(s, ada)
	require.Equal(t, 200, s.Works(three.Str("accessToken")))
	_, err := s.Pool().Exec(t.Context(), `UPDATE sessions SET revoked_at = now()`)
	require.NoError(t, err)
	s.Becomes("401", func() string { return fmt.Sprint(s.Works(three.Str("accessToken"))) })
}

var resetLink = regexp.MustCompile(`(http\S+)/password/reset#token=(\S+)`)

func TestPasswordReset(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Register(ada)
	login := signed(s, ada)
	forgot := func(email string) {
		s.Call("POST", "/auth/password/forgot", nodetest.Object{"email": email}).Is(200, "")
	}
	reset := func(token, password string) nodetest.Answer {
		return s.Call("POST", "/auth/password/reset", nodetest.Object{"token": token, "password": password})
	}
	link := func(after time.Time) string {
		found := resetLink.FindStringSubmatch(s.Mail(t, ada, "password_reset", after).Text)
		require.Len(t, found, 3)
		require.Equal(t, strings.TrimSuffix(s.URL, "/api/v1"), found[1])
		return found[2]
	}
	began := time.Now()
	forgot("nobody@example.org")
	forgot("ADA@example.org")
	first := link(began)
	list, err := s.Mailbox().List(100)
	require.NoError(t, err)
	for _, m := range list {
		require.NotEqual(t, "nobody@example.org", m.To)
	}

	t.Log("newest only")
	_, err = s.Pool().Exec(t.Context(), `UPDATE password_resets SET sent = ARRAY[now() - interval '1 minute']`)
	require.NoError(t, err)
	began = time.Now()
	forgot(ada)
	token := link(began)
	reason(reset(first, "another horse"), "TOKEN_EXPIRED")
	reason(reset("x", "another horse"), "TOKEN_EXPIRED")
	reset(token, nodetest.Text(7)).Invalid("password", "min_length")

	reset(token, "another horse").Is(200, "")
	s.Mail(t, ada, "password_changed", began)
	reason(reset(token, "a third horse"), "TOKEN_EXPIRED")
	s.Call("POST", "/auth/login", nodetest.Object{"email": ada, "password": "correct horse"}).Is(401, "UNAUTHORIZED")
	s.Call("POST", "/auth/login", nodetest.Object{"email": ada, "password": "another horse"}).Is(200, "")
	s.Refresh(login.Str("refreshToken")).Is(401, "UNAUTHORIZED")
	require.Equal(t, 401, s.Works(login.Str("accessToken")))

	t.Log("the link opens a page that posts the new password")
	pages := *s
	pages.URL = strings.TrimSuffix(s.URL, "/api/v1")
	page := pages.Raw("GET", "/password/reset", "", "")
	require.Equal(t, 200, page.Status)
	for name, want := range map[string]string{
		"Referrer-Policy": "no-referrer", "Content-Security-Policy": web.Policy, "Content-Type": "text/html; charset=utf-8",
	} {
		require.Equal(t, want, page.Header.Get(name))
	}
	require.NotEmpty(t, page.Header.Get("X-Ratelimit-Remaining"), "it is counted")
	require.Contains(t, page.Body, `data-path="/auth/password/reset"`)
	script := regexp.MustCompile(`src="(/web/[^"]+/act\.js)"`).FindStringSubmatch(page.Body)
	require.Len(t, script, 2)
	require.Contains(t, pages.Raw("GET", script[1], "", "").Body, `{ token, password }`)

	t.Log("a buyer gets a password by it")
	s.Buyer("grace@example.org")
	began = time.Now()
	forgot("grace@example.org")
	found := resetLink.FindStringSubmatch(s.Mail(t, "grace@example.org", "password_reset", began).Text)
	reset(found[2], "a buyer's horse").Is(200, "")
	s.Call("POST", "/auth/login", nodetest.Object{"email": "grace@example.org", "password": "a buyer's horse"}).Is(200, "")
}
