// Package nodetest starts whole nodes for tests, and sends the requests that tests often need.
package nodetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/persistence/audit"
	"boxoffice/persistence/persisttest"
)

// Shop is a node as a test uses it: over HTTP, and as the organizer whose token it has.
type Shop struct {
	*node.Node
	T     testing.TB
	URL   string
	Token string // the organizer's token, once the organizer is registered

	owner   *ownerSession
	domain  string // of the addresses of mail that Email makes; empty: example.org
	network string // where requests come from; empty: this machine

	log     *slog.Logger
	files   string // the folder where uploaded files are stored
	Stopped bool   // whether the test has stopped the node itself
}

// Open starts a node on a database of its own, with changes to its configuration. When the test
// ends, the node's journal is audited and the node is stopped.
func Open(t testing.TB, changes ...func(*node.Config)) *Shop {
	t.Helper()
	return OpenLogged(t, slog.New(slog.DiscardHandler), changes...)
}

// stopTime bounds the audit and the stop of a test's node. It is longer than in service, because
// many tests share the machine.
const stopTime = 5 * node.StopTime

// auditTries is how often the journal of a running node is audited before its findings count. An
// order may end between the reads of two streams; the next audit sees it as ended. A real fault is
// found every time.
const auditTries = 3

// OpenLogged is Open with a log of the node, for tests that read the log.
func OpenLogged(t testing.TB, log *slog.Logger, changes ...func(*node.Config)) *Shop {
	t.Helper()
	cfg := &node.Config{
		Listen: persisttest.Address(t), PaysimListen: persisttest.Address(t), Env: "test", Node: "node-1", Lanes: 1,
		DatabaseURL: persisttest.DB(t), AllowUnsafe: true, MasterKey: strings.Repeat("ab", 32), MaxPerAddress: 100, MaxConnections: 1000,
		DataDir: t.TempDir(), MediaVideoMB: 500, MediaQuotaMB: 20480, WriteQuotaMB: 20480,
		MailDir: t.TempDir(), LimitsScale: 1000, Origins: []string{"*"}, PublicCache: true, WebhooksPrivate: true, BeaconURL: []string{"test"}, TransferDays: 7,
	}
	for _, change := range changes {
		change(cfg)
	}
	s := &Shop{Node: node.New(cfg, log), T: t, owner: new(ownerSession), log: log, URL: "http://" + cfg.Listen + "/api/v1", files: filepath.Join(cfg.DataDir, "media")}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if s.Stopped {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		// Start may have failed before there was a journal.
		if s.Journal() != nil {
			var findings []string
			for range auditTries {
				r, err := audit.Run(ctx, s.Journal())
				require.NoError(t, err)
				if findings = r.Findings; len(findings) == 0 {
					break
				}
			}
			require.Empty(t, findings)
		}
		require.NoError(t, s.Stop(ctx))
		s.Node = nil // package testing keeps what this refers to until all tests have ended: 30 MB for each node
	})
	require.NoError(t, s.Start(t.Context()))
	return s
}

// Answer is an answer of the API as JSON. Its parts are read by paths such as "items.0.id".
type Answer struct {
	T      testing.TB
	Status int
	Body   map[string]any
}

// Get returns the value at a path of the answer, or nil if the last object of the path lacks the member. It fails the
// test if the path leads past the end of a list or through something that has no members.
func (a Answer) Get(path string) any {
	a.T.Helper()
	var v any = a.Body
	for k := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[k]
		case []any:
			var i int
			_, err := fmt.Sscan(k, &i)
			require.NoError(a.T, err)
			require.Less(a.T, i, len(at), "%s in %v", path, a.Body)
			v = at[i]
		default:
			require.Fail(a.T, "no such path", "%s in %v", path, a.Body)
		}
	}
	return v
}

// Data and Str read below the member data, where the API puts what was asked for.
func (a Answer) Data(path string) any   { return a.Get("data." + path) }
func (a Answer) Str(path string) string { return fmt.Sprint(a.Data(path)) }

// Is checks the status of an answer, and the code of its error if a code is given. It returns the
// answer, so that reads can follow.
func (a Answer) Is(status int, code string) Answer {
	a.T.Helper()
	require.Equal(a.T, status, a.Status, "%v", a.Body)
	if code != "" {
		require.Equal(a.T, code, a.Get("error.code"), "%v", a.Body)
		require.NotEmpty(a.T, a.Get("meta.request_id"))
	}
	return a
}

