package tickets

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// lesson is a lesson of a syllabus.
func lesson(title string, changes nodetest.Object) nodetest.Object {
	return nodetest.With(nodetest.Object{
		"title": title, "duration": "A week", "skillLevel": "Beginner", "format": "Self-paced", "lessonVideo": "https://v.example.org/" + title,
		"writeup": "WRITEUP-" + title, "lessonPin": "PIN-" + title, "description": "About " + title,
	}, changes)
}

// course is the body of an event that teaches some lessons.
func course(changes nodetest.Object, lessons ...nodetest.Object) nodetest.Object {
	return nodetest.With(nodetest.EventBody(), nodetest.With(nodetest.Object{
		"category": "online-course", "endDate": nodetest.Absent, "venueType": "online", "courseType": "syllabus", "syllabus": lessons,
	}, changes))
}

func unified(changes nodetest.Object) nodetest.Object {
	return course(nodetest.With(nodetest.Object{
		"courseType": "unified", "syllabus": nodetest.Absent, "unifiedVideo": "https://v.example.org/all", "onlineLinkNote": "PIN-ALL",
	}, changes))
}

// exam asks one question for each answer, which is the index of the option that is right.
func exam(answers ...int) nodetest.Object {
	questions := []nodetest.Object{}
	for i, a := range answers {
		questions = append(questions, nodetest.Object{
			"prompt": "Which, " + strings.Repeat("really", i) + "?", "options": []string{"a", "b", "c"}, "correctIndex": a, "explanation": "EXPLAINED",
		})
	}
	return nodetest.Object{"enabled": true, "questions": questions}
}

func TestCourseContent(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	a := s.Own("POST", "/organizer/events", course(nodetest.Object{"certificateTemplate": "cert-3", "exam": exam(1)}, lesson("one", nil), lesson("two", nil))).Is(201, "")
	require.Equal(t, "syllabus", a.Str("courseType"))
	require.Equal(t, "cert-3", a.Str("certificateTemplate"))
	require.Equal(t, "70", a.Str("exam.passMarkPct"))
	path := "/organizer/events/" + a.Str("id")

	t.Log("lessons keep their ids by id, and by title")
	one, two, question := a.Str("syllabus.0.id"), a.Str("syllabus.1.id"), a.Str("exam.questions.0.id")
	require.NotEqual(t, one, two)
	s.Own("PUT", path, nodetest.Object{"syllabus": []nodetest.Object{lesson("two", nil), lesson("three", nil), lesson("uno", nodetest.Object{"id": one})}}).Is(200, "")
	s.Own("PUT", path, nodetest.Object{"exam": exam(2)}).Is(200, "")
	read := s.Own("GET", path, nil).Is(200, "")
	require.Equal(t, two, read.Str("syllabus.0.id"))
	require.Equal(t, one, read.Str("syllabus.2.id"))
	require.NotContains(t, []string{one, two}, read.Str("syllabus.1.id"))
	require.Equal(t, question, read.Str("exam.questions.0.id"))
	require.Equal(t, "PIN-uno", read.Str("syllabus.2.lessonPin"))
	s.Own("PUT", path, nodetest.Object{"syllabus": read.Data("syllabus")}).Is(200, "")
	plain := s.Own("PUT", path, nodetest.Object{"syllabus": []nodetest.Object{lesson("two", nodetest.Object{"description": nodetest.Absent})}}).Is(200, "")
	require.Contains(t, plain.Keys("syllabus.0"), "description", "what a lesson does not have is null")
	s.Own("PUT", path, nodetest.Object{"syllabus": plain.Data("syllabus")}).Is(200, "")
	s.Own("PUT", path, nodetest.Object{"syllabus": read.Data("syllabus")}).Is(200, "")

	t.Log("the public sees what it is about")
	s.Own("POST", path+"/tickets", nodetest.TypeBody(0, -1)).Is(201, "")
	s.Own("POST", path+"/publish", nil).Is(200, "")
	page := s.Call("GET", "/events/"+a.Str("id"), nil).Is(200, "")
	require.Equal(t, nodetest.Words("order title description duration skillLevel format"), page.Keys("syllabus.0"))
	require.Equal(t, "cert-3", page.Str("branding.certificateTemplate"))
	for _, secret := range nodetest.Words("PIN- WRITEUP- v.example.org EXPLAINED correctIndex") {
		require.NotContains(t, nodetest.Encode(t, page.Body), secret)
	}
}

