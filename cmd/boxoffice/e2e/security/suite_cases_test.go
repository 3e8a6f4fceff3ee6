package security

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// attempt is a request that must be refused, or that must come to nothing.
type attempt struct {
	name    string
	auth    string // Authorization header; empty: none
	request request
	raw     string   // the body, if it is not the request's
	headers []string // name, value pairs
	want    []string // how it may be answered, such as "401 UNAUTHORIZED"; "404" is any code
	details any      // of the error, unless nil
	hidden  []string // what the answer does not contain
}

// credentials are what the suite tries on every operation.
type credentials struct {
	worthless   map[string]string // Authorization headers
	otherEnv    map[string]string
	elsewhere   string // of an API key that is good, from another address
	holders     []holder
	orderTokens map[string]string // of other orders, or of none
	marks       []string          // what only the first organization's answers contain
}

func (w *world) credentials() *credentials {
	w.T.Helper()
	_, beside := w.Place("buyer@example.org", w.paid, 1)
	return &credentials{
		worthless: w.worthless(), holders: w.holders(),
		otherEnv: map[string]string{
			"key of the other environment":     bearer(w.Key(nodetest.Object{"environment": "live"}).Str("secret")),
			"no key of the other environment":  bearer("vt_live_" + strings.Repeat("0", 51)),
			"key with the other's environment": bearer("vt_live_" + w.secret[8:]),
		},
		elsewhere:   bearer(w.Key(nodetest.Object{"ipAllowlist": []string{"192.0.2.7", "2001:db8::/32"}}).Str("secret")),
		orderTokens: map[string]string{"another order's": beside, "another organization's": w.stranger.orderToken, "cut": w.orderToken[:42], "garbage": "x", "JWT as": w.Token[:100], "key as": w.secret},
		marks:       []string{w.eventID, w.draftID, w.slug, w.orderID, w.ownerID, "owner@example.org"},
	}
}

// attempts are all that must be refused of an operation's request, by whoever
// may not make it.
func (w *world) attempts(op *route.Op, r request, c *credentials) []attempt {
	w.T.Helper()
	all := w.unproven(op, r, c)
	if op.Auth != route.Public {
		all = append(all, w.unentitled(op, r, c)...)
	}
	if op.Auth.Has(route.OrderToken) {
		all = append(all, w.wrongTokens(r, c)...)
	}
	all = append(all, w.swaps(op, r)...)
	return append(all, w.twice(op, r)...)
}

// unproven have no credential that proves anything.
func (w *world) unproven(op *route.Op, r request, c *credentials) []attempt {
	bare, refused := r, []string{"401 UNAUTHORIZED"}
	bare.token = ""
	var all []attempt
	for _, name := range slices.Sorted(maps.Keys(c.otherEnv)) {
		all = append(all, attempt{name: name, auth: c.otherEnv[name], request: r, want: []string{"403 WRONG_ENV"}})
	}
	if op.Auth == route.Public { // what proves nothing is passed over, before the body is judged
		for _, name := range slices.Sorted(maps.Keys(c.worthless)) {
			switch {
			case op.Handler.NeedsBody():
				all = append(all, attempt{name: name + ", passed over", auth: c.worthless[name], request: r, raw: "{}", want: []string{"400 VALIDATION_ERROR"}})
			case !op.Writes() && op.ID != "unsubscribe": // it is a page, not JSON
				all = append(all, attempt{name: name + ", passed over", auth: c.worthless[name], request: r, want: []string{"200"}})
			}
		}
		return all
	}
	for _, name := range slices.Sorted(maps.Keys(c.worthless)) {
		all = append(all, attempt{name: name, auth: c.worthless[name], request: bare, want: refused})
	}
	all = append(all, attempt{
		name: "key from elsewhere", auth: c.elsewhere, request: r,
		want: []string{"403 FORBIDDEN"}, details: nodetest.Object{"reason": "IP_NOT_ALLOWED"},
	})
	if r.token != "" {
		all = append(all, attempt{name: "garbage beside the order's token", auth: bearer("x"), request: r, want: refused})
	}
	if op.Auth.Has(route.Public) && !op.Auth.Has(route.OrderToken) {
		return all // who brings nothing is served
	}
	all = append(all, attempt{name: "nothing", request: bare, want: refused})
	for name, headers := range map[string][]string{
		"token in X-Api-Key": {"X-Api-Key", w.Token}, "key in X-Api-Key": {"X-Api-Key", w.secret}, "token in a cookie": {"Cookie", "access_token=" + w.Token + "; Authorization=" + w.Token},
		"forwarded identity": {"X-User-Id", "1", "X-Forwarded-User", "owner@example.org", "X-Remote-User", "owner@example.org"}, "method override": {"X-Http-Method-Override", "GET"},
	} {
		all = append(all, attempt{name: name, request: bare, headers: headers, want: refused})
	}
	for _, name := range []string{"access_token", "accessToken", "api_key", "apiKey", "authorization"} {
		asked := bare
		asked.query = strings.TrimPrefix(bare.query+"&"+name+"="+w.Token, "&")
		all = append(all, attempt{name: "token in the query's " + name, request: asked, want: refused})
	}
	if !op.Auth.Has(route.OrderToken) {
		bare.token = w.orderToken
		all = append(all, attempt{name: "order token", request: bare, want: refused})
	}
	return all
}

