package paysim

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/faults"
)

// currencies are those that Paystack knows.
var currencies = map[string]bool{"GHS": true, "KES": true, "NGN": true, "USD": true, "ZAR": true}

const unknownReference = "Ensure that you're passing the reference of a transaction that exists on this integration"

func notFound() reply {
	return refused(404, "Transaction reference not found.", "transaction_not_found", unknownReference)
}

func invalid(message, next string) reply { return refused(400, message, "invalid_params", next) }

// initializeTransaction is POST /transaction/initialize.
func (s *Sim) initializeTransaction(ctx *fasthttp.RequestCtx) task {
	t, bad := s.readCharge(ctx)
	if bad != nil {
		return done(*bad)
	}
	return task{s.modesOf(t), t.reference, func() reply {
		s.mu.Lock()
		fresh := s.ledger.add(t)
		if set, ok := s.dice.Struck(s.modesOf(t), "auto", t.reference); ok && fresh {
			s.settle(t, success, t.created.Add(set.Span))
		}
		s.mu.Unlock()
		if !fresh {
			return refused(400, "Duplicate Transaction Reference", "duplicate_reference",
				"Try and create the Transaction or Charge with a new reference")
		}
		code := s.accessCode(t.id)
		return ok("Authorization URL created", initialized{s.base + "/checkout/" + code, code, t.reference})
	}}
}

// readCharge reads the body of initialize, as strictly as Paystack does.
func (s *Sim) readCharge(ctx *fasthttp.RequestCtx) (*transaction, *reply) {
	var in struct {
		Email       string          `json:"email"`
		Amount      json.RawMessage `json:"amount"`
		Currency    string          `json:"currency"`
		Reference   string          `json:"reference"`
		CallbackURL string          `json:"callback_url"`
		Metadata    json.RawMessage `json:"metadata"`
	}
	no := func(r reply) (*transaction, *reply) { return nil, &r }
	if err := json.Unmarshal(ctx.PostBody(), &in); err != nil {
		return no(invalid("Invalid request body", "Ensure that the body is a JSON object"))
	}
	t := &transaction{
		reference: in.Reference, email: in.Email, currency: in.Currency, callback: in.CallbackURL, created: s.cfg.Now(),
	}
	if t.currency == "" {
		t.currency = "NGN"
	}
	if t.reference == "" {
		t.reference = "T" + strconv.FormatUint(faults.Scramble(s.cfg.Seed, in.Email, uint64(s.calls[opInitialize].Load())), 36)
	}
	at := strings.IndexByte(in.Email, '@')
	amount, whole := subunits(in.Amount)
	switch {
	case at < 1 || at == len(in.Email)-1 || len(in.Email) > 254:
		return no(invalid("Invalid Email Address Passed", "Ensure that the email follows the format: username@example.com"))
	case !whole || amount <= 0:
		return no(invalid("Invalid Amount Sent", "Provide a valid amount based on the recommended minimum"))
	case !currencies[t.currency]:
		return no(refused(400, "Currency not supported by merchant", "unsupported_currency", "Ensure you're passing the currency code for a currency enabled on your integration"))
	case !validReference(t.reference):
		return no(invalid("Invalid character in transaction reference", "Only -,., =and alphanumeric characters are allowed"))
	case !validCallback(t.callback):
		return no(invalid("Invalid callback URL passed", "Ensure that the callback_url is an http or https URL"))
	}
	t.asked = amount
	if err := t.readMetadata(in.Metadata, query(ctx, "paysim")); err != nil {
		return no(invalid(err.Error(), "See GET /_sim/modes"))
	}
	return t, nil
}

// readMetadata keeps an object, also one given as a string, and takes the modes
// from the query or the object's paysim.
func (t *transaction) readMetadata(raw json.RawMessage, modes string) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil && object != nil {
		t.metadata = raw
	}
	if inside, ok := object["paysim"]; ok && modes == "" {
		if err := json.Unmarshal(inside, &modes); err != nil {
			return err
		}
	}
	if modes == "" {
		return nil
	}
	m, err := faults.Parse(modes)
	if err != nil {
		return err
	}
	t.modes.Store(&m)
	return nil
}

// subunits reads a whole number, bare or as digits in quotes.
func subunits(raw json.RawMessage) (int64, bool) {
	n, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	return n, err == nil
}

func validReference(s string) bool {
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && r != '-' && r != '.' && r != '=' {
			return false
		}
	}
	return len(s) <= 100
}

