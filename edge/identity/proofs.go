package identity

import (
	"crypto/sha256"

	"github.com/google/uuid"

	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/mailqueue"
)

// requestConfirmation mails a new link that confirms the address of the caller's account. Whether a
// mail is due is found out when it is written.
func (h *Handlers) requestConfirmation(c *route.Call, _ *route.None) (*api.Sent, error) {
	if err := h.Mail.Add(c.Context, mailqueue.Mail{Template: mailqueue.EmailConfirmation, Language: letters.PreferredLanguage(c), To: c.Principal.Email}); err != nil {
		return nil, err
	}
	return &api.Sent{Sent: true}, nil
}

// confirmEmail proves that mailbox and account belong to one person: the link was mailed to the
// mailbox, and the password or session belongs to the account. The link alone proves nothing,
// because whoever receives it may not be the person who registered the address.
func (h *Handlers) confirmEmail(c *route.Call, in *api.ConfirmEmail) (*api.EmailConfirmed, error) {
	hash := sha256.Sum256([]byte(in.Token))
	u, err := h.Accounts.Confirmation(c.Context, hash)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, linkOver
	}
	by, err := h.ownerOf(c, u, in.Password)
	if err != nil {
		return nil, err
	}
	confirmed, err := h.Accounts.ConfirmEmail(c.Context, hash, by)
	if err != nil {
		return nil, err
	}
	if !confirmed {
		return nil, linkOver
	}
	h.forgetProofs(route.UserSubject(u.ID))
	return &api.EmailConfirmed{Confirmed: true}, nil
}

var linkOver = &engine.Refusal{Code: engine.Unauthorized, Message: "The link is not valid, or no longer.", Details: route.Reason{Reason: "TOKEN_EXPIRED"}}

// ownerOf checks what the caller shows to own an account: the password, or else the session of the
// request.
func (h *Handlers) ownerOf(c *route.Call, u *accounts.User, password string) (by accounts.Owner, err error) {
	if password == "" {
		if c.Principal.User != u.ID {
			return by, &engine.Refusal{Code: engine.Unauthorized, Message: "The account's password is required, or one of its sessions.", Details: route.Reason{Reason: "PASSWORD_REQUIRED"}}
		}
		by.Session, err = uuid.Parse(c.Principal.Session)
		return by, err
	}
	hash := u.PasswordHash
	if hash == "" {
		hash = h.noHash(u.Email)
	}
	same, err := h.matches(c.Context, hash, password)
	if err != nil {
		return by, err
	}
	if !same || u.PasswordHash == "" {
		return by, wrongPassword
	}
	by.PasswordHash = u.PasswordHash
	return by, nil
}

// accountTaken is called when somebody has proven the mailbox of an account that had been made
// without that proof. It makes this node forget the sessions that this ended, and tells the person
// by mail.
func (h *Handlers) accountTaken(c *route.Call, u *accounts.User) {
	h.forgetProofs(route.UserSubject(u.ID))
	h.notify(c.Context, mailqueue.Mail{Template: mailqueue.AccountTaken, Language: letters.PreferredLanguage(c), To: u.Email, Name: u.Name()})
}