// verdict is what somebody's credential comes to by the declaration of the operation: a status
// and a code, or nothing for a success.
func (h *holder) verdict(op *route.Op, r *request) (want string, details any) {
	personal := op.Auth.Has(route.User) && !op.Auth.Has(route.Member)
	missing := nodetest.Object{"required": op.Scope.Names(), "granted": h.scopes.Names()}
	switch {
	case r.open, op.Auth != route.Public && op.Auth.Has(route.Public) && !op.Auth.Has(h.kinds):
		return "", nil // what the public is granted
	case !op.Auth.Has(h.kinds):
		return "403 FORBIDDEN", nil
	case h.kinds.Has(route.Key) && op.Scope&^h.scopes != 0:
		return "403 FORBIDDEN", missing
	case op.Auth == route.Admin, personal && h.kinds.Has(route.User):
		return "", nil
	case !h.ours:
		return "404", nil
	case op.Scope&^h.scopes != 0:
		return "403 FORBIDDEN", missing
	}
	return "", nil
}

// unentitled have a credential, which does not allow this.
func (w *world) unentitled(op *route.Op, r request, c *credentials) []attempt {
	r.token = ""
	var all []attempt
	for i := range c.holders {
		h := &c.holders[i]
		if want, details := h.verdict(op, &r); want != "" {
			all = append(all, attempt{name: h.name, auth: h.auth, request: r, want: []string{want}, details: details})
		}
		if op.Auth.Has(h.kinds) && op.Auth != route.Admin && !h.ours && !op.Writes() && len(r.params) == 0 { // to an admin nothing is another's
			unnamed := r
			unnamed.query = ""
			want := []string{"200"}
			if r.mailbox {
				want = append(want, "403 FORBIDDEN") // who has only registered has proven no address
			}
			all = append(all, attempt{name: h.name + ", naming nothing", auth: h.auth, request: unnamed, want: want, hidden: c.marks})
		}
	}
	return all
}

// wrongTokens are order tokens that do not open the order.
func (w *world) wrongTokens(r request, c *credentials) []attempt {
	var all []attempt
	for name, token := range c.orderTokens {
		wrong, beside := r, r
		wrong.token = token
		all = append(all, attempt{name: name + " token", request: wrong, want: []string{"404"}})
		if r.body != nil {
			beside.body = nodetest.With(r.body, nodetest.Object{"token": token})
			all = append(all, attempt{name: name + " token beside the right one", request: beside, want: []string{"400 VALIDATION_ERROR"}})
			wrong.token, wrong.body = "", beside.body
			all = append(all, attempt{name: name + " token in the body", request: wrong, want: []string{"404"}})
		}
	}
	return all
}