// Call sends a request and checks that its answer is as documented. The headers are pairs of name
// and value.
func (s *Shop) Call(method, path string, body any, headers ...string) Answer {
	s.T.Helper()
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		require.NoError(s.T, err)
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(s.T.Context(), method, s.URL+path, r)
	require.NoError(s.T, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	s.setNetwork(req)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.T, err)
	defer func() { require.NoError(s.T, res.Body.Close()) }()
	a := Answer{T: s.T, Status: res.StatusCode}
	require.NoError(s.T, json.NewDecoder(res.Body).Decode(&a.Body))
	checkConforms(s.T, req, res.StatusCode, a.Body)
	return a
}

// setNetwork makes a request seem to come from the shop's network, by the header of a proxy that
// the node trusts.
func (s *Shop) setNetwork(req *http.Request) {
	if s.network != "" {
		req.Header.Set("X-Forwarded-For", s.network)
	}
}

// Object is a JSON object.
type Object = map[string]any

// Own sends a request as the organizer. The first call registers the organizer's account and marks its mailbox as
// proven. A GET first waits until all lists have everything that is committed.
func (s *Shop) Own(method, path string, body any) Answer {
	s.T.Helper()
	if s.Token == "" {
		s.Token = s.owner.signIn(s)
		if s.Node != nil { // the database of a node elsewhere is out of reach
			s.Prove(s.Email("owner"))
		}
	}
	if method == "GET" && s.Node != nil { // lists need not show what others have done a moment ago
		require.NoError(s.T, s.AwaitLists(s.T.Context()))
	}
	return s.Call(method, path, body, s.Bearer()...)
}

// Prove marks the mailbox of an account as proven, as a confirmed link would. Its organization may
// then write to people. Sessions that are open are not marked.
func (s *Shop) Prove(email string) {
	s.T.Helper()
	_, err := s.Pool().Exec(s.T.Context(), `UPDATE users SET email_verified = true WHERE email = $1`, email)
	require.NoError(s.T, err)
}

// registerAccount makes an organizer's account, or signs in to it if an earlier attempt made it,
// and returns the access token.
func (s *Shop) registerAccount(email string) (token string) {
	s.T.Helper()
	account := Object{"email": email, "password": "correct horse"}
	a := s.Patient("POST", "/auth/register", account)
	if a.Status == 409 { // the account was made although the answer was 503
		return s.Patient("POST", "/auth/login", account).Is(200, "").Str("accessToken")
	}
	return a.Is(201, "").Str("accessToken")
}

// Stamp returns the time in d from now, as the API takes it.
func Stamp(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }

// EventBody returns the body of a request that makes an event for tomorrow.
func EventBody() Object {
	return Object{
		"title": "Friday Night", "category": "music", "timezone": "Europe/Berlin", "venueType": "physical",
		"startDate": Stamp(24 * time.Hour), "endDate": Stamp(30 * time.Hour),
	}
}

// TypeBody returns the body of a request that makes a ticket type which is on sale now.
func TypeBody(price any, quantity int) Object {
	return Object{
		"name": "Floor", "type": "general", "price": price, "quantityTotal": quantity,
		"saleStart": Stamp(-time.Hour), "saleEnd": Stamp(23 * time.Hour),
	}
}

// OnSale makes an event with ticket types and publishes it. It returns their ids.
func (s *Shop) OnSale(types ...Object) (event string, ids []string) {
	s.T.Helper()
	event = s.Own("POST", "/organizer/events", EventBody()).Is(201, "").Str("id")
	for _, body := range types {
		ids = append(ids, s.Own("POST", "/organizer/events/"+event+"/tickets", body).Is(201, "").Str("id"))
	}
	s.Own("POST", "/organizer/events/"+event+"/publish", nil).Is(200, "")
	return event, ids
}

// OrderBody returns the body of a guest's order of one line.
func OrderBody(email, ticketType string, quantity int) Object {
	return Object{"guestEmail": email, "items": []Object{{"ticketTypeId": ticketType, "quantity": quantity}}}
}

// Settle does at the simulator's checkout page what a buyer does there, with an outcome such as
// success.
func (s *Shop) Settle(url, outcome string) {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), "POST", url, strings.NewReader(`{"outcome":"`+outcome+`"}`))
	require.NoError(s.T, err)
	req.Header.Set("Content-Type", "application/json")
	stays := *http.DefaultClient // the redirect from the checkout is not part of paying
	stays.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := stays.Do(req)
	require.NoError(s.T, err)
	require.NoError(s.T, res.Body.Close())
	require.Less(s.T, res.StatusCode, 400)
}
