// Package flutterwave is the adapter to Flutterwave: it makes the requests, reads the answers, and checks that a
// notice comes from Flutterwave.
package flutterwave

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/v1"

	"boxoffice/edge/payments/psp"
)

// address is the host of both the live and the test mode; the key decides which of them is used.
const address = "https://api.flutterwave.com/v3"

// statuses maps a transaction's status to ours.
var statuses = map[string]psp.Status{
	"successful": psp.Succeeded,
	"pending":    psp.Processing,
	"failed":     psp.Failed,
}

// Currencies are those in which Flutterwave charges. For each of them
// https://developer.flutterwave.com/v3.0/docs/payment-methods names a method: cards, accounts in pounds and
// euros, and the mobile money and vouchers of the other countries. The exception is the kwacha of Malawi (MWK),
// for which neither that page nor https://developer.flutterwave.com/v3.0.0/docs/mobile-money-1 names a method of
// its own (read in November 2026).
var Currencies = []string{
	"EGP", "EUR", "GBP", "GHS", "KES", "MWK", "NGN", "RWF", "TZS", "UGX", "USD", "XAF", "XOF", "ZAR", "ZMW",
}

// Provider is the adapter to version 3 of Flutterwave's API
// (https://developer.flutterwave.com/v3.0).
type Provider struct {
	client *psp.Client
	hash   psp.Secret // the text that its notices must carry
}

// New makes the adapter of an account. Without a key the error is psp.ErrNotConfigured.
func New(a psp.Account, via http.RoundTripper, log *slog.Logger) (*Provider, error) {
	if a.SecretKey == "" {
		return nil, &psp.Error{Provider: "flutterwave", Kind: psp.ErrNotConfigured}
	}
	a = a.WithDefaults(address)
	if err := a.CheckFields(); err != nil {
		return nil, err
	}
	return &Provider{client: psp.NewClient("flutterwave", a, via, log), hash: a.NoticeSecret}, nil
}

// Check refuses a currency that Flutterwave does not take.
func (f *Provider) Check(_ context.Context, p psp.Price) error {
	return f.client.RefuseCurrency(p.Currency, Currencies)
}

// payment is what we send to begin a payment. Amounts are decimals in the major unit, such
// as 25.50.
type payment struct {
	Reference   string      `json:"tx_ref"`
	Amount      json.Number `json:"amount"`
	Currency    string      `json:"currency"`
	RedirectURL string      `json:"redirect_url"`
	Customer    struct {
		Email string `json:"email"`
	} `json:"customer"`
	SessionMinutes int `json:"session_duration"`
}

// Begin calls POST /payments. Flutterwave accepts the same reference twice, so a repeat after a lost answer is
// no error. SessionMinutes bounds how long the link can be used.
func (f *Provider) Begin(ctx context.Context, c psp.Charge) (psp.Begun, error) {
	if !psp.IsReference(c.Reference) || c.Amount <= 0 || c.Email == "" {
		return psp.Begun{}, f.client.Fail(psp.ErrDeclined, "reference, amount or e-mail is not valid")
	}
	in := payment{
		Reference: c.Reference, Amount: psp.Major(c.Amount, c.Currency), Currency: c.Currency, RedirectURL: c.CallbackURL,
		SessionMinutes: int(psp.CardWindow.Minutes()),
	}
	in.Customer.Email = c.Email
	var data struct {
		Link string `json:"link"`
	}
	err := f.call(ctx, http.MethodPost, "/payments", in, &data, func() error {
		if u, err := url.Parse(data.Link); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			return fmt.Errorf("link %q", data.Link)
		}
		return nil
	})
	return psp.Begun{AuthorizationURL: data.Link}, err
}

// transaction is what we read of a transaction.
type transaction struct {
	ID        psp.Number  `json:"id"`
	Reference string      `json:"tx_ref"`
	Amount    psp.Decimal `json:"amount"`
	Currency  string      `json:"currency"`
	Status    string      `json:"status"`
	Response  string      `json:"processor_response"`
	CreatedAt psp.Moment  `json:"created_at"`
}

// checkFields refuses an answer that is about another payment, or from which no outcome can
// be read. A status that we don't know is refused too: guessing could free tickets that are
// paid for.
func (t *transaction) checkFields(reference string) error {
	switch _, known := statuses[t.Status]; {
	case !known:
		return fmt.Errorf("status %q", t.Status)
	case t.Reference != reference:
		return fmt.Errorf("tx_ref %q", t.Reference)
	case t.Amount == "" || t.Currency == "" || t.ID == "":
		return errors.New("no amount, currency or id")
	}
	return nil
}

