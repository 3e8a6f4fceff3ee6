package web_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/web"
)

func files(t *testing.T) map[string]web.File {
	t.Helper()
	list, err := web.Files(true)
	require.NoError(t, err)
	byPath := map[string]web.File{}
	for _, f := range list {
		byPath[f.Path] = f
	}
	require.Len(t, byPath, len(list), "each at an address of its own")
	return byPath
}

var (
	named    = regexp.MustCompile(`(?:src|href)="(/[^"]*)"`)
	imported = regexp.MustCompile(`(?m)^import .* from '\./([a-z]+\.js)';$`)
)

// mailedPaths are the pages of mailed links.
var mailedPaths = []string{"/email/confirm", "/password/reset", "/follow", "/waitlist/confirm", "/unsubscribe"}

// Everything that a page or a script names is there, at an address that changes
// with it, and nothing is inline or from elsewhere: the policy would stop it.
func TestFilesFitTogether(t *testing.T) {
	t.Parallel()
	all := files(t)
	reached, pages := map[string]bool{}, append([]string{"/e/{slug}/seats"}, mailedPaths...)
	for _, at := range pages {
		page := all[at]
		require.Equal(t, web.Policy, page.Policy)
		require.Equal(t, "no-cache", page.Cache)
		reached[at] = true
		require.NotContains(t, string(page.Body), "{version}")
		for _, m := range named.FindAllSubmatch(page.Body, -1) {
			if at := string(m[1]); at == "/" || at == "/me" || at == "/favicon.svg" {
				continue // the shop's, which are built elsewhere
			}
			require.Contains(t, all, string(m[1]))
			reached[string(m[1])] = true
		}
	}
	list, err := web.Files(true)
	require.NoError(t, err)
	trouble, err := web.NewTroublePage(list)
	require.NoError(t, err)
	var shown strings.Builder
	require.NoError(t, trouble.Write(&shown, &web.Trouble{Status: 429, Wait: 7}))
	embed, err := web.NewEmbedPage("", list)
	require.NoError(t, err)
	require.NoError(t, embed.Write(&shown, &web.Embed{}))
	for _, m := range named.FindAllStringSubmatch(shown.String(), -1) {
		reached[m[1]] = true
	}
	for at, f := range all {
		require.NotEmpty(t, f.Body, at)
		body := strings.ReplaceAll(string(f.Body), "http://www.w3.org/2000/svg", "") // a name, not an address
		require.NotRegexp(t, `://|<style|\sstyle=|<script>|\son[a-z]+="|@import|\binnerHTML\b|\beval\(`, body, at)
		for _, m := range imported.FindAllStringSubmatch(body, -1) {
			require.True(t, reached[path.Join(path.Dir(at), m[1])], "%s imports %s, which the page loads first", at, m[1])
		}
		if !slices.Contains(pages, at) {
			require.True(t, reached[at], "%s is of use", at)
			require.Regexp(t, `^/web/[0-9a-f]{16}/[a-z]+\.[a-z]+$`, at)
			require.Contains(t, f.Cache, "immutable")
		}
	}
}

