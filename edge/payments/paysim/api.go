package paysim

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/paysim/ledger"
	"boxoffice/edge/payments/paysim/paystack"
)

// currencies are the currencies that Paystack's part accepts. NOWPayments' part accepts only US dollars, and the
// other parts have no such list.
var currencies = map[string]bool{"GHS": true, "KES": true, "NGN": true, "USD": true, "ZAR": true}

// unknownReference is the advice that Paystack gives when somebody asks for a transaction that it does not have.
const unknownReference = "Ensure that you're passing the reference of a transaction that exists on this integration"

func notFound() reply {
	return refused(404, "Transaction reference not found.", "transaction_not_found", unknownReference)
}

func invalid(message, next string) reply { return refused(400, message, "invalid_params", next) }

// initializeTransaction answers POST /transaction/initialize: it opens a charge and answers with the
// address of its checkout page. A reference can be used only once, as at Paystack itself.
func (s *Sim) initializeTransaction(ctx *fasthttp.RequestCtx) task {
	t, bad := s.readCharge(ctx)
	if bad != nil {
		return done(*bad)
	}
	return task{s.ledger.ModesOf(t), t.Reference, func() reply {
		s.ledger.Lock()
		// With the mode "auto", Add also pays the transaction.
		fresh := s.ledger.Add(t)
		s.ledger.Unlock()
		if !fresh {
			return refused(400, "Duplicate Transaction Reference", "duplicate_reference",
				"Try and create the Transaction or Charge with a new reference")
		}
		code := s.accessCode(t.ID)
		return ok("Authorization URL created", paystack.Initialized{
			AuthorizationURL: s.base + "/checkout/" + code, AccessCode: code, Reference: t.Reference,
		})
	}}
}

// readCharge reads the body of initialize and refuses what Paystack refuses, in Paystack's words.
// It does not store the transaction.
func (s *Sim) readCharge(ctx *fasthttp.RequestCtx) (*ledger.Transaction, *reply) {
	var in struct {
		Email       string          `json:"email"`
		Amount      json.RawMessage `json:"amount"`
		Currency    string          `json:"currency"`
		Reference   string          `json:"reference"`
		CallbackURL string          `json:"callback_url"`
		Metadata    json.RawMessage `json:"metadata"`
	}
	no := func(r reply) (*ledger.Transaction, *reply) { return nil, &r }
	if err := json.Unmarshal(ctx.PostBody(), &in); err != nil {
		return no(invalid("Invalid request body", "Ensure that the body is a JSON object"))
	}
	t := &ledger.Transaction{
		Reference: in.Reference, Email: in.Email, Currency: in.Currency, Callback: in.CallbackURL, Created: s.cfg.Now(),
	}
	if t.Currency == "" {
		t.Currency = "NGN"
	}
	// Paystack draws a reference for a merchant who names none. Ours depends on the seed, the buyer's address and
	// the number of calls, so that a run can be repeated.
	if t.Reference == "" {
		t.Reference = "T" + strconv.FormatUint(faults.Scramble(s.cfg.Seed, in.Email, uint64(s.calls[opInitialize].Load())), 36)
	}
	at := strings.IndexByte(in.Email, '@')
	amount, whole := subunits(in.Amount)
	switch {
	case at < 1 || at == len(in.Email)-1 || len(in.Email) > 254:
		return no(invalid("Invalid Email Address Passed", "Ensure that the email follows the format: username@example.com"))
	case !whole || amount <= 0:
		return no(invalid("Invalid Amount Sent", "Provide a valid amount based on the recommended minimum"))
	case !currencies[t.Currency]:
		return no(refused(400, "Currency not supported by merchant", "unsupported_currency", "Ensure you're passing the currency code for a currency enabled on your integration"))
	case !validReference(t.Reference):
		return no(invalid("Invalid character in transaction reference", "Only -,., =and alphanumeric characters are allowed"))
	case !validCallback(t.Callback):
		return no(invalid("Invalid callback URL passed", "Ensure that the callback_url is an http or https URL"))
	}
	t.Asked = amount
	// The modes come last: a request that Paystack would refuse must not fail because of our own additions.
	if err := readMetadata(t, in.Metadata, query(ctx, "paysim")); err != nil {
		return no(invalid(err.Error(), "See GET /_sim/modes"))
	}
	return t, nil
}

