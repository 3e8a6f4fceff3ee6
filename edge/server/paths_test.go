package server_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/edgetest"
	"boxoffice/edge/route"
	"boxoffice/edge/server"
	"boxoffice/engine"
)

// gate is a request whose path names a gate, which may be any text, beside an
// id.
type gate struct {
	ID   string `path:"id" format:"id" maxLength:"40"`
	Gate string `path:"gate" maxLength:"60"`
}

// gateTable has a row of a gate, and one below it.
func gateTable() []route.Op {
	answer := func(_ *route.Call, in *gate) (text, error) { return text{Text: in.ID + "|" + in.Gate}, nil }
	below := func(_ *route.Call, in *gate) (text, error) { return text{Text: "below " + in.Gate}, nil }
	row := func(path, id string, h route.Handler) route.Op {
		return route.Op{
			Method: "GET", Path: path, ID: id, Summary: "Read a gate", Tag: "gates", Auth: route.Public, Tier: route.TierPublic,
			Status: 200, Errors: []engine.Code{}, Handler: h,
		}
	}
	return []route.Op{
		row("/api/v1/events/{id}/gates/{gate}", "getGate", route.Handle(answer)),
		row("/api/v1/events/{id}/gates/{gate}/counts", "getGateCounts", route.Handle(below)),
	}
}

// TestPathsOfAnyText holds that a row whose parameter has no format takes any
// text, and that nothing in it changes the route.
func TestPathsOfAnyText(t *testing.T) {
	t.Parallel()
	c := edgetest.NewClient(t, server.Config{Ops: gateTable()})
	for sent, want := range map[string]string{
		"North":                      "7|North",
		"Gate%20A":                   "7|Gate A",
		"Gate+A":                     "7|Gate+A",
		"Gate%2BA":                   "7|Gate+A",
		"N%2FS":                      "7|N/S",
		"N%2fcounts":                 "7|N/counts", // an encoded slash is no border
		"%C3%9Cnten":                 "7|Ünten",
		"%F0%9F%9A%AA":               "7|🚪",
		"%E2%80%AEtes":               "7|tes", // what turns the text is no part of it
		"100%25":                     "7|100%",
		"a%3Fb%23c%26d%3De":          "7|a?b#c&d=e",
		"%2E%2E%2F":                  "7|../",
		"it's%20(%22x%22)":           `7|it's ("x")`,
		"%5C..%5C":                   `7|\..\`,
		strings.Repeat("%C3%BC", 60): "7|" + strings.Repeat("ü", 60),
	} {
		r := c.Do(t, "GET", "/api/v1/events/7/gates/"+sent, nil)
		var got text
		require.Equal(t, 200, r.Status, "%s: %s", sent, r.Body)
		r.Data(t, &got)
		require.Equal(t, want, got.Text, sent)
	}
	for _, sent := range []string{"%37", "a%2Db", "a%2db", "%41%5a%7e"} { // what need not be encoded (RFC 3986, 6.2.2.2)
		r := c.Do(t, "GET", "/api/v1/events/"+sent+"/gates/North", nil)
		if strings.HasSuffix(sent, "%7e") {
			require.Equal(t, 404, r.Status, sent) // no id has a tilde
			continue
		}
		var got text
		require.Equal(t, 200, r.Status, "%s: %s", sent, r.Body)
		r.Data(t, &got)
		plain, err := url.PathUnescape(sent)
		require.NoError(t, err)
		require.Equal(t, plain+"|North", got.Text)
	}
	var got text
	c.Do(t, "GET", "/api/v1/events/7/gates/N%2FS/counts", nil).Data(t, &got)
	require.Equal(t, "below N/S", got.Text)
}

// TestPathsThatNameNothing holds that what can't be decoded, or is not text, is
// answered in the envelope, and that ids take nothing encoded.
func TestPathsThatNameNothing(t *testing.T) {
	t.Parallel()
	ln := listener(t)
	edgetest.Start(t, server.Config{Ops: gateTable()}, ln)
	addr := ln.Addr()
	for _, path := range []string{
		"7/gates/%", "7/gates/%2", "7/gates/%zz", "7/gates/a%", "7/gates/%00", "7/gates/a%00b", "7/gates/%FF", "7/gates/%C3%28", "7/gates/%ED%A0%80",
		"7/gates/", "7/gates/%2E%2E", "7/gates/..", "7/gates/.", "7/gates/" + strings.Repeat("%C3%BC", 61), "7/gates/" + strings.Repeat("a", 61),
		"7%2Fgates%2FNorth", "7%20/gates/North", "%2e%2E/gates/North", "%2/gates/North", "7%/gates/North", "%C3%BC/gates/North", "a%2Fb/gates/North", "7;x/gates/North", strings.Repeat("7", 41) + "/gates/North",
		"7/gates/North/other", "7/gates//North", "7//gates/North",
	} {
		a := exchange(t, addr, "GET /api/v1/events/"+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		status, _, _ := strings.Cut(strings.TrimPrefix(a, "HTTP/1.1 "), " ")
		require.Contains(t, []string{"400", "404"}, status, "%s: %s", path, a)
		require.Contains(t, a, `"error":{"code":`, path)
		require.NotContains(t, a, "|", path)
	}
}
