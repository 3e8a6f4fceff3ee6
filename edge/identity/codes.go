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

// codeDigits is the length of a login code.
const codeDigits = 6

// requestCode mails a login code to an address. It does not look whether the address has an
// account: an account is made when somebody enters the code.
func (h *Handlers) requestCode(c *route.Call, in *api.CodeRequest) (*api.CodeSent, error) {
	email, code := order.NormalEmail(in.Email), newCode()
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
			Retry: int((wait + time.Second - 1) / time.Second),
		}
	}
	l := mailqueue.Mail{ID: mailqueue.NewID(), Template: mailqueue.LoginCode, Language: letters.PreferredLanguage(c), To: email, Name: in.Name}
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

// exchangeCode signs a person in by a mailed code, which proves the address. A user with a second factor is still asked
// for it.
func (h *Handlers) exchangeCode(c *route.Call, in *api.CodeExchange) (*api.SignIn, error) {
	email := order.NormalEmail(in.Email)
	var nonce []byte // of the newest code
	if in.Nonce != "" {
		hash := sha256.Sum256([]byte(in.Nonce))
		nonce = hash[:]
	}
	u, taken, err := h.Accounts.ExchangeCode(c.Context, email, h.Secrets.LoginCode(email, in.Code), nonce)
	switch {
	case errors.Is(err, accounts.ErrCodeInvalid):
		return nil, codeInvalid
	case errors.Is(err, accounts.ErrCodeExpired):
		return nil, &engine.Refusal{Code: engine.Unauthorized, Message: "The code can no longer be used; ask for another.", Details: route.Reason{Reason: "CODE_EXPIRED"}}
	case err != nil:
		return nil, err
	}
	if taken {
		h.accountTaken(c, u)
	}
	who := signInOf(c, u.ID)
	who.EmailProven = true
	return h.signIn(c, u, who)
}

var codeInvalid = &engine.Refusal{Code: engine.Unauthorized, Message: "The code is wrong.", Details: route.Reason{Reason: "CODE_INVALID"}}
