package paypal

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

	"boxoffice/edge/payments/psp"
)

// call makes one call and decodes the answer. check may refuse the answer.
func (p *Provider) call(ctx context.Context, r psp.Request, data any, check func() error) error {
	_, err := p.callForIssue(ctx, r, data, check)
	return err
}

// callForIssue does what call does. It also returns the issue: PayPal's own word for the reason of
// a refusal, by which captureOrder decides.
func (p *Provider) callForIssue(ctx context.Context, r psp.Request, data any, check func() error) (issue string, err error) {
	err = p.fetch(ctx, p.client, r, func(a psp.Answer) (e *psp.Error) {
		issue, e = p.refusalError(a)
		return e
	}, data, check)
	return issue, err
}

// fetch makes a call with an access token. If PayPal does not know the token any more, fetch gets a
// new one and tries once more: PayPal refuses such a call before it does anything. The wait for the
// token and both tries together have the time of one call.
func (p *Provider) fetch(ctx context.Context, c *psp.Client, r psp.Request, declined func(psp.Answer) *psp.Error, data any, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, c.Account.Timeout)
	defer cancel()
	for refused := ""; ; refused = r.Bearer {
		var err error
		if r.Bearer, err = p.findBearer(ctx, refused); err != nil {
			return err
		}
		unknown := false
		err = c.Fetch(ctx, r, func(a psp.Answer) *psp.Error {
			if a.Status == http.StatusUnauthorized {
				unknown = true
				return c.Fail(psp.ErrDeclined, "the access token is refused")
			}
			return declined(a)
		}, data, check)
		if !unknown || refused != "" {
			return err
		}
	}
}

// refusalError makes an error of a refusal by PayPal, and returns the issue too
// (https://developer.paypal.com/api/rest/responses). The kind of the error is an unknown or a
// duplicate reference, a fault that is worth a repeat, money that went back already, or else
// declined.
func (p *Provider) refusalError(a psp.Answer) (issue string, e *psp.Error) {
	var said struct {
		Name    string `json:"name"`
		Message string `json:"message"`
		Details []struct {
			Field string `json:"field"`
			Issue string `json:"issue"`
		} `json:"details"`
	}
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return "", p.client.Fail(psp.ErrDeclined, fmt.Sprintf("status %d: %s", a.Status, a.Body))
	}
	if len(said.Details) > 0 {
		issue = said.Details[0].Issue
	}
	kind := psp.ErrDeclined
	switch {
	case a.Status == http.StatusNotFound:
		kind = psp.ErrUnknownReference
	// PayPal is still at work on the same request, so a repeat makes sense.
	case a.Status == http.StatusConflict:
		kind = psp.ErrFault
	case issue == "CAPTURE_FULLY_REFUNDED":
		kind = psp.ErrReturned
	case issue == "DUPLICATE_INVOICE_ID":
		kind = psp.ErrDuplicateReference
	}
	return issue, p.client.Fail(kind, fmt.Sprintf("status %d: %s %s: %s", a.Status, said.Name, issue, said.Message))
}

// findBearer returns an access token that is not the refused one. Only one call at a time gets a
// new token, by POST /v1/oauth2/token. The others wait for it at the channel.
func (p *Provider) findBearer(ctx context.Context, refused string) (string, error) {
	t, err := psp.Receive(ctx, p.client, p.token, "waiting for an access token")
	if err != nil {
		return "", err
	}
	// The token goes back into the channel in every case, or the next call would wait for ever.
	defer func() { p.token <- t }()
	if t.text != "" && t.text != refused && time.Now().Before(t.ends) {
		return t.text, nil
	}
	var got struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
	}
	ask := psp.Request{Method: http.MethodPost, Path: "/v1/oauth2/token", Form: url.Values{"grant_type": {"client_credentials"}}}
	err = p.client.Fetch(ctx, ask, func(a psp.Answer) *psp.Error {
		return p.client.Fail(psp.ErrDeclined, fmt.Sprintf("access token: status %d", a.Status))
	}, &got, func() error {
		if got.Token == "" || got.Seconds <= 0 {
			return errors.New("no access token")
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	// A token is replaced this long before its end, so that no call is under way when it ends.
	const early = time.Minute
	t = token{got.Token, time.Now().Add(time.Duration(got.Seconds)*time.Second - early)}
	return t.text, nil
}

// signed are the parts of a notice's signature, by their names in the request that asks PayPal to
// check them. The order is the one in which receivePayPalNotice joins the parts.
var signed = []string{"auth_algo", "cert_url", "transmission_id", "transmission_time", "transmission_sig"}

// Notice lets PayPal check the signature of a notice, by POST
// /v1/notifications/verify-webhook-signature, because only PayPal can vouch for its certificates.
// The signature is the words of signed with spaces between them. The body goes to PayPal byte for
// byte as it came, because the signature is over its bytes.
func (p *Provider) Notice(body []byte, signature string) (psp.Notice, error) {
	words := strings.Split(signature, " ")
	if p.hook == "" || len(words) != len(signed) || !json.Valid(body) || bytes.TrimSpace(body)[0] != '{' {
		return psp.Notice{}, p.client.Fail(psp.ErrSignature, "")
	}
	parts := map[string]string{"webhook_id": string(p.hook)}
	for i, name := range signed {
		if words[i] == "" {
			return psp.Notice{}, p.client.Fail(psp.ErrSignature, "no "+name)
		}
		parts[name] = words[i]
	}
	if err := p.proveNotice(body, parts); err != nil {
		return psp.Notice{}, err
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
		return psp.Notice{}, p.client.Fail(psp.ErrNotice, "not an event")
	}
	told := psp.Notice{Event: n.Event, Reference: n.Resource.Reference, Dispute: n.Resource.Dispute, Key: n.ID}
	switch {
	case len(n.Resource.Units) > 0:
		told.Reference = n.Resource.Units[0].Reference
	case len(n.Resource.Disputed) > 0:
		told.Reference = n.Resource.Disputed[0].Reference
	}
	return told, nil
}

// proveNotice asks PayPal whether the parts sign the body. A refusal of the question counts as a
// bad signature.
func (p *Provider) proveNotice(body []byte, parts map[string]string) error {
	head, err := json.Marshal(parts)
	if err != nil {
		return p.client.Fail(psp.ErrSignature, err.Error())
	}
	// The event is put into the text by hand, because the encoder would change its bytes.
	text := append(head[:len(head)-1], `,"webhook_event":`...)
	text = append(append(text, body...), '}')
	var told struct {
		Status string `json:"verification_status"`
	}
	ask := psp.Request{Method: http.MethodPost, Path: "/v1/notifications/verify-webhook-signature", Text: text, Reads: true}
	err = p.fetch(context.Background(), p.checks, ask, func(a psp.Answer) *psp.Error {
		return p.checks.Fail(psp.ErrSignature, fmt.Sprintf("status %d", a.Status))
	}, &told, nil)
	if err == nil && told.Status != "SUCCESS" {
		err = p.checks.Fail(psp.ErrSignature, "")
	}
	return err
}
