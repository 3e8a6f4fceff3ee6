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

// requestConfirmation queues a mail with a new link that confirms the caller's address. Whether the
// address is already proven is looked up when the mail is written.
func (h *Handlers) requestConfirmation(c *route.Call, _ *route.None) (*api.Sent, error) {
	if err := h.Mail.Add(c.Context, mailqueue.Mail{Template: mailqueue.EmailConfirmation, Language: letters.PreferredLanguage(c), To: c.Principal.Email}); err != nil {
		return nil, err
	}
	return &api.Sent{Sent: true}, nil
}

// confirmEmail proves that a mailbox and an account belong to one person. The link was mailed to the mailbox,
// and the request has the password or a session of the account. The link alone proves nothing, because its
// reader may not be the person who registered the address.
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
	// The store checks the password or session once more in the transaction that uses the link up:
	// either may have changed after ownerOf looked.
	confirmed, err := h.Accounts.ConfirmEmail(c.Context, hash, by)
	if err != nil {
		return nil, err
	}
	if !confirmed {
		return nil, linkOver
	}
	// Sessions that were opened before the confirmation count as proven from now on, so this node
	// has to read them again.
	h.forgetProofs(route.UserSubject(u.ID))
	return &api.EmailConfirmed{Confirmed: true}, nil
}

// linkOver answers a link that no longer works, both for confirmations and for password resets.
var linkOver = &engine.Refusal{Code: engine.Unauthorized, Message: "The link is not valid, or no longer.", Details: route.Reason{Reason: "TOKEN_EXPIRED"}}

// ownerOf checks that the caller owns the account: by the password if the request has one, or else by the
// session of the request, which must be one of the account's. by says which of the two proved it, as the password's
// hash or as the session. A wrong password and an account without a password get the same refusal after the same time.
func (h *Handlers) ownerOf(c *route.Call, u *accounts.User, password string) (by accounts.Owner, err error) {
	if password == "" {
		if c.Principal.User != u.ID {
			return by, &engine.Refusal{Code: engine.Unauthorized, Message: "The account's password is required, or one of its sessions.", Details: route.Reason{Reason: "PASSWORD_REQUIRED"}}
		}
		by.Session, err = uuid.Parse(c.Principal.Session)
		return by, err
	}
	hash := u.PasswordHash
	// The comparison takes place even without a stored password, so that its time does not tell
	// that the account has none.
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

// accountTaken is called after somebody has proven the mailbox of an account that was made without that proof.
// The store has ended the sessions of the account, which may have been a stranger's. accountTaken makes this
// node forget them, and tells the owner by mail.
func (h *Handlers) accountTaken(c *route.Call, u *accounts.User) {
	h.forgetProofs(route.UserSubject(u.ID))
	h.notify(c.Context, mailqueue.Mail{Template: mailqueue.AccountTaken, Language: letters.PreferredLanguage(c), To: u.Email, Name: u.Name()})
}
