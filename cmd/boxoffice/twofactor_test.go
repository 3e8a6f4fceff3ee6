package main

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authenticator is a person's device: RFC 6238, as it stands there.
type authenticator struct {
	secret    []byte
	activated time.Time // by the code of this moment, which is used up
}

func (a authenticator) code(at time.Time, steps int) string {
	mac := hmac.New(sha1.New, a.secret)
	_ = binary.Write(mac, binary.BigEndian, at.Unix()/30+int64(steps))
	sum := mac.Sum(nil)
	n := binary.BigEndian.Uint32(sum[sum[19]&0xf:]) & 0x7fffffff
	return fmt.Sprintf("%06d", n%1_000_000)
}

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
func (s *shop) protected(email string) (own *shop, device authenticator, recovery []string) {
	s.t.Helper()
	own = s.confirmed(email)
	a := own.own("POST", "/auth/2fa/enroll", nil).is(200, "")
	require.Equal(s.t, words("secret otpauthUrl"), a.keys(""))
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(a.str("secret"))
	require.NoError(s.t, err)
	require.Len(s.t, secret, 20)
	u, err := url.Parse(a.str("otpauthUrl"))
	require.NoError(s.t, err)
	require.Equal(s.t, "otpauth://totp", u.Scheme+"://"+u.Host)
	require.Equal(s.t, "/Boxoffice:"+email, u.Path)
	require.Equal(s.t, a.str("secret"), u.Query().Get("secret"))
	device = authenticator{secret: secret, activated: steady()}
	a = own.own("POST", "/auth/2fa/activate", object{"code": device.code(device.activated, 0)}).is(200, "")
	for _, c := range a.data("recoveryCodes").([]any) {
		recovery = append(recovery, c.(string))
	}
	require.Len(s.t, recovery, 10)
	return own, device, recovery
}

// challenge logs in as far as the second factor.
func (s *shop) challenge(email string) string {
	s.t.Helper()
	a := s.call("POST", "/auth/login", object{"email": email, "password": "correct horse"}).is(200, "")
	require.Equal(s.t, words("requires2fa challengeToken email"), a.keys(""))
	require.Equal(s.t, true, a.data("requires2fa"))
	require.Equal(s.t, email, a.str("email"))
	return a.str("challengeToken")
}

func (s *shop) answer2FA(challenge, code string) answer {
	s.t.Helper()
	return s.call("POST", "/auth/2fa-verify", object{"challengeToken": challenge, "code": code})
}

// unused lets the code of the moment be used again, and forgets wrong ones.
func (s *shop) unused() {
	s.t.Helper()
	_, err := s.pool.Exec(s.t.Context(), `UPDATE users SET totp_step = 0, totp_wrong = 0`)
	require.NoError(s.t, err)
}

const ada = "ada@example.org"

func TestTwoFactor(t *testing.T) {
	t.Parallel()
	s := open(t)
	before := time.Now()
	own, device, recovery := s.protected(ada)
	s.mail(t, ada, "two_factor_changed", before)
	for _, c := range recovery {
		require.Regexp(t, regexp.MustCompile(`^([A-Z2-7]{6}-){3}[A-Z2-7]{6}$`), c)
	}
	own.own("POST", "/auth/2fa/enroll", nil).is(409, "CONFLICT")
	own.own("POST", "/auth/2fa/activate", object{"code": "123456"}).is(409, "CONFLICT")

	t.Log("the code that activated is used up; the next one signs in, once")
	now := steady()
	challenge := s.challenge(ada)
	s.answer2FA(challenge, device.code(device.activated, 0)).reason("CODE_INVALID")
	a := s.answer2FA(challenge, device.code(now, 1)).is(200, "")
	require.Equal(t, words("user accessToken refreshToken expiresIn"), a.keys(""))
	s.call("GET", "/organizer/events", nil, "Authorization", "Bearer "+a.str("accessToken")).is(200, "")
	s.call("POST", "/auth/refresh", object{"refreshToken": a.str("refreshToken")}).is(200, "")
	s.answer2FA(challenge, recovery[0]).reason("CHALLENGE_EXPIRED")
	s.answer2FA(s.challenge(ada), device.code(now, 1)).reason("CODE_INVALID")

	t.Log("a challenge is no credential")
	challenge = s.challenge(ada)
	s.call("GET", "/organizer/events", nil, "Authorization", "Bearer "+challenge).is(401, "UNAUTHORIZED")
	s.call("POST", "/auth/refresh", object{"refreshToken": challenge}).is(401, "UNAUTHORIZED")
	s.answer2FA(a.str("refreshToken"), recovery[0]).reason("CHALLENGE_EXPIRED")

	t.Log("a recovery code, however it is typed, once")
	s.answer2FA(challenge, strings.ToLower(strings.ReplaceAll(recovery[0], "-", " "))).is(200, "")
	s.answer2FA(s.challenge(ada), recovery[0]).reason("CODE_INVALID")

	t.Log("the mailbox alone does not sign in either")
	exchanged := s.exchange(ada, s.loginCode(ada, "")).is(200, "")
	require.Equal(t, words("requires2fa challengeToken email"), exchanged.keys(""))
	s.answer2FA(exchanged.str("challengeToken"), recovery[1]).is(200, "")

	t.Log("off, with a code")
	own.own("DELETE", "/auth/2fa", object{"code": recovery[1]}).reason("CODE_INVALID")
	own.own("DELETE", "/auth/2fa", object{"code": recovery[2]}).is(200, "")
	require.Equal(t, words("user accessToken refreshToken expiresIn"), s.call("POST", "/auth/login", object{"email": ada, "password": "correct horse"}).is(200, "").keys(""))
	own.own("DELETE", "/auth/2fa", object{"code": "123456"}).is(409, "CONFLICT")
	own.own("DELETE", "/auth/2fa", object{"code": recovery[3]}).reason("CODE_INVALID")

	for _, f := range []field{{"code", absent, "", "required"}, {"code", "12345", "", "min_length"}, {"code", text(41), "", "max_length"}} {
		own.own("POST", "/auth/2fa/activate", with(object{}, object{f.name: f.value})).invalid(f.name, f.code)
	}
	own.own("POST", "/auth/2fa/activate", object{"code": "123456"}).is(409, "CONFLICT")
}