func TestCourseIncomplete(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	post := func(body nodetest.Object) nodetest.Answer { return s.Own("POST", "/organizer/events", body) }
	bare := lesson("x", nodetest.Object{"duration": nodetest.Absent, "lessonVideo": nil})
	require.Equal(t, map[string]string{"syllabus[0].duration": "required", "syllabus[0].lessonVideo": "required"}, post(course(nil, bare)).Issues())
	post(course(nodetest.Object{"syllabus": nodetest.Absent})).Invalid("syllabus", "required")
	post(unified(nodetest.Object{"unifiedVideo": nil})).Invalid("unifiedVideo", "required")
	post(unified(nodetest.Object{"exam": exam()})).Invalid("exam.questions", "required")
	post(unified(nodetest.Object{"exam": exam(3)})).Invalid("exam.questions[0].correctIndex", "maximum")
	post(course(nil, lesson("x", nodetest.Object{"duration": "long"}))).Invalid("syllabus[0].duration", "enum")
	post(course(nil, lesson("", nil))).Invalid("syllabus[0].title", "min_length")
	post(unified(nodetest.Object{"certificateTemplate": "cert-9"})).Invalid("certificateTemplate", "enum")
	post(nodetest.With(nodetest.EventBody(), nodetest.Object{"courseType": "unified"})).Invalid("courseType", "unsupported")

	t.Log("a course starts at a time in UTC, with a Z")
	offset := time.Now().Add(48 * time.Hour).In(time.FixedZone("", 3600)).Format(time.RFC3339)
	for _, at := range []string{offset, strings.Replace(nodetest.Stamp(48*time.Hour), "Z", "+00:00", 1)} {
		post(unified(nodetest.Object{"startDate": at})).Invalid("startDate", "format")
	}
	post(nodetest.With(nodetest.EventBody(), nodetest.Object{"startDate": offset, "endDate": nodetest.Stamp(72 * time.Hour)})).Is(201, "")

	path := "/organizer/events/" + post(nodetest.With(unified(nil), nodetest.Object{"courseType": nodetest.Absent})).Is(201, "").Str("id")
	s.Own("PUT", path, nodetest.Object{"startDate": offset}).Invalid("startDate", "format")
	refused := func(a nodetest.Answer, at string) {
		a.Is(400, "COURSE_INCOMPLETE")
		require.Equal(t, at, a.Get("error.details.path"))
	}
	refused(s.Own("PUT", path, nodetest.Object{"unifiedVideo": nil}), "unifiedVideo")
	refused(s.Own("PUT", path, nodetest.Object{"courseType": "syllabus"}), "syllabus")
	refused(s.Own("PUT", path, nodetest.Object{"courseType": "syllabus", "syllabus": []any{bare}}), "syllabus[0].duration")
	s.Own("PUT", path, nodetest.Object{"exam": exam(5)}).Invalid("exam.questions[0].correctIndex", "maximum")
	require.Equal(t, "unified", s.Own("GET", path, nil).Is(200, "").Str("courseType"), "what is refused changes nothing")

	t.Log("an event that became a course is complete before it is published")
	book := "/organizer/events/" + s.Draft(nodetest.Object{"category": "e-books", "endDate": nodetest.Absent})
	s.Own("PUT", book, nodetest.Object{"category": "online-course"}).Is(200, "")
	s.Own("POST", book+"/tickets", nodetest.TypeBody(0, -1)).Is(201, "")
	refused(s.Own("POST", book+"/publish", nil), "unifiedVideo")
	refused(s.Own("PUT", book+"/status", nodetest.Object{"status": "published"}), "unifiedVideo")
	refused(s.Own("PUT", book, nodetest.Object{"onlineLink": nodetest.URI(30)}), "unifiedVideo")
	s.Own("PUT", book, nodetest.Object{"unifiedPdf": nodetest.URI(30)}).Is(200, "")
	s.Own("POST", book+"/publish", nil).Is(200, "")
}

