package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/venuemap"
	"boxoffice/persistence/venues"
)

// houseBody is a venue map with every sort of row: 20 seats.
func houseBody() object {
	return object{
		"name": "Small hall", "canvas": object{"width": 1000, "height": 800}, "focus": []int{500, 50},
		"sections": []object{
			{"id": "stalls", "name": "Stalls", "rows": []object{{"label": "A", "from": []int{200, 300}, "to": []int{800, 300}, "count": 6, "repeat": 2, "step": []int{0, 60}, "aislesAfter": []int{3}}}},
			{"id": "circle", "name": "Circle", "rows": []object{{"label": "A", "center": []int{500, 0}, "radius": 700, "angles": []float64{110, 70}, "count": 4, "numbering": "odd", "wheelchair": []int{1}, "companion": []int{2}}}},
			{"id": "box", "name": "Box", "rows": []object{{"label": "1", "seats": []object{
				{"label": "1", "x": 10, "y": 10}, {"id": "best", "label": "2", "x": 20, "y": 10, "kind": "wheelchair"}, {"label": "3", "x": 40, "y": 10, "aisleBefore": true}, {"label": "4", "x": 50, "y": 10, "kind": "companion"},
			}}}},
		},
		"elements": []object{{"type": "stage", "x": 300, "y": 20, "width": 400, "height": 80, "label": "Stage"}, {"type": "exit", "x": 0, "y": 700, "width": 50, "height": 20}},
	}
}

// sampleMap is a sample map as it is sent.
func sampleMap(t testing.TB, name string) object {
	t.Helper()
	text, err := venuemap.Samples[name]().Text()
	require.NoError(t, err)
	var body object
	require.NoError(t, json.Unmarshal(text, &body))
	return body
}

const venuesPath = "/organizer/venues"

// names are those of the items of a list.
func (a answer) names() []string {
	a.t.Helper()
	var out []string
	for _, item := range a.data("items").([]any) {
		out = append(out, item.(object)["name"].(string))
	}
	return out
}

func TestVenues(t *testing.T) {
	t.Parallel()
	s := open(t)
	org := s.org()
	made := s.own("POST", venuesPath, houseBody()).is(201, "")
	require.Equal(t, words("id organizationId name seats versions createdAt updatedAt"), made.keys(""))
	require.Equal(t, "Small hall", made.str("name"))
	require.Equal(t, "20", made.str("seats"))
	require.Equal(t, org, made.str("organizationId"))
	require.Empty(t, made.data("versions"))
	path := venuesPath + "/" + made.str("id")

	t.Log("a draft is not listed until it is published, unless asked for")
	require.Empty(t, s.own("GET", venuesPath, nil).is(200, "").names())
	require.Equal(t, []string{"Small hall"}, s.own("GET", venuesPath+"?status=draft&orgId="+org, nil).is(200, "").names())
	require.Equal(t, made.get("data"), s.own("GET", venuesPath+"?status=all", nil).is(200, "").data("items.0"))
	draft := s.own("GET", path, nil).is(200, "")
	require.Equal(t, words("id organizationId name seats versions createdAt updatedAt version document"), draft.keys(""))
	require.Nil(t, draft.data("version"))
	require.JSONEq(t, encode(t, houseBody()), encode(t, draft.data("document")))

	t.Log("published, it is; once")
	one := s.own("POST", path+"/publish", nil).is(200, "")
	require.Equal(t, words("version seats publishedAt"), one.keys(""))
	require.Equal(t, "1", one.str("version"))
	require.Equal(t, "20", one.str("seats"))
	require.Equal(t, one.body["data"], s.own("POST", path+"/publish", nil).is(200, "").body["data"], "the draft has not changed")
	list := s.own("GET", venuesPath+"?search=SMALL", nil).is(200, "")
	require.Equal(t, []string{"Small hall"}, list.names())
	require.Equal(t, []any{one.get("data")}, list.data("items.0.versions"))
	require.Empty(t, s.own("GET", venuesPath+"?search=great", nil).is(200, "").names())
	require.Empty(t, s.own("GET", venuesPath+"?status=draft", nil).is(200, "").names())

	t.Log("the draft goes on; the version stays as it was")
	next := with(houseBody(), object{"name": "Great hall", "elements": absent})
	next["sections"] = next["sections"].([]object)[:1]
	changed := s.own("PUT", path, next).is(200, "")
	require.Equal(t, "Great hall", changed.str("name"))
	require.Equal(t, "12", changed.str("seats"))
	require.Equal(t, []any{one.get("data")}, changed.data("versions"))
	two := s.own("POST", path+"/publish", nil).is(200, "")
	require.Equal(t, "2", two.str("version"))
	require.Equal(t, "12", two.str("seats"))
	first := s.own("GET", path+"?version=1", nil).is(200, "")
	require.Equal(t, "1", first.str("version"))
	require.JSONEq(t, encode(t, houseBody()), encode(t, first.data("document")))
	require.Equal(t, []any{two.get("data"), one.get("data")}, first.data("versions"))
	second := s.own("GET", path+"?version=2", nil).is(200, "")
	require.JSONEq(t, encode(t, with(next, object{"elements": []any{}})), encode(t, second.data("document")))
	s.own("GET", path+"?version=3", nil).is(404, "NOT_FOUND")
	s.own("GET", path+"?version=0", nil).invalid("version", "minimum")

	t.Log("what is published is what the seat map will be")
	layout, elements, err := s.areas.Catalog.Venues.Layout(t.Context(), uuid.MustParse(made.str("id")), 1)
	require.NoError(t, err)
	require.NoError(t, layout.Validate())
	require.Equal(t, 20, layout.Len())
	require.Equal(t, []string{"stalls-A-1", "stalls-B-6", "circle-A-3", "best"}, []string{layout.SeatIDs[0], layout.SeatIDs[11], layout.SeatIDs[13], layout.SeatIDs[17]})
	require.JSONEq(t, encode(t, houseBody()["elements"]), string(elements))
}

