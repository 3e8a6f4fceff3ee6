package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// field is a value of one field, and the issue that it is refused with; "" when
// it is accepted and answered unchanged.
type field struct {
	name  string
	value any
	path  string // of the issue, if not the name
	code  string
}

func text(n int) string { return strings.Repeat("ü", n) }

func uri(n int) string { return "https://example.org/" + strings.Repeat("a", n-20) }

func many[T any](n int, v T) []T { return slices.Repeat([]T{v}, n) }

func entity(changes object) []object {
	return []object{with(object{"kind": "dj", "name": "Ada"}, changes)}
}

// eventFields are the bounds of an event's fields, as the OpenAPI document states them.
func eventFields(startDate any) []field {
	start, _ := time.Parse(time.RFC3339, startDate.(string))
	at := func(t time.Time) string { return t.Format(time.RFC3339) }
	all := []field{
		{"title", text(2), "", "min_length"},
		{"title", text(3), "", ""},
		{"title", text(200), "", ""},
		{"title", text(201), "", "max_length"},
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
		{"onlineLink", uri(2048), "", ""},
		{"onlineLink", uri(2049), "", "max_length"},
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
		{"tags", many(10, text(50)), "", ""},
		{"tags", many(11, "a"), "", "max_items"},
		{"tags", []string{text(51)}, "tags[0]", "max_length"},
		{"tags", []any{"a", 7}, "tags[1]", "type"},
		{"tags", "a", "", "type"},
		{"gallery", many(20, uri(30)), "", ""},
		{"gallery", many(21, uri(30)), "", "max_items"},
		{"gallery", []string{uri(2049)}, "gallery[0]", "max_length"},
		{"gallery", []string{"x"}, "gallery[0]", "format"},
		{"gallery", []string{"/media/7", uri(30)}, "", ""},
		{"gallery", []string{"/media/7", "/media/../etc"}, "gallery[1]", "format"},
		{"gallery", []string{""}, "gallery[0]", "min_length"},
		{"entities", entity(object{"imageUrl": "/media/7", "link": "/media/8"}), "", ""},
		{"entities", entity(object{"imageUrl": "/media/0"}), "entities[0].imageUrl", "format"},
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
		{"branding", object{"accent": "#fff", "deep": []any{1.5, nil}}, "", ""},
		{"branding", []any{}, "", "type"},
		{"branding", object{"x": strings.Repeat("a", 20_000)}, "", "max_length"},
		{"seoData", object{"title": "x"}, "", ""},
		{"seoData", "x", "", "type"},
		{"entities", many(80, entity(nil)[0]), "", ""},
		{"entities", many(81, entity(nil)[0]), "", "max_items"},
		{"entities", entity(object{"kind": "clown"}), "entities[0].kind", "enum"},
		{"entities", entity(object{"kind": absent}), "entities[0].kind", "required"},
		{"entities", entity(object{"name": absent}), "entities[0].name", "required"},
		{"entities", entity(object{"imageUrl": "x"}), "entities[0].imageUrl", "format"},
		{"entities", entity(object{"role": "a", "imageUrl": uri(30), "bio": "b", "setTime": "22:00", "link": uri(31)}), "", ""},
		{"orderWindowMinutes", 4, "", "minimum"},
		{"orderWindowMinutes", 5, "", ""},
		{"orderWindowMinutes", 60, "", ""},
		{"orderWindowMinutes", 61, "", "maximum"},
	}
	for name, max := range map[string]int{
		"subcategory": 100, "shortDesc": 130, "description": 50_000, "onlineLinkNote": 2000, "returnPolicy": 5000,
		"venueName": 200, "venueAddress": 500, "venueCity": 100,
	} {
		all = append(all, field{name, text(max), "", ""}, field{name, text(max + 1), "", "max_length"}, field{name, 7, "", "type"})
	}
	for _, kind := range words("artist dj speaker host guest sponsor partner team feature") {
		all = append(all, field{"entities", entity(object{"kind": kind}), "", ""})
	}
	for _, name := range words("coverImage coverVideo onlineLink") {
		for _, path := range words("/media/ /media/0 /media/07 /media/+7 /media/7/ /media/7?x /media/99999999999999999999 /Media/7 //media/7 media/7") {
			all = append(all, field{name, path, "", "format"})
		}
		all = append(all, field{name, "/media/7", "", ""}, field{name, "/media/9223372036854775807", "", ""})
		all = append(all, field{name, uri(2048), "", ""}, field{name, uri(2049), "", "max_length"}, field{name, "x", "", "format"})
	}
	return append(all, field{"description", text(49), "", "min_length"}, field{"description", text(50), "", ""})
}

// try sends the cases, each as a change of a valid body.
func try(s *shop, method, path string, body object, status int, fields []field) {
	s.t.Helper()
	for _, f := range fields {
		a := s.own(method, path, with(body, object{f.name: f.value}))
		what := fmt.Sprintf("%s %.60v", f.name, f.value)
		if f.code == "" {
			require.Equal(s.t, status, a.status, "%s: %v", what, a.body)
			echoed(s.t, f.value, a.data(f.name), what)
			continue
		}
		path := f.path
		if path == "" {
			path = f.name
		}
		require.Equal(s.t, 400, a.status, "%s: %v", what, a.body)
		require.Equal(s.t, map[string]string{path: f.code}, a.issues(), what)
	}
}

// echoed checks that a value has come back as it was sent.
func echoed(t testing.TB, sent, got any, what string) {
	t.Helper()
	require.JSONEq(t, encode(t, sent), encode(t, got), what)
}

func TestEventFields(t *testing.T) {
	t.Parallel()
	s := open(t)
	body := eventBody()
	fields := eventFields(body["startDate"])
	try(s, "POST", "/organizer/events", body, 201, fields)
	id := s.draft(body)
	try(s, "PUT", "/organizer/events/"+id, object{"startDate": body["startDate"]}, 200, fields)
	for _, name := range words("title category startDate timezone venueType endDate") {
		s.own("POST", "/organizer/events", with(eventBody(), object{name: absent})).invalid(name, "required")
		s.own("POST", "/organizer/events", with(eventBody(), object{name: nil})).invalid(name, "required")
	}
	all := s.own("POST", "/organizer/events", object{}).issues()
	require.Equal(t, map[string]string{"title": "required", "category": "required", "startDate": "required", "timezone": "required", "venueType": "required"}, all)

	t.Log("countries are kept in upper case")
	require.Equal(t, "NG", s.own("PUT", "/organizer/events/"+id, object{"venueCountry": "ng"}).is(200, "").str("venueCountry"))

	t.Log("capacity is clamped")
	require.Equal(t, "1e+06", s.own("POST", "/organizer/events", with(eventBody(), object{"capacity": 1_000_001})).is(201, "").str("capacity"))
	require.Equal(t, "1e+06", s.own("PUT", "/organizer/events/"+id, object{"capacity": int64(1) << 60}).is(200, "").str("capacity"))

	t.Log("productType is derived, never written")
	a := s.own("POST", "/organizer/events", with(eventBody(), object{"productType": "digital", "status": "on_sale", "id": "x", "slug": "mine"})).is(201, "")
	require.Equal(t, "event", a.str("productType"))
	require.Equal(t, "draft", a.str("status"))
	require.NotEqual(t, "mine", a.str("slug"))
	a = s.own("PUT", "/organizer/events/"+id, object{"productType": "digital", "status": "on_sale"}).is(200, "")
	require.Equal(t, "event", a.str("productType"))
	require.Equal(t, "draft", a.str("status"))
}
