package tickets

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/secrets"
)

const filesPath = "/media/upload-file"

func textFile(name, text string) nodetest.Upload {
	return nodetest.Upload{Name: name, Type: "text/plain", Body: []byte(text)}
}

// TestDownload sells a file, an outside link and nothing at all, and opens each for its
// holder alone.
func TestDownload(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org()
	u := textFile("novel.txt", "Call me Ishmael.")
	u.Fields = map[string]string{"private": "1"}
	file := s.Upload(filesPath, u, s.Bearer()...).Is(201, "").Str("primaryUrl")
	free := nodetest.TypeBody(0, 50)
	_, ids := s.Sell(nodetest.Object{"category": "e-books", "endDate": nil, "onlineLink": file, "onlineLinkNote": "page 7"},
		free, nodetest.With(free, nodetest.Object{"accessUrl": "https://example.org/vault"}), nodetest.With(free, nodetest.Object{"accessNote": "by tier"}))
	_, bare := s.Sell(nodetest.Object{"category": "e-books", "endDate": nil}, free)
	_, dated := s.OnSale(free)
	ada := s.Buyer("ada@example.org")
	buy := func(ticketType string) (path string) {
		o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ticketType, 1)).Is(201, "")
		return "/users/me/tickets/" + o.Str("tickets.0.id") + "/download"
	}
	hosted := buy(ids[0])
	a := ada.Own("GET", hosted, nil).Is(200, "")
	require.Equal(t, nodetest.Words("url note kind"), a.Keys(""))
	require.Equal(t, []any{"file", "page 7"}, []any{a.Data("kind"), a.Data("note")})
	root := strings.TrimSuffix(s.URL, "/api/v1")
	link := strings.TrimPrefix(a.Str("url"), root)
	require.True(t, strings.HasPrefix(link, file+"?exp="), link)
	res, body := s.Get(link)
	require.Equal(t, []any{200, "Call me Ishmael."}, []any{res.StatusCode, body})
	require.Contains(t, res.Header.Get("Content-Disposition"), "attachment")

	a = ada.Own("GET", buy(ids[1]), nil).Is(200, "")
	require.Equal(t, []any{"external", "https://example.org/vault", nil}, []any{a.Data("kind"), a.Data("url"), a.Data("note")}, "the event's note is for its own link")
	require.Equal(t, "by tier", ada.Own("GET", buy(ids[2]), nil).Is(200, "").Str("note"))
	ada.Own("GET", buy(bare[0]), nil).Is(404, "NO_FILE")
	ada.Own("GET", buy(dated[0]), nil).Is(404, "NOT_DOWNLOADABLE")

	t.Log("others")
	bob := s.Buyer("bob@example.org")
	bob.Own("GET", hosted, nil).Is(404, "TICKET_NOT_FOUND")
	ada.Own("GET", "/users/me/tickets/none/download", nil).Is(404, "TICKET_NOT_FOUND")
	s.As(s.Key(nil).Str("key")).Own("GET", hosted, nil).Is(401, "UNAUTHORIZED")
	s.Call("GET", hosted, nil).Is(401, "UNAUTHORIZED")
}

// TestDownloadMovesWithTheTicket passes a ticket on and takes another back: the links
// that were given out for them open nothing more.
func TestDownloadMovesWithTheTicket(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org()
	u := textFile("novel.txt", "Call me Ishmael.")
	u.Fields = map[string]string{"private": "1"}
	file := s.Upload(filesPath, u, s.Bearer()...).Is(201, "").Str("primaryUrl")
	_, ids := s.Sell(nodetest.Object{"category": "e-books", "endDate": nil, "onlineLink": file}, nodetest.TypeBody(0, 50))
	ada := s.Buyer("ada@example.org")
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 2)).Is(201, "")
	path := func(i string) string { return "/users/me/tickets/" + o.Str("tickets."+i+".id") + "/download" }
	root := strings.TrimSuffix(s.URL, "/api/v1")
	opens := func(url string) (int, string) {
		res, body := s.Get(strings.TrimPrefix(url, root))
		return res.StatusCode, body
	}
	passed, kept := ada.Own("GET", path("0"), nil).Is(200, "").Str("url"), ada.Own("GET", path("1"), nil).Is(200, "").Str("url")
	status, _ := opens(passed)
	require.Equal(t, 200, status)

	began := time.Now()
	ada.Own("POST", "/tickets/"+o.Str("tickets.0.id")+"/transfer", nodetest.Object{"toEmail": "bob@example.org", "toName": "Bob"}).Is(201, "")
	s.Call("POST", "/tickets/transfers/"+s.ClaimToken("bob@example.org", began)+"/claim", nil).Is(200, "")
	ada.Own("GET", path("0"), nil).Is(404, "TICKET_NOT_FOUND")
	theirs := s.Buyer("bob@example.org").Own("GET", path("0"), nil).Is(200, "").Str("url")
	status, body := opens(passed)
	require.Equal(t, 403, status)
	require.Contains(t, body, "TICKET_ENDED")
	status, _ = opens(theirs)
	require.Equal(t, 200, status)

	s.Own("POST", "/organizer/orders/"+o.Str("id")+"/refund", nodetest.Object{"reason": "a fault", "ticketIds": []string{o.Str("tickets.1.id")}}).Is(200, "")
	ada.Own("GET", path("1"), nil).Is(404, "TICKET_NOT_FOUND")
	status, body = opens(kept)
	require.Equal(t, 403, status)
	require.Contains(t, body, "TICKET_ENDED")
	media, err := strconv.ParseInt(strings.TrimPrefix(file, "/media/"), 10, 64)
	require.NoError(t, err)
	never := s.Secrets().MediaLink(media, secrets.Viewer{Event: 1, Serial: 999, Version: 1}, time.Now().Add(time.Minute))
	status, _ = opens(never)
	require.Equal(t, 403, status, "of a ticket that was never issued")
}
