package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// refusedValue is a value that a field refuses, and the code.
type refusedValue struct {
	name  string
	value any
	code  string
}

// atCreate is the code where there is nothing yet: a field that must be there is
// missing when it is null.
func (f refusedValue) atCreate() string {
	if required := []string{"sessionTitle", "name", "capacity"}; f.code == "null" && slices.Contains(required, f.name) {
		return "required"
	}
	return f.code
}

func session(changes nodetest.Object) nodetest.Object {
	return nodetest.With(nodetest.Object{
		"sessionTitle": "Opening", "startTime": "2031-06-20T19:00:00Z", "endTime": "2031-06-20T20:00:00Z",
	}, changes)
}

// awaitTold waits until the organization's feed holds so many facts event.updated, and
// no more.
func awaitTold(t *testing.T, s *nodetest.Shop, want int) {
	t.Helper()
	require.Eventually(t, func() bool { return s.ToldOf("event.updated") >= want }, time.Minute, 20*time.Millisecond)
	require.Equal(t, want, s.ToldOf("event.updated"))
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event := s.Draft(nil)
	path := "/organizer/events/" + event + "/schedule"

	t.Log("a session and its defaults")
	first := s.Own("POST", path, session(nil)).Is(201, "")
	require.Equal(t, nodetest.Words(`id sessionTitle startTime endTime dayNumber sessionDesc speakerName speakerBio speakerAvatar locationDetail sortOrder`), first.Keys(""))
	require.EqualValues(t, 1, first.Data("dayNumber"))
	require.EqualValues(t, 0, first.Data("sortOrder"))
	require.Nil(t, first.Data("speakerBio"))
	require.Equal(t, "2031-06-20T19:00:00Z", first.Str("startTime"))

	t.Log("whole ones come by day, then by the organizer's order")
	whole := nodetest.Object{
		"dayNumber": 2, "sessionDesc": nodetest.Text(5000), "speakerName": nodetest.Text(200), "speakerBio": nodetest.Text(2000),
		"speakerAvatar": nodetest.URI(2048), "locationDetail": nodetest.Text(200), "sortOrder": 3,
	}
	last := s.Own("POST", path, session(whole)).Is(201, "")
	for name, v := range whole {
		echoed(t, v, last.Data(name), name)
	}
	middle := s.Own("POST", path, session(nodetest.Object{"dayNumber": 2, "sortOrder": -1})).Is(201, "")
	list := s.Own("GET", path, nil).Is(200, "")
	for i, want := range []nodetest.Answer{first, middle, last} {
		require.Equal(t, want.Str("id"), list.Str(fmt.Sprintf("sessions.%d.id", i)))
	}

	t.Log("a change tells event.updated; one that changes nothing does not")
	awaitTold(t, s, 3)
	one := path + "/" + first.Str("id")
	changed := s.Own("PUT", one, nodetest.Object{"sessionTitle": "Doors", "speakerName": "Ada"}).Is(200, "")
	require.Equal(t, "Doors", changed.Str("sessionTitle"))
	awaitTold(t, s, 4)
	s.Own("PUT", one, nodetest.Object{"sessionTitle": "Doors", "startTime": "2031-06-20T21:00:00+02:00"}).Is(200, "")
	require.Nil(t, s.Own("PUT", one, nodetest.Object{"speakerName": nil}).Is(200, "").Data("speakerName"))
	awaitTold(t, s, 5)

	t.Log("the event's page shows it, with hosted pictures absolute")
	s.OwnFiles(12)
	s.Own("PUT", path+"/"+last.Str("id"), nodetest.Object{"speakerAvatar": "/media/12"}).Is(200, "")
	s.Own("POST", "/organizer/events/"+event+"/tickets", nodetest.TypeBody(10, 5)).Is(201, "")
	s.Own("POST", "/organizer/events/"+event+"/publish", nil).Is(200, "")
	page := s.Own("GET", "/events/"+event, nil).Is(200, "")
	require.Equal(t, "Doors", page.Str("schedule.0.sessionTitle"))
	require.True(t, strings.HasPrefix(page.Str("schedule.2.speakerAvatar"), "http"), page.Str("schedule.2.speakerAvatar"))

	t.Log("what is refused")
	for _, f := range []refusedValue{
		{"sessionTitle", "", "min_length"},
		{"sessionTitle", nodetest.Text(201), "max_length"},
		{"sessionTitle", nil, "null"},
		{"sessionTitle", nodetest.Absent, "required"},
		{"startTime", "soon", "type"},
		{"startTime", nodetest.Absent, "required"},
		{"endTime", nodetest.Absent, "required"},
		{"endTime", "2031-06-20T19:00:00Z", "minimum"},
		{"endTime", "2031-06-20T18:59:59Z", "minimum"},
		{"dayNumber", 0, "minimum"},
		{"dayNumber", 100, "maximum"},
		{"dayNumber", nil, "null"},
		{"sessionDesc", nodetest.Text(5001), "max_length"},
		{"speakerName", nodetest.Text(201), "max_length"},
		{"speakerBio", nodetest.Text(2001), "max_length"},
		{"speakerAvatar", "javascript:1", "format"},
		{"locationDetail", nodetest.Text(201), "max_length"},
		{"sortOrder", "x", "type"},
	} {
		s.Own("POST", path, session(nodetest.Object{f.name: f.value})).Invalid(f.name, f.atCreate())
		if f.value != nodetest.Absent {
			s.Own("PUT", one, nodetest.Object{f.name: f.value}).Invalid(f.name, f.code)
		}
	}
	s.Own("PUT", one, nodetest.Object{"startTime": "2031-06-20T20:00:00Z"}).Invalid("endTime", "minimum")
	for _, id := range []string{"x", "0", "019f2f73-0000-7000-8000-000000000000"} {
		s.Own("PUT", path+"/"+id, nodetest.Object{}).Is(404, "NOT_FOUND")
		s.Own("DELETE", path+"/"+id, nil).Is(404, "NOT_FOUND")
	}
	other := s.Draft(nil)
	s.Own("DELETE", "/organizer/events/"+other+"/schedule/"+first.Str("id"), nil).Is(404, "NOT_FOUND")
	s.Register("stranger@example.com").Own("GET", path, nil).Is(404, "EVENT_NOT_FOUND")

	t.Log("gone, once")
	require.Equal(t, true, s.Own("DELETE", one, nil).Is(200, "").Data("deleted"))
	s.Own("DELETE", one, nil).Is(404, "NOT_FOUND")

	t.Log("what has ended stays as it was")
	s.Own("PUT", "/organizer/events/"+event+"/status", nodetest.Object{"status": "cancelled"}).Is(200, "")
	ended := nodetest.Object{"from": "cancelled", "to": "cancelled", "allowed": []any{}}
	s.Own("POST", path, session(nil)).Refused(409, "INVALID_STATUS_TRANSITION", ended)
	s.Own("PUT", path+"/"+last.Str("id"), nodetest.Object{}).Refused(409, "INVALID_STATUS_TRANSITION", ended)
	s.Own("DELETE", path+"/"+last.Str("id"), nil).Refused(409, "INVALID_STATUS_TRANSITION", ended)
	s.Own("GET", path, nil).Is(200, "")
}