// entitled is an attempt by each who may make the request, changed in one thing.
func (w *world) entitled(op *route.Op, r request) []attempt {
	switch {
	case op.Auth.Has(route.OrderToken):
		bare := r
		bare.token = ""
		return []attempt{{name: "by order token", request: r}, {name: "by owner", auth: bearer(w.Token), request: bare}, {name: "by key", auth: bearer(w.secret), request: bare}}
	case r.open:
		return []attempt{{name: "by nobody", request: r}, {name: "by owner", auth: bearer(w.Token), request: r}, {name: "by key", auth: bearer(w.secret), request: r}}
	case op.Auth.Has(route.Member):
		return []attempt{{name: "by owner", auth: bearer(w.Token), request: r}}
	case op.Auth == route.Admin:
		return []attempt{{name: "by platform admin", auth: bearer(w.root.Token), request: r}}
	case op.Auth.Has(route.Public):
		return []attempt{{name: "by nobody", request: r}}
	}
	return []attempt{{name: "by a person", auth: bearer(r.person), request: r}}
}

// swaps ask for another tenant's thing, for one that is not there, and for
// rubbish, with a credential that is right but for that.
func (w *world) swaps(op *route.Op, r request) []attempt {
	w.T.Helper()
	kinds := maps.Clone(r.ids)
	if kinds == nil {
		kinds = map[string]string{}
	}
	for param := range r.params {
		kinds[param] = kindOf(w.T, op, param)
	}
	var all []attempt
	for param, kind := range kinds {
		ids := w.nowhere(kind)
		if op.Auth != route.Admin { // to whom nothing is another's
			maps.Copy(ids, w.another(kind, r.open || r.market))
		}
		for what, id := range ids {
			swapped := r.swapped(param, id)
			for _, a := range w.entitled(op, swapped) {
				a.name, a.want = fmt.Sprintf("%s of %s %s", what, param, a.name), []string{"404", "400 VALIDATION_ERROR"}
				if kind == kindLesson { // a lesson has a code of its own
					a.want = []string{"400 INVALID_LESSON_INDEX", "404"}
				}
				if strings.HasPrefix(what, "another's") {
					a.want = a.want[:1]
				}
				all = append(all, a)
			}
		}
	}
	return all
}

// swapped is the request with another id for one that it names.
func (r request) swapped(name, id string) request {
	if _, ok := r.params[name]; ok {
		r.params = maps.Clone(r.params)
		r.params[name] = id
	} else if asked, ok := strings.CutPrefix(name, "?"); ok {
		r.query = asked + "=" + id
	} else {
		r.body = nodetest.With(r.body, nodetest.Object{name: strings.ReplaceAll(id, "%", "")})
	}
	return r
}

