package rooms

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/venuemap"
	"boxoffice/persistence/venues"
)

// field is a value of one field, and the issue that it is refused with; "" when
// it is accepted and answered unchanged.
type field struct {
	name  string
	value any
	path  string // of the issue, if not the name
	code  string
}

// names are those of the items of a list.
func names(a nodetest.Answer) []string {
	a.T.Helper()
	var out []string
	for _, item := range a.Data("items").([]any) {
		out = append(out, item.(nodetest.Object)["name"].(string))
	}
	return out
}

func TestVenues(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	org := s.Org()
	made := s.Own("POST", nodetest.VenuesPath, nodetest.HouseBody()).Is(201, "")
	require.Equal(t, nodetest.Words("id organizationId name seats versions createdAt updatedAt"), made.Keys(""))
	require.Equal(t, "Small hall", made.Str("name"))
	require.Equal(t, "20", made.Str("seats"))
	require.Equal(t, org, made.Str("organizationId"))
	require.Empty(t, made.Data("versions"))
	path := nodetest.VenuesPath + "/" + made.Str("id")

	t.Log("a draft is not listed until it is published, unless asked for")
	require.Empty(t, names(s.Own("GET", nodetest.VenuesPath, nil).Is(200, "")))
	require.Equal(t, []string{"Small hall"}, names(s.Own("GET", nodetest.VenuesPath+"?status=draft&orgId="+org, nil).Is(200, "")))
	require.Equal(t, made.Get("data"), s.Own("GET", nodetest.VenuesPath+"?status=all", nil).Is(200, "").Data("items.0"))
	draft := s.Own("GET", path, nil).Is(200, "")
	require.Equal(t, nodetest.Words("id organizationId name seats versions createdAt updatedAt version document"), draft.Keys(""))
	require.Nil(t, draft.Data("version"))
	require.JSONEq(t, nodetest.Encode(t, nodetest.HouseBody()), nodetest.Encode(t, draft.Data("document")))

	t.Log("published, it is; once")
	one := s.Own("POST", path+"/publish", nil).Is(200, "")
	require.Equal(t, nodetest.Words("version seats publishedAt"), one.Keys(""))
	require.Equal(t, "1", one.Str("version"))
	require.Equal(t, "20", one.Str("seats"))
	require.Equal(t, one.Body["data"], s.Own("POST", path+"/publish", nil).Is(200, "").Body["data"], "the draft has not changed")
	list := s.Own("GET", nodetest.VenuesPath+"?search=SMALL", nil).Is(200, "")
	require.Equal(t, []string{"Small hall"}, names(list))
	require.Equal(t, []any{one.Get("data")}, list.Data("items.0.versions"))
	require.Empty(t, names(s.Own("GET", nodetest.VenuesPath+"?search=great", nil).Is(200, "")))
	require.Empty(t, names(s.Own("GET", nodetest.VenuesPath+"?status=draft", nil).Is(200, "")))

	t.Log("the draft goes on; the version stays as it was")
	next := nodetest.With(nodetest.HouseBody(), nodetest.Object{"name": "Great hall", "elements": nodetest.Absent})
	next["sections"] = next["sections"].([]nodetest.Object)[:1]
	changed := s.Own("PUT", path, next).Is(200, "")
	require.Equal(t, "Great hall", changed.Str("name"))
	require.Equal(t, "12", changed.Str("seats"))
	require.Equal(t, []any{one.Get("data")}, changed.Data("versions"))
	two := s.Own("POST", path+"/publish", nil).Is(200, "")
	require.Equal(t, "2", two.Str("version"))
	require.Equal(t, "12", two.Str("seats"))
	first := s.Own("GET", path+"?version=1", nil).Is(200, "")
	require.Equal(t, "1", first.Str("version"))
	require.JSONEq(t, nodetest.Encode(t, nodetest.HouseBody()), nodetest.Encode(t, first.Data("document")))
	require.Equal(t, []any{two.Get("data"), one.Get("data")}, first.Data("versions"))
	second := s.Own("GET", path+"?version=2", nil).Is(200, "")
	require.JSONEq(t, nodetest.Encode(t, nodetest.With(next, nodetest.Object{"elements": []any{}})), nodetest.Encode(t, second.Data("document")))
	s.Own("GET", path+"?version=3", nil).Is(404, "NOT_FOUND")
	s.Own("GET", path+"?version=0", nil).Invalid("version", "minimum")

	t.Log("what is published is what the seat map will be")
	layout, elements, err := s.Areas().Venues.Venues.Layout(t.Context(), uuid.MustParse(made.Str("id")), 1)
	require.NoError(t, err)
	require.NoError(t, layout.Validate())
	require.Equal(t, 20, layout.Len())
	require.Equal(t, []string{"stalls-A-1", "stalls-B-6", "circle-A-3", "best"}, []string{layout.SeatIDs[0], layout.SeatIDs[11], layout.SeatIDs[13], layout.SeatIDs[17]})
	require.JSONEq(t, nodetest.Encode(t, nodetest.HouseBody()["elements"]), string(elements))
}