// Verify asks for the transaction by our reference, or by its own id once that is known. A
// buyer who has not tried to pay has no transaction yet, which is the error
// psp.ErrUnknownReference.
func (f *Provider) Verify(ctx context.Context, of psp.Asked) (psp.Outcome, error) {
	path := "/transactions/verify_by_reference?tx_ref=" + url.QueryEscape(of.Reference)
	if of.ProviderID != "" {
		path = "/transactions/" + url.PathEscape(of.ProviderID) + "/verify"
	}
	var t transaction
	if err := f.call(ctx, http.MethodGet, path, nil, &t, func() error { return t.checkFields(of.Reference) }); err != nil {
		return psp.Outcome{}, err
	}
	o := psp.Outcome{Status: statuses[t.Status], Amount: t.Amount.ToMinor(t.Currency), Currency: t.Currency, Message: t.Response, ProviderID: string(t.ID)}
	return o, nil
}

// Refund looks for refunds of the charge that carry the key as their comment. It calls POST
// /transactions/{id}/refund only if none of them may still move the money.
func (f *Provider) Refund(ctx context.Context, r psp.RefundRequest) (psp.RefundOutcome, error) {
	if r.Key == "" || r.Amount <= 0 {
		return psp.RefundOutcome{}, f.client.Fail(psp.ErrDeclined, "refund: key or amount is not valid")
	}
	return psp.RefundOnce(ctx, f.client, f, r, f.findRefunds, f.sendRefund)
}

// sendRefund calls POST /transactions/{id}/refund. The comment carries the refund's key
// with the number of the attempt, by which findRefunds knows the refund later.
func (f *Provider) sendRefund(ctx context.Context, r psp.RefundRequest, attempt int) (psp.RefundOutcome, error) {
	body := struct {
		Amount   json.Number `json:"amount"`
		Comments string      `json:"comments"`
	}{psp.Major(r.Amount, r.Currency), psp.AttemptKey(r.Key, attempt)}
	var data refund
	err := f.call(ctx, http.MethodPost, "/transactions/"+url.PathEscape(r.ProviderID)+"/refund", body, &data, func() error { return data.checkFields() })
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	return data.readOutcome(r.Currency), nil
}

// findRefunds calls GET /refunds for the charge's refunds, page by page, and returns those that were made under the
// key of r. More than psp.RefundPages pages are an error, because the rest may have a refund under the key.
func (f *Provider) findRefunds(ctx context.Context, r psp.RefundRequest) (psp.MadeRefunds, error) {
	var found psp.MadeRefunds
	for page := 1; page <= psp.RefundPages; page++ {
		q := url.Values{"id": {r.ProviderID}, "page": {strconv.Itoa(page)}}
		var list []refund
		pages, err := f.readPage(ctx, psp.Request{Method: http.MethodGet, Path: "/refunds?" + q.Encode()}, &list, nil)
		if err != nil {
			return found, err
		}
		for i := range list {
			attempt := psp.AttemptOf(r.Key, list[i].noteText())
			if attempt == 0 || list[i].chargeID() != r.ProviderID {
				continue
			}
			if err := list[i].checkFields(); err != nil {
				return found, f.client.Fail(psp.ErrFault, "refund list: "+err.Error())
			}
			found.AddAttempt(attempt, list[i].readOutcome(r.Currency))
		}
		if page >= pages {
			return found, nil
		}
	}
	return found, f.client.Fail(psp.ErrDeclined, fmt.Sprintf("the charge has more than %d pages of refunds", psp.RefundPages))
}

// refund is what we read of a refund. Flutterwave spells some fields differently in a
// single refund, in the answer to a new one and in a list, so each has several names here.
type refund struct {
	ID         psp.Number  `json:"id"`
	Amount     psp.Decimal `json:"amount_refunded"`
	AmountToo  psp.Decimal `json:"AmountRefunded"`
	Status     string      `json:"status"`
	Comment    string      `json:"comment"`
	Comments   string      `json:"comments"`
	Charge     psp.Number  `json:"transaction_id"`
	ChargeToo  psp.Number  `json:"TransactionId"`
	ChargeThen psp.Number  `json:"tx_id"`
}

// noteText returns the comment that sendRefund has set.
func (r *refund) noteText() string { return cmp.Or(r.Comments, r.Comment) }

// chargeID returns the id of the transaction that the refund belongs to.
func (r *refund) chargeID() string {
	return string(cmp.Or(r.Charge, r.ChargeToo, r.ChargeThen))
}

