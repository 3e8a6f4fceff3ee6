package payments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json/v1"
)

// call makes one call and decodes the answer, which check may refuse.
func (p *paypal) call(ctx context.Context, r request, data any, check func() error) error {
	_, err := p.callForIssue(ctx, r, data, check)
	return err
}

// callForIssue is call that also returns PayPal's word for why it said no.
func (p *paypal) callForIssue(ctx context.Context, r request, data any, check func() error) (issue string, err error) {
	err = p.fetch(ctx, p.client, r, func(a answer) (e *Error) {
		issue, e = p.declinedError(a)
		return e
	}, data, check)
	return issue, err
}

// fetch is the client's with an access token. One that PayPal knows no longer is replaced, once: a call that is refused for
// that has done nothing. Waiting for the token and the call have the time of one call.
func (p *paypal) fetch(ctx context.Context, c *client, r request, declined func(answer) *Error, data any, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, c.account.Timeout)
	defer cancel()
	for refused := ""; ; refused = r.bearer {
		var err error
		if r.bearer, err = p.findBearer(ctx, refused); err != nil {
			return err
		}
		unknown := false
		err = c.fetch(ctx, r, func(a answer) *Error {
			if a.status == http.StatusUnauthorized {
				unknown = true
				return c.fail(ErrDeclined, "the access token is refused")
			}
			return declined(a)
		}, data, check)
		if !unknown || refused != "" {
			return err
		}
	}
}

// declinedError makes the error when PayPal said no (https://developer.paypal.com/api/rest/responses).
func (p *paypal) declinedError(a answer) (issue string, e *Error) {
	var said struct {
		Name    string `json:"name"`
		Message string `json:"message"`
		Details []struct {
			Field string `json:"field"`
			Issue string `json:"issue"`
		} `json:"details"`
	}
	if err := json.Unmarshal(a.body, &said); err != nil {
		return "", p.client.fail(ErrDeclined, fmt.Sprintf("status %d: %s", a.status, a.body))
	}
	if len(said.Details) > 0 {
		issue = said.Details[0].Issue
	}
	kind := ErrDeclined
	switch {
	case a.status == http.StatusNotFound:
		kind = ErrUnknownReference
	case a.status == http.StatusConflict: // the same request is being worked on
		kind = ErrFault
	case issue == "CAPTURE_FULLY_REFUNDED":
		kind = ErrReturned
	case issue == "DUPLICATE_INVOICE_ID":
		kind = ErrDuplicateReference
	}
	return issue, p.client.fail(kind, fmt.Sprintf("status %d: %s %s: %s", a.status, said.Name, issue, said.Message))
}

// findBearer returns an access token that is not the refused one. One call at a time gets a new one, by POST
// /v1/oauth2/token; the others wait for it.
func (p *paypal) findBearer(ctx context.Context, refused string) (string, error) {
	t, err := p.takeToken(ctx)
	if err != nil {
		return "", err
	}
	defer func() { p.token <- t }()
	if t.text != "" && t.text != refused && time.Now().Before(t.ends) {
		return t.text, nil
	}
	var got struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
	}
	ask := request{method: http.MethodPost, path: "/v1/oauth2/token", form: url.Values{"grant_type": {"client_credentials"}}}
	err = p.client.fetch(ctx, ask, func(a answer) *Error {
		return p.client.fail(ErrDeclined, fmt.Sprintf("access token: status %d", a.status))
	}, &got, func() error {
		if got.Token == "" || got.Seconds <= 0 {
			return errors.New("no access token")
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	const early = time.Minute // before its end, so that no call is under way then
	t = paypalToken{got.Token, time.Now().Add(time.Duration(got.Seconds)*time.Second - early)}
	return t.text, nil
}

// takeToken takes the token out of its channel, into which the caller puts one back. Whoever waits in vain for one that PayPal
// does not give has met a sick provider, as a call that gets no answer.
func (p *paypal) takeToken(ctx context.Context) (paypalToken, error) {
	select {
	case t := <-p.token:
		return t, nil
	default:
	}
	c := p.client
	pass, err := c.admitCall()
	if err != nil {
		return paypalToken{}, err
	}
	select {
	case t := <-p.token:
		c.breaker.endCall(pass, neutral, time.Now())
		return t, nil
	case <-ctx.Done():
		e := c.connectionError(ctx, errors.New("waiting for an access token"))
		c.tellBreaker(pass, e)
		return paypalToken{}, e
	}
}

// paypalSigned are the parts of a notice's signature, as receivePayPalNotice joins them, under their names in the request
// that has PayPal check them.
var paypalSigned = []string{"auth_algo", "cert_url", "transmission_id", "transmission_time", "transmission_sig"}

// Notice has PayPal check the signature, by POST /v1/notifications/verify-webhook-signature: its certificates are
// nobody else's to vouch for. The signature is the words of paypalSigned with spaces between them. The body is passed on as
// it came, because PayPal signs its bytes.
func (p *paypal) Notice(body []byte, signature string) (Notice, error) {
	words := strings.Split(signature, " ")
	if p.hook == "" || len(words) != len(paypalSigned) || !json.Valid(body) || bytes.TrimSpace(body)[0] != '{' {
		return Notice{}, p.client.fail(ErrSignature, "")
	}
	parts := map[string]string{"webhook_id": string(p.hook)}
	for i, name := range paypalSigned {
		if words[i] == "" {
			return Notice{}, p.client.fail(ErrSignature, "no "+name)
		}
		parts[name] = words[i]
	}
	if err := p.proveNotice(body, parts); err != nil {
		return Notice{}, err
	}
	var n struct {
		ID       string `json:"id"`
		Event    string `json:"event_type"`
		Resource struct {
			Reference string `json:"custom_id"`
			Units     []struct {
				Reference string `json:"custom_id"`
			} `json:"purchase_units"`
			Dispute  string `json:"dispute_id"`
			Disputed []struct {
				Reference string `json:"custom"`
			} `json:"disputed_transactions"`
		} `json:"resource"`
	}
	if err := json.Unmarshal(body, &n); err != nil || n.ID == "" || n.Event == "" {
		return Notice{}, p.client.fail(ErrNotice, "not an event")
	}
	told := Notice{Event: n.Event, Reference: n.Resource.Reference, Dispute: n.Resource.Dispute, Key: n.ID}
	switch {
	case len(n.Resource.Units) > 0:
		told.Reference = n.Resource.Units[0].Reference
	case len(n.Resource.Disputed) > 0:
		told.Reference = n.Resource.Disputed[0].Reference
	}
	return told, nil
}

// proveNotice asks PayPal whether the parts sign the body. What PayPal finds no sense in is signed by nobody.
func (p *paypal) proveNotice(body []byte, parts map[string]string) error {
	head, err := json.Marshal(parts)
	if err != nil {
		return p.client.fail(ErrSignature, err.Error())
	}
	// The event goes in by hand: the encoder would change its bytes.
	text := append(head[:len(head)-1], `,"webhook_event":`...)
	text = append(append(text, body...), '}')
	var told struct {
		Status string `json:"verification_status"`
	}
	ask := request{method: http.MethodPost, path: "/v1/notifications/verify-webhook-signature", text: text, reads: true}
	err = p.fetch(context.Background(), p.checks, ask, func(a answer) *Error {
		return p.checks.fail(ErrSignature, fmt.Sprintf("status %d", a.status))
	}, &told, nil)
	if err == nil && told.Status != "SUCCESS" {
		err = p.checks.fail(ErrSignature, "")
	}
	return err
}
