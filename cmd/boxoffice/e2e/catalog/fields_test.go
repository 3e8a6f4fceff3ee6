package catalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// field is a value of one field, and the issue that it is refused with; "" when
// it is accepted and answered unchanged.
type field struct {
	name  string
	value any
	path  string // of the issue, if not the name
	code  string
}

// eventFields are the bounds of an event's fields, as the OpenAPI document states them.
func eventFields(startDate any) []field {
	start, _ := time.Parse(time.RFC3339, startDate.(string))
	at := func(t time.Time) string { return t.Format(time.RFC3339) }
	all := []field{
		{"title", nodetest.Text(2), "", "min_length"},
		{"title", nodetest.Text(3), "", ""},
		{"title", nodetest.Text(200), "", ""},
		{"title", nodetest.Text(201), "", "max_length"},
		{"title", 7, "", "type"},
		{"category", "", "", "min_length"},
		{"category", "anything goes", "", ""},
		{"category", 7, "", "type"},
		{"startDate", at(time.Now().Add(-time.Minute)), "", "minimum"},
		{"startDate", "tomorrow", "", "type"},
		{"startDate", 1.5, "", "type"},
		{"startDate", "9999-12-31T23:59:59-23:59", "", "maximum"}, // the year 10000 in UTC
		{"endDate", "9999-12-31T23:59:59-00:01", "", "maximum"},
		{"doorOpenTime", "0000-01-01T00:00:00+23:59", "", "minimum"}, // the year -1
		{"doorOpenTime", "1969-12-31T23:59:59Z", "", "minimum"},
		{"doorOpenTime", "1970-01-01T00:00:00.001Z", "", ""},
		{"timezone", "right/UTC", "", "format"},
		{"timezone", "posix/Europe/Berlin", "", "format"},
		{"timezone", "Local", "", "format"},
		{"endDate", at(start), "", "minimum"},
		{"endDate", at(start.Add(-time.Second)), "", "minimum"},
		{"endDate", at(start.Add(time.Second)), "", ""},
		{"endDate", at(start.AddDate(5, 0, 0)), "", ""},
		{"endDate", at(start.AddDate(5, 0, 0).Add(time.Second)), "", "maximum"},
		{"endDate", nil, "", "required"},
		{"timezone", "Mars/Base", "", "format"},
		{"timezone", "Africa/Lagos", "", ""},
		{"timezone", "", "", "format"},
		{"venueType", "moon", "", "enum"},
		{"venueType", "online", "", ""},
		{"venueType", "hybrid", "", ""},
		{"capacity", 0, "", "minimum"},
		{"capacity", -1, "", "minimum"},
		{"capacity", 1, "", ""},
		{"capacity", 1_000_000, "", ""},
		{"capacity", 1.5, "", "type"},
		{"capacity", "5", "", "type"},
		{"capacity", nil, "", ""},
		{"doorOpenTime", at(start), "", ""},
		{"doorOpenTime", at(start.Add(time.Second)), "", "maximum"},
		{"doorOpenTime", at(start.Add(-time.Hour)), "", ""},
		{"venueCountry", "DE", "", ""},
		{"venueCountry", "Germany", "", "format"},
		{"venueCountry", "XX", "", "format"},
		{"venueLat", 90, "", ""},
		{"venueLat", -90, "", ""},
		{"venueLat", 90.1, "", "maximum"},
		{"venueLat", -90.1, "", "minimum"},
		{"venueLat", 0, "", ""},
		{"venueLng", 180, "", ""},
		{"venueLng", -180, "", ""},
		{"venueLng", 180.1, "", "maximum"},
		{"venueLng", -180.1, "", "minimum"},
		{"onlineLink", nodetest.URI(2048), "", ""},
		{"onlineLink", nodetest.URI(2049), "", "max_length"},
		{"onlineLink", "/media/17", "", ""},
		{"onlineLink", "/media/x", "", "format"},
		{"onlineLink", "/etc/passwd", "", "format"},
		{"onlineLink", "javascript:alert(1)", "", "format"},
		{"highlightVideoUrl", "https://www.youtube.com/watch?v=x", "", ""},
		{"highlightVideoUrl", "https://youtu.be/x", "", ""},
		{"highlightVideoUrl", "https://vimeo.com/1", "", ""},
		{"highlightVideoUrl", "https://example.org/v", "", "format"},
		{"highlightVideoUrl", "https://notyoutube.com/v", "", "format"},
		{"highlightVideoUrl", "https://youtube.com.evil.org/v", "", "format"},
		{"tags", nodetest.Many(10, nodetest.Text(50)), "", ""},
		{"tags", nodetest.Many(11, "a"), "", "max_items"},
		{"tags", []string{nodetest.Text(51)}, "tags[0]", "max_length"},
		{"tags", []any{"a", 7}, "tags[1]", "type"},
		{"tags", "a", "", "type"},
		{"gallery", nodetest.Many(20, nodetest.URI(30)), "", ""},
		{"gallery", nodetest.Many(21, nodetest.URI(30)), "", "max_items"},
		{"gallery", []string{nodetest.URI(2049)}, "gallery[0]", "max_length"},
		{"gallery", []string{"x"}, "gallery[0]", "format"},
		{"gallery", []string{"/media/7", nodetest.URI(30)}, "", ""},
		{"gallery", []string{"/media/7", "/media/../etc"}, "gallery[1]", "format"},
		{"gallery", []string{""}, "gallery[0]", "min_length"},
		{"entities", nodetest.Entity(nodetest.Object{"imageUrl": "/media/7", "link": "/media/8"}), "", ""},
		{"entities", nodetest.Entity(nodetest.Object{"imageUrl": "/media/0"}), "entities[0].imageUrl", "format"},
		{"visibility", "public", "", ""},
		{"visibility", "unlisted", "", ""},
		{"visibility", "private", "", ""},
		{"visibility", "hidden", "", "enum"},
		{"currency", "USD", "", ""},
		{"currency", "NGN", "", ""},
		{"currency", "ZAR", "", ""},
		{"currency", "EUR", "", "enum"},
		{"absorbFees", true, "", ""},
		{"absorbFees", "yes", "", "type"},
		{"offlineDoorCodes", true, "", ""},
		{"offlineDoorCodes", "yes", "", "type"},
		{"exits", true, "", ""},
		{"exits", "yes", "", "type"},
		{"insideLimit", 1, "", ""},
		{"insideLimit", 1_000_000, "", ""},
		{"insideLimit", 0, "", "minimum"},
		{"insideLimit", 1_000_001, "", "maximum"},
		{"insideLimit", 1.5, "", "type"},
		{"rescheduling", false, "", ""},
		{"rescheduling", "no", "", "type"},
		{"extensions", false, "", ""},
		{"extensions", "no", "", "type"},
		{"transferDays", 1, "", ""},
		{"transferDays", 30, "", ""},
		{"transferDays", 0, "", "minimum"},
		{"transferDays", 31, "", "maximum"},
		{"transferDays", 1.5, "", "type"},
		{"branding", nodetest.Object{"accent": "#fff", "deep": []any{1.5, nil}}, "", ""},
		{"branding", []any{}, "", "type"},
		{"branding", nodetest.Object{"x": strings.Repeat("a", 20_000)}, "", "max_length"},
		{"seoData", nodetest.Object{"title": "x"}, "", ""},
		{"seoData", "x", "", "type"},
		{"entities", nodetest.Many(80, nodetest.Entity(nil)[0]), "", ""},
		{"entities", nodetest.Many(81, nodetest.Entity(nil)[0]), "", "max_items"},
		{"entities", nodetest.Entity(nodetest.Object{"kind": "clown"}), "entities[0].kind", "enum"},
		{"entities", nodetest.Entity(nodetest.Object{"kind": nodetest.Absent}), "entities[0].kind", "required"},
		{"entities", nodetest.Entity(nodetest.Object{"name": nodetest.Absent}), "entities[0].name", "required"},
		{"entities", nodetest.Entity(nodetest.Object{"imageUrl": "x"}), "entities[0].imageUrl", "format"},
		{"entities", nodetest.Entity(nodetest.Object{"role": "a", "imageUrl": nodetest.URI(30), "bio": "b", "setTime": "22:00", "link": nodetest.URI(31)}), "", ""},
		{"orderWindowMinutes", 4, "", "minimum"},
		{"orderWindowMinutes", 5, "", ""},
		{"orderWindowMinutes", 60, "", ""},
		{"orderWindowMinutes", 61, "", "maximum"},
	}
	for name, max := range map[string]int{
		"subcategory": 100, "shortDesc": 130, "description": 50_000, "onlineLinkNote": 2000, "returnPolicy": 5000,
		"venueName": 200, "venueAddress": 500, "venueCity": 100,
	} {
		all = append(all, field{name, nodetest.Text(max), "", ""}, field{name, nodetest.Text(max + 1), "", "max_length"}, field{name, 7, "", "type"})
	}
	for _, kind := range nodetest.Words("artist dj speaker host guest sponsor partner team feature") {
		all = append(all, field{"entities", nodetest.Entity(nodetest.Object{"kind": kind}), "", ""})
	}
	for _, name := range nodetest.Words("coverImage coverVideo onlineLink") {
		for _, path := range nodetest.Words("/media/ /media/0 /media/07 /media/+7 /media/7/ /media/7?x /media/99999999999999999999 /Media/7 //media/7 media/7") {
			all = append(all, field{name, path, "", "format"})
		}
		all = append(all, field{name, "/media/7", "", ""}, field{name, "/media/9223372036854775807", "", ""})
		all = append(all, field{name, nodetest.URI(2048), "", ""}, field{name, nodetest.URI(2049), "", "max_length"}, field{name, "x", "", "format"})
	}
	return append(all, field{"description", nodetest.Text(49), "", "min_length"}, field{"description", nodetest.Text(50), "", ""})
}

