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
	"boxoffice/engine"
)

// outcomes is what a visitor of the checkout page may do.
var outcomes = map[string]bool{
	success: true, failed: true, abandoned: true, pending: true, "ongoing": true, "processing": true, "queued": true,
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
func (s *Sim) byCode(code string) *transaction {
	if len(code) <= tagLength {
		return nil
	}
	id, err := strconv.ParseInt(code[:len(code)-tagLength], 36, 64)
	if err != nil || s.accessCode(id) != code {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.txs.get(id)
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
		writeJSON(ctx, 404, failure{Message: "No such checkout"})
		return
	}
	s.show(ctx, t)
}

func (s *Sim) show(ctx *fasthttp.RequestCtx, t *transaction) {
	s.mu.Lock()
	view := struct {
		Provider, Amount, Email, Reference, Status, Back string
		Open                                             bool
	}{
		Provider: cmp.Or(t.provider, "paystack"),
		Amount:   t.currency + " " + engine.Decimal(t.asked, t.currency),
		Email:    t.email, Reference: t.reference, Status: t.status(s.cfg.Now()), Open: t.outcome != success,
	}
	if t.outcome != "" {
		view.Back = returnURL(t)
	}
	s.mu.Unlock()
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
		writeJSON(ctx, 404, failure{Message: "No such checkout"})
		return
	}
	outcome, isJSON := readOutcome(ctx)
	if !outcomes[outcome] {
		writeJSON(ctx, 400, failure{Message: "outcome: success, failed, abandoned, pending, ongoing, processing or queued"})
		return
	}
	modes, err := faults.Parse(query(ctx, "paysim"))
	if err != nil {
		writeJSON(ctx, 400, failure{Message: err.Error()})
		return
	}
	s.mu.Lock()
	if len(modes) > 0 && t.outcome != success {
		t.modes.Store(&modes)
	}
	now := s.cfg.Now()
	if t.provider == paypal && outcome == success {
		s.approve(t)
	} else {
		s.settle(t, outcome, now)
	}
	status := t.status(now)
	s.mu.Unlock()

	back := returnURL(t)
	if back != "" {
		ctx.Response.Header.Set("Location", back)
		ctx.SetStatusCode(fasthttp.StatusSeeOther)
		return
	}
	if isJSON {
		writeJSON(ctx, 200, envelope{Status: true, Message: "Checkout closed", Data: map[string]string{"status": status}})
		return
	}
	s.show(ctx, t)
}

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

// returnURL is the callback with what Paystack adds to it; empty without one.
func returnURL(t *transaction) string {
	u, err := url.Parse(t.callback)
	if err != nil || t.callback == "" {
		return ""
	}
	if t.provider == stripe || t.provider == mollie { // their buyers return to the address as it was given
		return t.callback
	}
	q := u.Query()
	if t.provider == flutterwave {
		hostedReturn(q, t)
		u.RawQuery = q.Encode()
		return u.String()
	}
	if t.provider == paypal {
		paypalReturn(q, t)
		u.RawQuery = q.Encode()
		return u.String()
	}
	q.Set("trxref", t.reference)
	q.Set("reference", t.reference)
	u.RawQuery = q.Encode()
	return u.String()
}
