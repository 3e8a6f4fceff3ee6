package main

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/web"
)

func (s *shop) refresh(token string) answer {
	s.t.Helper()
	return s.call("POST", "/auth/refresh", object{"refreshToken": token})
}

// signed is a login of an organizer.
func (s *shop) signed(email string) answer {
	s.t.Helper()
	return s.call("POST", "/auth/login", object{"email": email, "password": "correct horse"}, "User-Agent", "test\xff agent"+strings.Repeat("ü", 200)).is(200, "")
}

// works says whether an access token still opens something.
func (s *shop) works(access string) int {
	s.t.Helper()
	return s.call("GET", "/auth/sessions", nil, "Authorization", "Bearer "+access).status
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.register(ada)
	login := s.signed(ada)
	first := login.str("refreshToken")
	a := s.refresh(first).is(200, "")
	require.Equal(t, words("accessToken refreshToken expiresIn"), a.keys(""))
	require.Equal(t, "900", a.str("expiresIn"))
	second := a.str("refreshToken")
	require.NotEqual(t, first, second)
	require.Equal(t, 200, s.works(a.str("accessToken")))
	require.Equal(t, claimsOf(t, login.str("accessToken"))["sid"], claimsOf(t, a.str("accessToken"))["sid"])

	t.Log("an answer that was lost is given again, to several at once too")
	tokens := make([]string, 4)
	var wg sync.WaitGroup
	for i := range tokens {
		wg.Go(func() { tokens[i] = s.refresh(first).is(200, "").str("refreshToken") })
	}
	wg.Wait()
	require.Equal(t, []string{second, second, second, second}, tokens)

	t.Log("a token that was used before its successor was ends them all, on every node within a second")
	third := s.refresh(second).is(200, "").str("refreshToken")
	s.refresh(first).is(401, "UNAUTHORIZED")
	s.refresh(third).is(401, "UNAUTHORIZED")
	require.Equal(t, 401, s.works(a.str("accessToken")))

	t.Log("so does the one before, late")
	login = s.signed(ada)
	next := s.refresh(login.str("refreshToken")).is(200, "")
	_, err := s.pool.Exec(t.Context(), `UPDATE sessions SET rotated_at = rotated_at - interval '31 seconds'`)
	require.NoError(t, err)
	s.refresh(login.str("refreshToken")).is(401, "UNAUTHORIZED")
	s.refresh(next.str("refreshToken")).is(401, "UNAUTHORIZED")
	require.Equal(t, 401, s.works(next.str("accessToken")))

	for _, token := range []string{"x", login.str("accessToken"), first[:len(first)-1] + "A", strings.Repeat("A", len(first))} {
		s.refresh(token).is(401, "UNAUTHORIZED")
		s.call("POST", "/auth/logout", object{"refreshToken": token}).is(200, "")
	}
	s.call("POST", "/auth/refresh", object{}).invalid("refreshToken", "required")
	s.call("POST", "/auth/refresh", object{"refreshToken": text(1001)}).invalid("refreshToken", "max_length")
}

func TestSessions(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.register("bob@example.org")
	bob := s.signed("bob@example.org")
	own := s.register(ada)
	one, two := s.signed(ada), s.signed(ada)
	a := own.own("GET", "/auth/sessions", nil).is(200, "")
	items := a.data("items").([]any)
	require.Len(t, items, 3)
	require.Equal(t, words("id current clientAddress userAgent createdAt lastUsedAt expiresAt"), a.keys("items.0"))
	current := 0
	for i := range items {
		require.Equal(t, "127.0.0.1", a.str(fmt.Sprintf("items.%d.clientAddress", i)))
		if a.data(fmt.Sprintf("items.%d.current", i)) == true {
			current++
			require.Equal(t, claimsOf(t, own.token)["sid"], a.data(fmt.Sprintf("items.%d.id", i)))
		} else {
			require.True(t, strings.HasPrefix(a.str(fmt.Sprintf("items.%d.userAgent", i)), "test agentü"))
		}
	}
	require.Equal(t, 1, current)

	t.Log("logout ends one, with its access token")
	require.Equal(t, 200, s.works(one.str("accessToken")))
	s.call("POST", "/auth/logout", object{"refreshToken": one.str("refreshToken")}).is(200, "")
	s.refresh(one.str("refreshToken")).is(401, "UNAUTHORIZED")
	require.Equal(t, 401, s.works(one.str("accessToken")))
	require.Equal(t, 200, s.works(two.str("accessToken")))

	t.Log("without a refresh token, the session of the access token; without either, none")
	here := s.signed(ada)
	s.call("POST", "/auth/logout", nil).is(200, "")
	require.Equal(t, 200, s.works(here.str("accessToken")))
	s.call("POST", "/auth/logout", nil, "Authorization", "Bearer "+here.str("accessToken")).is(200, "")
	require.Equal(t, 401, s.works(here.str("accessToken")))
	require.Equal(t, 200, s.works(two.str("accessToken")))

	t.Log("logout-all ends all, this one too")
	own.own("POST", "/auth/logout-all", nil).is(200, "")
	for _, access := range []string{own.token, two.str("accessToken")} {
		require.Equal(t, 401, s.works(access))
	}
	s.refresh(two.str("refreshToken")).is(401, "UNAUTHORIZED")
	require.Equal(t, 200, s.works(bob.str("accessToken")))

	t.Log("what another node ends is over here within a second")
	three := s.signed(ada)
	require.Equal(t, 200, s.works(three.str("accessToken")))
	began := time.Now()
	_, err := s.pool.Exec(t.Context(), `UPDATE sessions SET revoked_at = now()`)
	require.NoError(t, err)
	s.becomes("401", func() string { return fmt.Sprint(s.works(three.str("accessToken"))) })
	require.Less(t, time.Since(began), 10*time.Second)
}