func TestVenueRetries(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.org()
	retry := func() []string { return append(s.bearer(), "Idempotency-Key", uuid.NewString()) }
	forget := func() {
		_, err := s.pool.Exec(t.Context(), `DELETE FROM idempotency`) // as if the node had died before it was stored
		require.NoError(t, err)
	}
	key := retry()
	made := s.call("POST", venuesPath, houseBody(), key...).is(201, "")
	forget()
	require.Equal(t, made.body, s.call("POST", venuesPath, houseBody(), key...).is(201, "").body)
	path := venuesPath + "/" + made.str("id")
	key = retry()
	one := s.call("POST", path+"/publish", nil, key...).is(200, "")
	s.own("PUT", path, with(houseBody(), object{"name": "Other"})).is(200, "")
	forget()
	require.Equal(t, one.body, s.call("POST", path+"/publish", nil, key...).is(200, "").body, "the retry publishes nothing new")
	require.Len(t, s.own("GET", path, nil).is(200, "").data("versions"), 1)
}

func TestVenuesOfOthers(t *testing.T) {
	t.Parallel()
	s := open(t)
	own := s.own("POST", venuesPath, houseBody()).is(201, "").str("id")
	path := venuesPath + "/" + own
	s.own("POST", path+"/publish", nil).is(200, "")
	text, err := venuemap.Theatre().Text()
	require.NoError(t, err)
	m, err := s.areas.Catalog.Venues.Share(t.Context(), venues.Draft{Name: "Theatre", Seats: 400, Document: text}, venuemap.Publishable)
	require.NoError(t, err)
	shared := venuesPath + "/" + m.PublicID.String()

	t.Log("another organization has no such map, and all have the shared one")
	other := s.register("kim@example.org")
	for _, a := range []answer{other.own("GET", path, nil), other.own("GET", path+"?version=1", nil), other.own("PUT", path, houseBody()), other.own("POST", path+"/publish", nil)} {
		a.is(404, "NOT_FOUND")
	}
	require.Equal(t, []string{"Theatre"}, other.own("GET", venuesPath, nil).is(200, "").names())
	other.own("GET", venuesPath+"?orgId="+s.org(), nil).is(404, "NOT_FOUND")
	other.own("POST", venuesPath+"?orgId="+s.org(), houseBody()).is(404, "NOT_FOUND")
	other.own("POST", venuesPath, with(houseBody(), object{"orgId": s.org()})).is(404, "NOT_FOUND")
	require.Equal(t, []string{"Theatre", "Small hall"}, s.own("GET", venuesPath, nil).is(200, "").names())
	for _, reader := range []*shop{s, other} {
		a := reader.own("GET", shared, nil).is(200, "")
		require.Nil(t, a.data("organizationId"))
		require.Equal(t, "Theatre", a.str("document.name"))
		reader.own("PUT", shared, houseBody()).is(403, "FORBIDDEN")
		reader.own("POST", shared+"/publish", nil).is(403, "FORBIDDEN")
	}
	for _, id := range []string{"x", "1", uuid.NewString(), strings.ReplaceAll(own, "-", ""), "{" + own + "}", "urn:uuid:" + own} {
		s.own("GET", venuesPath+"/"+id, nil).is(404, "NOT_FOUND")
	}

	t.Log("what a key may do, its scopes say")
	reader := s.as(s.key(object{"scopes": []string{"events:read"}}).str("secret"))
	reader.own("GET", path, nil).is(200, "")
	reader.own("GET", shared, nil).is(200, "")
	require.Len(t, reader.own("GET", venuesPath, nil).is(200, "").names(), 2)
	missing := object{"required": []string{"events:write"}, "granted": []string{"events:read"}}
	reader.own("PUT", path, houseBody()).refused(403, "FORBIDDEN", missing)
	reader.own("PUT", shared, houseBody()).refused(403, "FORBIDDEN", missing)
	reader.own("POST", venuesPath, houseBody()).refused(403, "FORBIDDEN", missing)
	reader.own("POST", path+"/publish", nil).refused(403, "FORBIDDEN", missing)
	gate := s.as(s.key(object{"scopes": []string{"checkin:write"}}).str("secret"))
	gate.own("GET", path, nil).is(403, "FORBIDDEN")
	gate.own("GET", shared, nil).is(403, "FORBIDDEN")
	s.call("GET", venuesPath, nil).is(401, "UNAUTHORIZED")

	t.Log("whoever belongs to two organizations names one to list and to create, and finds the maps of both")
	s.invite("kim@example.org", "member")
	both := s.buyer("kim@example.org")
	both.own("GET", path, nil).is(200, "")
	both.own("GET", venuesPath, nil).invalid("orgId", "required")
	both.own("POST", venuesPath, houseBody()).invalid("orgId", "required")
	both.own("POST", venuesPath+"?orgId="+s.org(), houseBody()).is(201, "")
}