func TestSections(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event := s.Draft(nil)
	path := "/organizer/events/" + event + "/sections"

	t.Log("a section and its defaults")
	balcony := s.Own("POST", path, nodetest.Object{"name": "Balcony", "capacity": 40}).Is(201, "")
	require.Equal(t, nodetest.Words(`id name capacity description sortOrder mapCoordinates`), balcony.Keys(""))
	require.Nil(t, balcony.Data("mapCoordinates"))
	whole := nodetest.Object{"description": nodetest.Text(2000), "sortOrder": -5, "mapCoordinates": nodetest.Object{"x": 1.5, "points": []any{1.0, 2.0}}}
	stalls := s.Own("POST", path, nodetest.With(nodetest.Object{"name": nodetest.Text(100), "capacity": 1_000_000}, whole)).Is(201, "")
	for name, v := range whole {
		echoed(t, v, stalls.Data(name), name)
	}
	list := s.Own("GET", path, nil).Is(200, "")
	require.Equal(t, stalls.Str("id"), list.Str("sections.0.id"))
	require.Equal(t, balcony.Str("id"), list.Str("sections.1.id"))

	one := path + "/" + balcony.Str("id")
	told := s.ToldOf("event.updated")
	require.Equal(t, "Upper balcony", s.Own("PUT", one, nodetest.Object{"name": "Upper balcony"}).Is(200, "").Str("name"))
	require.Nil(t, s.Own("PUT", path+"/"+stalls.Str("id"), nodetest.Object{"mapCoordinates": nil}).Is(200, "").Data("mapCoordinates"))
	require.Equal(t, told, s.ToldOf("event.updated"), "sections tell nothing")

	t.Log("what is refused")
	for _, f := range []refusedValue{
		{"name", "", "min_length"},
		{"name", nodetest.Text(101), "max_length"},
		{"name", nil, "null"},
		{"name", nodetest.Absent, "required"},
		{"capacity", 0, "minimum"},
		{"capacity", 1_000_001, "maximum"},
		{"capacity", nil, "null"},
		{"capacity", nodetest.Absent, "required"},
		{"description", nodetest.Text(2001), "max_length"},
		{"sortOrder", nil, "null"},
		{"mapCoordinates", []any{1}, "type"},
		{"mapCoordinates", "x", "type"},
	} {
		s.Own("POST", path, nodetest.With(nodetest.Object{"name": "x", "capacity": 1}, nodetest.Object{f.name: f.value})).Invalid(f.name, f.atCreate())
		if f.value != nodetest.Absent {
			s.Own("PUT", one, nodetest.Object{f.name: f.value}).Invalid(f.name, f.code)
		}
	}

	t.Log("a ticket type names a section of its own event")
	types := "/organizer/events/" + event + "/tickets"
	elsewhere := s.Draft(nil)
	foreign := s.Own("POST", "/organizer/events/"+elsewhere+"/sections", nodetest.Object{"name": "x", "capacity": 1}).Is(201, "").Str("id")
	codes := []string{"format", "enum", "enum"}
	for i, id := range []string{"x", foreign, "019f2f73-0000-7000-8000-000000000000"} {
		s.Own("POST", types, nodetest.With(nodetest.TypeBody(10, 5), nodetest.Object{"sectionId": id})).Invalid("sectionId", codes[i])
	}
	ticket := s.Own("POST", types, nodetest.With(nodetest.TypeBody(10, 5), nodetest.Object{"sectionId": balcony.Str("id")})).Is(201, "")
	require.Equal(t, balcony.Str("id"), ticket.Str("sectionId"))
	s.Own("DELETE", one, nil).Is(409, "SECTION_IN_USE")
	s.Own("PUT", types+"/"+ticket.Str("id"), nodetest.Object{"sectionId": foreign}).Invalid("sectionId", "enum")

	t.Log("a section goes as soon as no ticket type names it any more")
	left := s.Own("POST", path, nodetest.Object{"name": "Left", "capacity": 1}).Is(201, "").Str("id")
	for _, named := range []any{left, left, nil} {
		s.Own("PUT", types+"/"+ticket.Str("id"), nodetest.Object{"sectionId": named}).Is(200, "")
	}
	s.Own("PUT", types+"/"+ticket.Str("id"), nodetest.Object{"sectionId": balcony.Str("id")}).Is(200, "")
	s.Own("DELETE", path+"/"+left, nil).Is(200, "")
	s.Own("DELETE", one, nil).Is(409, "SECTION_IN_USE")

	t.Log("the event's page shows the sections")
	s.Own("POST", "/organizer/events/"+event+"/publish", nil).Is(200, "")
	require.Equal(t, "Upper balcony", s.Own("GET", "/events/"+event, nil).Is(200, "").Str("sections.1.name"))

	t.Log("a section that nothing names goes, once")
	free := path + "/" + stalls.Str("id")
	require.Equal(t, true, s.Own("DELETE", free, nil).Is(200, "").Data("deleted"))
	s.Own("DELETE", free, nil).Is(404, "NOT_FOUND")
	s.Own("PUT", free, nodetest.Object{}).Is(404, "NOT_FOUND")
	s.Register("stranger@example.com").Own("GET", path, nil).Is(404, "EVENT_NOT_FOUND")

	s.Own("PUT", "/organizer/events/"+event+"/status", nodetest.Object{"status": "cancelled"}).Is(200, "")
	s.Own("PUT", one, nodetest.Object{}).Is(409, "INVALID_STATUS_TRANSITION")
}

