package edge_test

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge"
	"boxoffice/edge/limit"
	"boxoffice/edge/redact"
)

// secretRead is a secret of some sort that requests show: at which doors, each an operation and its
// field, and what keeps somebody from finding one by trying.
type secretRead struct {
	doors []string
	rules []limit.RateRule // that count wrong guesses at all of its doors together
	other string           // what else bounds the guesses, where no rule does
}

// random says that a secret has so many random bits that the tier's limit is enough.
const random = "64 random bits or more"

// secretsRead are all secrets that rows read. A short secret has one count of wrong guesses, which
// every door takes from.
var secretsRead = map[string]secretRead{
	"promo code": {
		doors: []string{"validatePromoCode code", "placeOrder promoCode"},
		rules: []limit.RateRule{limit.RuleNetPromos, limit.RulePromos},
	},
	"door code": {
		doors: []string{"scanTicket qrData", "checkInManually ticketCode", "scanBatch scans.qrData", "scanBatch scans.ticketCode", "scanBatch scans.shortCode", "undoCheckIn ticketCode"},
		rules: []limit.RateRule{limit.RuleDeviceCodes, limit.RuleCodes, limit.RuleNetCodes},
	},
	"presale code": {
		doors: []string{"placeOrder presaleCode"},
		other: "the event's velocity rule presale_tries, by buyer and by network",
	},
	"password": {
		doors: []string{"login password"},
		rules: []limit.RateRule{limit.RuleEmail},
	},
	"login code":         {doors: []string{"exchangeLoginCode code"}, other: "five tries a code, five codes an hour (accounts.TakeCode)"},
	"login code's nonce": {doors: []string{"exchangeLoginCode nonce"}, other: random},
	"second factor":      {doors: []string{"verifyTwoFactor code", "disableTwoFactor code", "eraseMe code"}, other: "ten guesses an hour and user (accounts.Guess)"},
	"sign-in challenge":  {doors: []string{"verifyTwoFactor challengeToken"}, other: random},
	"refresh token":      {doors: []string{"refreshTokens refreshToken", "logout refreshToken"}, other: random},
	"reset link":         {doors: []string{"resetPassword token"}, other: random},
	"confirmation link":  {doors: []string{"confirmEmail token"}, other: random},
	"order token":        {doors: []string{"getOrder token", "printTickets token", "getCalendar token", "payOrder token", "cancelOrder token", "extendOrder token", "makePaymentLink token", "tellTransferSent token", "verifyPayment token", "getPayment token", "withdrawOrder token", "transferTicket token", "revokeTransfer token"}, other: random},
	"payment link":       {doors: []string{"getPaymentLink token", "payByLink token", "verifyByLink token"}, other: random},
	"waitlist link":      {doors: []string{"claimOffer token", "leaveWaitlist token"}, other: random},
	"transfer link":      {doors: []string{"claimTransfer token"}, other: random},
	"follow link":        {doors: []string{"confirmFollow token"}, other: random},
	"join link":          {doors: []string{"confirmWaitlist token"}, other: random},
	"room's admission":   {doors: []string{"holdSeats admission", "holdSeats X-Queue-Admission", "holdBestSeats admission", "holdBestSeats X-Queue-Admission", "placeOrder admission", "placeOrder X-Queue-Admission"}, other: random},
	"room link":          {doors: []string{"confirmQueue token"}, other: random},
	"unsubscribe link":   {doors: []string{"unsubscribe token", "unsubscribeByClick token"}, other: random},
	"ticket's full code": {doors: []string{"createReview ticketCode"}, other: random},
	"gate's code":        {doors: []string{"enrolGate code"}, other: random},
	"live token":         {doors: []string{"watchGates token"}, other: random},
	"media signature":    {doors: []string{"getMedia sig", "getMediaVariant sig"}, other: random},
	"notice signature":   {doors: []string{"receiveNOWPaymentsNotice X-Nowpayments-Sig", "receivePaystackNotice X-Paystack-Signature", "receiveFlutterwaveNotice Verif-Hash", "receiveStripeNotice Stripe-Signature", "receiveMollieNotice sig", "receivePayPalNotice Paypal-Transmission-Sig"}, other: random},
	"beacon's round":     {doors: []string{"bringBeacon signature"}, other: "no secret: anybody may know it, and it is verified under the chain's key"},
	"checkout session":   {doors: []string{"holdSeats holder", "releaseSeats holder", "extendSeats holder", "holdBestSeats holder", "placeOrder holder"}, other: "what a client makes up for itself, 8 characters or more"},
}