// readMetadata keeps the metadata if it is a JSON object, also one that is written as a string. It takes the
// transaction's own modes from the query or, if the query has none, from the object's member paysim.
func readMetadata(t *ledger.Transaction, raw json.RawMessage, modes string) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil && object != nil {
		t.Metadata = raw
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
	t.Modes.Store(&m)
	return nil
}

// subunits reads an amount in minor units. Paystack takes it as a bare number or as digits in quotes.
func subunits(raw json.RawMessage) (int64, bool) {
	n, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	return n, err == nil
}

// validReference reports whether a reference has only characters that Paystack takes. The limit of
// 100 characters is ours.
func validReference(s string) bool {
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && r != '-' && r != '.' && r != '=' {
			return false
		}
	}
	return len(s) <= 100
}

// validCallback reports whether a browser could be sent to an address. An empty text is valid and
// means that there is no address.
func validCallback(s string) bool {
	u, err := url.Parse(s)
	return s == "" || err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// verifyTransaction answers GET /transaction/verify/{reference}. Each call counts as a read, because the
// mode "pending" shows the money only after a number of reads.
func (s *Sim) verifyTransaction(ctx *fasthttp.RequestCtx) task {
	reference := param(ctx, "reference")
	s.ledger.Lock()
	t := s.ledger.ByReference(reference)
	s.ledger.Unlock()
	return task{s.ledger.ModesOf(t), reference, func() reply {
		if t == nil {
			return notFound()
		}
		now := s.cfg.Now()
		s.ledger.Lock()
		// The body is made before the read is counted, or the last pending read would already show the money.
		body := s.words.Transaction(t, now)
		s.ledger.CountRead(t)
		s.ledger.Unlock()
		return ok("Verification successful", body)
	}}
}

// readTransaction answers GET /transaction/{id}. Unlike a verification it does not count as a read.
func (s *Sim) readTransaction(ctx *fasthttp.RequestCtx) task {
	id, err := strconv.ParseInt(param(ctx, "id"), 10, 64)
	if err != nil {
		return done(invalid("Transaction ID should be numeric.", "Verify that you're passing the transaction ID, and not reference"))
	}
	s.ledger.Lock()
	t := s.ledger.ByID(id)
	s.ledger.Unlock()
	return task{s.ledger.ModesOf(t), param(ctx, "id"), func() reply {
		if t == nil {
			return refused(404, "Transaction not found", "transaction_not_found", unknownReference)
		}
		s.ledger.Lock()
		defer s.ledger.Unlock()
		return ok("Transaction retrieved", s.words.Transaction(t, s.cfg.Now()))
	}}
}

// listMeta tells which page of a list an answer is.
type listMeta struct {
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	PerPage  int     `json:"perPage"`
	Page     int     `json:"page"`
}

// paging reads the parameters perPage and page, and returns with them how many rows stand before that page.
func paging(ctx *fasthttp.RequestCtx) (meta listMeta, skip int) {
	meta = listMeta{PerPage: queryInt(ctx, "perPage", 50, 1, 100), Page: queryInt(ctx, "page", 1, 1, 1_000_000)}
	return meta, (meta.Page - 1) * meta.PerPage
}

// listTransactions answers GET /transaction: the newest first, optionally of one status.
func (s *Sim) listTransactions(ctx *fasthttp.RequestCtx) task {
	meta, skip := paging(ctx)
	status := query(ctx, "status")
	return task{s.ledger.ModesOf(nil), "list", func() reply {
		now := s.cfg.Now()
		list := []paystack.Transaction{}
		s.ledger.Lock()
		defer s.ledger.Unlock()
		s.ledger.EachTransaction(func(t *ledger.Transaction) bool {
			switch {
			case status != "" && t.Status(now) != status:
			case skip > 0:
				skip--
			default:
				list = append(list, s.words.Transaction(t, now))
			}
			return len(list) < meta.PerPage
		})
		return reply{200, paystack.Envelope{Status: true, Message: "Transactions retrieved", Data: list, Meta: meta}}
	}}
}

// createRefund answers POST /refund. A missing amount means all that is left.
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
	// The modes depend on the transaction, so it is looked up before the call is performed.
	t := s.ledger.Find(which)
	amount, whole := int64(0), true
	if len(in.Amount) > 0 && string(in.Amount) != "null" {
		amount, whole = subunits(in.Amount)
		whole = whole && amount > 0
	}
	return task{s.ledger.ModesOf(t), which, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		switch {
		case t == nil:
			return refused(404, "Transaction not found", "transaction_not_found", unknownReference)
		case !whole:
			return invalid("Invalid amount passed.", "Ensure that the amount is a positive integer in the subunit")
		case in.Currency != "" && in.Currency != t.Currency:
			return invalid("Currency does not match the transaction's", "Leave the currency out, or pass the transaction's")
		}
		return s.refundLocked(t, &ledger.Refund{Amount: amount, CustomerNote: in.CustomerNote, MerchantNote: in.MerchantNote})
	}}
}

