package edge_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"boxoffice/edge"
	"boxoffice/edge/redact"
	"boxoffice/edge/route"
)

const (
	canary = "canary-5e1f"
	plain  = "plain-5e1f"
)

// exampleOf is a body of a type as a client may send it by mistake: with a canary in each secret field, whatever
// it should be, plain in each other text, and a canary in a member that nothing knows.
func exampleOf(t reflect.Type, depth int) any {
	if opt, ok := reflect.TypeAssert[route.Optional](reflect.Zero(t)); ok {
		t = opt.Inner()
	}
	switch {
	case t == reflect.TypeFor[jsontext.Value]():
		return map[string]any{"text": plain, "password": canary}
	case t.Kind() == reflect.Pointer:
		return exampleOf(t.Elem(), depth)
	case t.Kind() == reflect.Slice:
		return []any{exampleOf(t.Elem(), depth), exampleOf(t.Elem(), depth)}
	case t.Kind() != reflect.Struct || t.PkgPath() == "time":
		return plain
	}
	body := map[string]any{"pasword": map[string]any{"of": canary}}
	addExamples(body, t, depth)
	return body
}

func addExamples(body map[string]any, t reflect.Type, depth int) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			addExamples(body, f.Type, depth)
		case name == "" || depth > 6:
		case redact.NamesSecret(name) || f.Tag.Get("format") == "password":
			body[name] = []any{canary, map[string]any{"a": canary}}
		default:
			body[name] = exampleOf(f.Type, depth+1)
		}
	}
}

// TestNoSecretOfABodyIsKept redacts a body of each row that has a secret in each of its secret fields, and
// makes sure that the others stay.
func TestNoSecretOfABodyIsKept(t *testing.T) {
	t.Parallel()
	secrets := 0
	for _, op := range new(edge.Areas).Routes() {
		if !op.Handler.HasBody() {
			continue
		}
		body, err := json.Marshal(exampleOf(op.Handler.In, 0))
		require.NoError(t, err)
		text, cut := redact.Body(&op, body, 1<<20)
		require.False(t, cut, op.ID)
		require.NotContains(t, string(text), canary, op.ID)
		require.Equal(t, strings.Count(string(body), plain), strings.Count(string(text), plain), op.ID)
		require.True(t, json.Valid(text), op.ID)
		secrets += strings.Count(string(text), "[withheld]")

		text, cut = redact.Body(&op, body[:len(body)/2], 1<<20)
		require.True(t, cut, op.ID)
		require.NotContains(t, string(text), canary, op.ID)
	}
	require.Greater(t, secrets, 200)
}
