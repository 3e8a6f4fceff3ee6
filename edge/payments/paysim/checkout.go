package paysim

import (
	"cmp"
	"encoding/json"
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/paysim/ledger"
	"boxoffice/edge/payments/paysim/paystack"
	"boxoffice/engine"
)

// outcomes are the ends that a visitor may give a checkout. The page shows three of them; tests send the others.
var outcomes = map[string]bool{
	ledger.Success: true, ledger.Failed: true, ledger.Abandoned: true, ledger.Pending: true, "ongoing": true, "processing": true, "queued": true,
}

// tagLength is the number of characters that make an access code hard to guess.
const tagLength = 8

// accessCode returns the last part of a transaction's checkout address: its number and a tag that
// depends on the seed. No table is needed to find the transaction again.
func (s *Sim) accessCode(id int64) string {
	n := strconv.FormatInt(id, 36)
	tag := strconv.FormatUint(faults.Scramble(s.cfg.Seed, "access/"+n, 0), 36)
	return n + (tag + "00000000")[:tagLength]
}

// byCode finds the transaction of an access code, or returns nil if the tag is wrong or the ledger does not have the
// transaction. It takes the ledger's lock.
func (s *Sim) byCode(code string) *ledger.Transaction {
	if len(code) <= tagLength {
		return nil
	}
	id, err := strconv.ParseInt(code[:len(code)-tagLength], 36, 64)
	if err != nil || s.accessCode(id) != code {
		return nil
	}
	s.ledger.Lock()
	defer s.ledger.Unlock()
	return s.ledger.ByID(id)
}

var page = template.Must(template.New("checkout").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Payment simulator</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem}
button{font:inherit;padding:.5rem 1.25rem;margin:.25rem .5rem .25rem 0;cursor:pointer}</style></head><body>
<p>Payment simulator as {{.Provider}}: no real money moves.</p>
<h1>{{.Amount}}</h1><p>{{with .Email}}{{.}}<br>{{end}}Reference {{.Reference}}<br>Status {{.Status}}</p>
{{if .Open}}<form method="post">
<button name="outcome" value="success">Pay</button>
<button name="outcome" value="failed">Fail</button>
<button name="outcome" value="abandoned">Abandon</button>
</form>{{end}}
{{if .Back}}<p><a href="{{.Back}}">Back to the shop</a></p>{{end}}
</body></html>
`))

// checkout writes the page where a buyer pays. The answer to the call that opened the charge has the page's address.
func (s *Sim) checkout(ctx *fasthttp.RequestCtx) {
	s.calls[opCheckout].Add(1)
	t := s.byCode(param(ctx, "code"))
	if t == nil {
		writeJSON(ctx, 404, paystack.Failure{Message: "No such checkout"})
		return
	}
	s.showCheckout(ctx, t)
}

// showCheckout writes the checkout page of a transaction. A paid transaction shows no more buttons,
// because it cannot be paid twice.
func (s *Sim) showCheckout(ctx *fasthttp.RequestCtx, t *ledger.Transaction) {
	// The view is filled in under the lock, and the page is written without it: writing may be slow.
	s.ledger.Lock()
	view := struct {
		Provider, Amount, Email, Reference, Status, Back string
		Open                                             bool
	}{
		Provider: cmp.Or(t.Provider, "paystack"),
		Amount:   t.Currency + " " + engine.Decimal(t.Asked, t.Currency),
		Email:    t.Email, Reference: t.Reference, Status: t.Status(s.cfg.Now()), Open: t.Outcome != ledger.Success,
	}
	if t.Outcome != "" {
		view.Back = returnURL(t)
	}
	s.ledger.Unlock()
	ctx.SetContentType("text/html; charset=utf-8")
	if err := page.Execute(ctx, view); err != nil {
		ctx.Error(err.Error(), 500)
	}
}

// pay answers POST /checkout/{code}: the visitor pays, fails or gives up. The outcome comes as a form or
// as JSON. The answer sends the browser back to the shop. If the shop has given no address, the answer is JSON or the
// checkout page, as the request was.
func (s *Sim) pay(ctx *fasthttp.RequestCtx) {
	s.calls[opPay].Add(1)
	t := s.byCode(param(ctx, "code"))
	if t == nil {
		writeJSON(ctx, 404, paystack.Failure{Message: "No such checkout"})
		return
	}
	outcome, isJSON := readOutcome(ctx)
	if !outcomes[outcome] {
		writeJSON(ctx, 400, paystack.Failure{Message: "outcome: success, failed, abandoned, pending, ongoing, processing or queued"})
		return
	}
	modes, err := faults.Parse(query(ctx, "paysim"))
	if err != nil {
		writeJSON(ctx, 400, paystack.Failure{Message: err.Error()})
		return
	}
	// The modes of this call replace the transaction's own, unless it is paid already, so that a test may decide at
	// the checkout what goes wrong.
	s.ledger.Lock()
	if len(modes) > 0 && t.Outcome != ledger.Success {
		t.Modes.Store(&modes)
	}
	now := s.cfg.Now()
	// At PayPal the buyer only agrees. The money moves when the shop captures the order.
	if t.Provider == ledger.PayPal && outcome == ledger.Success {
		s.approveOrder(t)
	} else {
		s.ledger.Settle(t, outcome, now)
	}
	status, back := t.Status(now), returnURL(t)
	s.ledger.Unlock()

	if back != "" {
		ctx.Response.Header.Set("Location", back)
		ctx.SetStatusCode(fasthttp.StatusSeeOther)
		return
	}
	if isJSON {
		writeJSON(ctx, 200, paystack.Envelope{Status: true, Message: "Checkout closed", Data: map[string]string{"status": status}})
		return
	}
	s.showCheckout(ctx, t)
}

// readOutcome reads what the visitor did: from the form of the page, or from JSON, which tests send.
func readOutcome(ctx *fasthttp.RequestCtx) (outcome string, isJSON bool) {
	if !strings.HasPrefix(string(ctx.Request.Header.ContentType()), "application/json") {
		return string(ctx.PostArgs().Peek("outcome")), false
	}
	var in struct {
		Outcome string `json:"outcome"`
	}
	if err := json.Unmarshal(ctx.PostBody(), &in); err != nil {
		return "", true
	}
	return in.Outcome, true
}

// returnURL returns the shop's address with the parameters that the provider adds to it, or "" if the shop gave
// none or one that is no address. The caller holds the ledger's lock.
func returnURL(t *ledger.Transaction) string {
	u, err := url.Parse(t.Callback)
	if err != nil || t.Callback == "" {
		return ""
	}
	// Stripe and Mollie add nothing: their buyers return to the address as it was given.
	if t.Provider == ledger.Stripe || t.Provider == ledger.Mollie {
		return t.Callback
	}
	q := u.Query()
	if t.Provider == ledger.Flutterwave {
		hostedReturn(q, t)
		u.RawQuery = q.Encode()
		return u.String()
	}
	if t.Provider == ledger.PayPal {
		paypalReturn(q, t)
		u.RawQuery = q.Encode()
		return u.String()
	}
	q.Set("trxref", t.Reference)
	q.Set("reference", t.Reference)
	u.RawQuery = q.Encode()
	return u.String()
}
