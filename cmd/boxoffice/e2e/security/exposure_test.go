package security

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
)

var rewrite = flag.Bool("rewrite", false, "write today's golden files instead of comparing them")

// The audiences whose answers are compared with golden files.
const (
	audienceNobody = "nobody"
	audienceOrder  = "order token"
	audiencePerson = "person"
	audienceOwner  = "owner"
	audienceKey    = "key"
	audienceAdmin  = "platform admin"
)

var audiences = []string{audienceNobody, audienceOrder, audiencePerson, audienceOwner, audienceKey, audienceAdmin}

// exposure is what answers contain: for each audience the lines "operation
// path".
type exposure struct {
	mu    sync.Mutex
	lines map[string]map[string]bool
}

// note takes an answer's paths down.
func (e *exposure) note(t testing.TB, op *route.Op, audience, body string) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lines == nil {
		e.lines = map[string]map[string]bool{}
	}
	if e.lines[audience] == nil {
		e.lines[audience] = map[string]bool{}
	}
	for path := range values(t, body) {
		e.lines[audience][op.ID+" "+index.ReplaceAllString(path, "[]")] = true
	}
}

// secretNames are names of what nobody is shown who only reads. The public page
// has the onlineLink of an event that is not digital; TestPublicSecrets looks at
// the digital ones.
var secretNames = regexp.MustCompile(`(?i)presaleCode|accessUrl|accessNote|onlineLinkNote|password|hash|secret|totp|token|qr|recovery`)

// compare compares the paths with the golden files. It fails for a name that an
// answer shows and the file does not have, so that somebody decides whether that
// audience may see it. Which optional members a list shows depends on the tests that
// run at the same time, so a line that no answer showed this time stays in the file
// as long as the answer's type has it.
func (e *exposure) compare(t *testing.T, ops []route.Op) {
	types := map[string]reflect.Type{}
	for _, op := range ops {
		types[op.ID] = op.Handler.Out
	}
	for _, audience := range audiences {
		seen := e.lines[audience]
		require.NotEmpty(t, seen, audience)
		path := filepath.Join("testdata", "keys", strings.ReplaceAll(audience, " ", "_")+".txt")
		b, err := os.ReadFile(path)
		if !*rewrite {
			require.NoError(t, err)
		}
		golden := map[string]bool{}
		var stale, added []string
		for line := range strings.Lines(string(b)) {
			line = strings.TrimSpace(line)
			golden[line] = true
			if id, path, _ := strings.Cut(line, " "); !seen[line] && !has(types[id], path) {
				stale = append(stale, line)
			}
		}
		for line := range seen {
			if !golden[line] {
				added = append(added, line)
			}
		}
		slices.Sort(added)
		if *rewrite {
			maps.Copy(golden, seen)
			for _, line := range stale {
				delete(golden, line)
			}
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(slices.Sorted(maps.Keys(golden)), "\n")+"\n"), 0o600))
			continue
		}
		require.Empty(t, added, "answers to %s have names that nobody has looked at; see -rewrite", audience)
		require.Empty(t, stale, "answers to %s cannot have these names any more; see -rewrite", audience)
	}
	for line := range e.lines[audienceNobody] {
		if strings.HasPrefix(line, "getQueue data.you.") {
			continue // what it shows to the visitor whose token was sent
		}
		if strings.HasPrefix(line, "get") || strings.HasPrefix(line, "list") || strings.HasPrefix(line, "discover") {
			require.NotRegexp(t, secretNames, line)
		}
	}
}

var index = regexp.MustCompile(`\.\d+\b`)

// has tells whether an answer of a type can have a member at a path ("data.lines[].seat").
func has(t reflect.Type, path string) bool {
	if t == nil {
		return false
	}
	names := strings.Split(strings.ReplaceAll(path, "[]", ""), ".")
	return names[0] == "data" && hasMember(t, names[1:])
}

// hasMember tells whether values of a type can have the first name, and what is
// there the others.
func hasMember(t reflect.Type, names []string) bool {
	if o, ok := reflect.TypeAssert[route.Optional](reflect.Zero(t)); ok {
		t = o.Inner()
	}
	for (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) && !t.Implements(reflect.TypeFor[json.Marshaler]()) {
		t = t.Elem()
	}
	if len(names) == 0 || t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return true
	}
	if t.Kind() != reflect.Struct {
		return t.Kind() == reflect.Map || t.Kind() == reflect.Interface
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && hasMember(f.Type, names) {
			return true
		}
		if name == names[0] && hasMember(f.Type, names[1:]) {
			return true
		}
	}
	return false
}

// values are the members of a JSON value, at every depth, by their paths.
func values(t testing.TB, body string) map[string]any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(body), &v), body)
	found := map[string]any{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case nodetest.Object:
			for name, inner := range v {
				found[path+name] = inner
				walk(path+name+".", inner)
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprintf("%s%d.", path, i), inner)
			}
		}
	}
	walk("", v)
	return found
}