// another is the same kind of thing of the other organization, or where it
// belongs to something else. What is shown to all is swapped for what is not.
func (w *world) another(kind string, open bool) map[string]string {
	o := w.stranger
	switch {
	case kind == kindOrg && open: // it is everybody's
		return nil
	case kind == kindOrg:
		return map[string]string{"another's": o.orgID}
	case kind == kindEvent && open:
		return map[string]string{"another's": o.draftID}
	case kind == kindEvent:
		return map[string]string{"another's": o.eventID, "another's by number": o.number, "another's draft": o.draftID}
	case kind == kindSlug:
		return map[string]string{"another's": o.draftSlug}
	case kind == kindType:
		return map[string]string{"another's": o.paid, "another event's": w.draftType}
	case kind == kindOrder:
		return map[string]string{"another's": o.orderID}
	case kind == kindTicket:
		return map[string]string{"another's": o.Call("POST", "/orders", nodetest.OrderBody(w.email(), o.free, 1)).Is(201, "").Str("tickets.0.id")}
	case kind == kindKey:
		return map[string]string{"another's": o.keyID}
	case kind == kindEnrolment:
		return map[string]string{"another's": enrolGate(o.Shop, o.orgID, o.eventID).Str("id")}
	case kind == kindRequest:
		return map[string]string{"another's": w.failedRequest(o.Shop, o.orgID, o.Key(nil).Str("secret"))}
	case kind == kindUser:
		return map[string]string{"another's": o.ownerID}
	case kind == kindVenue:
		return map[string]string{"another's": o.venueID}
	case kind == kindMedia:
		return map[string]string{"another's": o.mediaID}
	case kind == kindWebhook:
		return map[string]string{"another's": o.webhookID}
	case kind == kindDelivery:
		return map[string]string{"another's": o.deliveryID}
	case kind == kindSession:
		return map[string]string{"another's": o.sessionID}
	case kind == kindSection:
		return map[string]string{"another's": o.sectionID}
	case kind == kindRefund:
		return map[string]string{"another's": o.refundID}
	case kind == kindPromo:
		return map[string]string{"another's": o.promoID}
	case kind == kindCourse: // of an event that is no course, nothing is said but that
		return nil
	case kind == kindThread:
		_, _, thread := w.asked(o.Shop, o.free)
		return map[string]string{"another's": thread}
	case kind == kindCustomer:
		return map[string]string{"another's": w.customer(o.Shop, o.free)}
	case kind == kindNote:
		key := w.customer(w.Shop, w.free)
		return map[string]string{"another customer's": w.noted(w.Shop, key), "another's": w.noted(o.Shop, w.customer(o.Shop, o.free))}
	case kind == kindReport:
		return map[string]string{"another's": w.reported(o.eventID, "other"), "another's, of the platform": w.reported(w.eventID, "fraud")}
	case kind == kindReview:
		return map[string]string{"another's": w.reviewed(o.Shop, o.eventID, o.free)}
	case kind == kindLesson, kind == kindCertificate, kind == kindOffer, kind == kindCurrency, kind == kindDrawing, kind == kindVersion, kind == kindVariant, kind == kindGate, kind == kindPayout: // it is everybody's
		return nil
	}
	require.Fail(w.T, "no such kind", kind)
	return nil
}

// nowhere are ids of nothing.
func (w *world) nowhere(kind string) map[string]string {
	if kind == kindGate { // any other text may be one's name
		return map[string]string{"long": strings.Repeat("9", 101)}
	}
	event := nodetest.Number(w.T, w.eventID)
	tail := uuid.New()
	ids := map[string]string{
		"0": "0", "negative": "-1", "plus": "%2B1", "exponent": "1e3", "fraction": "1.0", "huge": strings.Repeat("9", 128), "largest": "9223372036854775807", "word": "null",
		"path": "..%2f..%2fadmin", "encoded": "%00", "statement": "1'%20OR%20'1'='1", "nil": uuid.Nil.String(), "max": uuid.Max.String(), "random": uuid.NewString(), "other script": "%D9%A1",
	}
	switch kind {
	case kindEvent, kindOrder:
		ids["guessed"] = engine.NewID(event, tail[:]).String()
		ids["guessed event"] = engine.NewID(event+1_000_000, tail[:]).String()
	case kindType:
		ids["guessed"] = engine.NumberedID(event, 999_999_999).String()
		ids["guessed event"] = engine.NumberedID(event+1_000_000, 1).String()
	case kindOrg, kindKey, kindEnrolment, kindWebhook, kindDelivery, kindPromo:
		ids["guessed"] = "999999999"
	case kindLesson:
		delete(ids, "0") // is the first
	case kindSlug:
		ids["guessed"] = "friday-night-zzzz"
	}
	return ids
}

