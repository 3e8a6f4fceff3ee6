package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/mailqueue"
)

// codeDigits is the length of a login code, and also of a one-time code: readFactor takes a text of another
// length for a recovery code.
const codeDigits = 6

// requestCode mails a login code to an address. It does not look up whether the address has an account, so
// neither its answer nor its duration tells that. If there is no account, exchangeCode makes one.
func (h *Handlers) requestCode(c *route.Call, in *api.CodeRequest) (*api.CodeSent, error) {
	email, code := order.NormalEmail(in.Email), newCode()
	// The nonce goes only to the client that asks. A stranger who asks for codes for the same
	// address can therefore not invalidate the code that this client waits for.
	nonce := rand.Text()
	wait, err := h.Accounts.RequestCode(c.Context, &accounts.Code{
		Email: email, Name: in.Name, MAC: h.Secrets.LoginCode(email, code), Nonce: sha256.Sum256([]byte(nonce)), Client: route.Network(c.Client).String(),
	})
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		return nil, &engine.Refusal{
			Code: engine.RateLimited, Message: "A code has been sent to this address; wait before you ask for another.",
			// Retry is in whole seconds, rounded up, so that a client that waits for them is not refused again
			// because a fraction of a second was missing.
			Retry: int((wait + time.Second - 1) / time.Second),
		}
	}
	l := mailqueue.Mail{ID: mailqueue.NewID(), Template: mailqueue.LoginCode, Language: letters.PreferredLanguage(c), To: email, Name: in.Name}
	// The queue's table must not hold a code that could be used, so the code is sealed and bound to
	// this one mail.
	l.Secret = h.Secrets.Seal(letters.CodeSecret, []byte(l.ID), []byte(code))
	if err := h.Mail.Add(c.Context, l); err != nil {
		return nil, err
	}
	return &api.CodeSent{Sent: true, Nonce: nonce, ExpiresIn: int(accounts.CodeLife / time.Second)}, nil
}

// newCode draws a login code; all codes are equally likely.
func newCode() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		panic(err) // the system's randomness never fails
	}
	return fmt.Sprintf("%0*d", codeDigits, n)
}

// exchangeCode signs a person in by a mailed code, which proves the mailbox, and makes an account if
// the address has none. If the account has a second factor, the answer still asks for it. If nobody had
// proven the mailbox before, the account's password, second factor and sessions end, and a mail tells
// its owner.
func (h *Handlers) exchangeCode(c *route.Call, in *api.CodeExchange) (*api.SignIn, error) {
	email := order.NormalEmail(in.Email)
	// Without a nonce the store checks the newest code of the address.
	var nonce []byte
	if in.Nonce != "" {
		hash := sha256.Sum256([]byte(in.Nonce))
		nonce = hash[:]
	}
	u, taken, err := h.Accounts.ExchangeCode(c.Context, email, h.Secrets.LoginCode(email, in.Code), nonce)
	// After a wrong code the person can try again, after an expired one they need a new mail. So the two have
	// different reasons.
	switch {
	case errors.Is(err, accounts.ErrCodeInvalid):
		return nil, codeInvalid
	case errors.Is(err, accounts.ErrCodeExpired):
		return nil, &engine.Refusal{Code: engine.Unauthorized, Message: "The code can no longer be used; ask for another.", Details: route.Reason{Reason: "CODE_EXPIRED"}}
	case err != nil:
		return nil, err
	}
	// Somebody else may have registered this address and chosen the password. The store has just removed the
	// password and the second factor and ended the sessions; accountTaken tells the owner by mail.
	if taken {
		h.accountTaken(c, u)
	}
	// The session counts as proven: the code has arrived in the mailbox.
	who := signInOf(c, u.ID)
	who.EmailProven = true
	return h.signIn(c, u, who)
}

var codeInvalid = &engine.Refusal{Code: engine.Unauthorized, Message: "The code is wrong.", Details: route.Reason{Reason: "CODE_INVALID"}}
