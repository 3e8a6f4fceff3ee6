package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var confirmLink = regexp.MustCompile(`(http\S+)/email/confirm#token=(\S+)`)

// confirmToken is the token of the link that was mailed to confirm an address.
func (s *shop) confirmToken(email string, after time.Time) string {
	s.t.Helper()
	found := confirmLink.FindStringSubmatch(s.mail(s.t, email, "email_confirmation", after).Text)
	require.Len(s.t, found, 3)
	require.Equal(s.t, strings.TrimSuffix(s.url, "/api/v1"), found[1])
	return found[2]
}

func (s *shop) confirm(token, password string, headers ...string) answer {
	s.t.Helper()
	return s.call("POST", "/auth/email/confirm", with(object{"token": token}, object{"password": password}), headers...)
}

// confirmed is the shop of an organizer who has registered and confirmed the address.
func (s *shop) confirmed(email string) *shop {
	s.t.Helper()
	began := time.Now()
	own := s.register(email)
	s.confirm(s.confirmToken(email, began), "correct horse").is(200, "")
	return own
}

func notProven(a answer) {
	a.t.Helper()
	a.refused(403, "FORBIDDEN", object{"reason": "EMAIL_NOT_PROVEN"})
}

// A stranger who has registered somebody's address can't lock the owner of the
// mailbox out, and is out once the owner has come.
func TestStrangerBeforeTheOwner(t *testing.T) {
	t.Parallel()
	s := open(t)
	const bob = "bob@example.org"
	stranger := s.register(bob)
	notProven(stranger.own("POST", "/auth/2fa/enroll", nil))
	notProven(stranger.own("POST", "/auth/2fa/activate", object{"code": "123456"}))
	stranger.own("GET", "/users/me", nil).is(200, "")
	key := stranger.own("POST", stranger.keys(), object{"name": "Key", "environment": "test"}).is(201, "").str("secret")
	stranger.invite("accomplice@example.org", "admin")
	hook := stranger.own("POST", "/webhooks", object{"url": "https://example.org/hook", "events": []string{"*"}, "name": "Hook"}).is(201, "").str("id")
	s.own("GET", "/organizer/events", nil).is(200, "")
	s.invite(bob, "admin")

	began := time.Now()
	owner := s.buyer(bob)
	s.mail(t, bob, "account_taken", began)
	require.Equal(t, 401, s.works(stranger.token))
	s.call("POST", "/auth/login", object{"email": bob, "password": "correct horse"}).is(401, "UNAUTHORIZED")
	require.Len(t, owner.own("GET", "/users/me", nil).is(200, "").data("organizations"), 2, "the one of the account, and the invitation")

	t.Log("what the stranger has left behind in the organization does nothing")
	own := owner.as(owner.token)
	org := own.own("GET", "/users/me", nil).str("organizations.0.id")
	members := own.own("GET", "/organizer/organizations/"+org+"/members", nil).is(200, "")
	require.Len(t, members.data("items"), 1)
	require.Equal(t, bob, members.str("items.0.email"))
	s.becomes("401", func() string { return fmt.Sprint(s.works(key)) })
	require.Equal(t, "disabled", own.own("GET", "/webhooks?orgId="+org, nil).is(200, "").str("items.0.status"))
	require.Equal(t, hook, own.own("GET", "/webhooks?orgId="+org, nil).str("items.0.id"))

	t.Log("the owner has proven the mailbox, and may enrol")
	owner.own("POST", "/auth/2fa/enroll", nil).is(200, "")
}

// A reset proves the mailbox too, and what was made before it ends; one of a proven
// account leaves the factor on.
func TestResetTakesTheAccount(t *testing.T) {
	t.Parallel()
	s := open(t)
	stranger := s.register(ada)
	_, err := s.pool.Exec(t.Context(), `UPDATE users SET totp_active = true, totp_secret = 'x' WHERE email = $1`, ada) // as the release before allowed
	require.NoError(t, err)
	began := time.Now()
	s.call("POST", "/auth/password/forgot", object{"email": ada}).is(200, "")
	token := resetLink.FindStringSubmatch(s.mail(t, ada, "password_reset", began).Text)[2]
	s.call("POST", "/auth/password/reset", object{"token": token, "password": "another horse"}).is(200, "")
	require.Equal(t, 401, s.works(stranger.token))
	a := s.call("POST", "/auth/login", object{"email": ada, "password": "another horse"}).is(200, "")
	require.NotEmpty(t, a.data("accessToken"), "no factor of the stranger's")
	require.Len(t, a.data("user.organizations"), 1, "an owner who has forgotten the password keeps the organization")
	s.as(a.str("accessToken")).own("POST", "/auth/2fa/enroll", nil).is(200, "")
}

// The link and the password, or a session, together keep everything.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	s := open(t)
	began := time.Now()
	own := s.register(ada)
	other := s.register("bob@example.org")
	key := own.own("POST", own.keys(), object{"name": "Key", "environment": "test"}).is(201, "").str("secret")
	token := s.confirmToken(ada, began)

	t.Log("the link alone, somebody else's session, and a wrong password prove nothing")
	s.call("POST", "/auth/email/confirm", object{"token": token}).reason("PASSWORD_REQUIRED")
	s.call("POST", "/auth/email/confirm", object{"token": token}, other.bearer()...).reason("PASSWORD_REQUIRED")
	s.confirm(token, "wrong horse").is(401, "UNAUTHORIZED")
	s.confirm("x", "correct horse").reason("TOKEN_EXPIRED")
	notProven(own.own("POST", "/auth/2fa/enroll", nil))

	s.call("POST", "/auth/email/confirm", object{"token": token}, own.bearer()...).is(200, "")
	s.confirm(token, "correct horse").reason("TOKEN_EXPIRED")
	own.own("POST", "/auth/2fa/enroll", nil).is(200, "")
	s.call("GET", "/organizer/events", nil, "Authorization", "Bearer "+key).is(200, "")
	a := s.call("POST", "/auth/login", object{"email": ada, "password": "correct horse"}).is(200, "")
	s.as(a.str("accessToken")).own("POST", "/auth/2fa/enroll", nil).is(200, "")
	own.own("POST", "/auth/email/confirmation", nil).is(200, "")
	require.Equal(t, 1, s.kinds(ada)["email_confirmation"], "there is nothing to confirm")

	t.Log("a link that was lost is sent anew, the one before it is dead, and it ends")
	first := s.confirmToken("bob@example.org", began)
	_, err := s.pool.Exec(t.Context(), `UPDATE email_confirmations SET sent = ARRAY[now() - interval '1 minute']`)
	require.NoError(t, err)
	began = time.Now()
	other.own("POST", "/auth/email/confirmation", nil).is(200, "")
	second := s.confirmToken("bob@example.org", began)
	s.confirm(first, "correct horse").reason("TOKEN_EXPIRED")
	_, err = s.pool.Exec(t.Context(), `UPDATE email_confirmations SET expires_at = now()`)
	require.NoError(t, err)
	s.confirm(second, "correct horse").reason("TOKEN_EXPIRED")
	notProven(other.own("POST", "/auth/2fa/enroll", nil))
	pages := *s
	pages.url = strings.TrimSuffix(s.url, "/api/v1")
	require.Contains(t, pages.raw("GET", "/email/confirm", "", "").body, "confirm.js")
}
