package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"

	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/mailqueue"
)

// These are the parameters of one-time codes (RFC 6238) and recovery codes (docs/rules.md, Credentials).
// Authenticator apps expect steps of 30 s, and also six digits and SHA-1, which the calls of the otp packages
// below name. These must not change.
const (
	otpStep       = 30     // seconds
	otpSkew       = 1      // steps that a device's clock may be off by
	otpSecret     = 20     // bytes
	recoveryCount = 10     // codes that a user gets at once
	recoveryBytes = 15     // of randomness in a code, which base32 writes as 24 characters
	recoveryGroup = 6      // characters between two hyphens
	sealOTP       = "totp" // the label under which the secrets are sealed
)

// askFactor answers a right password or login code with a challenge: a token that the client sends back together with
// the second factor. The store keeps the sign-in under the token's hash until then. No session exists yet.
func (h *Handlers) askFactor(c *route.Call, u *accounts.User, in accounts.SignIn) (*api.SignIn, error) {
	token, hash := newToken()
	err := h.Accounts.OpenChallenge(c.Context, hash, in)
	if errors.Is(err, accounts.ErrPasswordChanged) {
		return nil, wrongPassword
	}
	if err != nil {
		return nil, err
	}
	return &api.SignIn{RequiresTwoFactor: true, ChallengeToken: token, Email: u.Email}, nil
}

// verifyTwoFactor checks the answer to a challenge and opens the session. The session belongs to the client that
// answers, which need not be the one that sent the password.
func (h *Handlers) verifyTwoFactor(c *route.Call, in *api.TwoFactorVerify) (*api.Session, error) {
	hash := sha256.Sum256([]byte(in.ChallengeToken))
	// The store counts the try before the code is read, so a client that breaks off the request has used up the
	// try all the same.
	user, err := h.Accounts.TryChallenge(c.Context, hash)
	if err != nil {
		return nil, factorRefusal(err)
	}
	f, err := h.readFactor(c, user, in.Code)
	if err != nil {
		return nil, err
	}
	// The store uses up the challenge and the factor in one transaction, so of two requests with the same code
	// only one opens a session.
	id, err := h.Accounts.PassChallenge(c.Context, hash, f, signInOf(c, user))
	if err != nil {
		return nil, factorRefusal(err)
	}
	u, err := h.Accounts.User(c.Context, user)
	if err != nil {
		return nil, err
	}
	return h.sessionOf(c, u, id)
}

// readFactor reads the second factor that a user sent. It checks a one-time code itself, because that needs the
// sealed secret. It only hashes a recovery code: the store looks the hash up when it uses the code up.
func (h *Handlers) readFactor(c *route.Call, user int64, code string) (accounts.Factor, error) {
	// People copy recovery codes with their hyphens, or without, and in either case.
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	// A text of codeDigits characters is a one-time code, and any other text a recovery code.
	if len(code) != codeDigits {
		sum := sha256.Sum256([]byte(code))
		return accounts.Factor{Recovery: sum[:]}, nil
	}
	// Guess counts the try before the code is checked. Without this count somebody could try all codes of six
	// digits.
	sealed, err := h.Accounts.Guess(c.Context, user)
	if err != nil {
		return accounts.Factor{}, factorRefusal(err)
	}
	step, ok, err := h.checkOTP(user, sealed, code, c.Now)
	if err == nil && !ok {
		err = codeInvalid
	}
	return accounts.Factor{Step: step}, err
}

// factorRefusal translates the store's errors into refusals. A nil error stays nil, so callers may
// pass on whatever the store returned.
func factorRefusal(err error) error {
	switch {
	case errors.Is(err, accounts.ErrCodeInvalid):
		return codeInvalid
	// Both mean that the sign-in has to start again: the client shows the password form.
	case errors.Is(err, accounts.ErrChallengeOver), errors.Is(err, accounts.ErrPasswordChanged):
		return &engine.Refusal{Code: engine.Unauthorized, Message: "Sign in again.", Details: route.Reason{Reason: "CHALLENGE_EXPIRED"}}
	case errors.Is(err, accounts.ErrGuesses):
		return &engine.Refusal{Code: engine.RateLimited, Message: "Too many wrong codes; wait, or use a recovery code.", Retry: int(accounts.GuessTime / time.Second)}
	case errors.Is(err, accounts.ErrUnproven):
		return route.EmailNotProven
	case errors.Is(err, accounts.ErrTwoFactor):
		return &engine.Refusal{Code: engine.Conflict, Message: "Two-factor authentication is not in a state for that."}
	}
	return err
}

