package security

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
)

// request is one that its operation grants to whoever may ask for it.
type request struct {
	params     map[string]string // of the path
	query      string
	headers    []string          // that prove who sends the body
	body       nodetest.Object   // nil: it reads none
	raw        string            // the body, if it is no JSON
	file       *nodetest.Upload  // nil: it takes none
	ids        map[string]string // what members of the body name, and ?parameters of the query, by kind
	token      string            // of the order that it names
	person     string            // access token of who asks, where it is about themselves
	open       bool              // it shows something to everybody, and more to the organization
	market     bool              // everybody may ask it of a public event: another's is one that they do not see
	perishable bool              // its body is good for some minutes at most
	mailbox    bool              // it asks for a session whose address is proven
	absent     string            // the code of the 404 that everybody who may is answered: there is none of it yet
}

// requests make, for every operation, a request that is granted: a new one each
// time, of things that nothing else in the world needs. An endpoint without one
// fails the suite.
func (w *world) requests() map[string]func() request {
	all := map[string]func() request{}
	for _, some := range []map[string]func() request{
		w.authRequests(),
		w.orgRequests(),
		w.eventRequests(),
		w.programRequests(),
		w.promoRequests(),
		w.venueRequests(),
		w.seatRequests(),
		w.orderRequests(),
		w.refundRequests(),
		w.moneyRequests(),
		w.holderRequests(),
		w.gateRequests(),
		w.buyerRequests(),
		w.peopleRequests(),
		w.waitlistRequests(),
		w.roomRequests(),
		w.customerRequests(),
		w.analyticsRequests(),
		w.learningRequests(),
		w.factRequests(),
		w.webhookRequests(),
		w.mediaRequests(),
	} {
		maps.Copy(all, some)
	}
	return all
}

// request makes one for an operation.
func (w *world) request(op *route.Op) request {
	w.T.Helper()
	make, ok := w.requests()[op.ID]
	require.True(w.T, ok, "%s has no request: give it one in requests_*_test.go", op.ID)
	r := make()
	if r.person == "" && op.Auth.Has(route.User) && !op.Auth.Has(route.Member) {
		r.person = w.guest().Token
	}
	if r.person != "" {
		r.person = w.prolong(r.person)
	}
	return r
}

// naming is a request of ids in the path alone: name, value pairs.
func naming(params ...string) request {
	r := request{params: map[string]string{}}
	for i := 0; i < len(params); i += 2 {
		r.params[params[i]] = params[i+1]
	}
	return r
}

func (r request) with(b nodetest.Object) request {
	r.body = b
	return r
}

// by is the request of a person about themselves.
func (r request) by(token string) request {
	r.person = token
	return r
}

// The kinds of things that requests name.
const (
	kindOrg         = "organization"
	kindEvent       = "event"
	kindSlug        = "slug"
	kindType        = "ticket type"
	kindOrder       = "order"
	kindTicket      = "ticket"
	kindOffer       = "offered ticket"
	kindKey         = "API key"
	kindEnrolment   = "enrolment of a gate"
	kindRequest     = "failed request"
	kindUser        = "user"
	kindCurrency    = "currency"
	kindVenue       = "venue map"
	kindMedia       = "file"
	kindVariant     = "size of an image"
	kindWebhook     = "webhook endpoint"
	kindDelivery    = "webhook delivery"
	kindSession     = "session"
	kindSection     = "section"
	kindPromo       = "promo code"
	kindDrawing     = "drawing"
	kindVersion     = "version"
	kindRefund      = "refund"
	kindGate        = "gate"
	kindReport      = "report"
	kindThread      = "thread"
	kindCustomer    = "customer"
	kindNote        = "note"
	kindReview      = "review"
	kindCourse      = "course"
	kindLesson      = "lesson"
	kindCertificate = "certificate"
	kindPayout      = "payout"
)

// kindsOfParams are what parameters name wherever they stand.
var kindsOfParams = map[string]string{
	"variant":      kindVariant,
	"orgId":        kindOrg,
	"keyId":        kindKey,
	"enrolmentId":  kindEnrolment,
	"requestId":    kindRequest,
	"userId":       kindUser,
	"ticketTypeId": kindType,
	"orderId":      kindOrder,
	"slug":         kindSlug,
	"currency":     kindCurrency,
	"sessionId":    kindSession,
	"sectionId":    kindSection,
	"version":      kindVersion,
	"token":        kindOffer,
	"gate":         kindGate,
	"ticketId":     kindTicket,
	"threadId":     kindThread,
	"key":          kindCustomer,
	"noteId":       kindNote,
}

// kindsInPaths are what parameters name behind a part of a path.
var kindsInPaths = map[string]string{
	"/by-id/":               kindEvent,
	"/certificates/":        kindCertificate,
	"/courses/":             kindCourse,
	"/lessons/":             kindLesson,
	"/media/":               kindMedia,
	"/deliveries/":          kindDelivery,
	"/event-customization/": kindEvent,
	"/event/":               kindEvent,
	"/events/":              kindEvent,
	"/orders/":              kindOrder,
	"/organizations/":       kindOrg,
	"/promo-codes/":         kindPromo,
	"/payouts/":             kindPayout,
	"/refunds/":             kindRefund,
	"/reports/":             kindReport,
	"/reviews/":             kindReview,
	"/tickets/":             kindTicket,
	"/venue-maps/":          kindDrawing,
	"/venues/":              kindVenue,
	"/webhooks/":            kindWebhook,
}

// kindOf is what a path parameter names.
func kindOf(t testing.TB, op *route.Op, param string) string {
	t.Helper()
	if kind, ok := kindsOfParams[param]; ok {
		return kind
	}
	for part, kind := range kindsInPaths {
		if strings.Contains(op.Path, part+"{"+param+"}") {
			return kind
		}
	}
	require.Fail(t, "what does the parameter name? say so in kindOf", "{%s} of %s", param, op.ID)
	return ""
}