func TestCustomization(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event := s.Draft(nil)
	path := "/organizer/event-customization/" + event

	t.Log("the defaults come before anything is customized")
	usual := s.Own("GET", path, nil).Is(200, "")
	require.Equal(t, usual.Data("defaults"), usual.Data("customization"))
	require.Equal(t, "classic", usual.Str("customization.layoutPattern"))

	t.Log("what is sent is stored; null is the default again")
	whole := nodetest.Object{
		"faqs":          []any{nodetest.Object{"question": nodetest.Text(280), "answer": nodetest.Text(4000)}},
		"layoutPattern": "festival", "heroStyle": "gradient", "primaryColor": "#ABCDEF", "secondaryColor": "#123", "accentColor": "#12345678",
		"backgroundColor": "#000000", "textColor": "#ffffff", "ctaLabel": nodetest.Text(80), "showOrganizer": false, "showSchedule": false,
		"showVenueMap": false, "showCountdown": false, "showSocialShare": false, "showPoweredBy": false,
		"socialLinks": nodetest.Object{"mastodon": "https://example.org/@a"}, "seoTitle": nodetest.Text(200), "seoDescription": nodetest.Text(500),
		"seoImage": nodetest.URI(100),
	}
	told := s.ToldOf("event.updated")
	s.Own("PUT", path, whole).Is(200, "")
	require.Equal(t, told, s.ToldOf("event.updated"), "a page's look tells nothing")
	kept := s.Own("GET", path, nil).Is(200, "")
	for name, v := range whole {
		echoed(t, v, kept.Data("customization."+name), name)
	}
	for name := range whole {
		reset := s.Own("PUT", path, nodetest.Object{name: nil}).Is(200, "")
		require.Equal(t, usual.Data("defaults."+name), reset.Data("customization."+name), name)
	}

	t.Log("the event's page looks so")
	s.OwnFiles(12)
	s.Own("PUT", path, nodetest.Object{"ctaLabel": "Come", "seoImage": "/media/12"}).Is(200, "")
	s.Own("POST", "/organizer/events/"+event+"/tickets", nodetest.TypeBody(10, 5)).Is(201, "")
	s.Own("POST", "/organizer/events/"+event+"/publish", nil).Is(200, "")
	page := s.Own("GET", "/events/"+event, nil).Is(200, "")
	require.Equal(t, "Come", page.Str("page.ctaLabel"))
	require.True(t, strings.HasPrefix(page.Str("page.seoImage"), "http"))

	t.Log("what is refused")
	faqs := make([]any, 41)
	links := nodetest.Object{}
	for i := range faqs {
		faqs[i] = nodetest.Object{"question": "q", "answer": "a"}
		links[fmt.Sprint("p", i)] = "https://example.org/"
	}
	for _, f := range []refusedValue{
		{"faqs", faqs, "max_items"},
		{"faqs", nodetest.Object{}, "type"},
		{"layoutPattern", "wild", "enum"},
		{"heroStyle", "none", "enum"},
		{"primaryColor", "red", "format"},
		{"secondaryColor", "#12", "format"},
		{"accentColor", "#gggggg", "format"},
		{"textColor", "#123456789", "format"},
		{"ctaLabel", "", "min_length"},
		{"ctaLabel", nodetest.Text(81), "max_length"},
		{"showSchedule", "yes", "type"},
		{"socialLinks", []any{}, "type"},
		{"seoTitle", nodetest.Text(201), "max_length"},
		{"seoDescription", nodetest.Text(501), "max_length"},
		{"seoImage", "file:///etc/passwd", "format"},
	} {
		s.Own("PUT", path, nodetest.Object{f.name: f.value}).Invalid(f.name, f.code)
	}
	s.Own("PUT", path, nodetest.Object{"socialLinks": links}).Is(400, "VALIDATION_ERROR")
	s.Own("PUT", path, nodetest.Object{"socialLinks": nodetest.Object{"x": "javascript:alert(1)"}}).Is(400, "VALIDATION_ERROR")
	s.Own("PUT", path, nodetest.Object{"faqs": []any{nodetest.Object{"question": "q"}}}).Invalid("faqs[0].answer", "required")
	s.Register("stranger@example.com").Own("GET", path, nil).Is(404, "EVENT_NOT_FOUND")
	s.Own("PUT", "/organizer/events/"+event+"/status", nodetest.Object{"status": "cancelled"}).Is(200, "")
	s.Own("PUT", path, nodetest.Object{}).Is(409, "INVALID_STATUS_TRANSITION")
	s.Own("GET", path, nil).Is(200, "")
}