var resetLink = regexp.MustCompile(`(http\S+)/password/reset#token=(\S+)`)

func TestPasswordReset(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.register(ada)
	login := s.signed(ada)
	forgot := func(email string) { s.call("POST", "/auth/password/forgot", object{"email": email}).is(200, "") }
	reset := func(token, password string) answer {
		return s.call("POST", "/auth/password/reset", object{"token": token, "password": password})
	}
	link := func(after time.Time) string {
		found := resetLink.FindStringSubmatch(s.mail(t, ada, "password_reset", after).Text)
		require.Len(t, found, 3)
		require.Equal(t, strings.TrimSuffix(s.url, "/api/v1"), found[1])
		return found[2]
	}
	began := time.Now()
	forgot("nobody@example.org")
	forgot("ADA@example.org")
	first := link(began)
	list, err := s.mailbox.List(100)
	require.NoError(t, err)
	for _, m := range list {
		require.NotEqual(t, "nobody@example.org", m.To)
	}

	t.Log("newest only")
	_, err = s.pool.Exec(t.Context(), `UPDATE password_resets SET sent = ARRAY[now() - interval '1 minute']`)
	require.NoError(t, err)
	began = time.Now()
	forgot(ada)
	token := link(began)
	reset(first, "another horse").reason("TOKEN_EXPIRED")
	reset("x", "another horse").reason("TOKEN_EXPIRED")
	reset(token, text(7)).invalid("password", "min_length")

	reset(token, "another horse").is(200, "")
	s.mail(t, ada, "password_changed", began)
	reset(token, "a third horse").reason("TOKEN_EXPIRED")
	s.call("POST", "/auth/login", object{"email": ada, "password": "correct horse"}).is(401, "UNAUTHORIZED")
	s.call("POST", "/auth/login", object{"email": ada, "password": "another horse"}).is(200, "")
	s.refresh(login.str("refreshToken")).is(401, "UNAUTHORIZED")
	require.Equal(t, 401, s.works(login.str("accessToken")))

	t.Log("the link opens a page that posts the new password")
	pages := *s
	pages.url = strings.TrimSuffix(s.url, "/api/v1")
	page := pages.raw("GET", "/password/reset", "", "")
	require.Equal(t, 200, page.status)
	for name, want := range map[string]string{
		"Referrer-Policy": "no-referrer", "Content-Security-Policy": web.Policy, "Content-Type": "text/html; charset=utf-8",
	} {
		require.Equal(t, want, page.header.Get(name))
	}
	require.NotEmpty(t, page.header.Get("X-Ratelimit-Remaining"), "it is counted")
	script := regexp.MustCompile(`src="(/web/[^"]+/reset\.js)"`).FindStringSubmatch(page.body)
	require.Len(t, script, 2)
	require.Contains(t, pages.raw("GET", script[1], "", "").body, `call('POST', '/auth/password/reset', { token`)

	t.Log("a buyer gets a password by it")
	s.buyer("grace@example.org")
	began = time.Now()
	forgot("grace@example.org")
	found := resetLink.FindStringSubmatch(s.mail(t, "grace@example.org", "password_reset", began).Text)
	reset(found[2], "a buyer's horse").is(200, "")
	s.call("POST", "/auth/login", object{"email": "grace@example.org", "password": "a buyer's horse"}).is(200, "")
}