// enrolled is a buyer of a course on sale, and the path of the course.
func enrolled(t *testing.T, s *nodetest.Shop, body nodetest.Object) (buyer *nodetest.Shop, path string) {
	t.Helper()
	a := s.Own("POST", "/organizer/events", body).Is(201, "")
	event := "/organizer/events/" + a.Str("id")
	ticketType := s.Own("POST", event+"/tickets", nodetest.TypeBody(0, -1)).Is(201, "").Str("id")
	s.Own("POST", event+"/publish", nil).Is(200, "")
	email := "learner" + a.Str("numericId") + "@example.org"
	s.Place(strings.ToUpper(email[:1])+email[1:], ticketType, 1)
	buyer, path = s.Buyer(email), "/courses/"+a.Str("numericId")
	buyer.Becomes("200", func() string {
		if buyer.Own("GET", path, nil).Status == 200 {
			return "200"
		}
		return ""
	})
	return buyer, path
}

// TestCertificateWithoutAName earns one before its learner has told a name: strangers read no address
// on it, and the name is put on it once it is told.
func TestCertificateWithoutAName(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	b, path := enrolled(t, s, course(nodetest.Object{"certificateTemplate": "cert-2"}, lesson("one", nil)))
	email := b.Own("GET", "/users/me", nil).Is(200, "").Str("email")
	b.Own("PUT", "/users/me", nodetest.Object{"fullName": nil}).Is(200, "")
	require.Nil(t, b.Own("GET", path, nil).Is(200, "").Data("holderName"))
	number := b.Own("POST", path+"/lessons/0/complete", nil).Is(200, "").Str("certificate.number")
	holder := func() string { return s.Call("GET", "/public/certificates/"+number, nil).Is(200, "").Str("holderName") }
	require.Equal(t, "l…@example.org", holder())
	require.NotContains(t, holder(), email)
	b.Own("PUT", "/users/me", nodetest.Object{"fullName": "Grace Hopper"}).Is(200, "")
	require.Equal(t, 200, b.Raw("GET", path+"/certificate", "", "", b.Bearer()...).Status)
	require.Equal(t, "Grace Hopper", holder())

	t.Log("a name that stands on it is not changed any more")
	b.Own("PUT", "/users/me", nodetest.Object{"fullName": "Somebody Else"}).Is(200, "")
	require.Equal(t, 200, b.Raw("GET", path+"/certificate", "", "", b.Bearer()...).Status)
	require.Equal(t, "Grace Hopper", holder())
}

