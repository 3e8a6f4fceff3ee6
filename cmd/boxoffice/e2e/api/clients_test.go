package api

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestHTTPAsClientsSpeakIt sends what the standards let clients send, and what many do send.
func TestHTTPAsClientsSpeakIt(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 100))
	slug := s.Own("GET", "/organizer/events/"+event, nil).Is(200, "").Str("slug")
	order := func(quantity string, headers ...string) nodetest.Reply {
		return s.Raw("POST", "/orders", "application/json", `{"guestEmail":"a@example.org","items":[{"ticketTypeId":"`+ids[0]+`","quantity":`+quantity+`}]}`, headers...)
	}

	t.Log("a number with a zero fraction is an integer")
	for quantity, want := range map[string]int{"1.0": 201, "1e0": 201, "10e-1": 201, "0.1e1": 201, "1.5": 400, "1e-1": 400, "1e400": 400, "-1.0": 400, "1.": 400} {
		require.Equal(t, want, order(quantity).Status, quantity)
	}
	for limit, want := range map[string]int{"5.0": 200, "5e0": 200, "5.5": 400, "0x5": 400} {
		require.Equal(t, want, s.Raw("GET", "/events?limit="+limit, "", "").Status, limit)
	}

	t.Log("a body that is sent as it is may say so")
	require.Equal(t, 201, order("1", "Content-Encoding", "identity").Status)
	zipped := order("1", "Content-Encoding", "gzip")
	require.Equal(t, 415, zipped.Status)
	require.Equal(t, "identity", zipped.Header.Get("Accept-Encoding"))

	t.Log("whoever has an answer is told so, however its tag is sent")
	for _, path := range []string{"/events", "/events/" + event, "/events/" + event + "/tickets", "/openapi.json", "/public/events/by-slug/" + slug} {
		first := s.Raw("GET", path, "", "", "Accept-Encoding", "identity")
		tag := first.Header.Get("ETag")
		if first.Status != 200 || tag == "" {
			continue
		}
		for _, have := range []string{tag, "W/" + tag, `"a", ` + tag, "*"} {
			require.Equal(t, 304, s.Raw("GET", path, "", "", "Accept-Encoding", "identity", "If-None-Match", have).Status, "%s %s", path, have)
		}
		require.Equal(t, 200, s.Raw("GET", path, "", "", "If-None-Match", `"another"`).Status)
	}

	t.Log("an id means the same when it is encoded without need")
	require.Equal(t, 200, s.Raw("GET", "/events/"+strings.ReplaceAll(event, "-", "%2D"), "", "").Status)
	require.Equal(t, 200, s.Raw("GET", "/events/"+strings.ReplaceAll(slug, "-", "%2d"), "", "").Status)

	t.Log("the feed takes the cursor of its page under either name")
	page := s.Own("GET", "/organizer/facts?limit=1", nil).Is(200, "")
	for _, name := range []string{"after", "cursor"} {
		next := s.Own("GET", "/organizer/facts?limit=1&"+name+"="+page.Str("cursor"), nil).Is(200, "")
		require.NotEqual(t, page.Str("items.0.id"), next.Str("items.0.id"), name)
	}
	s.Own("GET", "/organizer/facts?after=now&cursor="+page.Str("cursor"), nil).Invalid("cursor", "enum")
}

// TestPagesAsPeopleTypeThem opens pages by addresses that are nearly right.
func TestPagesAsPeopleTypeThem(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, _ := s.OnSale(nodetest.TypeBody(0, 100))
	slug := s.Own("GET", "/organizer/events/"+event, nil).Is(200, "").Str("slug")
	base := strings.TrimSuffix(s.URL, "/api/v1")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	open := func(path, accept string) (status int, header http.Header) {
		req, err := http.NewRequestWithContext(t.Context(), "GET", base+path, nil)
		require.NoError(t, err)
		req.Header.Set("Accept", accept)
		res, err := client.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode, res.Header
	}
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for path, to := range map[string]string{
		"/e/" + slug + "/":                           "/e/" + slug,
		"/e/" + slug + "//?utm=x":                    "/e/" + slug + "?utm=x",
		"/e/" + strings.ToUpper(slug):                "/e/" + slug,
		"/e/" + strings.ToUpper(slug) + "/seats?a=b": "/e/" + slug + "/seats?a=b",
		"/organizer/":                                "",
		"/gate/":                                     "/gate",
		"/orders/1/?token=x":                         "/orders/1?token=x",
	} {
		status, header := open(path, browser)
		if to == "" {
			require.Less(t, status, 400, path)
			continue
		}
		require.Equal(t, 308, status, path)
		require.Equal(t, to, header.Get("Location"), path)
	}
	for _, path := range []string{"/nowhere", "/e/", "/nowhere/", "//evil.example/", "//evil.example//", "/organiser", "/o"} {
		status, header := open(path, browser)
		require.Equal(t, 404, status, path)
		require.Contains(t, header.Get("Content-Type"), "text/html", path)
		require.Empty(t, header.Get("Location"), path)
		_, header = open(path, "application/json")
		require.Contains(t, header.Get("Content-Type"), "application/json", path)
	}
	for _, path := range []string{"/api/v1/nowhere", "/api/v1/events/", "/media/1/", "/mcp/nowhere"} {
		_, header := open(path, browser)
		require.Contains(t, header.Get("Content-Type"), "application/json", path)
	}
}

// TestHeadersTooLargeAreReadable holds that a script of another origin may read why its request was
// refused, though its headers were not read.
func TestHeadersTooLargeAreReadable(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Config().Listen)
	require.NoError(t, err)
	defer func() { _ = c.Close() }() // the server closes it, too
	_, err = c.Write([]byte("GET /api/v1/events HTTP/1.1\r\nHost: x\r\nOrigin: https://shop.example\r\nX-Long: " + strings.Repeat("a", 10<<10) + "\r\n\r\n"))
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 431, res.StatusCode)
	require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
}
