package tickets

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/openloop"
)

var (
	learners   = flag.Int("learners", 20, "of TestLearnersAtOnce: who learns one course at once")
	enrolments = flag.Int("enrolled", 0, "of TestLearnerRate: who may learn the course")
)

// TestLearnerRate measures what the answers to learners take that come at a rate of their own: 200 a second,
// each of another of the enrolled, to read the course or to complete a lesson. It is run by hand, with
// -args -enrolled=10000.
func TestLearnerRate(t *testing.T) { //nolint:paralleltest // it measures
	if *enrolments == 0 {
		t.Skip("measures: -args -enrolled=10000")
	}
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale, c.MaxPerAddress = 1e6, 4_096 }) // all come from one address
	syllabus := make([]nodetest.Object, 10)
	for i := range syllabus {
		syllabus[i] = lesson(fmt.Sprintf("lesson-%d", i), nil)
	}
	a := s.Own("POST", "/organizer/events", course(nil, syllabus...)).Is(201, "")
	event := "/organizer/events/" + a.Str("id")
	ticketType := s.Own("POST", event+"/tickets", nodetest.TypeBody(0, -1)).Is(201, "").Str("id")
	s.Own("POST", event+"/publish", nil).Is(200, "")
	all := make([]*learner, *enrolments)
	require.NoError(t, contest.ForAll(8, len(all), func(_, i int) error {
		email := fmt.Sprintf("learner%d@example.org", i)
		s.Place(email, ticketType, 1)
		all[i] = &learner{Shop: s.Buyer(email), path: "/courses/" + a.Str("numericId")}
		return nil
	}))
	require.NoError(t, s.Settled(t.Context()))

	const rate = 200
	stats, err := openloop.Run(t.Context(), openloop.Config{Ops: []string{"read", "complete"}, Warm: 3 * time.Second}, openloop.Constant(rate, 20*time.Second),
		rand.New(rand.NewPCG(1, 1)), func(n int) openloop.Actor { return step{all[n%len(all)], n} })
	require.NoError(t, err)
	t.Logf("%d enrolled, %d requests a second: p50 %.1f ms, p99 %.1f ms (goal: 50); %d of %d refused", len(all), rate,
		stats.All.Corrected.P50, stats.All.Corrected.P99, stats.All.Failed, stats.All.Count)
	require.Zero(t, stats.All.Failed)
}

// step is one request of a learner: every second one completes a lesson.
type step struct {
	*learner
	n int
}

// Step sends the request.
func (l step) Step(context.Context) openloop.Result {
	if l.n%2 == 0 {
		return openloop.Result{Op: 0, Status: l.Raw("GET", l.path, "", "", l.Bearer()...).Status, Done: true}
	}
	return openloop.Result{Op: 1, Status: l.Raw("POST", fmt.Sprintf("%s/lessons/%d/complete", l.path, l.n/2%10), "", "", l.Bearer()...).Status, Done: true}
}

// TestLearnersAtOnce has many learn one course at once, each of them at two devices that send
// the same: every answer is right, and each learner gets one certificate.
func TestLearnersAtOnce(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale, c.MaxPerAddress, c.MaxConnections = 1e6, 4_096, 8_192 }) // all come from one address
	const lessons, questions = 10, 5
	syllabus, right := make([]nodetest.Object, lessons), make([]int, questions)
	for i := range syllabus {
		syllabus[i] = lesson(fmt.Sprintf("lesson-%d", i), nil)
	}
	for i := range right {
		right[i] = i % 3
	}
	a := s.Own("POST", "/organizer/events", course(nodetest.Object{"certificateTemplate": "cert-1", "exam": nodetest.With(exam(right...), nodetest.Object{"passMarkPct": 100})}, syllabus...)).Is(201, "")
	event := "/organizer/events/" + a.Str("id")
	ticketType := s.Own("POST", event+"/tickets", nodetest.TypeBody(0, -1)).Is(201, "").Str("id")
	s.Own("POST", event+"/publish", nil).Is(200, "")
	all := make([]*learner, *learners)
	for i := range all {
		email := fmt.Sprintf("learner%d@example.org", i)
		s.Place(email, ticketType, 1)
		all[i] = &learner{Shop: s.Buyer(email), path: "/courses/" + a.Str("numericId")}
	}
	require.NoError(t, s.Settled(t.Context()))

	took := make(chan []time.Duration, len(all))
	var learning sync.WaitGroup
	for _, l := range all {
		learning.Go(func() {
			l.learn(lessons, right)
			took <- l.took
		})
	}
	learning.Wait()
	close(took)
	var times []time.Duration
	for of := range took {
		times = append(times, of...)
	}
	slices.Sort(times)
	t.Logf("%d learners, %d answers: p50 %s, p99 %s", len(all), len(times), times[len(times)/2], times[len(times)*99/100])
	numbers := make(map[string]bool)
	for _, l := range all {
		numbers[l.certificate] = true
	}
	require.Len(t, numbers, len(all), "one certificate each")
	var issued int
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM course_certificates`).Scan(&issued))
	require.Equal(t, len(all), issued)
}

// learner learns a course.
type learner struct {
	*nodetest.Shop
	path        string
	certificate string // its number

	mu   sync.Mutex
	took []time.Duration // of each answer
}

// ask sends a request and notes how long its answer took.
func (l *learner) ask(method, path string, body any) nodetest.Answer {
	began := time.Now()
	a := l.Own(method, l.path+path, body)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, time.Since(began))
	assert.Equal(l.T, 200, a.Status, "%v", a.Body)
	return a
}

// twice sends a request from two devices at once.
func (l *learner) twice(method, path string, body any) [2]nodetest.Answer {
	var answers [2]nodetest.Answer
	var asking sync.WaitGroup
	for i := range answers {
		asking.Go(func() { answers[i] = l.ask(method, path, body) })
	}
	asking.Wait()
	return answers
}

// learn goes through the course to its certificate.
func (l *learner) learn(lessons int, right []int) {
	for i := range lessons {
		l.twice("POST", fmt.Sprintf("/lessons/%d/complete", i), nil)
	}
	assert.Equal(l.T, "100", l.ask("GET", "", nil).Str("progress.percentComplete"))
	asked := l.ask("GET", "/exam", nil)
	answers := make([]nodetest.Object, len(right))
	for i, option := range right {
		answers[i] = nodetest.Object{"questionId": asked.Str(fmt.Sprintf("questions.%d.id", i)), "selectedIndex": option}
	}
	assert.Equal(l.T, "80", l.ask("POST", "/exam/submit", nodetest.Object{"answers": answers[1:]}).Str("scorePct"))
	completed := 0
	for _, a := range l.twice("POST", "/exam/submit", nodetest.Object{"answers": answers}) {
		if a.Data("justCompleted") == true {
			completed++
		}
		l.certificate = a.Str("certificate.number")
	}
	assert.Equal(l.T, 1, completed, "the course is completed once")
	assert.NotEmpty(l.T, l.certificate)
}
