package catalog

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
)

// TestLinkAttacks tries to read a private file by links that were not made for it: no
// attack gets a byte of it.
func TestLinkAttacks(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org()
	const secret = "Call me Ishmael."
	file := func(text string) string {
		u := textFile("novel.txt", text)
		u.Fields = map[string]string{"private": "1"}
		return s.Upload(filesPath, u, s.Bearer()...).Is(201, "").Str("primaryUrl")
	}
	mine, other := file(secret), file("another text")
	_, ids := s.Sell(nodetest.Object{"category": "e-books", "endDate": nil, "onlineLink": mine}, nodetest.TypeBody(0, 50))
	_, theirs := s.Sell(nodetest.Object{"category": "e-books", "endDate": nil, "onlineLink": other}, nodetest.TypeBody(0, 50))
	ada := s.Buyer("ada@example.org")
	order := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, "")
	root := strings.TrimSuffix(s.URL, "/api/v1")
	open := func(buyer *nodetest.Shop, ticket string) string {
		return strings.TrimPrefix(buyer.Own("GET", "/users/me/tickets/"+ticket+"/download", nil).Is(200, "").Str("url"), root)
	}
	good := open(ada, order.Str("tickets.0.id"))
	get := func(link string) (int, string) {
		res, body := s.Get(link) //nolint:bodyclose // Get has read and closed it
		return res.StatusCode, body
	}
	_, body := get(good)
	require.Equal(t, secret, body, "the link itself opens it")

	attacks := alterLink(t, good)
	bob := s.Buyer("bob@example.org")
	o := s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", theirs[0], 1)).Is(201, "")
	stranger := strings.TrimPrefix(open(bob, o.Str("tickets.0.id")), other)
	attacks = append(attacks, mine, mine+stranger, mine+"/file"+stranger, mine+"/web.webp", mine+"/../"+strings.TrimPrefix(other, "/media/")+stranger)
	ticket, err := engine.ParseID(order.Str("tickets.0.id"))
	require.NoError(t, err)
	serial, _ := s.Secrets().Event(ticket.Event()).FromTicketID(ticket)
	var id int64
	_, err = fmt.Sscanf(mine, "/media/%d", &id)
	require.NoError(t, err)
	sign := func(v secrets.Viewer, life time.Duration) string {
		return s.Secrets().MediaLink(id, v, time.Now().Add(life))
	}
	holder := secrets.Viewer{Event: ticket.Event(), Serial: serial, Version: secrets.Version}
	for i := range 60 { // links that we have signed, and that have ended, or whose ticket nobody holds
		attacks = append(attacks, sign(holder, -time.Duration(i)*time.Minute-time.Second),
			sign(secrets.Viewer{Event: holder.Event, Serial: serial + 1 + uint32(i), Version: secrets.Version}, time.Minute), //nolint:gosec // few
			sign(secrets.Viewer{Event: holder.Event, Serial: serial, Version: byte(i + 2)}, time.Minute),
			sign(secrets.Viewer{Event: holder.Event + 1000 + int64(i), Serial: serial, Version: secrets.Version}, time.Minute))
	}
	require.GreaterOrEqual(t, len(attacks), 500)
	for _, attack := range attacks {
		status, body := get(attack)
		require.Contains(t, []int{400, 403, 404}, status, "%s: %s", attack, body)
		require.NotContains(t, body, secret, attack)
	}
	t.Logf("%d attacks, none got a byte", len(attacks))
}

// alterLink is a link with each of its parts changed in many ways.
func alterLink(t *testing.T, link string) (attacks []string) {
	t.Helper()
	path, query, _ := strings.Cut(link, "?")
	q, err := url.ParseQuery(query)
	require.NoError(t, err)
	exp, sig := q.Get("exp"), q.Get("sig")
	with := func(exp, sig string) string { return path + "?" + url.Values{"exp": {exp}, "sig": {sig}}.Encode() }
	raw, err := base64.RawURLEncoding.DecodeString(sig)
	require.NoError(t, err)
	for i := range raw { // each bit that matters
		for bit := range 4 {
			changed := append([]byte{}, raw...)
			changed[i] ^= 1 << (2 * bit)
			attacks = append(attacks, with(exp, base64.RawURLEncoding.EncodeToString(changed)))
		}
		attacks = append(attacks, with(exp, base64.RawURLEncoding.EncodeToString(raw[:i])))
	}
	for _, e := range []string{"", "0", "-1", "9" + exp, exp + "0", "0x" + exp, exp + ".5", " " + exp, "9223372036854775807", "99999999999999999999", "now"} {
		attacks = append(attacks, with(e, sig))
	}
	for i := 1; i <= 20; i++ { // the same signature for a later time
		attacks = append(attacks, with(fmt.Sprint(time.Now().Unix()+int64(i)*1000), sig))
	}
	return append(attacks, path+"?exp="+exp, path+"?sig="+sig, path+"?"+strings.ToUpper(query), with(exp, sig+"="), with(exp, sig+"A"), with(exp, strings.ToUpper(sig)))
}