// refundLocked makes the refund if at least its amount is left of the payment and no mode refuses it; an amount of 0
// stands for all that is left. It cannot tell a repeat from a second refund, because Paystack has no idempotency key.
// The caller holds the ledger's lock.
func (s *Sim) refundLocked(t *ledger.Transaction, r *ledger.Refund) reply {
	now := s.cfg.Now()
	// Refunds that are still on their way count as gone, or two of them could return the same money.
	left := t.Refundable(now)
	if r.Amount == 0 {
		r.Amount = left
	}
	switch st := t.Status(now); {
	case st == ledger.Reversed || ledger.Arrived(st) && left <= 0:
		return invalid("Transaction has been fully reversed", "Let the customer know that the refund should get to their account soon")
	case !ledger.Arrived(st):
		return invalid("Transaction has not been paid", "Ensure that the transaction was successful")
	case r.Amount > left:
		return invalid("Refund amount cannot be more than transaction amount", "Reduce the amount")
	}
	// The mode "refundrefused" is asked last, so that it counts only calls which would otherwise succeed.
	if s.ledger.RefusesRefund(t) {
		return refused(400, "Your balance is not enough to fulfil this request", "insufficient_balance", "Top up your balance, and try again")
	}
	r.Created, r.Step = now, s.cfg.RefundStep
	if r.MerchantNote == "" {
		r.MerchantNote = "Refund for transaction " + t.Reference + " by api@paysim.test"
	}
	if r.CustomerNote == "" {
		r.CustomerNote = "Refund for transaction " + t.Reference
	}
	s.ledger.Refund(t, r)
	s.hooks.announceRefund(r, s.ledger.ModesOf(t), 0)
	return ok("Refund has been queued for processing", s.words.NewRefund(r, now))
}

// readRefund answers GET /refund/{id}. A refund that is to begin later does not exist yet.
func (s *Sim) readRefund(ctx *fasthttp.RequestCtx) task {
	id, _ := strconv.ParseInt(param(ctx, "id"), 10, 64)
	s.ledger.Lock()
	r := s.ledger.RefundByID(id)
	s.ledger.Unlock()
	var of *ledger.Transaction
	if r != nil {
		of = r.Of
	}
	return task{s.ledger.ModesOf(of), param(ctx, "id"), func() reply {
		now := s.cfg.Now()
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if r == nil || r.Status(now) == "" {
			return refused(404, "Refund not found", "not_found", "Ensure that you're passing the id of a refund that exists on this integration")
		}
		return ok("Refund retrieved", s.words.Refund(r, now))
	}}
}

// listRefunds answers GET /refund: all refunds, the newest first, or with ?transaction= only the refunds of the
// transaction with that number. A reference in place of the number finds nothing, as at Paystack itself.
func (s *Sim) listRefunds(ctx *fasthttp.RequestCtx) task {
	meta, skip := paging(ctx)
	which := query(ctx, "transaction")
	id, _ := strconv.ParseInt(which, 10, 64)
	s.ledger.Lock()
	t := s.ledger.ByID(id)
	s.ledger.Unlock()
	return task{s.ledger.ModesOf(t), which, func() reply {
		now := s.cfg.Now()
		list := []paystack.Refund{}
		s.ledger.Lock()
		defer s.ledger.Unlock()
		s.ledger.EachRefund(which, t, func(r *ledger.Refund) bool {
			switch {
			case r.Status(now) == "":
			case skip > 0:
				skip--
			default:
				list = append(list, s.words.Refund(r, now))
			}
			return len(list) < meta.PerPage
		})
		return reply{200, paystack.Envelope{Status: true, Message: "Refunds retrieved", Data: list, Meta: meta}}
	}}
}