// checkOTP finds the time step near now that a one-time code belongs to. The store remembers the
// step, so that the same code cannot be used a second time.
func (h *Handlers) checkOTP(user int64, sealed []byte, code string, now time.Time) (step int64, ok bool, err error) {
	secret, err := h.Secrets.Open(sealOTP, otpContext(user), sealed)
	if err != nil {
		return 0, false, err
	}
	// A device's clock may be slow or fast, so the codes of the steps before and after the current one are valid
	// too.
	current := now.Unix() / otpStep
	for step := current - otpSkew; step <= current+otpSkew; step++ {
		want, err := hotp.GenerateCodeCustom(string(secret), uint64(step), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err != nil {
			return 0, false, fmt.Errorf("one-time code: %w", err)
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return step, true, nil
		}
	}
	return 0, false, nil
}

// otpContext binds a sealed secret to its user: it cannot be opened after it was copied into another user's row.
func otpContext(user int64) []byte { return strconv.AppendInt(nil, user, 10) }

// enrollTwoFactor draws a secret for one-time codes and stores it sealed. Sign-ins do not ask for
// codes yet: activateTwoFactor switches that on, once a first code has shown that the app has the
// secret.
func (h *Handlers) enrollTwoFactor(c *route.Call, _ *route.None) (*api.TwoFactorSecret, error) {
	// If a stranger has registered the address, its owner could never pass the stranger's second
	// factor. So the mailbox must be proven first.
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: "Boxoffice", AccountName: c.Principal.Email, Period: otpStep, SecretSize: otpSecret,
		Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1,
	})
	if err != nil {
		return nil, fmt.Errorf("one-time code secret: %w", err)
	}
	user := c.Principal.User
	if err := h.Accounts.Enroll(c.Context, user, h.Secrets.Seal(sealOTP, otpContext(user), []byte(key.Secret()))); err != nil {
		return nil, factorRefusal(err)
	}
	return &api.TwoFactorSecret{Secret: key.Secret(), OTPAuthURL: key.URL()}, nil
}

// activateTwoFactor switches the second factor on after a first right code. Only this answer ever
// has the recovery codes, because the store keeps only their hashes. A mail tells the owner of the change.
// It refuses if the address is not proven, if nothing was enrolled, or if the factor is on already.
func (h *Handlers) activateTwoFactor(c *route.Call, in *api.TwoFactorCode) (*api.RecoveryCodes, error) {
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	user := c.Principal.User
	sealed, err := h.Accounts.Enrolled(c.Context, user)
	if err != nil {
		return nil, err
	}
	// Nothing was enrolled, or the factor is active already.
	if sealed == nil {
		return nil, factorRefusal(accounts.ErrTwoFactor)
	}
	step, ok, err := h.checkOTP(user, sealed, in.Code, c.Now)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, codeInvalid
	}
	codes, hashes := newRecoveryCodes()
	// The store compares the sealed secret once more: another request may have enrolled a different
	// one since it was read.
	if err := h.Accounts.Activate(c.Context, user, sealed, step, hashes); err != nil {
		return nil, factorRefusal(err)
	}
	h.factorChanged(c, true)
	return &api.RecoveryCodes{RecoveryCodes: codes}, nil
}

// disableTwoFactor switches the second factor off. It asks for a code, as a sign-in does, so that a
// stolen session is not enough to remove the factor.
func (h *Handlers) disableTwoFactor(c *route.Call, in *api.TwoFactorCode) (*api.TwoFactorState, error) {
	f, err := h.readFactor(c, c.Principal.User, in.Code)
	if err != nil {
		return nil, err
	}
	if err := h.Accounts.Disable(c.Context, c.Principal.User, f); err != nil {
		return nil, factorRefusal(err)
	}
	h.factorChanged(c, false)
	return &api.TwoFactorState{TwoFactorEnabled: false}, nil
}

// factorChanged makes this node check the user's sessions again, each at its next request. It also tells the
// user of the change by mail, because somebody else may have made it.
func (h *Handlers) factorChanged(c *route.Call, on bool) {
	h.forgetProofs(route.UserSubject(c.Principal.User))
	h.notify(c.Context, mailqueue.Mail{Template: mailqueue.TwoFactorChanged, Language: letters.PreferredLanguage(c), To: c.Principal.Email, On: on})
}

// newRecoveryCodes draws codes in the form that people write down, in groups with hyphens. The hashes are of the
// codes without hyphens, because readFactor removes hyphens before it hashes.
func newRecoveryCodes() (codes []string, hashes [][]byte) {
	for range recoveryCount {
		var b [recoveryBytes]byte
		_, _ = rand.Read(b[:]) // never fails
		code := base32.StdEncoding.EncodeToString(b[:])
		sum := sha256.Sum256([]byte(code))
		hashes = append(hashes, sum[:])
		var groups []string
		for i := 0; i < len(code); i += recoveryGroup {
			groups = append(groups, code[i:i+recoveryGroup])
		}
		codes = append(codes, strings.Join(groups, "-"))
	}
	return codes, hashes
}
