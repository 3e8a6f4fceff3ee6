package payments

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
)

// flutterwaveURL is both the live and the test host; the key tells which.
const flutterwaveURL = "https://api.flutterwave.com/v3"

// flutterwaveStatuses maps a transaction's status to ours.
var flutterwaveStatuses = map[string]Status{
	"successful": Succeeded,
	"pending":    Processing,
	"failed":     Failed,
}

// flutterwaveCurrencies are those in which Flutterwave charges, each by one of the methods of
// https://developer.flutterwave.com/v3.0/docs/payment-methods: cards, accounts in pounds and euros, and the
// mobile money and vouchers of the other countries. Of kwachas of Malawi (MWK) that page names no method of
// their own, and neither do the pages of mobile money, which have francs, Ghana, Kenya, Rwanda, Tanzania, Uganda and
// Zambia (https://developer.flutterwave.com/v3.0.0/docs/mobile-money-1, read in November 2026).
var flutterwaveCurrencies = []string{
	"EGP", "EUR", "GBP", "GHS", "KES", "MWK", "NGN", "RWF", "TZS", "UGX", "USD", "XAF", "XOF", "ZAR", "ZMW",
}

// flutterwave is the adapter to version 3 of Flutterwave's API
// (https://developer.flutterwave.com/v3.0).
type flutterwave struct {
	client *client
	hash   Secret // its notices carry this
}

func newFlutterwave(a Account, via http.RoundTripper, log *slog.Logger) (*flutterwave, error) {
	if a.SecretKey == "" {
		return nil, &Error{Provider: "flutterwave", Kind: ErrNotConfigured}
	}
	a = a.withDefaults(flutterwaveURL)
	if err := a.checkFields(); err != nil {
		return nil, err
	}
	return &flutterwave{client: newClient("flutterwave", a, via, log), hash: a.NoticeSecret}, nil
}

// Check refuses a currency that Flutterwave does not take.
func (f *flutterwave) Check(_ context.Context, p Price) error {
	return f.client.refuseCurrency(p.Currency, flutterwaveCurrencies)
}

type flutterwavePayment struct {
	Reference   string      `json:"tx_ref"`
	Amount      json.Number `json:"amount"`
	Currency    string      `json:"currency"`
	RedirectURL string      `json:"redirect_url"`
	Customer    struct {
		Email string `json:"email"`
	} `json:"customer"`
	SessionMinutes int `json:"session_duration"`
}