func TestVenuePages(t *testing.T) {
	t.Parallel()
	s := open(t)
	for i := range 3 {
		m := s.own("POST", venuesPath, with(houseBody(), object{"name": fmt.Sprint("Hall ", i)})).is(201, "")
		s.own("POST", venuesPath+"/"+m.str("id")+"/publish", nil).is(200, "")
	}
	first := s.own("GET", venuesPath+"?limit=2", nil).is(200, "")
	require.Equal(t, []string{"Hall 2", "Hall 1"}, first.names())
	last := s.own("GET", venuesPath+"?limit=2&cursor="+first.str("nextCursor"), nil).is(200, "")
	require.Equal(t, []string{"Hall 0"}, last.names())
	require.Nil(t, last.data("nextCursor"))
	s.own("GET", venuesPath+"?cursor=x", nil).invalid("cursor", "format")
	s.own("GET", venuesPath+"?status=gone", nil).invalid("status", "enum")
	s.own("GET", venuesPath+"?search="+strings.Repeat("a", 201), nil).invalid("search", "max_length")
}

func TestVenueFields(t *testing.T) {
	t.Parallel()
	s := open(t)
	rows := func(changes object) []object {
		row := with(object{"label": "A", "from": []int{200, 300}, "to": []int{800, 300}, "count": 6}, changes)
		return []object{{"id": "s", "name": "S", "rows": []object{row}}}
	}
	element := func(changes object) []object {
		return []object{with(object{"type": "stage", "x": 0, "y": 0, "width": 1, "height": 1}, changes)}
	}
	section := func(i int) object {
		return object{"id": fmt.Sprint(i), "name": "S", "rows": []object{{"label": "A", "seats": []object{{"label": "1", "x": i, "y": 0}}}}}
	}
	var sections []object
	for i := range 501 {
		sections = append(sections, section(i))
	}
	const row = "sections[0].rows[0]"
	for _, f := range []field{
		{"name", absent, "", "required"},
		{"name", "", "", "min_length"},
		{"name", text(201), "", "max_length"},
		{"canvas", absent, "", "required"},
		{"canvas", object{"height": 800}, "canvas.width", "required"},
		{"canvas", object{"width": 99, "height": 800}, "canvas.width", "minimum"},
		{"canvas", object{"width": 1000, "height": 100_001}, "canvas.height", "maximum"},
		{"canvas", object{"width": 1000.5, "height": 800}, "canvas.width", "type"},
		{"focus", absent, "", "required"},
		{"focus", []int{500}, "", "min_items"},
		{"focus", []int{500, 50, 1}, "", "max_items"},
		{"focus", []int{500, -1}, "focus[1]", "minimum"},
		{"focus", []int{500, 801}, "", "maximum"},
		{"sections", sections, "", "max_items"},
		{"sections", []object{section(1), section(1)}, "sections[1].id", "duplicate"},
		{"sections", []object{with(section(1), object{"id": "a b"})}, "sections[0].id", "format"},
		{"sections", []object{with(section(1), object{"id": strings.Repeat("a", 21)})}, "sections[0].id", "max_length"},
		{"sections", []object{with(section(1), object{"name": text(41)})}, "sections[0].name", "max_length"},
		{"sections", []object{with(section(1), object{"rows": []any{}})}, "sections[0].rows", "min_items"},
		{"sections", []object{with(section(1), object{"rows": absent})}, "sections[0].rows", "required"},
		{"sections", rows(object{"label": absent}), row + ".label", "required"},
		{"sections", rows(object{"label": text(11)}), row + ".label", "max_length"},
		{"sections", rows(object{"count": 0}), row + ".count", "minimum"},
		{"sections", rows(object{"count": 1001}), row + ".count", "maximum"},
		{"sections", rows(object{"count": absent}), row + ".count", "required"},
		{"sections", rows(object{"from": absent}), row + ".from", "required"},
		{"sections", rows(object{"from": []any{1, "2"}}), row + ".from[1]", "type"},
		{"sections", rows(object{"numbering": "random"}), row + ".numbering", "enum"},
		{"sections", rows(object{"repeat": 201, "step": []int{0, 1}}), row + ".repeat", "maximum"},
		{"sections", rows(object{"repeat": 2}), row + ".step", "required"},
		{"sections", rows(object{"aislesAfter": []int{6}}), row + ".aislesAfter[0]", "maximum"},
		{"sections", rows(object{"radius": 5}), row, "format"},
		{"sections", rows(object{"from": absent, "to": absent, "count": absent}), row, "required"},
		{"sections", rows(object{"to": []int{800, 801}, "count": 2}), row, "maximum"},
		{"sections", rows(object{"from": absent, "to": absent, "center": []int{0, 0}, "radius": 5, "angles": []int{0, 721}}), row + ".angles[1]", "maximum"},
		{"sections", rows(object{"repeat": 200, "step": []int{0, 1}, "count": 1000}), "sections", "max_items"},
		{"elements", many(201, element(nil)[0]), "", "max_items"},
		{"elements", element(object{"type": "cloud"}), "elements[0].type", "enum"},
		{"elements", element(object{"width": 0}), "elements[0].width", "minimum"},
		{"elements", element(object{"x": 1000}), "elements[0]", "maximum"},
		{"elements", element(object{"type": "text"}), "elements[0].label", "required"},
		{"elements", element(object{"label": text(101)}), "elements[0].label", "max_length"},
	} {
		a := s.own("POST", venuesPath, with(houseBody(), object{f.name: f.value}))
		path := f.path
		if path == "" {
			path = f.name
		}
		require.Equal(t, map[string]string{path: f.code}, a.issues(), "%s %.80v", f.name, f.value)
	}

	t.Log("the most there may be")
	s.own("POST", venuesPath, with(houseBody(), object{"sections": sections[:500], "elements": many(200, element(nil)[0])})).is(201, "")
	full := rows(object{"from": []int{0, 0}, "to": []int{999, 0}, "count": 1000, "repeat": 100, "step": []int{0, 1}})
	require.Equal(t, "100000", s.own("POST", venuesPath, with(houseBody(), object{"sections": full})).is(201, "").str("seats"))

	t.Log("a draft may be empty; what is published is not")
	empty := s.own("POST", venuesPath, with(houseBody(), object{"sections": absent})).is(201, "")
	require.Equal(t, "0", empty.str("seats"))
	s.own("POST", venuesPath+"/"+empty.str("id")+"/publish", nil).invalid("sections", "min_items")
	s.own("PUT", venuesPath+"/"+empty.str("id"), object{"name": "x"}).issues()
}