// twice repeat a member of the body, with another value.
func (w *world) twice(op *route.Op, r request) []attempt {
	var all []attempt
	if r.body == nil {
		return nil
	}
	for name := range r.body {
		text := nodetest.Encode(w.T, r.body)
		raw := fmt.Sprintf(`%s,%q:null}`, text[:len(text)-1], name)
		for _, a := range w.entitled(op, r) {
			a.name, a.raw, a.want = "two of "+name+" "+a.name, raw, []string{"400 VALIDATION_ERROR"}
			all = append(all, a)
		}
	}
	return all
}

// askUntilAnswered sends a request whose body may be refused before it has come whole, and reads the
// answer. The node reads on for a second then; a busy client that is still writing after it loses the
// answer, and asks again. Of a stream, which has no end, the body is {}.
func askUntilAnswered(client *http.Client, req *http.Request) (answer nodetest.Reply, err error) {
	for range 5 {
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return answer, err
			}
		}
		answer, err = readAnswer(client, req)
		if !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			break
		}
	}
	return answer, err
}

func readAnswer(client *http.Client, req *http.Request) (nodetest.Reply, error) {
	res, err := client.Do(req)
	if err != nil {
		return nodetest.Reply{}, err
	}
	body := []byte("{}")
	if res.Header.Get("Content-Type") != "text/event-stream" {
		body, err = io.ReadAll(res.Body)
	}
	return nodetest.Reply{Status: res.StatusCode, Header: res.Header, Body: string(body)}, errors.Join(err, res.Body.Close())
}

// send makes an attempt.
func (w *world) send(op *route.Op, a *attempt) nodetest.Reply {
	w.T.Helper()
	r := &a.request
	path := op.Path
	for param, id := range r.params {
		path = strings.ReplaceAll(path, "{"+param+"}", id)
	}
	query := r.query
	if r.token != "" {
		query = strings.TrimPrefix(query+"&token="+r.token, "&")
	}
	if query != "" {
		path += "?" + query
	}
	text := a.raw
	if text == "" {
		text = r.raw
	}
	if text == "" && r.body != nil {
		text = nodetest.Encode(w.T, r.body)
	}
	contentType := "application/json"
	if text == "" && r.file != nil {
		form, mediaType, err := r.file.Form()
		require.NoError(w.T, err)
		text, contentType = string(form), mediaType
	}
	req, err := http.NewRequestWithContext(w.T.Context(), op.Method, strings.TrimSuffix(w.URL, "/api/v1")+path, strings.NewReader(text))
	require.NoError(w.T, err)
	if text != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if a.auth != "" {
		req.Header.Set("Authorization", a.auth)
	}
	headers := append(slices.Clone(r.headers), a.headers...)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	answer, err := askUntilAnswered(http.DefaultClient, req)
	require.NoError(w.T, err)
	return answer
}

// judge says what is wrong with the answer to an attempt; nothing if it is as it
// must be.
func (w *world) judge(a *attempt, r nodetest.Reply) string {
	w.T.Helper()
	type refusal struct {
		Code    any // of JSON-RPC a number, with the refusal as its data
		Details any
		Data    *struct{ Code, Details any }
	}
	var body struct{ Error refusal }
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
		return err.Error()
	}
	if data := body.Error.Data; data != nil {
		body.Error.Code, body.Error.Details = data.Code, data.Details
	}
	got := strings.TrimSpace(fmt.Sprint(r.Status, " ", body.Error.Code))
	as := func(want string) bool { return got == want || len(want) == len("404") && strings.HasPrefix(got, want) }
	if !slices.ContainsFunc(a.want, as) {
		return fmt.Sprintf("not %v", a.want)
	}
	if want := nodetest.Encode(w.T, a.details); a.details != nil && want != nodetest.Encode(w.T, body.Error.Details) {
		return "details are not " + want
	}
	if r.Status == http.StatusUnauthorized && r.Header.Get("WWW-Authenticate") != "Bearer" {
		return "no WWW-Authenticate"
	}
	for _, mark := range a.hidden {
		if strings.Contains(r.Body, mark) {
			return "shows " + mark
		}
	}
	return ""
}
