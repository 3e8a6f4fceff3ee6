package people

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// confirmed is the shop of an organizer who has registered and confirmed the address.
func confirmed(s *nodetest.Shop, email string) *nodetest.Shop {
	s.T.Helper()
	began := time.Now()
	own := s.Register(email)
	s.Confirm(s.ConfirmToken(email, began), "correct horse").Is(200, "")
	return own
}

func notProven(a nodetest.Answer) {
	a.T.Helper()
	a.Refused(403, "FORBIDDEN", nodetest.Object{"reason": "EMAIL_NOT_PROVEN"})
}

// A stranger who has registered somebody's address can't lock the owner of the
// mailbox out, and is out once the owner has come.
func TestStrangerBeforeTheOwner(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const bob = "bob@example.org"
	stranger := s.Register(bob)
	notProven(stranger.Own("POST", "/auth/2fa/enroll", nil))
	notProven(stranger.Own("POST", "/auth/2fa/activate", nodetest.Object{"code": "123456"}))
	stranger.Own("GET", "/users/me", nil).Is(200, "")
	key := stranger.Own("POST", stranger.Keys(), nodetest.Object{"name": "Key", "environment": "test"}).Is(201, "").Str("secret")
	stranger.Invite("accomplice@example.org", "admin")
	hook := stranger.Own("POST", "/webhooks", nodetest.Object{"url": "https://example.org/hook", "events": []string{"*"}, "name": "Hook"}).Is(201, "").Str("id")
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	s.Invite(bob, "admin")

	began := time.Now()
	owner := s.Buyer(bob)
	s.Mail(t, bob, "account_taken", began)
	require.Equal(t, 401, s.Works(stranger.Token))
	s.Call("POST", "/auth/login", nodetest.Object{"email": bob, "password": "correct horse"}).Is(401, "UNAUTHORIZED")
	require.Len(t, owner.Own("GET", "/users/me", nil).Is(200, "").Data("organizations"), 2, "the one of the account, and the invitation")

	t.Log("what the stranger has left behind in the organization does nothing")
	own := owner.As(owner.Token)
	org := own.Own("GET", "/users/me", nil).Str("organizations.0.id")
	members := own.Own("GET", "/organizer/organizations/"+org+"/members", nil).Is(200, "")
	require.Len(t, members.Data("items"), 1)
	require.Equal(t, bob, members.Str("items.0.email"))
	s.Becomes("401", func() string { return fmt.Sprint(s.Works(key)) })
	require.Equal(t, "disabled", own.Own("GET", "/webhooks?orgId="+org, nil).Is(200, "").Str("items.0.status"))
	require.Equal(t, hook, own.Own("GET", "/webhooks?orgId="+org, nil).Str("items.0.id"))

	t.Log("the owner has proven the mailbox, and may enrol")
	owner.Own("POST", "/auth/2fa/enroll", nil).Is(200, "")
}

// A reset proves the mailbox too, and what was made before it ends; one of a proven
// account leaves the factor on.
func TestResetTakesTheAccount(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	stranger := s.Register(ada)
	_, err := s.Pool().Exec(t.Context(), `UPDATE users SET totp_active = true, totp_secret = 'x' WHERE email = $1`, ada) // as the release before allowed
	require.NoError(t, err)
	began := time.Now()
	s.Call("POST", "/auth/password/forgot", nodetest.Object{"email": ada}).Is(200, "")
	token := resetLink.FindStringSubmatch(s.Mail(t, ada, "password_reset", began).Text)[2]
	s.Call("POST", "/auth/password/reset", nodetest.Object{"token": token, "password": "another horse"}).Is(200, "")
	require.Equal(t, 401, s.Works(stranger.Token))
	a := s.Call("POST", "/auth/login", nodetest.Object{"email": ada, "password": "another horse"}).Is(200, "")
	require.NotEmpty(t, a.Data("accessToken"), "no factor of the stranger's")
	require.Len(t, a.Data("user.organizations"), 1, "an owner who has forgotten the password keeps the organization")
	s.As(a.Str("accessToken")).Own("POST", "/auth/2fa/enroll", nil).Is(200, "")
}

// The link and the password, or a session, together keep everything.
func TestConfirmation(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	began := time.Now()
	own := s.Register(ada)
	other := s.Register("bob@example.org")
	key := own.Own("POST", own.Keys(), nodetest.Object{"name": "Key", "environment": "test"}).Is(201, "").Str("secret")
	token := s.ConfirmToken(ada, began)

	t.Log("the link alone, somebody else's session, and a wrong password prove nothing")
	reason(s.Call("POST", "/auth/email/confirm", nodetest.Object{"token": token}), "PASSWORD_REQUIRED")
	reason(s.Call("POST", "/auth/email/confirm", nodetest.Object{"token": token}, other.Bearer()...), "PASSWORD_REQUIRED")
	s.Confirm(token, "wrong horse").Is(401, "UNAUTHORIZED")
	reason(s.Confirm("x", "correct horse"), "TOKEN_EXPIRED")
	notProven(own.Own("POST", "/auth/2fa/enroll", nil))

	s.Call("POST", "/auth/email/confirm", nodetest.Object{"token": token}, own.Bearer()...).Is(200, "")
	reason(s.Confirm(token, "correct horse"), "TOKEN_EXPIRED")
	own.Own("POST", "/auth/2fa/enroll", nil).Is(200, "")
	s.Call("GET", "/organizer/events", nil, "Authorization", "Bearer "+key).Is(200, "")
	a := s.Call("POST", "/auth/login", nodetest.Object{"email": ada, "password": "correct horse"}).Is(200, "")
	s.As(a.Str("accessToken")).Own("POST", "/auth/2fa/enroll", nil).Is(200, "")
	own.Own("POST", "/auth/email/confirmation", nil).Is(200, "")
	require.Equal(t, 1, s.MailCounts(ada)["email_confirmation"], "there is nothing to confirm")

	t.Log("a link that was lost is sent anew, the one before it is dead, and it ends")
	first := s.ConfirmToken("bob@example.org", began)
	_, err := s.Pool().Exec(t.Context(), `UPDATE email_confirmations SET sent = ARRAY[now() - interval '1 minute']`)
	require.NoError(t, err)
	began = time.Now()
	other.Own("POST", "/auth/email/confirmation", nil).Is(200, "")
	second := s.ConfirmToken("bob@example.org", began)
	reason(s.Confirm(first, "correct horse"), "TOKEN_EXPIRED")
	_, err = s.Pool().Exec(t.Context(), `UPDATE email_confirmations SET expires_at = now()`)
	require.NoError(t, err)
	reason(s.Confirm(second, "correct horse"), "TOKEN_EXPIRED")
	notProven(other.Own("POST", "/auth/2fa/enroll", nil))
	pages := *s
	pages.URL = strings.TrimSuffix(s.URL, "/api/v1")
	require.Contains(t, pages.Raw("GET", "/email/confirm", "", "").Body, `data-path="/auth/email/confirm"`)
}