// internal are names that no answer has, of what requests must not set.
var internal = nodetest.Object{
	"org": 1, "orgId": "1", "organizationId": "1", "org_id": "1", "platformAdmin": true, "platform_admin": true, "isAdmin": true, "admin": true, "emailVerified": true, "email_verified": true,
	"passwordHash": "hostile", "createdBy": 1, "balance": "1000000.00", "pendingBalance": "1000000.00", "scope": "manage", "owner": true, "Role": "owner", "unitPrice": "0.01", "secretHash": "hostile", "publicId": "hostile",
}

// hostile are members that a request type does not have: every name of answers,
// and internal ones, with a value that its owner would like.
func (w *world) hostile(in reflect.Type) nodetest.Object {
	w.T.Helper()
	all := maps.Clone(internal)
	for _, op := range w.Areas().Routes() {
		wanted(op.Handler.Out, all, nil)
	}
	for _, name := range slices.Concat(memberNames(in), lineNames(in)) {
		delete(all, name)
	}
	return all
}

// lineNames are the members of a request's lines.
func lineNames(in reflect.Type) []string {
	var names []string
	for f := range in.Fields() {
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			names = append(names, memberNames(f.Type.Elem())...)
		}
	}
	return names
}

// wanted adds the names of an answer's type.
func wanted(t reflect.Type, all nodetest.Object, seen []reflect.Type) {
	if o, ok := reflect.TypeAssert[route.Optional](reflect.Zero(t)); ok {
		t = o.Inner()
	}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() || slices.Contains(seen, t) {
		return
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if _, ok := all[name]; name != "" && !ok {
			all[name] = coveted(f)
		}
		wanted(f.Type, all, append(seen, t))
	}
}

// coveted is a value of a field that is not the usual one.
func coveted(f reflect.StructField) any {
	t := f.Type
	if o, ok := reflect.TypeAssert[route.Optional](reflect.Zero(t)); ok {
		t = o.Inner()
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	words := strings.Split(f.Tag.Get("enum"), ",")
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "2001-01-01T00:00:00Z"
	case words[0] != "":
		return words[len(words)-1]
	case t.Kind() == reflect.String:
		return "hostile"
	case t.Kind() == reflect.Bool:
		return true
	case t.Kind() == reflect.Int64 || t.Kind() == reflect.Int || t.Kind() == reflect.Float64:
		return 31337
	case t.Kind() == reflect.Slice:
		return []any{}
	}
	return nodetest.Object{}
}

// stuffed is a body with more members, in the lines of its lists too.
func stuffed(body, extra nodetest.Object) nodetest.Object {
	full := maps.Clone(extra)
	maps.Copy(full, body)
	for name, v := range body {
		if lines, ok := v.([]nodetest.Object); ok {
			var more []nodetest.Object
			for _, line := range lines {
				more = append(more, stuffed(line, extra))
			}
			full[name] = more
		}
	}
	return full
}

// TestPublicSecrets looks for what only an organization or a buyer is shown, by
// its value, in what everybody else is shown.
func TestPublicSecrets(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	hidden := nodetest.Object{"presaleCode": "presale-7f3a", "accessUrl": "https://example.org/access-7f3a", "accessNote": "note-7f3a"}
	event, _ := s.Sell(nodetest.Object{
		"category": "e-books", "onlineLink": "https://example.org/online-7f3a", "onlineLinkNote": "pin-7f3a",
		"branding": nodetest.Object{"inviteCode": "invite-7f3a", "courseType": "unified"},
	}, nodetest.With(nodetest.TypeBody(5, 10), hidden), nodetest.With(nodetest.TypeBody(5, 10), nodetest.With(hidden, nodetest.Object{"name": "hidden-7f3a", "status": "hidden"})))
	page := s.Own("PUT", "/organizer/events/"+event, nodetest.Object{}).Is(200, "")
	slug := page.Str("slug")
	stranger := s.Register(strangerEmail)
	readers := map[string][]string{
		"nobody": nil, "buyer": s.Buyer("buyer@example.org").Bearer(), "another's owner": stranger.Bearer(), "another's key": s.As(stranger.Key(nil).Str("secret")).Bearer(),
		"key without scopes": s.As(s.Key(nodetest.Object{"scopes": []string{}}).Str("secret")).Bearer(), "key of other scopes": s.As(s.Key(nodetest.Object{"scopes": []string{"orders:read", "orders:write"}}).Str("secret")).Bearer(),
	}
	for reader, headers := range readers {
		for _, path := range []string{"/events", "/events/" + slug, "/events/" + event + "/tickets", "/events/" + page.Str("numericId") + "/tickets"} {
			r := s.Raw("GET", path, "", "", headers...)
			require.Equal(t, 200, r.Status, "%s %s: %s", reader, path, r.Body)
			require.NotContains(t, r.Body, "7f3a", "%s %s", reader, path)
		}
	}
	t.Log("the organization is shown all of it")
	types := s.Raw("GET", "/events/"+event+"/tickets", "", "", s.Bearer()...).Body
	for _, v := range hidden {
		require.Contains(t, types, v)
	}
	require.Contains(t, types, "hidden-7f3a")
}
