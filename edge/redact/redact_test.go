package redact_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/redact"
	"boxoffice/edge/route"
)

type redactLine struct {
	Name string `json:"name"`
	Pin  int    `json:"doorPin"`
}

type redactSample struct {
	Title  route.Opt[string] `json:"title"`
	Phrase string            `json:"phrase" format:"password"`
	Lines  []redactLine      `json:"lines"`
	Free   jsontext.Value    `json:"free"`
	Path   string            `path:"id"`
}

// TestRedactBody shows what is left of bodies.
func TestRedactBody(t *testing.T) {
	t.Parallel()
	op := route.Op{Handler: route.Handle(func(*route.Call, *redactSample) (route.None, error) { return route.None{}, nil })}
	for body, want := range map[string]string{
		`{"title": "a", "phrase" : "b"}`:                         `{"title": "a", "phrase" : "[withheld]"}`,
		` { "lines":[{"name":"a","doorPin":1234},{"name":"b"}]}`: ` { "lines":[{"name":"a","doorPin":"[withheld]"},{"name":"b"}]}`,
		`{"titel":"a","id":"b","other":[{"c":1}]}`:               `{"titel":"[withheld]","id":"[withheld]","other":"[withheld]"}`,
		`{"title":{"phrase":"a"},"lines":["b"]}`:                 `{"title":{"phrase":"[withheld]"},"lines":["[withheld]"]}`,
		`{"lines":"[{\"doorPin\":1234}]","title":["a"]}`:         `{"lines":"[withheld]","title":["a"]}`,
		`{"lines":[null,true,1234]}`:                             `{"lines":[null,true,"[withheld]"]}`,
		`{"free":{"a":[{"apiToken":"b","c":1}]}}`:                `{"free":{"a":[{"apiToken":"[withheld]","c":1}]}}`,
		`{"title":"the key is vt_test_AbCdEfGh0123, see"}`:       `{"title":"the key is [withheld], see"}`,
		`{"title":"https://a.example?c=d\u0026token=SECRET"}`:    `{"title":"[withheld]"}`,
		`{"title":"https:\/\/ada:password@a.example"}`:           `{"title":"[withheld]"}`,
		`{"title":"\u0076t_live_AbCdEfGh0123"}`:                  `{"title":"[withheld]"}`,
		`{"free":{"\u0076t_live_AbCdEfGh0123":1}}`:               `{"free":{"[withheld]":1}}`,
		`{"free":{"apiKey":"a","Cookie":"b","keys":"c"}}`:        `{"free":{"apiKey":"[withheld]","Cookie":"[withheld]","keys":"c"}}`,
		`{"phras\u0065":"a","phrase":"b","phrase":"c"}`:          `{"phras\u0065":"[withheld]","phrase":"[withheld]","phrase":"[withheld]"}`,
		`[{"title":"a"}]`:      `[{"title":"a"}]`,
		`"{\"phrase\":\"a\"}"`: `"[withheld]"`,
		`1234`:                 `"[withheld]"`,
		`{"title":"https://a.example/b?c=d&token=AbCdEfGh01&e=f"}`:                `{"title":"https://a.example/b?c=d[withheld]&e=f"}`,
		`{"title":"see /orders/1#token=AbC-Ef_h01.%3D, sig=5 ?signal=abcdefghi"}`: `{"title":"see /orders/1[withheld], sig=5 ?signal=abcdefghi"}`,
		`{"title":"https://ada:hunter2@a.example/b and http://c.example:80/@d"}`:  `{"title":"https:[withheld]a.example/b and http://c.example:80/@d"}`,
	} {
		text, cut := redact.Body(&op, []byte(body), 1000)
		require.Equal(t, want, string(text))
		require.False(t, cut, body)
	}
	for body, want := range map[string]string{
		``:                              ``,
		`title=a&phrase=b`:              ``,
		`1234&phrase=b`:                 `"[withheld]"`,
		`{"title":"a","phrase":"b`:      `{"title":"a","phrase"`,
		`{"title":"a"} {"phrase":"b"}`:  `{"title":"a"}`,
		`{"title":"a", phrase: "b"}`:    `{"title":"a"`,
		"{\"title\":\"a\",\"\xff":       `{"title":"a"`,
		strings.Repeat("[", 1000) + `1`: strings.Repeat("[", route.MaxDepth+1),
		`{"title":"` + strings.Repeat("ä", 1000) + `"}`:                        `{"title":"` + strings.Repeat("ä", 495),
		`{"lines":[` + strings.Repeat(`{"name":"a"},`, 100) + `{"name":"b"}]}`: (`{"lines":[` + strings.Repeat(`{"name":"a"},`, 100))[:1000],
	} {
		text, cut := redact.Body(&op, []byte(body), 1000)
		require.Equal(t, want, string(text))
		require.True(t, cut, body)
	}
}

// TestRedactAnswer makes sure that a refusal says its codes, and no secret.
func TestRedactAnswer(t *testing.T) {
	t.Parallel()
	text, cut := redact.Answer([]byte(`{"error":{"code":"PROMO_CODE_INVALID","details":{"promoCode":"SUMMER","issues":[{"code":"type"}]}}}`), 1000)
	require.False(t, cut)
	require.Equal(t, `{"error":{"code":"PROMO_CODE_INVALID","details":{"promoCode":"[withheld]","issues":[{"code":"type"}]}}}`, string(text))
}

// TestRedactionIsBounded makes sure that what is kept of a long body, and allocated for it, does not grow with the
// body: a flood of long bodies that fail must cost no more than reading them.
func TestRedactionIsBounded(t *testing.T) {
	op := route.Op{Handler: route.Handle(func(*route.Call, *redactSample) (route.None, error) { return route.None{}, nil })}
	const most, size = 16 << 10, 8 << 20 // a course may have as much
	for name, body := range map[string]string{
		"text":    `{"title":"` + strings.Repeat("a", size) + `"}`,
		"blank":   `{"title":` + strings.Repeat(" ", size) + `1}`,
		"escapes": `{"title":"` + strings.Repeat(`\u0061`, size/6) + `"}`,
	} {
		long := []byte(body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before) // of this test alone: it is not parallel
		text, _ := redact.Body(&op, long, most)
		runtime.ReadMemStats(&after)
		require.LessOrEqual(t, len(text), most, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size/4), name)
	}
}
