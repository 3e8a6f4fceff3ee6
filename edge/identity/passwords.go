package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"boxoffice/edge/api"
	"boxoffice/edge/hasher"
	"boxoffice/edge/letters"
	"boxoffice/edge/route"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
)

// argonSalt is the length of a password's salt in bytes.
const argonSalt = 16

// hash returns the form in which a password is stored: $argon2id$<salt>$<key>, both in base64. It waits until
// the hasher has a free place, and refuses with OVERLOADED if too many hashes wait already.
func (h *Handlers) hash(ctx context.Context, password string) (string, error) {
	var salt [argonSalt]byte
	_, _ = rand.Read(salt[:]) // never fails
	key, err := h.Hasher.Key(ctx, password, salt[:])
	if err != nil {
		return "", err
	}
	return encodeHash(salt[:], key), nil
}

// encodeHash writes a salt and the key that argon2 made with it in the stored form. argon2's
// parameters are not in it: they are the same for all passwords.
func encodeHash(salt, key []byte) string {
	return "$argon2id$" + base64.RawStdEncoding.EncodeToString(salt) + "$" + base64.RawStdEncoding.EncodeToString(key)
}

// noHash makes a hash to compare with if there is no account or it has no password. The comparison always
// fails, because no password has a key of zeros. How long argon2 takes depends a little on the salt, through
// its memory accesses. So each address has a salt that never changes, as the password of a real account has.
func (h *Handlers) noHash(email string) string {
	return encodeHash(h.Secrets.Salt(email), make([]byte, hasher.KeySize))
}

// matches reports whether a password belongs to a stored hash. It takes as long for a wrong password as for the
// right one.
func (h *Handlers) matches(ctx context.Context, hash, password string) (bool, error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 4 || parts[1] != "argon2id" {
		return false, errors.New("auth: a stored password hash is malformed")
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[2])
	want, err2 := base64.RawStdEncoding.DecodeString(parts[3])
	if err := errors.Join(err1, err2); err != nil {
		return false, fmt.Errorf("auth: a stored password hash is malformed: %w", err)
	}
	got, err := h.Hasher.Key(ctx, password, salt)
	// The comparison runs in constant time, so that its duration tells nothing about how much of
	// the key was right.
	return err == nil && subtle.ConstantTimeCompare(got, want) == 1, err
}

// forgotPassword queues a mail and answers. The mail queue looks up whether the address has an account only when
// it writes the mail, so the answer takes equally long for every address.
func (h *Handlers) forgotPassword(c *route.Call, in *api.ForgotPassword) (*api.Sent, error) {
	if err := h.Mail.Add(c.Context, mailqueue.Mail{Template: mailqueue.PasswordReset, Language: letters.PreferredLanguage(c), To: order.NormalEmail(in.Email)}); err != nil {
		return nil, err
	}
	return &api.Sent{Sent: true}, nil
}

// resetPassword sets the password of the account that a mailed link belongs to. The link is looked
// up twice: before the slow hash, so that a guessed token is cheap to refuse, and again when it is
// used up, because another request may have used it in between.
func (h *Handlers) resetPassword(c *route.Call, in *api.ResetPassword) (*api.PasswordSet, error) {
	// The table has only the hash of the token, so somebody who can read the table cannot use the links.
	hash := sha256.Sum256([]byte(in.Token))
	stands, err := h.Accounts.ResetStands(c.Context, hash)
	if err != nil {
		return nil, err
	}
	if !stands {
		return nil, linkOver // a guessed token must not cost us a hash
	}
	password, err := h.hash(c.Context, in.Password)
	if err != nil {
		return nil, err
	}
	u, taken, err := h.Accounts.ResetPassword(c.Context, hash, password)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, linkOver
	}
	// All sessions of the account have ended in the store. This node must not trust them any
	// longer.
	h.forgetProofs(route.UserSubject(u.ID))
	if taken {
		h.accountTaken(c, u)
	}
	h.notify(c.Context, mailqueue.Mail{Template: mailqueue.PasswordChanged, Language: letters.PreferredLanguage(c), To: u.Email, Name: u.Name()})
	return &api.PasswordSet{PasswordSet: true}, nil
}

// notify queues a mail about something that has already been done. An error is only logged, because what was
// done stays done whether or not the mail can be queued.
func (h *Handlers) notify(ctx context.Context, l mailqueue.Mail) {
	if err := h.Mail.Add(ctx, l); err != nil {
		h.Log.WarnContext(ctx, "a notice was not sent", slog.String("mail", string(l.Template)), slog.Any("error", err))
	}
}

// newToken draws a token of 256 random bits, too many to guess. It also returns the hash under which the token
// is stored.
func newToken() (token string, hash [32]byte) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(b[:])
	return token, sha256.Sum256([]byte(token))
}
