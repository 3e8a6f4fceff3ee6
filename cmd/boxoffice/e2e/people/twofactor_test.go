package people

import (
	"encoding/base32"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// steady is a moment of which a request is answered in the same step.
func steady() time.Time {
	now := time.Now()
	if rest := 30*time.Second - now.Sub(now.Truncate(30*time.Second)); rest < 5*time.Second {
		<-time.After(rest)
	}
	return time.Now()
}

// protected is the shop of an organizer with a second factor, whose code of the
// moment is used up; recovery are the codes for when the device is lost.
func protected(s *nodetest.Shop, email string) (own *nodetest.Shop, device nodetest.Authenticator, recovery []string) {
	s.T.Helper()
	own = confirmed(s, email)
	a := own.Own("POST", "/auth/2fa/enroll", nil).Is(200, "")
	require.Equal(s.T, nodetest.Words("secret otpauthUrl"), a.Keys(""))
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(a.Str("secret"))
	require.NoError(s.T, err)
	require.Len(s.T, secret, 20)
	u, err := url.Parse(a.Str("otpauthUrl"))
	require.NoError(s.T, err)
	require.Equal(s.T, "otpauth://totp", u.Scheme+"://"+u.Host)
	require.Equal(s.T, "/Boxoffice:"+email, u.Path)
	require.Equal(s.T, a.Str("secret"), u.Query().Get("secret"))
	device = nodetest.Authenticator{Secret: secret, Activated: steady()}
	a = own.Own("POST", "/auth/2fa/activate", nodetest.Object{"code": device.Code(device.Activated, 0)}).Is(200, "")
	for _, c := range a.Data("recoveryCodes").([]any) {
		recovery = append(recovery, c.(string))
	}
	require.Len(s.T, recovery, 10)
	return own, device, recovery
}

// openChallenge logs in as far as the second factor.
func openChallenge(s *nodetest.Shop, email string) string {
	s.T.Helper()
	a := s.Call("POST", "/auth/login", nodetest.Object{"email": email, "password": "correct horse"}).Is(200, "")
	require.Equal(s.T, nodetest.Words("requires2fa challengeToken email"), a.Keys(""))
	require.Equal(s.T, true, a.Data("requires2fa"))
	require.Equal(s.T, email, a.Str("email"))
	return a.Str("challengeToken")
}

// unused lets the code of the moment be used again, and forgets wrong ones.
func unused(s *nodetest.Shop) {
	s.T.Helper()
	_, err := s.Pool().Exec(s.T.Context(), `UPDATE users SET totp_step = 0, totp_wrong = 0`)
	require.NoError(s.T, err)
}

const ada = "ada@example.org"

func TestTwoFactor(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	before := time.Now()
	own, device, recovery := protected(s, ada)
	s.Mail(t, ada, "two_factor_changed", before)
	for _, c := range recovery {
		require.Regexp(t, regexp.MustCompile(`^([A-Z2-7]{6}-){3}[A-Z2-7]{6}$`), c)
	}
	own.Own("POST", "/auth/2fa/enroll", nil).Is(409, "CONFLICT")
	own.Own("POST", "/auth/2fa/activate", nodetest.Object{"code": "123456"}).Is(409, "CONFLICT")

	t.Log("the code that activated is used up; the next one signs in, once")
	now := steady()
	challenge := openChallenge(s, ada)
	reason(s.Answer2FA(challenge, device.Code(device.Activated, 0)), "CODE_INVALID")
	a := s.Answer2FA(challenge, device.Code(now, 1)).Is(200, "")
	require.Equal(t, nodetest.Words("user accessToken refreshToken expiresIn"), a.Keys(""))
	s.Call("GET", "/organizer/events", nil, "Authorization", "Bearer "+a.Str("accessToken")).Is(200, "")
	s.Call("POST", "/auth/refresh", nodetest.Object{"refreshToken": a.Str("refreshToken")}).Is(200, "")
	reason(s.Answer2FA(challenge, recovery[0]), "CHALLENGE_EXPIRED")
	reason(s.Answer2FA(openChallenge(s, ada), device.Code(now, 1)), "CODE_INVALID")

	t.Log("a challenge is no credential")
	challenge = openChallenge(s, ada)
	s.Call("GET", "/organizer/events", nil, "Authorization", "Bearer "+challenge).Is(401, "UNAUTHORIZED")
	s.Call("POST", "/auth/refresh", nodetest.Object{"refreshToken": challenge}).Is(401, "UNAUTHORIZED")
	reason(s.Answer2FA(a.Str("refreshToken"), recovery[0]), "CHALLENGE_EXPIRED")

	t.Log("a recovery code, however it is typed, once")
	s.Answer2FA(challenge, strings.ToLower(strings.ReplaceAll(recovery[0], "-", " "))).Is(200, "")
	reason(s.Answer2FA(openChallenge(s, ada), recovery[0]), "CODE_INVALID")

	t.Log("the mailbox alone does not sign in either")
	exchanged := s.Exchange(ada, s.LoginCode(ada, "")).Is(200, "")
	require.Equal(t, nodetest.Words("requires2fa challengeToken email"), exchanged.Keys(""))
	s.Answer2FA(exchanged.Str("challengeToken"), recovery[1]).Is(200, "")

	t.Log("off, with a code")
	reason(own.Own("DELETE", "/auth/2fa", nodetest.Object{"code": recovery[1]}), "CODE_INVALID")
	own.Own("DELETE", "/auth/2fa", nodetest.Object{"code": recovery[2]}).Is(200, "")
	require.Equal(t, nodetest.Words("user accessToken refreshToken expiresIn"), s.Call("POST", "/auth/login", nodetest.Object{"email": ada, "password": "correct horse"}).Is(200, "").Keys(""))
	own.Own("DELETE", "/auth/2fa", nodetest.Object{"code": "123456"}).Is(409, "CONFLICT")
	reason(own.Own("DELETE", "/auth/2fa", nodetest.Object{"code": recovery[3]}), "CODE_INVALID")

	for _, f := range []field{{"code", nodetest.Absent, "", "required"}, {"code", "12345", "", "min_length"}, {"code", nodetest.Text(41), "", "max_length"}} {
		own.Own("POST", "/auth/2fa/activate", nodetest.With(nodetest.Object{}, nodetest.Object{f.name: f.value})).Invalid(f.name, f.code)
	}
	own.Own("POST", "/auth/2fa/activate", nodetest.Object{"code": "123456"}).Is(409, "CONFLICT")
}

// A device's clock may be off by one step of 30 s, no more.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, device, _ := protected(s, ada)
	for _, steps := range []int{-3, -2, -1, 0, 1, 2, 3} {
		unused(s)
		challenge := openChallenge(s, ada)
		a := s.Answer2FA(challenge, device.Code(steady(), steps))
		if steps >= -1 && steps <= 1 {
			a.Is(200, "")
		} else {
			reason(a, "CODE_INVALID")
		}
	}
	t.Log("a code of a step before one that was used is used too")
	unused(s)
	now := steady()
	s.Answer2FA(openChallenge(s, ada), device.Code(now, 1)).Is(200, "")
	reason(s.Answer2FA(openChallenge(s, ada), device.Code(now, 0)), "CODE_INVALID")
	reason(s.Answer2FA(openChallenge(s, ada), device.Code(now, -1)), "CODE_INVALID")
}