func TestLearnSyllabus(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	b, path := enrolled(t, s, course(nodetest.Object{"certificateTemplate": "cert-2"}, lesson("one", nil), lesson("two", nil)))
	id := strings.TrimPrefix(path, "/courses/")
	mine := b.Own("GET", "/courses/mine", nil).Is(200, "")
	require.Equal(t, id, mine.Str("courses.0.meta.id"))
	require.NotContains(t, nodetest.Encode(t, mine.Body), "PIN-")
	read := b.Own("GET", path, nil).Is(200, "")
	require.Equal(t, "Grace Hopper", read.Str("holderName"))
	require.Equal(t, "PIN-two", read.Str("lessons.1.lessonPin"))
	for _, member := range nodetest.Words("description lessonPdf lessonVideo materials writeup lessonPin completed") {
		require.Contains(t, read.Keys("lessons.1"), member)
	}

	t.Log("lessons are marked, and marked again")
	for range 2 {
		a := b.Own("POST", path+"/lessons/1/complete", nil).Is(200, "")
		require.Equal(t, false, a.Data("completed"))
		require.Nil(t, a.Data("certificate"))
		require.Equal(t, "50", a.Str("progress.percentComplete"))
	}
	b.Own("GET", path+"/certificate", nil).Is(404, "CERTIFICATE_NOT_ISSUED")
	done := b.Own("POST", path+"/lessons/0/complete", nil).Is(200, "")
	require.Equal(t, true, done.Data("justCompleted"))
	number := done.Str("certificate.number")
	require.Equal(t, done.Str("certificate.id"), done.Str("progress.certificateId"))
	require.Equal(t, false, b.Own("POST", path+"/lessons/0/complete", nil).Is(200, "").Data("justCompleted"))

	t.Log("a lesson that is not done any more takes no certificate back")
	undone := b.Own("DELETE", path+"/lessons/0/complete", nil).Is(200, "")
	require.Equal(t, false, undone.Data("completed"))
	require.Equal(t, number, undone.Str("certificate.number"))
	pdf := b.Raw("GET", path+"/certificate", "", "", b.Bearer()...)
	require.Equal(t, 200, pdf.Status)
	require.Equal(t, "application/pdf", pdf.Header.Get("Content-Type"))
	require.True(t, strings.HasPrefix(pdf.Body, "%PDF-"))
	check := s.Call("GET", "/public/certificates/"+number, nil).Is(200, "")
	require.Equal(t, true, check.Data("valid"))
	require.Equal(t, "Grace Hopper", check.Str("holderName"))
	s.Call("GET", "/public/certificates/BX-NONE", nil).Is(404, "NOT_FOUND")

	t.Log("what is refused")
	for _, index := range nodetest.Words("2 -1 x 99999999999999999999") {
		b.Own("POST", path+"/lessons/"+index+"/complete", nil).Is(400, "INVALID_LESSON_INDEX")
	}
	b.Own("POST", path+"/complete", nil).Is(400, "NOT_A_UNIFIED_COURSE")
	b.Own("GET", path+"/exam", nil).Is(404, "NO_EXAM")
	b.Own("POST", path+"/exam/submit", nodetest.Object{"answers": []any{}}).Is(404, "NO_EXAM")
	stranger := s.Buyer("nobody@example.org")
	stranger.Own("GET", path, nil).Is(403, "NOT_A_BUYER")
	require.Empty(t, stranger.Own("GET", "/courses/mine", nil).Is(200, "").Data("courses"))
	stranger.Own("GET", "/courses/none", nil).Is(404, "COURSE_NOT_FOUND")
	stranger.Own("GET", "/courses/999999", nil).Is(404, "COURSE_NOT_FOUND")
	book, _ := s.Sell(nodetest.Object{"category": "e-books"}, nodetest.TypeBody(0, 5))
	stranger.Own("GET", "/courses/"+s.Call("GET", "/events/"+book, nil).Str("numericId"), nil).Is(400, "NOT_A_COURSE")
	s.Register("squatter@example.org").Own("GET", "/courses/mine", nil).Refused(403, "FORBIDDEN", nodetest.Object{"reason": "EMAIL_NOT_PROVEN"})
}