func validCallback(s string) bool {
	u, err := url.Parse(s)
	return s == "" || err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// verifyTransaction is GET /transaction/verify/{reference}.
func (s *Sim) verifyTransaction(ctx *fasthttp.RequestCtx) task {
	reference := param(ctx, "reference")
	s.mu.Lock()
	t := s.ledger.byRef[reference]
	s.mu.Unlock()
	return task{s.modesOf(t), reference, func() reply {
		if t == nil {
			return notFound()
		}
		now := s.cfg.Now()
		s.mu.Lock()
		body := s.transactionBody(t, now)
		if body.Status == pending && t.pendingLeft > 0 {
			if t.pendingLeft--; t.pendingLeft == 0 {
				s.hooks.announceCharge(t, s.modesOf(t), 0)
			}
		}
		s.mu.Unlock()
		return ok("Verification successful", body)
	}}
}

// readTransaction is GET /transaction/{id}.
func (s *Sim) readTransaction(ctx *fasthttp.RequestCtx) task {
	id, err := strconv.ParseInt(param(ctx, "id"), 10, 64)
	if err != nil {
		return done(invalid("Transaction ID should be numeric.", "Verify that you're passing the transaction ID, and not reference"))
	}
	s.mu.Lock()
	t := s.ledger.txs.get(id)
	s.mu.Unlock()
	return task{s.modesOf(t), param(ctx, "id"), func() reply {
		if t == nil {
			return refused(404, "Transaction not found", "transaction_not_found", unknownReference)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return ok("Transaction retrieved", s.transactionBody(t, s.cfg.Now()))
	}}
}

type listMeta struct {
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	PerPage  int     `json:"perPage"`
	Page     int     `json:"page"`
}

// paging reads perPage and page; what to skip follows.
func paging(ctx *fasthttp.RequestCtx) (meta listMeta, skip int) {
	meta = listMeta{PerPage: queryInt(ctx, "perPage", 50, 1, 100), Page: queryInt(ctx, "page", 1, 1, 1_000_000)}
	return meta, (meta.Page - 1) * meta.PerPage
}

// listTransactions is GET /transaction: the newest first, optionally of one status.
func (s *Sim) listTransactions(ctx *fasthttp.RequestCtx) task {
	meta, skip := paging(ctx)
	status := query(ctx, "status")
	return task{s.modesOf(nil), "list", func() reply {
		now := s.cfg.Now()
		list := []transactionBody{}
		s.mu.Lock()
		defer s.mu.Unlock()
		for id := s.ledger.txs.last(); id >= s.ledger.txs.base && len(list) < meta.PerPage; id-- {
			t := s.ledger.txs.get(id)
			if t == nil || status != "" && t.status(now) != status {
				continue
			}
			if skip > 0 {
				skip--
				continue
			}
			list = append(list, s.transactionBody(t, now))
		}
		return reply{200, envelope{true, "Transactions retrieved", list, meta}}
	}}
}

// createRefund is POST /refund.
func (s *Sim) createRefund(ctx *fasthttp.RequestCtx) task {
	var in struct {
		Transaction  json.RawMessage `json:"transaction"`
		Amount       json.RawMessage `json:"amount"`
		Currency     string          `json:"currency"`
		CustomerNote string          `json:"customer_note"`
		MerchantNote string          `json:"merchant_note"`
	}
	if err := json.Unmarshal(ctx.PostBody(), &in); err != nil {
		return done(invalid("Invalid request body", "Ensure that the body is a JSON object"))
	}
	which := strings.Trim(string(in.Transaction), `"`)
	t := s.find(which)
	amount, whole := int64(0), true
	if len(in.Amount) > 0 && string(in.Amount) != "null" {
		amount, whole = subunits(in.Amount)
		whole = whole && amount > 0
	}
	return task{s.modesOf(t), which, func() reply {
		switch {
		case t == nil:
			return refused(404, "Transaction not found", "transaction_not_found", unknownReference)
		case !whole:
			return invalid("Invalid amount passed.", "Ensure that the amount is a positive integer in the subunit")
		case in.Currency != "" && in.Currency != t.currency:
			return invalid("Currency does not match the transaction's", "Leave the currency out, or pass the transaction's")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.refundLocked(t, &refund{amount: amount, customerNote: in.CustomerNote, merchantNote: in.MerchantNote})
	}}
}

// find looks a transaction up by reference or id.
func (s *Sim) find(which string) *transaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.ledger.byRef[which]; t != nil {
		return t
	}
	id, err := strconv.ParseInt(which, 10, 64)
	if err != nil {
		return nil
	}
	return s.ledger.txs.get(id)
}

// refundLocked makes the refund if there is money left for it. Nothing tells a
// repeat from a second refund, as live. Sim.mu is held.
func (s *Sim) refundLocked(t *transaction, r *refund) reply {
	now := s.cfg.Now()
	left := t.refundable(now)
	if r.amount == 0 {
		r.amount = left
	}
	switch st := t.status(now); {
	case st == reversed || arrived(st) && left <= 0:
		return invalid("Transaction has been fully reversed", "Let the customer know that the refund should get to their account soon")
	case !arrived(st):
		return invalid("Transaction has not been paid", "Ensure that the transaction was successful")
	case r.amount > left:
		return invalid("Refund amount cannot be more than transaction amount", "Reduce the amount")
	}
	m := s.modesOf(t)
	if set, ok := s.dice.Struck(m, "refundrefused", t.reference); ok && t.refused < set.Number {
		t.refused++
		return refused(400, "Your balance is not enough to fulfil this request", "insufficient_balance", "Top up your balance, and try again")
	}
	r.created, r.step, r.end = now, s.cfg.RefundStep, s.refundEnd(t, m)
	if set, ok := s.dice.Struck(m, "refundslow", t.reference); ok {
		r.step = set.Span
	}
	if r.merchantNote == "" {
		r.merchantNote = "Refund for transaction " + t.reference + " by api@paysim.test"
	}
	if r.customerNote == "" {
		r.customerNote = "Refund for transaction " + t.reference
	}
	s.ledger.refund(t, r)
	s.hooks.announceRefund(r, m, 0)
	body := s.refundBody(r, now)
	paidAt := stamp(t.paidAt)
	body.Transaction = refundedTransaction{t.id, s.domain(), t.reference, t.paid, &paidAt, "card", t.currency, &paidAt}
	return ok("Refund has been queued for processing", body)
}

// refundEnd is how the transaction's next refund ends. Sim.mu is held.
func (s *Sim) refundEnd(t *transaction, m faults.Modes) string {
	if set, ok := s.dice.Struck(m, "refundfails", t.reference); ok && int64(len(t.refunds)) < set.Number {
		return failed
	}
	if set, ok := s.dice.Struck(m, "refund", t.reference); ok {
		return set.Word
	}
	return refundProcessed
}

// readRefund is GET /refund/{id}.
func (s *Sim) readRefund(ctx *fasthttp.RequestCtx) task {
	id, _ := strconv.ParseInt(param(ctx, "id"), 10, 64)
	s.mu.Lock()
	r := s.ledger.refunds.get(id)
	s.mu.Unlock()
	var of *transaction
	if r != nil {
		of = r.of
	}
	return task{s.modesOf(of), param(ctx, "id"), func() reply {
		now := s.cfg.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		if r == nil || r.status(now) == "" {
			return refused(404, "Refund not found", "not_found", "Ensure that you're passing the id of a refund that exists on this integration")
		}
		return ok("Refund retrieved", s.refundBody(r, now))
	}}
}

// listRefunds is GET /refund: the newest first, of one transaction if its number is
// given. A reference there finds nothing, as live.
func (s *Sim) listRefunds(ctx *fasthttp.RequestCtx) task {
	meta, skip := paging(ctx)
	which := query(ctx, "transaction")
	id, _ := strconv.ParseInt(which, 10, 64)
	s.mu.Lock()
	t := s.ledger.txs.get(id)
	s.mu.Unlock()
	return task{s.modesOf(t), which, func() reply {
		now := s.cfg.Now()
		list := []refundBody{}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.eachRefund(which, t, func(r *refund) bool {
			switch {
			case r.status(now) == "":
			case skip > 0:
				skip--
			default:
				list = append(list, s.refundBody(r, now))
			}
			return len(list) < meta.PerPage
		})
		return reply{200, envelope{true, "Refunds retrieved", list, meta}}
	}}
}

// eachRefund visits refunds from the newest on, until visit says no.
func (s *Sim) eachRefund(which string, t *transaction, visit func(*refund) bool) {
	if which != "" {
		for i := 0; t != nil && i < len(t.refunds); i++ {
			if !visit(t.refunds[len(t.refunds)-1-i]) {
				return
			}
		}
		return
	}
	all := &s.ledger.refunds
	for id := all.last(); id >= all.base; id-- {
		if r := all.get(id); r != nil && !visit(r) {
			return
		}
	}
}
