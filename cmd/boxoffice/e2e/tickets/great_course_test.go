package tickets

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// The most that a course may have.
const (
	mostLessons   = 200
	mostMaterials = 10
	mostQuestions = 50
)

// greatCourse is the body of a course that has the most of everything.
func greatCourse() nodetest.Object {
	lessons := make([]nodetest.Object, mostLessons)
	for i := range lessons {
		materials := make([]nodetest.Object, mostMaterials)
		for m := range materials {
			materials[m] = nodetest.Object{"name": fmt.Sprintf("Sheet %d", m), "url": fmt.Sprintf("https://f.example.org/%d/%d.pdf", i, m)}
		}
		lessons[i] = lesson(fmt.Sprintf("lesson-%d", i), nodetest.Object{"materials": materials})
	}
	questions := make([]nodetest.Object, mostQuestions)
	for i := range questions {
		questions[i] = nodetest.Object{"prompt": fmt.Sprintf("Question %d?", i), "options": []string{"a", "b"}, "correctIndex": i % 2}
	}
	return course(nodetest.Object{
		"certificateTemplate": "cert-1", "exam": nodetest.Object{"enabled": true, "passMarkPct": 100, "questions": questions},
	}, lessons...)
}

// TestGreatCourse writes a course that has the most of everything, and edits it while
// somebody learns: lessons move, get other titles, go and come, and nobody's progress is lost.
func TestGreatCourse(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	body := greatCourse()
	b, path := enrolled(t, s, body)
	event := "/organizer/events/" + b.Own("GET", path, nil).Is(200, "").Str("meta.id")
	require.Len(t, b.Own("GET", path, nil).Data("lessons"), mostLessons)
	require.Len(t, b.Own("GET", path, nil).Data("lessons.199.materials"), mostMaterials)

	t.Log("half is learned")
	for i := range mostLessons / 2 {
		b.Own("POST", fmt.Sprintf("%s/lessons/%d/complete", path, i), nil).Is(200, "")
	}
	mark := func() string { return b.Own("GET", path, nil).Is(200, "").Str("progress.percentComplete") }
	require.Equal(t, "50", mark())

	t.Log("the lessons are turned around, one that was learned gets another title, one that was not makes place for another")
	written := slices.Clone(s.Own("GET", event, nil).Is(200, "").Data("syllabus").([]any))
	slices.Reverse(written)
	learned, replaced := written[mostLessons-1].(map[string]any), written[0].(map[string]any)
	learned["title"] = "another title"
	delete(replaced, "id")
	replaced["title"] = "a new lesson"
	s.Own("PUT", event, nodetest.Object{"syllabus": written}).Is(200, "")
	require.Equal(t, "50", mark())
	read := b.Own("GET", path, nil).Is(200, "")
	require.Equal(t, []any{"another title", true}, []any{read.Str("lessons.199.title"), read.Data("lessons.199.completed")})
	require.Equal(t, []any{"a new lesson", false}, []any{read.Str("lessons.0.title"), read.Data("lessons.0.completed")})

	t.Log("a lesson that was learned goes, and what is left is counted")
	s.Own("PUT", event, nodetest.Object{"syllabus": written[:mostLessons-1]}).Is(200, "")
	require.Equal(t, strconv.Itoa(99*100/199), mark())
	s.Own("PUT", event, nodetest.Object{"syllabus": append(written[:mostLessons-1:mostLessons-1], learned)}).Is(200, "")
	require.Equal(t, "50", mark(), "it comes back with its id and finds that it was learned")
	s.Own("PUT", event, nodetest.Object{"syllabus": append(written, lesson("one too many", nil))}).Invalid("syllabus", "max_items")

	t.Log("the rest is learned, the exam passed")
	for i := range mostLessons / 2 {
		b.Own("POST", fmt.Sprintf("%s/lessons/%d/complete", path, i), nil).Is(200, "")
	}
	require.Equal(t, "100", mark())
	b.Own("GET", path+"/certificate", nil).Is(404, "CERTIFICATE_NOT_ISSUED")
	e := b.Own("GET", path+"/exam", nil).Is(200, "")
	answers := make([]nodetest.Object, mostQuestions)
	for i := range answers {
		answers[i] = nodetest.Object{"questionId": e.Str(fmt.Sprintf("questions.%d.id", i)), "selectedIndex": i % 2}
	}
	answers[7]["selectedIndex"] = 0
	require.Equal(t, false, b.Own("POST", path+"/exam/submit", nodetest.Object{"answers": answers}).Is(200, "").Data("passed"))
	answers[7]["selectedIndex"] = 1
	slices.Reverse(answers)
	require.Equal(t, true, b.Own("POST", path+"/exam/submit", nodetest.Object{"answers": answers}).Is(200, "").Data("justCompleted"))
	require.Equal(t, 200, b.Raw("GET", path+"/certificate", "", "", b.Bearer()...).Status)
}
