package tickets

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cluster"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
)

func session(changes nodetest.Object) nodetest.Object {
	return nodetest.With(nodetest.Object{
		"sessionTitle": "Opening", "startTime": "2031-06-20T19:00:00Z", "endTime": "2031-06-20T20:00:00Z",
	}, changes)
}

// spellings are addresses that a browser follows to a file of ours, by what is odd about them.
func spellings(t testing.TB, base string, id int64) map[string]string {
	t.Helper()
	u, err := url.Parse(base)
	require.NoError(t, err)
	n, scheme, host := strconv.FormatInt(id, 10), u.Scheme, u.Host
	return map[string]string{
		"relative": "/media/" + n, "absolute": base + "/media/" + n, "upper case scheme": strings.ToUpper(scheme) + "://" + host + "/media/" + n,
		"upper case host": scheme + "://" + strings.ToUpper(host) + "/media/" + n, "other scheme": "https://" + host + "/media/" + n,
		"trailing slash": base + "/media/" + n + "/", "doubled slash": base + "//media//" + n, "query": base + "/media/" + n + "?exp=1&sig=x",
		"fragment": base + "/media/" + n + "#page=2", "dot segments": base + "/a/../media/./" + n, "escaped word": base + "/%6dedia/" + n,
		"escaped slash": base + "/media%2F" + n, "escaped digit": base + "/media/%3" + n[:1] + n[1:], "leading zero": base + "/media/0" + n,
		"backslash": base + `/media\` + n,
	}
}

// hostedFields lists the JSON paths of a request type's fields that may name a file of ours.
func hostedFields(t reflect.Type, format, at string) (found []string) {
	if o, ok := reflect.TypeAssert[route.Optional](reflect.Zero(t)); ok {
		t = o.Inner()
	}
	switch t.Kind() { //nolint:exhaustive // no other kind holds a text
	case reflect.Pointer:
		return hostedFields(t.Elem(), format, at)
	case reflect.Slice:
		return hostedFields(t.Elem(), format, at+"[0]")
	case reflect.String:
		if format == "hosted" {
			found = append(found, at)
		}
	case reflect.Struct:
		for f := range t.Fields() {
			if !f.IsExported() || f.Type == reflect.TypeFor[time.Time]() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			found = append(found, hostedFields(f.Type, f.Tag.Get("format"), strings.TrimSuffix(strings.TrimPrefix(at+"."+name, "."), "."))...)
		}
	default:
	}
	return found
}

// naming is a JSON value whose member at a path is the link. Objects on the way have what each
// object of that name needs.
func naming(path, link string, needs map[string]nodetest.Object) any {
	if path == "" {
		return link
	}
	if rest, ok := strings.CutPrefix(path, "[0]"); ok {
		return []any{naming(strings.TrimPrefix(rest, "."), link, needs)}
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	name, rest := path[:end], strings.TrimPrefix(path[end:], ".")
	v := naming(rest, link, needs)
	if list, ok := v.([]any); ok {
		if o, ok := list[0].(nodetest.Object); ok {
			list[0] = nodetest.With(needs[name], o)
		}
	}
	return nodetest.Object{name: v}
}

// merge adds the members of a JSON value to another of the same form.
func merge(into, from any) {
	switch from := from.(type) {
	case nodetest.Object:
		o, _ := into.(nodetest.Object)
		for name, v := range from {
			if _, there := o[name]; !there {
				o[name] = v
			}
			merge(o[name], v)
		}
	case []any:
		list, _ := into.([]any)
		for i := range from {
			merge(list[i], from[i])
		}
	}
}

// TestForeignFilesAreNotNamed names another organization's private file in every field of the route
// table that may name a file, in every spelling: no field takes it. A file of one's own is stored in
// one form, however it was spelled.
func TestForeignFilesAreNotNamed(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const own, foreign = 771, 772
	s.OwnFiles(own)
	s.Register("other@example.org").OwnFiles(foreign)
	draft, kind := s.OnSale(nodetest.TypeBody(0, 5))
	events := "/organizer/events"
	talk := s.Own("POST", events+"/"+draft+"/schedule", session(nil)).Is(201, "").Str("id")
	type row struct {
		method, path string
		body         nodetest.Object
	}
	rows := map[string]row{
		"createEvent": {"POST", events, nodetest.EventBody()}, "updateEvent": {"PUT", events + "/" + draft, nil},
		"createTicketType": {"POST", events + "/" + draft + "/tickets", nodetest.TypeBody(5, 10)}, "updateTicketType": {"PUT", events + "/" + draft + "/tickets/" + kind[0], nil},
		"createScheduleSession": {"POST", events + "/" + draft + "/schedule", session(nil)}, "updateScheduleSession": {"PUT", events + "/" + draft + "/schedule/" + talk, nil},
		"customize": {"PUT", "/organizer/event-customization/" + draft, nil}, "updateOrganization": {"PUT", "/organizer/organizations/" + s.Org(), nil},
	}
	needs := map[string]nodetest.Object{
		"entities": {"kind": "dj", "name": "Ada"}, "syllabus": lesson("one", nodetest.Object{"lessonVideo": nodetest.Absent}), "unifiedMaterials": {"name": "Notes"}, "materials": {"name": "Notes"},
	}
	seen := map[string]bool{}
	for _, op := range s.Areas().Routes() {
		fields := hostedFields(op.Handler.In, "", "")
		if len(fields) == 0 {
			continue
		}
		seen[op.ID] = true
		r, known := rows[op.ID]
		require.True(t, known, "%s has fields that may name a file; this test must call it: %v", op.ID, fields)
		want := map[string]string{}
		for _, field := range fields {
			want[field] = "format"
		}
		for name, link := range spellings(t, s.Config().BaseURL, foreign) {
			body := nodetest.With(nodetest.Object{}, r.body)
			for _, field := range fields {
				merge(body, naming(field, link, needs))
			}
			require.Equal(t, want, s.Own(r.method, r.path, body).Issues(), "%s, %s: %s", op.ID, name, link)
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(rows)), slices.Sorted(maps.Keys(seen)))
	for name, link := range spellings(t, s.Config().BaseURL, own) {
		a := s.Own("PUT", events+"/"+draft, nodetest.Object{"coverImage": link, "gallery": []string{link}}).Is(200, "")
		require.Equal(t, "/media/771", a.Str("coverImage"), name)
		require.Equal(t, "/media/771", a.Str("gallery.0"), name)
	}
	elsewhere := "https://files.example.org/media/772"
	require.Equal(t, elsewhere, s.Own("PUT", events+"/"+draft, nodetest.Object{"coverImage": elsewhere}).Is(200, "").Str("coverImage"))
}

// TestForeignFilesAreNotSigned stores links to another organization's private file past the door, as
// a release before took them, in every spelling: whoever holds a ticket gets no signed link, whether
// the event, its ticket type or its course names the file.
func TestForeignFilesAreNotSigned(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const own, foreign = 771, 772
	s.OwnFiles(own)
	s.Register("other@example.org").OwnFiles(foreign)
	_, ids := s.Sell(nodetest.Object{"category": "e-books", "endDate": nil, "onlineLink": "https://example.org/vault"}, nodetest.TypeBody(0, 50))
	ada := s.Buyer("ada@example.org")
	o := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, "")
	order, err := engine.ParseID(o.Str("id"))
	require.NoError(t, err)
	node := s.Areas().Catalog.Node
	ofEvent := engine.EventRef(order.Event())
	typeID, err := engine.ParseID(ids[0])
	require.NoError(t, err)
	ref := engine.InventoryRef(order.Event(), typeID.Number())
	store := func(online, access string) {
		e, err := cluster.AskFor[event.Record](t.Context(), node, ofEvent, event.Get{})
		require.NoError(t, err)
		d := *e.Details
		d.OnlineLink = online
		_, err = cluster.AskFor[event.Record](t.Context(), node, ofEvent, event.Update{Details: d, Revision: e.Revision})
		require.NoError(t, err)
		k, err := cluster.AskFor[inventory.Record](t.Context(), node, ref, inventory.Get{})
		require.NoError(t, err)
		k.Details.AccessURL = access
		_, err = cluster.AskFor[inventory.Record](t.Context(), node, ref, inventory.Update{Details: k.Details, Revision: k.Revision})
		require.NoError(t, err)
	}
	download := "/users/me/tickets/" + o.Str("tickets.0.id") + "/download"
	becomes := func(want string) {
		ada.Becomes(want, func() string {
			a := ada.Own("GET", download, nil)
			if a.Status == 404 {
				return fmt.Sprint(a.Get("error.code"))
			}
			return a.Str("kind")
		})
	}
	for name, link := range spellings(t, s.Config().BaseURL, foreign) {
		t.Log(name)
		store(link, "")
		becomes("NO_FILE")
		store(link, "https://example.org/other")
		becomes("external")
		store("https://example.org/vault", link)
		becomes("NO_FILE")
		store("https://example.org/vault", "")
		becomes("external")
	}
	store(s.Config().BaseURL+"/media/771", "")
	becomes("file")

	b, path := enrolled(t, s, course(nil, lesson("one", nodetest.Object{"lessonPdf": "https://example.org/a.pdf", "materials": []nodetest.Object{{"name": "Notes", "url": "https://example.org/b.pdf"}}})))
	for name, link := range spellings(t, s.Config().BaseURL, foreign) {
		_, err := s.Pool().Exec(t.Context(), `UPDATE courses SET content = jsonb_set(jsonb_set(jsonb_set(content::jsonb,
			'{syllabus,0,lessonPdf}', to_jsonb($1::text)), '{syllabus,0,lessonVideo}', to_jsonb($1::text)), '{syllabus,0,materials,0,url}', to_jsonb($1::text))`, link)
		require.NoError(t, err)
		a := b.Own("GET", path, nil).Is(200, "")
		require.Equal(t, []any{nil, nil, []any{}}, []any{a.Data("lessons.0.lessonPdf"), a.Data("lessons.0.lessonVideo"), a.Data("lessons.0.materials")}, name)
		require.NotContains(t, nodetest.Encode(t, a.Body), "sig=", name)
	}
}