func TestVenueRetries(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org()
	retry := func() []string { return append(s.Bearer(), "Idempotency-Key", uuid.NewString()) }
	forget := func() {
		_, err := s.Pool().Exec(t.Context(), `DELETE FROM idempotency`) // as if the node had died before it was stored
		require.NoError(t, err)
	}
	key := retry()
	made := s.Call("POST", nodetest.VenuesPath, nodetest.HouseBody(), key...).Is(201, "")
	forget()
	require.Equal(t, made.Body, s.Call("POST", nodetest.VenuesPath, nodetest.HouseBody(), key...).Is(201, "").Body)
	path := nodetest.VenuesPath + "/" + made.Str("id")
	key = retry()
	one := s.Call("POST", path+"/publish", nil, key...).Is(200, "")
	s.Own("PUT", path, nodetest.With(nodetest.HouseBody(), nodetest.Object{"name": "Other"})).Is(200, "")
	forget()
	require.Equal(t, one.Body, s.Call("POST", path+"/publish", nil, key...).Is(200, "").Body, "the retry publishes nothing new")
	require.Len(t, s.Own("GET", path, nil).Is(200, "").Data("versions"), 1)
}

func TestVenuesOfOthers(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	own := s.Own("POST", nodetest.VenuesPath, nodetest.HouseBody()).Is(201, "").Str("id")
	path := nodetest.VenuesPath + "/" + own
	s.Own("POST", path+"/publish", nil).Is(200, "")
	text, err := venuemap.Theatre().Text()
	require.NoError(t, err)
	m, err := s.Areas().Venues.Venues.Share(t.Context(), venues.Draft{Name: "Theatre", Seats: 400, Document: text}, venuemap.Publishable)
	require.NoError(t, err)
	shared := nodetest.VenuesPath + "/" + m.PublicID.String()

	t.Log("another organization has no such map, and all have the shared one")
	other := s.Register("kim@example.org")
	for _, a := range []nodetest.Answer{other.Own("GET", path, nil), other.Own("GET", path+"?version=1", nil), other.Own("PUT", path, nodetest.HouseBody()), other.Own("POST", path+"/publish", nil)} {
		a.Is(404, "NOT_FOUND")
	}
	require.Equal(t, []string{"Theatre"}, names(other.Own("GET", nodetest.VenuesPath, nil).Is(200, "")))
	other.Own("GET", nodetest.VenuesPath+"?orgId="+s.Org(), nil).Is(404, "NOT_FOUND")
	other.Own("POST", nodetest.VenuesPath+"?orgId="+s.Org(), nodetest.HouseBody()).Is(404, "NOT_FOUND")
	other.Own("POST", nodetest.VenuesPath, nodetest.With(nodetest.HouseBody(), nodetest.Object{"orgId": s.Org()})).Is(404, "NOT_FOUND")
	require.Equal(t, []string{"Theatre", "Small hall"}, names(s.Own("GET", nodetest.VenuesPath, nil).Is(200, "")))
	for _, reader := range []*nodetest.Shop{s, other} {
		a := reader.Own("GET", shared, nil).Is(200, "")
		require.Nil(t, a.Data("organizationId"))
		require.Equal(t, "Theatre", a.Str("document.name"))
		reader.Own("PUT", shared, nodetest.HouseBody()).Is(403, "FORBIDDEN")
		reader.Own("POST", shared+"/publish", nil).Is(403, "FORBIDDEN")
	}
	for _, id := range []string{"x", "1", uuid.NewString(), strings.ReplaceAll(own, "-", ""), "{" + own + "}", "urn:uuid:" + own} {
		s.Own("GET", nodetest.VenuesPath+"/"+id, nil).Is(404, "NOT_FOUND")
	}

	t.Log("what a key may do, its scopes say")
	reader := s.As(s.Key(nodetest.Object{"scopes": []string{"events:read"}}).Str("secret"))
	reader.Own("GET", path, nil).Is(200, "")
	reader.Own("GET", shared, nil).Is(200, "")
	require.Len(t, names(reader.Own("GET", nodetest.VenuesPath, nil).Is(200, "")), 2)
	missing := nodetest.Object{"required": []string{"events:write"}, "granted": []string{"events:read"}}
	reader.Own("PUT", path, nodetest.HouseBody()).Refused(403, "FORBIDDEN", missing)
	reader.Own("PUT", shared, nodetest.HouseBody()).Refused(403, "FORBIDDEN", missing)
	reader.Own("POST", nodetest.VenuesPath, nodetest.HouseBody()).Refused(403, "FORBIDDEN", missing)
	reader.Own("POST", path+"/publish", nil).Refused(403, "FORBIDDEN", missing)
	gate := s.As(s.Key(nodetest.Object{"scopes": []string{"checkin:write"}}).Str("secret"))
	gate.Own("GET", path, nil).Is(403, "FORBIDDEN")
	gate.Own("GET", shared, nil).Is(403, "FORBIDDEN")
	s.Call("GET", nodetest.VenuesPath, nil).Is(401, "UNAUTHORIZED")

	t.Log("whoever belongs to two organizations names one to list and to create, and finds the maps of both")
	s.Invite("kim@example.org", "member")
	both := s.Buyer("kim@example.org")
	both.Own("GET", path, nil).Is(200, "")
	both.Own("GET", nodetest.VenuesPath, nil).Invalid("orgId", "required")
	both.Own("POST", nodetest.VenuesPath, nodetest.HouseBody()).Invalid("orgId", "required")
	both.Own("POST", nodetest.VenuesPath+"?orgId="+s.Org(), nodetest.HouseBody()).Is(201, "")
}