// checkFields refuses an answer without what a refund needs.
func (r *refund) checkFields() error {
	if r.ID == "" || r.Status == "" || r.Amount == "" && r.AmountToo == "" {
		return errors.New("no id, status or amount")
	}
	return nil
}

// readOutcome reads a refund of a charge in the given currency, which the refund itself does not say.
func (r *refund) readOutcome(currency string) psp.RefundOutcome {
	return psp.RefundOutcome{ID: string(r.ID), Status: r.readStatus(), Amount: cmp.Or(r.Amount, r.AmountToo).ToMinor(currency), Currency: currency}
}

// readStatus reads the status, which also says how the money went back: completed, completed-bank-transfer and the
// like.
func (r *refund) readStatus() psp.RefundStatus {
	switch {
	case strings.HasPrefix(r.Status, "completed"):
		return psp.RefundProcessed
	case strings.HasSuffix(r.Status, "failed"):
		return psp.RefundFailed
	}
	return psp.RefundProcessing
}

// RefundStatus calls GET /refunds/{id}. The outcome has no amount, because the answer does not say its currency.
func (f *Provider) RefundStatus(ctx context.Context, id string) (psp.RefundOutcome, error) {
	if !psp.IsNumber(id) {
		return psp.RefundOutcome{}, f.client.Fail(psp.ErrUnknownReference, "the refund has no number")
	}
	var data refund
	if err := f.call(ctx, http.MethodGet, "/refunds/"+id, nil, &data, func() error { return data.checkFields() }); err != nil {
		return psp.RefundOutcome{}, err
	}
	return psp.RefundOutcome{ID: string(data.ID), Status: data.readStatus()}, nil
}

// call makes one call and decodes the data in its envelope.
func (f *Provider) call(ctx context.Context, method, path string, body, data any, check func() error) error {
	_, err := f.readPage(ctx, psp.Request{Method: method, Path: path, Body: body}, data, check)
	return err
}

// readPage makes one call, decodes the data in its envelope, and returns how many pages the
// whole list has. check may refuse the data. An unknown reference, a refusal and an answer
// that cannot be read are different kinds of errors (psp.Error).
func (f *Provider) readPage(ctx context.Context, r psp.Request, data any, check func() error) (pages int, err error) {
	err = f.client.Do(ctx, r, func(a psp.Answer) error {
		var e struct {
			Status  string          `json:"status"`
			Message string          `json:"message"`
			Data    json.RawMessage `json:"data"`
			Meta    struct {
				Page struct {
					Pages int `json:"total_pages"`
				} `json:"page_info"`
			} `json:"meta"`
		}
		err := json.Unmarshal(a.Body, &e)
		switch {
		case a.Status == http.StatusNotFound || strings.HasPrefix(e.Message, "No transaction was found"):
			return f.client.Fail(psp.ErrUnknownReference, e.Message)
		case a.Status >= 400:
			return f.client.Fail(psp.ErrDeclined, fmt.Sprintf("status %d: %s", a.Status, a.Body))
		case err != nil:
			return f.client.Fail(psp.ErrFault, "answer: "+err.Error())
		case e.Status != "success":
			return f.client.Fail(psp.ErrDeclined, e.Message)
		}
		if err := json.Unmarshal(e.Data, data); err != nil {
			return f.client.Fail(psp.ErrFault, "data: "+err.Error())
		}
		pages = e.Meta.Page.Pages
		if check != nil {
			if err := check(); err != nil {
				return f.client.Fail(psp.ErrFault, "data: "+err.Error())
			}
		}
		return nil
	})
	return pages, err
}

// Notice compares the header verif-hash with the secret hash, in constant time. Both are
// hashed first, so that their lengths do not show either. The body is not signed, so a
// notice only tells us which payment to ask about.
func (f *Provider) Notice(body []byte, signature string) (psp.Notice, error) {
	want, got := sha256.Sum256([]byte(f.hash)), sha256.Sum256([]byte(strings.TrimSpace(signature)))
	if f.hash == "" || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return psp.Notice{}, f.client.Fail(psp.ErrSignature, "")
	}
	var n struct {
		Event string `json:"event"`
		Data  struct {
			ID        psp.Number `json:"id"`
			Reference string     `json:"tx_ref"`
			Status    string     `json:"status"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &n); err != nil || n.Event == "" {
		return psp.Notice{}, f.client.Fail(psp.ErrNotice, "not an event")
	}
	return psp.Notice{
		Event: n.Event, Reference: n.Data.Reference,
		Key: strings.Join([]string{n.Event, n.Data.Reference, string(n.Data.ID), n.Data.Status}, "|"),
	}, nil
}