// written are the fields whose row sets a secret, or has the caller prove one of its own that it has
// just been shown. Or it looks among what the caller has
// made, as an organizer does who lists orders by the code.
var written = []string{
	"listOrders promoCode",
	"register password", "resetPassword password", "confirmEmail password", "activateTwoFactor code",
	"createTicketType presaleCode", "updateTicketType presaleCode", "createPromoCode code", "updatePromoCode code",
	"createEvent syllabus.lessonPin", "updateEvent syllabus.lessonPin",
	"createEvent onlineLink", "createEvent onlineLinkNote", "updateEvent onlineLink", "updateEvent onlineLinkNote",
	"createTicketType accessUrl", "createTicketType accessNote", "updateTicketType accessUrl", "updateTicketType accessNote",
}

// TestEverySecretHasOneGuessCounter holds the list against the route table: a row that reads a
// secret stands in it, and a secret that is short is counted by rules or by what its text names.
func TestEverySecretHasOneGuessCounter(t *testing.T) {
	t.Parallel()
	listed := make(map[string]bool)
	for _, field := range written {
		listed[field] = true
	}
	for name, s := range secretsRead {
		require.NotEmpty(t, s.doors, name)
		require.True(t, len(s.rules) > 0 != (s.other != ""), "%s: say what counts its wrong guesses", name)
		for _, rule := range s.rules {
			require.True(t, slices.ContainsFunc(limit.RateRules(), func(r limit.RateRule) bool { return r.Name == rule.Name }), rule.Name)
		}
		for _, door := range s.doors {
			require.False(t, listed[door], "%s is listed twice", door)
			listed[door] = true
		}
	}
	found := make(map[string]bool)
	for _, op := range new(edge.Areas).Routes() {
		eachField(op.Handler.In, "", func(name string) {
			if redact.NamesSecret(name) {
				found[op.ID+" "+name] = true
			}
		})
	}
	require.Empty(t, missing(found, listed), "say of what secret they are a door, or that they set one")
	require.Empty(t, missing(listed, found), "no row has them")
}

// shown holds the names of all fields that are kept of a failed request as they were sent. Whoever adds a field adds its
// name here, and says by that that it is no secret.
const shown = "testdata/shown_fields.txt"

// TestShownFieldsAreKnown makes sure that no field is shown of a failed request whose name nobody has looked at: the
// pattern of secret names knows only what secrets have been called so far.
func TestShownFieldsAreKnown(t *testing.T) {
	t.Parallel()
	names := make(map[string]bool)
	for _, op := range new(edge.Areas).Routes() {
		if !op.Handler.HasBody() {
			continue
		}
		eachField(op.Handler.In, "", func(path string) {
			if name := path[strings.LastIndexByte(path, '.')+1:]; !redact.NamesSecret(name) {
				names[name] = true
			}
		})
	}
	known, err := os.ReadFile(shown)
	require.NoError(t, err)
	require.Equal(t, string(known), strings.Join(slices.Sorted(maps.Keys(names)), "\n")+"\n")
}

// missing are the names of have that want has not.
func missing(have, want map[string]bool) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if !want[name] {
			names = append(names, name)
		}
	}
	return names
}

// eachField tells the wire names of a request's fields, those of parts with their path.
func eachField(t reflect.Type, path string, tell func(name string)) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.PkgPath() == "time" {
		return
	}
	for f := range t.Fields() {
		name := ""
		for _, tag := range []string{"json", "query", "path", "header", "form"} {
			if text, _, _ := strings.Cut(f.Tag.Get(tag), ","); text != "" && text != "-" {
				name = text
			}
		}
		if name == "" {
			eachField(f.Type, path, tell) // embedded, or the value of a field that may be null
			continue
		}
		tell(path + name)
		eachField(f.Type, path+name+".", tell)
	}
}