// Begin calls POST /payments. Flutterwave accepts the same reference twice.
func (f *flutterwave) Begin(ctx context.Context, c Charge) (Begun, error) {
	if !validReference(c.Reference) || c.Amount <= 0 || c.Email == "" {
		return Begun{}, f.client.fail(ErrDeclined, "reference, amount or e-mail is not valid")
	}
	in := flutterwavePayment{
		Reference: c.Reference, Amount: major(c.Amount, c.Currency), Currency: c.Currency, RedirectURL: c.CallbackURL,
		SessionMinutes: int(cardWindow.Minutes()),
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
	return Begun{AuthorizationURL: data.Link}, err
}

// flutterwaveTransaction is what we read of a transaction.
type flutterwaveTransaction struct {
	ID        number  `json:"id"`
	Reference string  `json:"tx_ref"`
	Amount    decimal `json:"amount"`
	Currency  string  `json:"currency"`
	Status    string  `json:"status"`
	Response  string  `json:"processor_response"`
	CreatedAt moment  `json:"created_at"`
}

func (t *flutterwaveTransaction) checkFields(reference string) error {
	switch _, known := flutterwaveStatuses[t.Status]; {
	case !known:
		return fmt.Errorf("status %q", t.Status)
	case t.Reference != reference:
		return fmt.Errorf("tx_ref %q", t.Reference)
	case t.Amount == "" || t.Currency == "" || t.ID == "":
		return errors.New("no amount, currency or id")
	}
	return nil
}

// Verify calls GET /transactions/verify_by_reference, or, once the transaction's id is known, GET
// /transactions/{id}/verify. A buyer who has not tried to pay has no transaction yet.
func (f *flutterwave) Verify(ctx context.Context, of Asked) (Outcome, error) {
	path := "/transactions/verify_by_reference?tx_ref=" + url.QueryEscape(of.Reference)
	if of.ProviderID != "" {
		path = "/transactions/" + url.PathEscape(of.ProviderID) + "/verify"
	}
	var t flutterwaveTransaction
	if err := f.call(ctx, http.MethodGet, path, nil, &t, func() error { return t.checkFields(of.Reference) }); err != nil {
		return Outcome{}, err
	}
	o := Outcome{Status: flutterwaveStatuses[t.Status], Amount: t.Amount.toMinor(t.Currency), Currency: t.Currency, Message: t.Response, ProviderID: string(t.ID)}
	return o, nil
}

// Refund looks for refunds of the charge that carry the key as their comment. It calls POST
// /transactions/{id}/refund only if none of them may still move the money.
func (f *flutterwave) Refund(ctx context.Context, r RefundRequest) (RefundOutcome, error) {
	if r.Key == "" || r.Amount <= 0 {
		return RefundOutcome{}, f.client.fail(ErrDeclined, "refund: key or amount is not valid")
	}
	return refundOnce(ctx, f.client, f, r)
}

// sendRefund calls POST /transactions/{id}/refund, under a key for this attempt.
func (f *flutterwave) sendRefund(ctx context.Context, r RefundRequest, attempt int) (RefundOutcome, error) {
	body := struct {
		Amount   json.Number `json:"amount"`
		Comments string      `json:"comments"`
	}{major(r.Amount, r.Currency), attemptKey(r.Key, attempt)}
	var data flutterwaveRefund
	err := f.call(ctx, http.MethodPost, "/transactions/"+url.PathEscape(r.ProviderID)+"/refund", body, &data, func() error { return data.checkFields() })
	if err != nil {
		return RefundOutcome{}, err
	}
	return data.readOutcome(r.Currency), nil
}

// refundsOf calls GET /refunds for the charge's refunds, page by page. A list that does not end is
// an error, because what it hides may be a refund under the key.
func (f *flutterwave) refundsOf(ctx context.Context, r RefundRequest) (madeRefunds, error) {
	var found madeRefunds
	for page := 1; page <= refundPages; page++ {
		q := url.Values{"id": {r.ProviderID}, "page": {strconv.Itoa(page)}}
		var list []flutterwaveRefund
		pages, err := f.readPage(ctx, request{method: http.MethodGet, path: "/refunds?" + q.Encode()}, &list, nil)
		if err != nil {
			return found, err
		}
		for i := range list {
			attempt := attemptOf(r.Key, list[i].noteText())
			if attempt == 0 || list[i].chargeID() != r.ProviderID {
				continue
			}
			if err := list[i].checkFields(); err != nil {
				return found, f.client.fail(ErrFault, "refund list: "+err.Error())
			}
			found.addAttempt(attempt, list[i].readOutcome(r.Currency))
		}
		if page >= pages {
			return found, nil
		}
	}
	return found, f.client.fail(ErrDeclined, fmt.Sprintf("the charge has more than %d pages of refunds", refundPages))
}

// flutterwaveRefund is what we read of a refund. Some fields are spelled differently in a single
// refund, in the answer to a new one and in a list.
type flutterwaveRefund struct {
	ID         number  `json:"id"`
	Amount     decimal `json:"amount_refunded"`
	AmountToo  decimal `json:"AmountRefunded"`
	Status     string  `json:"status"`
	Comment    string  `json:"comment"`
	Comments   string  `json:"comments"`
	Charge     number  `json:"transaction_id"`
	ChargeToo  number  `json:"TransactionId"`
	ChargeThen number  `json:"tx_id"`
}

func (r *flutterwaveRefund) noteText() string { return cmp.Or(r.Comments, r.Comment) }
func (r *flutterwaveRefund) chargeID() string {
	return string(cmp.Or(r.Charge, r.ChargeToo, r.ChargeThen))
}

func (r *flutterwaveRefund) checkFields() error {
	if r.ID == "" || r.Status == "" || r.Amount == "" && r.AmountToo == "" {
		return errors.New("no id, status or amount")
	}
	return nil
}

// readOutcome reads the status, which also says how the money went back: completed,
// completed-bank-transfer and the like.
func (r *flutterwaveRefund) readOutcome(currency string) RefundOutcome {
	o := RefundOutcome{ID: string(r.ID), Status: RefundProcessing, Amount: cmp.Or(r.Amount, r.AmountToo).toMinor(currency), Currency: currency}
	switch {
	case strings.HasPrefix(r.Status, "completed"):
		o.Status = RefundProcessed
	case strings.HasSuffix(r.Status, "failed"):
		o.Status = RefundFailed
	}
	return o
}

// RefundStatus calls GET /refunds/{id}.
func (f *flutterwave) RefundStatus(ctx context.Context, id string) (RefundOutcome, error) {
	if !isNumber(id) {
		return RefundOutcome{}, f.client.fail(ErrUnknownReference, "the refund has no number")
	}
	var data flutterwaveRefund
	if err := f.call(ctx, http.MethodGet, "/refunds/"+id, nil, &data, func() error { return data.checkFields() }); err != nil {
		return RefundOutcome{}, err
	}
	return data.readOutcome(""), nil
}

// call makes one call and decodes the data in its envelope.
func (f *flutterwave) call(ctx context.Context, method, path string, body, data any, check func() error) error {
	_, err := f.readPage(ctx, request{method: method, path: path, body: body}, data, check)
	return err
}

// readPage makes one call, decodes the data in its envelope, and returns how many pages the whole
// list has. check may refuse the data.
func (f *flutterwave) readPage(ctx context.Context, r request, data any, check func() error) (pages int, err error) {
	err = f.client.do(ctx, r, func(a answer) error {
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
		err := json.Unmarshal(a.body, &e)
		switch {
		case a.status == http.StatusNotFound || strings.HasPrefix(e.Message, "No transaction was found"):
			return f.client.fail(ErrUnknownReference, e.Message)
		case a.status >= 400:
			return f.client.fail(ErrDeclined, fmt.Sprintf("status %d: %s", a.status, a.body))
		case err != nil:
			return f.client.fail(ErrFault, "answer: "+err.Error())
		case e.Status != "success":
			return f.client.fail(ErrDeclined, e.Message)
		}
		if err := json.Unmarshal(e.Data, data); err != nil {
			return f.client.fail(ErrFault, "data: "+err.Error())
		}
		pages = e.Meta.Page.Pages
		if check != nil {
			if err := check(); err != nil {
				return f.client.fail(ErrFault, "data: "+err.Error())
			}
		}
		return nil
	})
	return pages, err
}

// Notice compares verif-hash with the secret hash. The body is not signed, so a notice only tells
// us which payment to ask about.
func (f *flutterwave) Notice(body []byte, signature string) (Notice, error) {
	want, got := sha256.Sum256([]byte(f.hash)), sha256.Sum256([]byte(strings.TrimSpace(signature)))
	if f.hash == "" || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return Notice{}, f.client.fail(ErrSignature, "")
	}
	var n struct {
		Event string `json:"event"`
		Data  struct {
			ID        number `json:"id"`
			Reference string `json:"tx_ref"`
			Status    string `json:"status"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &n); err != nil || n.Event == "" {
		return Notice{}, f.client.fail(ErrNotice, "not an event")
	}
	return Notice{
		Event: n.Event, Reference: n.Data.Reference,
		Key: strings.Join([]string{n.Event, n.Data.Reference, string(n.Data.ID), n.Data.Status}, "|"),
	}, nil
}