// TestServeInGerman: readers who prefer German get it, and caches are told that there are two.
func TestServeInGerman(t *testing.T) {
	t.Parallel()
	s := web.NewStatic(web.File{Path: "/x", Type: "text/plain", Cache: "no-cache", Body: []byte("English"), German: []byte("Deutsch")})
	for german, want := range map[bool]string{true: "Deutsch", false: "English"} {
		var ctx fasthttp.RequestCtx
		require.NoError(t, s.Serve(&ctx, german))
		require.Equal(t, want, string(ctx.Response.Body()))
		require.Equal(t, "Accept-Encoding, Accept-Language", string(ctx.Response.Header.Peek("Vary")))
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	require.Contains(t, web.Policy, "default-src 'none'")
	require.Contains(t, web.Policy, "script-src 'self';")
	require.NotContains(t, web.Policy, "unsafe")
	require.NotContains(t, web.Policy, "*")
}

func TestServe(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("seat ", 1000)
	s := web.NewStatic(web.File{Path: "/x", Type: "text/plain", Policy: "default-src 'none'", Cache: "no-cache", Body: []byte(text)})
	get := func(headers ...string) *fasthttp.Response {
		var ctx fasthttp.RequestCtx
		for i := 0; i < len(headers); i += 2 {
			ctx.Request.Header.Set(headers[i], headers[i+1])
		}
		require.NoError(t, s.Serve(&ctx, false))
		return &ctx.Response
	}
	plain := get()
	require.Equal(t, 200, plain.StatusCode())
	require.Equal(t, text, string(plain.Body()))
	require.Equal(t, "text/plain", string(plain.Header.ContentType()))
	require.Equal(t, "no-cache", string(plain.Header.Peek("Cache-Control")))
	require.Equal(t, "default-src 'none'", string(plain.Header.Peek("Content-Security-Policy")))
	require.Equal(t, "Accept-Encoding", string(plain.Header.Peek("Vary")))

	tag, tags := string(plain.Header.Peek("Etag")), map[string]bool{}
	tags[tag] = true
	for accepted, coding := range map[string]string{
		"gzip": "gzip", "br": "br", "gzip, deflate, br, zstd": "br", "gzip, br;q=0": "gzip", "br;q=0.1, gzip;q=0.9": "br",
	} {
		packed := get("Accept-Encoding", accepted)
		require.Equal(t, coding, string(packed.Header.Peek("Content-Encoding")), accepted)
		require.Equal(t, text, unpack(t, coding, packed.Body()))
		tags[string(packed.Header.Peek("Etag"))] = true
	}
	require.Len(t, tags, 3, "other bytes, another tag")
	other := string(get("Accept-Encoding", "gzip").Header.Peek("Etag"))
	for _, have := range [][]string{{"If-None-Match", tag}, {"If-None-Match", other, "Accept-Encoding", "gzip"}, {"If-None-Match", other, "Accept-Encoding", "br"}} {
		same := get(have...)
		require.Equal(t, 304, same.StatusCode())
		require.Empty(t, same.Body())
		require.Equal(t, have[1], string(same.Header.Peek("Etag")))
	}
	for have, want := range map[string]int{
		"*":                             304,
		"W/" + tag:                      304,
		`"a", ` + tag:                   304,
		`"a,b" ,W/"c",,W/` + tag:        304,
		other:                           304, // the same content, gzipped
		"W/" + other + `, "later"`:      304,
		`"a"`:                           200,
		`W/"a", "b"`:                    200,
		strings.Trim(tag, `"`):          200, // no entity tag without its quotes
		`"a" ` + strings.Trim(tag, `"`): 200,
		`"open`:                         200,
		"W/":                            200,
		"":                              200,
	} {
		require.Equal(t, want, get("If-None-Match", have).StatusCode(), have)
	}
}

// unpack returns what was sent in a coding.
func unpack(t *testing.T, coding string, body []byte) string {
	t.Helper()
	r := io.Reader(brotli.NewReader(bytes.NewReader(body)))
	if coding == "gzip" {
		var err error
		r, err = gzip.NewReader(bytes.NewReader(body))
		require.NoError(t, err)
	}
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(text)
}

// What one must be able to read or tell apart has the contrast that WCAG 2.2 asks
// for (1.4.3: 4.5 for text, 1.4.11: 3 for signs), by day and by night.
func TestContrast(t *testing.T) {
	t.Parallel()
	var sheet string
	for at, f := range files(t) {
		if path.Base(at) == "seats.css" {
			sheet = string(f.Body)
		}
	}
	colours := map[string]string{}
	roots := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(sheet, -1)
	require.Len(t, roots, 2, "day, and then night")
	for _, root := range roots {
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(root[1], -1) {
			colours[m[1]] = m[2]
		}
		for _, pair := range []string{
			"text back", "text panel", "soft back", "soft panel", "soft element", "link back", "link panel", "on-link link",
			"warn back", "warn warn-back", "on-mine mine", "on-mine available",
		} {
			one, other, _ := strings.Cut(pair, " ")
			require.GreaterOrEqual(t, contrast(t, colours[one], colours[other]), 4.5, pair)
		}
		for _, sign := range []string{"available", "mine", "held", "taken"} {
			require.GreaterOrEqual(t, contrast(t, colours[sign], colours["back"]), 3.0, sign)
		}
	}
}

// contrast is that of two colours, as WCAG 2.2 defines it.
func contrast(t *testing.T, one, other string) float64 {
	t.Helper()
	light := func(colour string) float64 {
		var rgb [3]int
		_, err := fmt.Sscanf(colour, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2])
		require.NoError(t, err, colour)
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			part := float64(rgb[i]) / 255
			if part <= 0.04045 {
				sum += weight * part / 12.92
			} else {
				sum += weight * math.Pow((part+0.055)/1.055, 2.4)
			}
		}
		return sum
	}
	a, b := light(one), light(other)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}