// The samples, and bodies of listed seats up to the limit.
func TestVenueSizes(t *testing.T) {
	t.Parallel()
	s := open(t)
	for name, seats := range map[string]int{"theatre": 400, "arena": 20_000, "stadium": 70_000} {
		m := s.own("POST", venuesPath, sampleMap(t, name)).is(201, "")
		require.EqualValues(t, seats, m.data("seats"))
		path := venuesPath + "/" + m.str("id")
		require.EqualValues(t, seats, s.own("POST", path+"/publish", nil).is(200, "").data("seats"))
		require.JSONEq(t, encode(t, sampleMap(t, name)), encode(t, s.own("GET", path, nil).is(200, "").data("document")))
		layout, _, err := s.areas.Catalog.Venues.Layout(t.Context(), uuid.MustParse(m.str("id")), 0)
		require.NoError(t, err)
		require.NoError(t, layout.Validate())
		require.Equal(t, seats, layout.Len())
	}
	listed := func(n int) object {
		var sections []object
		for i := range n {
			if i%1000 == 0 {
				sections = append(sections, object{"id": fmt.Sprint(i), "name": "S", "rows": []object{{"label": "A", "seats": []object{}}}})
			}
			row := sections[len(sections)-1]["rows"].([]object)[0]
			row["seats"] = append(row["seats"].([]object), object{"id": fmt.Sprintf("S%d-A-%d", i/1000, i), "label": fmt.Sprint(i), "x": i % 1000, "y": i / 1000})
		}
		return with(houseBody(), object{"sections": sections})
	}
	require.Greater(t, len(encode(t, listed(20_900))), 1_000_000)
	m := s.own("POST", venuesPath, listed(20_900)).is(201, "")
	require.Equal(t, "20900", m.str("seats"))
	s.own("PUT", venuesPath+"/"+m.str("id"), listed(20_900)).is(200, "")
	s.own("POST", venuesPath, listed(22_000)).is(413, "PAYLOAD_TOO_LARGE")
}

func TestTooManyVenues(t *testing.T) {
	t.Parallel()
	s := open(t)
	path := venuesPath + "/" + s.own("POST", venuesPath, houseBody()).is(201, "").str("id")
	_, err := s.pool.Exec(t.Context(), `INSERT INTO venue_maps (org, name, seats, draft) SELECT $1, 'x', 0, '{}' FROM generate_series(2, $2)`, s.org(), venues.MaxPerOrg)
	require.NoError(t, err)
	a := s.own("POST", venuesPath, houseBody()).is(409, "CONFLICT")
	require.Contains(t, a.get("error.message"), "100 venue maps")
	_, err = s.pool.Exec(t.Context(), `INSERT INTO venue_map_versions (map, version, command, seats, layout, elements, document)
		SELECT 1, n, gen_random_uuid(), 1, '', '[]', '{}' FROM generate_series(1, $1) n`, venues.MaxVersions)
	require.NoError(t, err)
	a = s.own("POST", path+"/publish", nil).is(409, "CONFLICT")
	require.Contains(t, a.get("error.message"), "50 versions")
}
