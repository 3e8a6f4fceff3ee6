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

// outcomes is what a visitor of the checkout page may do.
var outcomes = map[string]bool{
	ledger.Success: true, ledger.Failed: true, ledger.Abandoned: true, ledger.Pending: true, "ongoing": true, "processing": true, "queued": true,
}

// tagLength is how much of an access code is there to make it hard to guess.
const tagLength = 8

// accessCode is the transaction's number and a tag.
func (s *Sim) accessCode(id int64) string {
	n := strconv.FormatInt(id, 36)
	tag := strconv.FormatUint(faults.Scramble(s.cfg.Seed, "access/"+n, 0), 36)
	return n + (tag + "00000000")[:tagLength]
}

// byCode finds the transaction of an access code.
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

// checkout is the page that authorization_url leads to.
func (s *Sim) checkout(ctx *fasthttp.RequestCtx) {
	s.calls[opCheckout].Add(1)
	t := s.byCode(param(ctx, "code"))
	if t == nil {
		writeJSON(ctx, 404, paystack.Failure{Message: "No such checkout"})
		return
	}
	s.showCheckout(ctx, t)
}

// showCheckout writes the checkout page of a transaction. One that is paid has no more buttons.
func (s *Sim) showCheckout(ctx *fasthttp.RequestCtx, t *ledger.Transaction) {
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

// pay is POST /checkout/{code}: outcome, as a form or JSON, is what the visitor
// did. The answer sends the browser back to the shop.
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
	s.ledger.Lock()
	if len(modes) > 0 && t.Outcome != ledger.Success {
		t.Modes.Store(&modes)
	}
	now := s.cfg.Now()
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

// readOutcome reads what the visitor did, from the page's form or from JSON, as tests send it.
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

// returnURL is the callback with what the provider adds to it; empty without one. The ledger is locked.
func returnURL(t *ledger.Transaction) string {
	u, err := url.Parse(t.Callback)
	if err != nil || t.Callback == "" {
		return ""
	}
	if t.Provider == ledger.Stripe || t.Provider == ledger.Mollie { // their buyers return to the address as it was given
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
