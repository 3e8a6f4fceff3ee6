package security

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/payments/paysim"
)

// orderRequests are those of buyers, and of gates.
func (w *world) orderRequests() map[string]func() request {
	pending := func(param string) request {
		id, token := w.Place(w.email(), w.paid, 1)
		r := naming(param, id)
		r.token = token
		return r
	}
	paid := func(param string) request {
		r := pending(param)
		w.Settle(w.Checkout(r.params[param], r.token), "success")
		w.Verify(r.params[param], r.token).Is(200, "")
		return r
	}
	linked := func() request {
		id, token := w.Place(w.email(), w.paid, 1)
		address := w.Call("POST", "/orders/"+id+"/payment-link", nodetest.Object{"token": token}).Is(200, "").Str("url")
		return naming("token", address[strings.LastIndex(address, "/")+1:])
	}
	scan := func() request {
		code := w.Call("POST", "/orders", nodetest.OrderBody(w.email(), w.free, 1)).Is(201, "").Str("tickets.0.code")
		return request{
			body: nodetest.Object{"eventId": w.eventID, "qrData": code, "gateName": "North", "deviceId": "d", "method": "nfc", "geoLat": 1.5, "geoLng": 2},
			ids:  map[string]string{"eventId": kindEvent},
		}
	}
	return map[string]func() request{
		"placeOrder": func() request {
			lines := []nodetest.Object{{"ticketTypeId": w.free, "quantity": 1, "attendeeName": "Ada", "attendeeEmail": "ada@example.org"}}
			return request{}.with(nodetest.With(nodetest.OrderBody(w.email(), w.free, 1), nodetest.Object{"items": lines, "guestName": "Ada", "presaleCode": "x"}))
		},
		"getOrder":        func() request { return paid("id") },
		"payOrder":        func() request { return pending("id").with(nodetest.Object{"provider": "paystack"}) },
		"extendOrder":     func() request { return pending("id").with(nodetest.Object{}) },
		"makePaymentLink": func() request { return pending("id").with(nodetest.Object{}) },
		"tellTransferSent": func() request {
			_, kinds := w.Sell( // money that is transferred takes days
				nodetest.Object{"startDate": nodetest.Stamp(20 * 24 * time.Hour), "endDate": nodetest.Stamp(21 * 24 * time.Hour)},
				nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"saleEnd": nodetest.Stamp(9 * 24 * time.Hour)}))
			id, token := w.Place(w.email(), kinds[0], 1)
			w.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"provider": "transfer", "token": token}).Is(200, "")
			r := naming("id", id).with(nodetest.Object{})
			r.token = token
			return r
		},
		"getPaymentLink": linked,
		"payByLink":      func() request { return linked().with(nodetest.Object{"provider": "paystack", "email": w.email()}) },
		"verifyByLink":   linked,
		"cancelOrder":    func() request { return pending("id").with(nodetest.Object{}) },
		"verifyPayment": func() request {
			id, token := w.Place(w.email(), w.paid, 1)
			return request{body: nodetest.Object{"orderId": id}, ids: map[string]string{"orderId": kindOrder}, token: token}
		},
		"getPayment":     func() request { return paid("orderId") },
		"listCoins":      func() request { return request{} },
		"listPayMethods": func() request { return request{} },
		"receiveFlutterwaveNotice": func() request {
			r := request{}.with(nodetest.Object{})
			r.headers = []string{"Verif-Hash", node.SimKey}
			return r
		},
		"receiveStripeNotice": func() request {
			at := strconv.FormatInt(time.Now().Unix(), 10)
			mac := hmac.New(sha256.New, []byte(node.SimKey))
			mac.Write([]byte(at + ".{}"))
			r := request{perishable: true}.with(nodetest.Object{})
			r.headers = []string{"Stripe-Signature", "t=" + at + ",v1=" + hex.EncodeToString(mac.Sum(nil))}
			return r
		},
		"receivePayPalNotice": func() request {
			const id, at = "69cd13f0-d67a-11e5-baa3-778b53f4ae55", "2026-11-28T00:00:00Z"
			r := request{}.with(nodetest.Object{})
			r.headers = []string{
				"Paypal-Auth-Algo", "SHA256withRSA", "Paypal-Cert-Url", "https://api.paypal.com/v1/notifications/certs/CERT-1", "Paypal-Transmission-Id", id,
				"Paypal-Transmission-Time", at, "Paypal-Transmission-Sig", paysim.PayPalSignature(node.SimPayPalKey, id, at, node.SimKey, []byte(`{}`)),
			}
			return r
		},
		"receiveMollieNotice": func() request {
			mac := hmac.New(sha256.New, []byte(node.SimKey))
			mac.Write([]byte("notice of none"))
			return request{query: "&reference=none&sig=" + hex.EncodeToString(mac.Sum(nil))}
		},
		"receiveNOWPaymentsNotice": func() request {
			mac := hmac.New(sha512.New, []byte(node.SimKey))
			mac.Write([]byte(`{}`))
			r := request{}.with(nodetest.Object{})
			r.headers = []string{"X-Nowpayments-Sig", hex.EncodeToString(mac.Sum(nil))}
			return r
		},
		"receivePaystackNotice": func() request {
			mac := hmac.New(sha512.New, []byte(node.SimKey))
			mac.Write([]byte(`{}`))
			r := request{}.with(nodetest.Object{})
			r.headers = []string{"X-Paystack-Signature", hex.EncodeToString(mac.Sum(nil))}
			return r
		},
		"scanTicket": scan,
		"getGateStats": func() request {
			w.Own("POST", "/checkin/scan", scan().body).Is(200, "")
			return naming("id", w.eventID)
		},
	}
}
