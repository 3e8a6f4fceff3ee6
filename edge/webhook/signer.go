package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"boxoffice/edge/secrets"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/publicfacts"
)

// These are the headers of a delivery.
const (
	headerSignature = "X-Service-Signature"
	headerEvent     = "X-Service-Event"
	headerDelivery  = "X-Service-Delivery"
	headerAttempt   = "X-Service-Attempt"
	userAgent       = "Boxoffice-Webhooks/1"
)

// Sign makes the signature of a body that is sent at a time: t=<unix seconds>,v1=<hex
// HMAC-SHA256>, over "<t>.<body>". The key is the whole secret as it was shown to its
// owner, prefix included (docs/webhooks.md). The time is part of what is signed, so that an
// old request cannot be sent again as a new one.
func Sign(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// sealLabel derives the key for secrets of endpoints. Other sealed things have other
// labels, so one cannot be opened as another.
const sealLabel = "webhook"

// SealSecret encrypts the signing secret of an organization's endpoint, so that it can be stored.
func SealSecret(m *secrets.Master, org int64, secret string) []byte {
	return m.Seal(sealLabel, sealContext(org), []byte(secret))
}

// openSecret decrypts what SealSecret has encrypted for the same organization.
func openSecret(m *secrets.Master, org int64, sealed []byte) (string, error) {
	secret, err := m.Open(sealLabel, sealContext(org), sealed)
	return string(secret), err
}

// sealContext binds a sealed secret to its organization.
func sealContext(org int64) []byte { return strconv.AppendInt([]byte("org/"), org, 10) }

// bodyOf makes the body that is POSTed. It does not depend on the attempt, so every attempt
// sends the same bytes.
func bodyOf(a *deliveries.Attempt, data []byte) ([]byte, error) {
	return json.Marshal(Body(&publicfacts.Fact{ID: a.EventID, Type: a.Type, Seq: a.Seq, At: a.At, Data: data}))
}

// testData is the payload of a test delivery.
func testData(endpoint int64) []byte {
	b := append([]byte(`{"webhookId":"`), strconv.FormatInt(endpoint, 10)...)
	return append(b, `","message":"This is a test: the endpoint is reached, and its signature can be verified."}`...)
}

// headersOf makes the headers of an attempt, with the signature of its body.
func headersOf(a *deliveries.Attempt, secret string, now time.Time, body []byte) http.Header {
	return http.Header{
		"Content-Type":  {"application/json"},
		"User-Agent":    {userAgent},
		headerEvent:     {a.Type},
		headerDelivery:  {strconv.FormatInt(a.Delivery, 10)},
		headerAttempt:   {strconv.Itoa(a.Number)},
		headerSignature: {Sign(secret, now, body)},
	}
}