func TestVenuePages(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	for i := range 3 {
		m := s.Own("POST", nodetest.VenuesPath, nodetest.With(nodetest.HouseBody(), nodetest.Object{"name": fmt.Sprint("Hall ", i)})).Is(201, "")
		s.Own("POST", nodetest.VenuesPath+"/"+m.Str("id")+"/publish", nil).Is(200, "")
	}
	first := s.Own("GET", nodetest.VenuesPath+"?limit=2", nil).Is(200, "")
	require.Equal(t, []string{"Hall 2", "Hall 1"}, names(first))
	last := s.Own("GET", nodetest.VenuesPath+"?limit=2&cursor="+first.Str("nextCursor"), nil).Is(200, "")
	require.Equal(t, []string{"Hall 0"}, names(last))
	require.Nil(t, last.Data("nextCursor"))
	s.Own("GET", nodetest.VenuesPath+"?cursor=x", nil).Invalid("cursor", "format")
	s.Own("GET", nodetest.VenuesPath+"?status=gone", nil).Invalid("status", "enum")
	s.Own("GET", nodetest.VenuesPath+"?search="+strings.Repeat("a", 201), nil).Invalid("search", "max_length")
}

func TestVenueFields(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	rows := func(changes nodetest.Object) []nodetest.Object {
		row := nodetest.With(nodetest.Object{"label": "A", "from": []int{200, 300}, "to": []int{800, 300}, "count": 6}, changes)
		return []nodetest.Object{{"id": "s", "name": "S", "rows": []nodetest.Object{row}}}
	}
	element := func(changes nodetest.Object) []nodetest.Object {
		return []nodetest.Object{nodetest.With(nodetest.Object{"type": "stage", "x": 0, "y": 0, "width": 1, "height": 1}, changes)}
	}
	section := func(i int) nodetest.Object {
		return nodetest.Object{"id": fmt.Sprint(i), "name": fmt.Sprint("S", i), "rows": []nodetest.Object{{"label": "A", "seats": []nodetest.Object{{"label": "1", "x": i, "y": 0}}}}}
	}
	var sections []nodetest.Object
	for i := range 501 {
		sections = append(sections, section(i))
	}
	const row = "sections[0].rows[0]"
	for _, f := range []field{
		{"name", nodetest.Absent, "", "required"},
		{"name", "", "", "min_length"},
		{"name", nodetest.Text(201), "", "max_length"},
		{"canvas", nodetest.Absent, "", "required"},
		{"canvas", nodetest.Object{"height": 800}, "canvas.width", "required"},
		{"canvas", nodetest.Object{"width": 99, "height": 800}, "canvas.width", "minimum"},
		{"canvas", nodetest.Object{"width": 1000, "height": 100_001}, "canvas.height", "maximum"},
		{"canvas", nodetest.Object{"width": 1000.5, "height": 800}, "canvas.width", "type"},
		{"focus", nodetest.Absent, "", "required"},
		{"focus", []int{500}, "", "min_items"},
		{"focus", []int{500, 50, 1}, "", "max_items"},
		{"focus", []int{500, -1}, "focus[1]", "minimum"},
		{"focus", []int{500, 801}, "", "maximum"},
		{"sections", sections, "", "max_items"},
		{"sections", []nodetest.Object{section(1), section(1)}, "sections[1].id", "duplicate"},
		{"sections", []nodetest.Object{nodetest.With(section(1), nodetest.Object{"id": "a b"})}, "sections[0].id", "format"},
		{"sections", []nodetest.Object{nodetest.With(section(1), nodetest.Object{"id": strings.Repeat("a", 21)})}, "sections[0].id", "max_length"},
		{"sections", []nodetest.Object{nodetest.With(section(1), nodetest.Object{"name": nodetest.Text(41)})}, "sections[0].name", "max_length"},
		{"sections", []nodetest.Object{nodetest.With(section(1), nodetest.Object{"rows": []any{}})}, "sections[0].rows", "min_items"},
		{"sections", []nodetest.Object{nodetest.With(section(1), nodetest.Object{"rows": nodetest.Absent})}, "sections[0].rows", "required"},
		{"sections", rows(nodetest.Object{"label": nodetest.Absent}), row + ".label", "required"},
		{"sections", rows(nodetest.Object{"label": nodetest.Text(11)}), row + ".label", "max_length"},
		{"sections", rows(nodetest.Object{"count": 0}), row + ".count", "minimum"},
		{"sections", rows(nodetest.Object{"count": 1001}), row + ".count", "maximum"},
		{"sections", rows(nodetest.Object{"count": nodetest.Absent}), row + ".count", "required"},
		{"sections", rows(nodetest.Object{"from": nodetest.Absent}), row + ".from", "required"},
		{"sections", rows(nodetest.Object{"from": []any{1, "2"}}), row + ".from[1]", "type"},
		{"sections", rows(nodetest.Object{"numbering": "random"}), row + ".numbering", "enum"},
		{"sections", rows(nodetest.Object{"repeat": 201, "step": []int{0, 1}}), row + ".repeat", "maximum"},
		{"sections", rows(nodetest.Object{"repeat": 2}), row + ".step", "required"},
		{"sections", rows(nodetest.Object{"aislesAfter": []int{6}}), row + ".aislesAfter[0]", "maximum"},
		{"sections", rows(nodetest.Object{"radius": 5}), row, "format"},
		{"sections", rows(nodetest.Object{"from": nodetest.Absent, "to": nodetest.Absent, "count": nodetest.Absent}), row, "required"},
		{"sections", rows(nodetest.Object{"to": []int{800, 801}, "count": 2}), row, "maximum"},
		{"sections", rows(nodetest.Object{"from": nodetest.Absent, "to": nodetest.Absent, "center": []int{0, 0}, "radius": 5, "angles": []int{0, 721}}), row + ".angles[1]", "maximum"},
		{"sections", rows(nodetest.Object{"repeat": 200, "step": []int{0, 1}, "count": 1000}), "sections", "max_items"},
		{"elements", nodetest.Many(201, element(nil)[0]), "", "max_items"},
		{"elements", element(nodetest.Object{"type": "cloud"}), "elements[0].type", "enum"},
		{"elements", element(nodetest.Object{"width": 0}), "elements[0].width", "minimum"},
		{"elements", element(nodetest.Object{"x": 1000}), "elements[0]", "maximum"},
		{"elements", element(nodetest.Object{"type": "text"}), "elements[0].label", "required"},
		{"elements", element(nodetest.Object{"label": nodetest.Text(101)}), "elements[0].label", "max_length"},
	} {
		a := s.Own("POST", nodetest.VenuesPath, nodetest.With(nodetest.HouseBody(), nodetest.Object{f.name: f.value}))
		path := f.path
		if path == "" {
			path = f.name
		}
		require.Equal(t, map[string]string{path: f.code}, a.Issues(), "%s %.80v", f.name, f.value)
	}

	t.Log("the most there may be")
	post := func(body nodetest.Object) nodetest.Answer { // a busy machine draws it later
		return s.Patient("POST", nodetest.VenuesPath, body, s.Bearer()...)
	}
	post(nodetest.With(nodetest.HouseBody(), nodetest.Object{"sections": sections[:500], "elements": nodetest.Many(200, element(nil)[0])})).Is(201, "")
	full := rows(nodetest.Object{"from": []int{0, 0}, "to": []int{999, 0}, "count": 1000, "repeat": 100, "step": []int{0, 1}})
	require.Equal(t, "100000", post(nodetest.With(nodetest.HouseBody(), nodetest.Object{"sections": full})).Is(201, "").Str("seats"))

	t.Log("a draft may be empty; what is published is not")
	empty := s.Own("POST", nodetest.VenuesPath, nodetest.With(nodetest.HouseBody(), nodetest.Object{"sections": nodetest.Absent})).Is(201, "")
	require.Equal(t, "0", empty.Str("seats"))
	s.Own("POST", nodetest.VenuesPath+"/"+empty.Str("id")+"/publish", nil).Invalid("sections", "min_items")
	s.Own("PUT", nodetest.VenuesPath+"/"+empty.Str("id"), nodetest.Object{"name": "x"}).Issues()
}