func TestTwoFactorGuesses(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	own, device, recovery := protected(s, ada)
	wrong := func() string { return nodetest.Other(device.Code(time.Now(), 0)) }
	t.Log("five tries of a challenge")
	unused(s)
	challenge := openChallenge(s, ada)
	for range 5 {
		reason(s.Answer2FA(challenge, wrong()), "CODE_INVALID")
	}
	reason(s.Answer2FA(challenge, device.Code(steady(), 0)), "CHALLENGE_EXPIRED")

	t.Log("ten of a user, in an hour, over whichever challenges")
	challenge = openChallenge(s, ada)
	for range 5 {
		reason(s.Answer2FA(challenge, wrong()), "CODE_INVALID")
	}
	challenge = openChallenge(s, ada)
	s.Answer2FA(challenge, device.Code(steady(), 0)).Is(429, "RATE_LIMITED")
	own.Own("DELETE", "/auth/2fa", nodetest.Object{"code": wrong()}).Is(429, "RATE_LIMITED")
	s.Answer2FA(challenge, recovery[0]).Is(200, "")

	t.Log("five minutes")
	unused(s)
	challenge = openChallenge(s, ada)
	_, err := s.Pool().Exec(t.Context(), `UPDATE challenges SET expires_at = expires_at - interval '5 minutes'`)
	require.NoError(t, err)
	reason(s.Answer2FA(challenge, device.Code(steady(), 0)), "CHALLENGE_EXPIRED")

	t.Log("one code, several challenges, at once")
	unused(s)
	challenges := make([]string, 4)
	for i := range challenges {
		challenges[i] = openChallenge(s, ada)
	}
	code, statuses := device.Code(steady(), 0), make([]int, len(challenges))
	var wg sync.WaitGroup
	for i := range challenges {
		wg.Go(func() { statuses[i] = s.Answer2FA(challenges[i], code).Status })
	}
	wg.Wait()
	require.ElementsMatch(t, []int{200, 401, 401, 401}, statuses)
}