func TestLearnUnified(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	b, path := enrolled(t, s, unified(nodetest.Object{"certificateTemplate": "cert-8", "exam": exam(1, 2)}))
	read := b.Own("GET", path, nil).Is(200, "")
	require.Empty(t, read.Data("lessons"))
	require.Equal(t, "PIN-ALL", read.Str("unified.pin"))
	b.Own("POST", path+"/lessons/0/complete", nil).Is(400, "NOT_A_SYLLABUS_COURSE")
	done := b.Own("POST", path+"/complete", nil).Is(200, "")
	require.Equal(t, true, done.Data("examRequired"))
	require.Equal(t, false, done.Data("completed"))

	t.Log("the exam, without its answers")
	e := b.Own("GET", path+"/exam", nil).Is(200, "")
	require.Equal(t, nodetest.Words("id prompt options"), e.Keys("questions.0"))
	require.Nil(t, e.Data("status.bestScorePct"))
	answer := func(question, selected int) nodetest.Object {
		return nodetest.Object{"questionId": e.Str("questions." + string(rune('0'+question)) + ".id"), "selectedIndex": selected}
	}
	submit := func(answers any) nodetest.Answer {
		return b.Own("POST", path+"/exam/submit", nodetest.Object{"answers": answers})
	}
	for _, wrong := range []any{"x", nil, 5, nodetest.Object{}, []any{5}, []any{nil}, []any{nodetest.Object{"selectedIndex": 1}}, []any{nodetest.Object{"questionId": "q", "selectedIndex": "1"}}} {
		submit(wrong).Is(400, "INVALID_ANSWERS")
	}
	failed := submit([]any{answer(0, 1), answer(1, 0)}).Is(200, "")
	require.Equal(t, "50", failed.Str("scorePct"))
	require.Equal(t, false, failed.Data("passed"))
	require.Equal(t, nodetest.Words("questionId correct"), failed.Keys("perQuestion.0"))
	passed := submit([]any{answer(1, 2), answer(0, 1)}).Is(200, "")
	require.Equal(t, "EXPLAINED", passed.Str("perQuestion.0.explanation"))
	require.Equal(t, true, passed.Data("justCompleted"))
	require.NotEmpty(t, passed.Str("certificate.number"))

	t.Log("a later failure takes nothing back, and attempts are limited")
	again := submit([]any{}).Is(200, "")
	require.Equal(t, true, again.Data("status.passed"))
	require.Equal(t, "0", again.Str("status.latestScorePct"))
	require.Equal(t, "100", again.Str("status.bestScorePct"))
	for range 7 {
		submit([]any{}).Is(200, "")
	}
	submit([]any{}).Is(429, "RATE_LIMITED")
}

// TestAnswerWithoutChoice leaves a question open whose right answer is the first: that is none,
// and not the first.
func TestAnswerWithoutChoice(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	b, path := enrolled(t, s, unified(nodetest.Object{"exam": exam(0)}))
	question := b.Own("GET", path+"/exam", nil).Is(200, "").Str("questions.0.id")
	for score, choice := range map[string]any{"0": nodetest.Absent, "0 ": nil, "100": 0} {
		answers := []any{nodetest.With(nodetest.Object{"questionId": question}, nodetest.Object{"selectedIndex": choice})}
		a := b.Own("POST", path+"/exam/submit", nodetest.Object{"answers": answers}).Is(200, "")
		require.Equal(t, strings.TrimSpace(score), a.Str("scorePct"), "%v", choice)
	}
}

// TestCourseOpensAtOnce has learners look into a course as soon as their orders are answered
// as completed, before the read model has them.
func TestCourseOpensAtOnce(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	a := s.Own("POST", "/organizer/events", course(nil, lesson("One", nil))).Is(201, "")
	path := "/organizer/events/" + a.Str("id")
	ticketType := s.Own("POST", path+"/tickets", nodetest.TypeBody(0, -1)).Is(201, "").Str("id")
	s.Own("POST", path+"/publish", nil).Is(200, "")
	path = "/courses/" + a.Str("numericId")
	for i := range 5 {
		email := fmt.Sprintf("learner%d@example.org", i)
		learner := s.Buyer(email)
		learner.Own("GET", path, nil).Is(403, "NOT_A_BUYER")
		s.Place(email, ticketType, 1)
		learner.Own("GET", path, nil).Is(200, "")
	}
}
