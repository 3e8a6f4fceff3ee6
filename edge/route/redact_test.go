package route_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

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
	_      route.NotYet      `name:"later"`
}

// TestRedactBody shows what is left of bodies.
func TestRedactBody(t *testing.T) {
	t.Parallel()
	op := route.Op{Handler: route.Handle(func(*route.Call, *redactSample) (route.None, error) { return route.None{}, nil })}
	for body, want := range map[string]string{
		`{"title": "a", "phrase" : "b"}`:                         `{"title": "a", "phrase" : "[withheld]"}`,
		` { "lines":[{"name":"a","doorPin":1234},{"name":"b"}]}`: ` { "lines":[{"name":"a","doorPin":"[withheld]"},{"name":"b"}]}`,
		`{"titel":"a","id":"b","later":[{"c":1}]}`:               `{"titel":"[withheld]","id":"[withheld]","later":"[withheld]"}`,
		`{"title":{"phrase":"a"},"lines":["b"]}`:                 `{"title":{"phrase":"[withheld]"},"lines":["b"]}`,
		`{"free":{"a":[{"apiToken":"b","c":1}]}}`:                `{"free":{"a":[{"apiToken":"[withheld]","c":1}]}}`,
		`{"title":"the key is vt_test_AbCdEfGh0123, see"}`:       `{"title":"the key is [withheld], see"}`,
		`{"phras\u0065":"a","phrase":"b","phrase":"c"}`:          `{"phras\u0065":"[withheld]","phrase":"[withheld]","phrase":"[withheld]"}`,
		`[{"title":"a"}]`: `[{"title":"a"}]`,
		`"text"`:          `"text"`,
	} {
		text, cut := op.RedactBody([]byte(body), 1000)
		require.Equal(t, want, string(text))
		require.False(t, cut, body)
	}
	for body, want := range map[string]string{
		``:                              ``,
		`title=a&phrase=b`:              ``,
		`{"title":"a","phrase":"b`:      `{"title":"a","phrase"`,
		`{"title":"a"} {"phrase":"b"}`:  `{"title":"a"}`,
		`{"title":"a", phrase: "b"}`:    `{"title":"a"`,
		"{\"title\":\"a\",\"\xff":       `{"title":"a"`,
		strings.Repeat("[", 1000) + `1`: strings.Repeat("[", route.MaxDepth+1),
		`{"title":"` + strings.Repeat("ä", 1000) + `"}`:                        `{"title":"` + strings.Repeat("ä", 495),
		`{"lines":[` + strings.Repeat(`{"name":"a"},`, 100) + `{"name":"b"}]}`: (`{"lines":[` + strings.Repeat(`{"name":"a"},`, 100))[:1000],
	} {
		text, cut := op.RedactBody([]byte(body), 1000)
		require.Equal(t, want, string(text))
		require.True(t, cut, body)
	}
}

// TestRedactAnswer makes sure that a refusal says its codes, and no secret.
func TestRedactAnswer(t *testing.T) {
	t.Parallel()
	text, cut := route.RedactAnswer([]byte(`{"error":{"code":"PROMO_CODE_INVALID","details":{"promoCode":"SUMMER","issues":[{"code":"type"}]}}}`), 1000)
	require.False(t, cut)
	require.Equal(t, `{"error":{"code":"PROMO_CODE_INVALID","details":{"promoCode":"[withheld]","issues":[{"code":"type"}]}}}`, string(text))
}
