// Package edgetest holds what tests of the edge share: the checks that every
// route table must pass, and a server with its client in memory. Tests only.
package edgetest

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

var (
	pathPattern = regexp.MustCompile(`^(/([a-z0-9][a-z0-9._-]*|\{[a-zA-Z][a-zA-Z0-9]*\}))+$`)
	idPattern   = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	parameter   = regexp.MustCompile(`\{[^}]*\}`)
)

// CheckTable fails the test for every row that is incomplete or contradicts
// another.
func CheckTable(t *testing.T, ops []route.Op) {
	t.Helper()
	ids, paths := map[string]bool{}, map[string]string{}
	for i := range ops {
		op := &ops[i]
		t.Run(op.ID, func(t *testing.T) {
			require.Regexp(t, idPattern, op.ID)
			require.False(t, ids[op.ID], "the operation id is taken")
			ids[op.ID] = true
			key := op.Method + " " + parameter.ReplaceAllString(op.Path, "{}")
			require.Empty(t, paths[key], "the path is taken")
			paths[key] = op.ID
			checkRow(t, op)
			checkHandler(t, op)
		})
	}
}

func checkRow(t *testing.T, op *route.Op) {
	t.Helper()
	require.Contains(t, []string{"GET", "POST", "PUT", "PATCH", "DELETE"}, op.Method)
	require.Regexp(t, pathPattern, op.Path)
	require.NotEmpty(t, op.Summary)
	require.NotEmpty(t, op.Tag)
	require.NotZero(t, op.Auth, "Auth: who may use it")
	require.NotEmpty(t, op.Tier, "Tier: what limits it")
	require.True(t, op.Status >= 200 && op.Status < 300, "Status %d is no success", op.Status)
	require.False(t, op.Idempotent && !op.Writes(), "only writes take an Idempotency-Key")
	require.LessOrEqual(t, op.Timeout, time.Minute)
	require.LessOrEqual(t, op.MaxBody, 1<<20)
	require.NotEmpty(t, op.AllErrors())
	for i, code := range op.Errors {
		require.Contains(t, engine.CodeTable, code)
		require.NotContains(t, op.Errors[:i], code, "the code is listed twice")
	}
}

func checkHandler(t *testing.T, op *route.Op) {
	t.Helper()
	require.NotNil(t, op.Handler.In, "Handler: use route.Handle")
	require.False(t, op.Method == http.MethodGet && op.Handler.HasBody(), "GET has no body")
	require.Equal(t, op.Handler.Out == reflect.TypeFor[route.None](), op.Status == http.StatusNoContent, "204 and route.None go together")
	var names []string
	for _, p := range parameter.FindAllString(op.Path, -1) {
		names = append(names, strings.Trim(p, "{}"))
	}
	require.ElementsMatch(t, names, op.Handler.PathParams(), "the path's parameters are those of the request")
	require.Empty(t, unbounded(op.Handler.In, op.Handler.In.Name(), nil), "every text and list of a request has a limit")
}

// unbounded lists the fields of a request that a client could make as long as
// the body.
func unbounded(t reflect.Type, where string, seen []reflect.Type) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() || slices.Contains(seen, t) {
		return nil
	}
	var found []string
	for f := range t.Fields() {
		at := where + "." + f.Name
		if f.Tag.Get("path") != "" {
			continue // the server bounds these
		}
		ft := f.Type
		if o, ok := reflect.TypeAssert[route.Optional](reflect.Zero(ft)); ok {
			ft = o.Inner()
		}
		found = append(found, unboundedField(ft, f.Tag, at)...)
		found = append(found, unbounded(ft, at, append(seen, t))...)
	}
	return found
}

func unboundedField(t reflect.Type, tag reflect.StructTag, where string) []string {
	if t == reflect.TypeFor[jsontext.Value]() {
		t = reflect.TypeFor[string]()
	}
	var found []string
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice && tag.Get("maxItems") == "" {
			found = append(found, fmt.Sprintf("%s has no maxItems", where))
		}
		t = t.Elem()
	}
	if t.Kind() == reflect.String && tag.Get("maxLength") == "" && tag.Get("enum") == "" && !slices.Contains(shortFormats, tag.Get("format")) {
		found = append(found, fmt.Sprintf("%s has no maxLength", where))
	}
	return found
}

// shortFormats bound a text by themselves.
var shortFormats = []string{"email", "uuid", "date", "date-time", "timezone", "country", "currency"}