func TestOrganizationProfile(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	path := "/organizer/organizations/" + s.Org()
	before := s.Own("GET", path, nil).Is(200, "")
	whole := nodetest.Object{
		"name": nodetest.Text(200), "description": nodetest.Text(5000), "website": nodetest.URI(2048), "contactEmail": "box@example.org",
		"contactPhone": "+49 30 1234567", "logoUrl": nodetest.URI(2048), "socialLinks": nodetest.Object{"x": "https://example.org/x"},
		"pageTheme": nodetest.Object{"font": "serif"},
	}
	changed := s.Own("PUT", path, whole).Is(200, "")
	for name, v := range whole {
		echoed(t, v, changed.Data(name), name)
	}
	require.Equal(t, before.Str("organization.slug"), changed.Str("slug"), "the slug stays")

	t.Log("public events carry name, slug, logo and links")
	event, _ := s.Sell(nil, nodetest.TypeBody(10, 5))
	page := s.Call("GET", "/events/"+event, nil).Is(200, "")
	for _, name := range nodetest.Words("name description website logoUrl socialLinks") {
		require.Equal(t, changed.Data(name), page.Data("organizer."+name), name)
	}

	for name := range whole {
		if name != "name" {
			cleared := s.Own("PUT", path, nodetest.Object{name: nil}).Is(200, "")
			require.Empty(t, cleared.Data(name), name)
		}
	}
	for _, f := range []refusedValue{
		{"name", "", "min_length"},
		{"name", nodetest.Text(201), "max_length"},
		{"name", nil, "null"},
		{"description", nodetest.Text(5001), "max_length"},
		{"website", "example", "format"},
		{"contactEmail", "x", "format"},
		{"contactPhone", nodetest.Text(21), "max_length"},
		{"logoUrl", "ftp://example.org/", "format"},
		{"pageTheme", "x", "type"},
	} {
		s.Own("PUT", path, nodetest.Object{f.name: f.value}).Invalid(f.name, f.code)
	}
	s.Register("stranger@example.com").Own("PUT", path, nodetest.Object{"name": "Mine"}).Is(404, "NOT_FOUND")
}