// A device's clock may be off by one step of 30 s, no more.
func TestClockSkew(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, device, _ := s.protected(ada)
	for _, steps := range []int{-3, -2, -1, 0, 1, 2, 3} {
		s.unused()
		challenge := s.challenge(ada)
		a := s.answer2FA(challenge, device.code(steady(), steps))
		if steps >= -1 && steps <= 1 {
			a.is(200, "")
		} else {
			a.reason("CODE_INVALID")
		}
	}
	t.Log("a code of a step before one that was used is used too")
	s.unused()
	now := steady()
	s.answer2FA(s.challenge(ada), device.code(now, 1)).is(200, "")
	s.answer2FA(s.challenge(ada), device.code(now, 0)).reason("CODE_INVALID")
	s.answer2FA(s.challenge(ada), device.code(now, -1)).reason("CODE_INVALID")
}

func TestTwoFactorGuesses(t *testing.T) {
	t.Parallel()
	s := open(t)
	own, device, recovery := s.protected(ada)
	wrong := func() string { return other(device.code(time.Now(), 0)) }
	t.Log("five tries of a challenge")
	s.unused()
	challenge := s.challenge(ada)
	for range 5 {
		s.answer2FA(challenge, wrong()).reason("CODE_INVALID")
	}
	s.answer2FA(challenge, device.code(steady(), 0)).reason("CHALLENGE_EXPIRED")

	t.Log("ten of a user, in an hour, over whichever challenges")
	challenge = s.challenge(ada)
	for range 5 {
		s.answer2FA(challenge, wrong()).reason("CODE_INVALID")
	}
	challenge = s.challenge(ada)
	s.answer2FA(challenge, device.code(steady(), 0)).is(429, "RATE_LIMITED")
	own.own("DELETE", "/auth/2fa", object{"code": wrong()}).is(429, "RATE_LIMITED")
	s.answer2FA(challenge, recovery[0]).is(200, "")

	t.Log("five minutes")
	s.unused()
	challenge = s.challenge(ada)
	_, err := s.pool.Exec(t.Context(), `UPDATE challenges SET expires_at = expires_at - interval '5 minutes'`)
	require.NoError(t, err)
	s.answer2FA(challenge, device.code(steady(), 0)).reason("CHALLENGE_EXPIRED")

	t.Log("one code, several challenges, at once")
	s.unused()
	challenges := make([]string, 4)
	for i := range challenges {
		challenges[i] = s.challenge(ada)
	}
	code, statuses := device.code(steady(), 0), make([]int, len(challenges))
	var wg sync.WaitGroup
	for i := range challenges {
		wg.Go(func() { statuses[i] = s.answer2FA(challenges[i], code).status })
	}
	wg.Wait()
	require.ElementsMatch(t, []int{200, 401, 401, 401}, statuses)
}