// The samples, and bodies of listed seats up to the limit.
func TestVenueSizes(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	for name, seats := range map[string]int{"theatre": 400, "arena": 20_000, "stadium": 70_000} {
		m := s.Own("POST", nodetest.VenuesPath, nodetest.SampleMap(t, name)).Is(201, "")
		require.EqualValues(t, seats, m.Data("seats"))
		path := nodetest.VenuesPath + "/" + m.Str("id")
		require.EqualValues(t, seats, s.Own("POST", path+"/publish", nil).Is(200, "").Data("seats"))
		require.JSONEq(t, nodetest.Encode(t, nodetest.SampleMap(t, name)), nodetest.Encode(t, s.Own("GET", path, nil).Is(200, "").Data("document")))
		layout, _, err := s.Areas().Venues.Venues.Layout(t.Context(), uuid.MustParse(m.Str("id")), 0)
		require.NoError(t, err)
		require.NoError(t, layout.Validate())
		require.Equal(t, seats, layout.Len())
	}
	listed := func(n int) nodetest.Object {
		var sections []nodetest.Object
		for i := range n {
			if i%1000 == 0 {
				sections = append(sections, nodetest.Object{"id": fmt.Sprint(i), "name": "S", "rows": []nodetest.Object{{"label": "A", "seats": []nodetest.Object{}}}})
			}
			row := sections[len(sections)-1]["rows"].([]nodetest.Object)[0]
			row["seats"] = append(row["seats"].([]nodetest.Object), nodetest.Object{"id": fmt.Sprintf("S%d-A-%d", i/1000, i), "label": fmt.Sprint(i), "x": i % 1000, "y": i / 1000})
		}
		return nodetest.With(nodetest.HouseBody(), nodetest.Object{"sections": sections})
	}
	require.Greater(t, len(nodetest.Encode(t, listed(20_900))), 1_000_000)
	m := s.Own("POST", nodetest.VenuesPath, listed(20_900)).Is(201, "")
	require.Equal(t, "20900", m.Str("seats"))
	s.Own("PUT", nodetest.VenuesPath+"/"+m.Str("id"), listed(20_900)).Is(200, "")
	s.Own("POST", nodetest.VenuesPath, listed(22_000)).Is(413, "PAYLOAD_TOO_LARGE")
}

func TestTooManyVenues(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	path := nodetest.VenuesPath + "/" + s.Own("POST", nodetest.VenuesPath, nodetest.HouseBody()).Is(201, "").Str("id")
	_, err := s.Pool().Exec(t.Context(), `INSERT INTO venue_maps (org, name, seats, draft) SELECT $1, 'x', 0, '{}' FROM generate_series(2, $2)`, s.Org(), venues.MaxPerOrg)
	require.NoError(t, err)
	a := s.Own("POST", nodetest.VenuesPath, nodetest.HouseBody()).Is(409, "CONFLICT")
	require.Contains(t, a.Get("error.message"), "100 venue maps")
	_, err = s.Pool().Exec(t.Context(), `INSERT INTO venue_map_versions (map, version, command, seats, layout, elements, document)
		SELECT 1, n, gen_random_uuid(), 1, '', '[]', '{}' FROM generate_series(1, $1) n`, venues.MaxVersions)
	require.NoError(t, err)
	a = s.Own("POST", path+"/publish", nil).Is(409, "CONFLICT")
	require.Contains(t, a.Get("error.message"), "50 versions")
}