// try sends the cases, each as a change of a valid body.
func try(s *nodetest.Shop, method, path string, body nodetest.Object, status int, fields []field) {
	s.T.Helper()
	for _, f := range fields {
		a := s.Own(method, path, nodetest.With(body, nodetest.Object{f.name: f.value}))
		what := fmt.Sprintf("%s %.60v", f.name, f.value)
		if f.code == "" {
			require.Equal(s.T, status, a.Status, "%s: %v", what, a.Body)
			echoed(s.T, f.value, a.Data(f.name), what)
			continue
		}
		path := f.path
		if path == "" {
			path = f.name
		}
		require.Equal(s.T, 400, a.Status, "%s: %v", what, a.Body)
		require.Equal(s.T, map[string]string{path: f.code}, a.Issues(), what)
	}
}

// echoed checks that a value has come back as it was sent.
func echoed(t testing.TB, sent, got any, what string) {
	t.Helper()
	require.JSONEq(t, nodetest.Encode(t, sent), nodetest.Encode(t, got), what)
}

func TestEventFields(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	s.OwnFiles(7, 8, 17, 1<<63-1)
	body := nodetest.EventBody()
	fields := eventFields(body["startDate"])
	try(s, "POST", "/organizer/events", body, 201, fields)
	id := s.Draft(body)
	try(s, "PUT", "/organizer/events/"+id, nodetest.Object{"startDate": body["startDate"]}, 200, fields)
	for _, name := range nodetest.Words("title category startDate timezone venueType endDate") {
		s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{name: nodetest.Absent})).Invalid(name, "required")
		s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{name: nil})).Invalid(name, "required")
	}
	all := s.Own("POST", "/organizer/events", nodetest.Object{}).Issues()
	require.Equal(t, map[string]string{"title": "required", "category": "required", "startDate": "required", "timezone": "required", "venueType": "required"}, all)

	t.Log("countries are kept in upper case")
	require.Equal(t, "NG", s.Own("PUT", "/organizer/events/"+id, nodetest.Object{"venueCountry": "ng"}).Is(200, "").Str("venueCountry"))

	t.Log("capacity is clamped")
	require.Equal(t, "1e+06", s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{"capacity": 1_000_001})).Is(201, "").Str("capacity"))
	require.Equal(t, "1e+06", s.Own("PUT", "/organizer/events/"+id, nodetest.Object{"capacity": int64(1) << 60}).Is(200, "").Str("capacity"))

	t.Log("productType is derived, never written")
	a := s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{"productType": "digital", "status": "on_sale", "id": "x", "slug": "mine"})).Is(201, "")
	require.Equal(t, "event", a.Str("productType"))
	require.Equal(t, "draft", a.Str("status"))
	require.NotEqual(t, "mine", a.Str("slug"))
	a = s.Own("PUT", "/organizer/events/"+id, nodetest.Object{"productType": "digital", "status": "on_sale"}).Is(200, "")
	require.Equal(t, "event", a.Str("productType"))
	require.Equal(t, "draft", a.Str("status"))
}
