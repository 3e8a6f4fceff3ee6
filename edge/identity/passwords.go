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
	"boxoffice/edge/route"
	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
)

// argonSalt is the length of a salt in bytes.
const argonSalt = 16

// hash is the stored form of a password: $argon2id$<salt>$<key>.
func (h *Handlers) hash(ctx context.Context, password string) (string, error) {
	var salt [argonSalt]byte
	_, _ = rand.Read(salt[:]) // never fails
	key, err := h.Hasher.Key(ctx, password, salt[:])
	if err != nil {
		return "", err
	}
	return stored(salt[:], key), nil
}

func stored(salt, key []byte) string {
	return "$argon2id$" + base64.RawStdEncoding.EncodeToString(salt) + "$" + base64.RawStdEncoding.EncodeToString(key)
}

// noHash is matched, in vain, where there is no password. How long argon2 takes
// depends a little on the salt (its memory accesses do), so each address has a
// salt of its own, as an account would.
func (h *Handlers) noHash(email string) string {
	return stored(h.Secrets.Salt(email), make([]byte, hasher.KeySize))
}

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
	return err == nil && subtle.ConstantTimeCompare(got, want) == 1, err
}

// forgotPassword takes the address down and answers: who has an account is found
// out when the mail is written, so that the answer takes as long for everybody.
func (h *Handlers) forgotPassword(c *route.Call, in *api.ForgotPassword) (*api.Sent, error) {
	if err := h.Mail.Add(c.Context, mailqueue.Mail{Template: mailqueue.PasswordReset, To: order.NormalEmail(in.Email)}); err != nil {
		return nil, err
	}
	return &api.Sent{Sent: true}, nil
}

func (h *Handlers) resetPassword(c *route.Call, in *api.ResetPassword) (*api.PasswordSet, error) {
	hash := sha256.Sum256([]byte(in.Token))
	stands, err := h.Accounts.ResetStands(c.Context, hash)
	if err != nil {
		return nil, err
	}
	if !stands {
		return nil, linkOver // and no hash is made for who only guesses
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
	h.changed(route.UserSubject(u.ID))
	if taken {
		h.accountTaken(c.Context, u)
	}
	h.notify(c.Context, mailqueue.Mail{Template: mailqueue.PasswordChanged, To: u.Email, Name: u.Name()})
	return &api.PasswordSet{PasswordSet: true}, nil
}

// notify puts a letter out that tells of what has been done: done it is, whether
// the letter can be put out or not.
func (h *Handlers) notify(ctx context.Context, l mailqueue.Mail) {
	if err := h.Mail.Add(ctx, l); err != nil {
		h.Log.WarnContext(ctx, "a notice was not sent", slog.String("mail", string(l.Template)), slog.Any("error", err))
	}
}

// newToken is a token of 256 bits, and what is stored of it.
func newToken() (token string, hash [32]byte) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(b[:])
	return token, sha256.Sum256([]byte(token))
}
