package learning

import (
	"crypto/rand"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/course"
	"boxoffice/persistence/courses"
)

// completeLesson marks a lesson as done. The last lesson completes the course, unless the course
// has an exam that the learner has not passed.
func (h *Handlers) completeLesson(c *route.Call, in *api.LessonIndex) (*api.Learned, error) {
	return h.markLesson(c, in, true)
}

// reopenLesson marks a lesson as not done. A certificate that was earned stays.
func (h *Handlers) reopenLesson(c *route.Call, in *api.LessonIndex) (*api.Learned, error) {
	return h.markLesson(c, in, false)
}

// markLesson marks a lesson of a course with a syllabus as done or as not done. The path names a
// lesson by its position. The progress stores the lesson's id, which stays the same if the
// organizer moves lessons.
func (h *Handlers) markLesson(c *route.Call, in *api.LessonIndex, done bool) (*api.Learned, error) {
	l, err := h.enroll(c, in.EventID)
	if err != nil {
		return nil, err
	}
	if l.content.Type != course.Syllabus {
		return nil, &engine.Refusal{Code: engine.NotASyllabus}
	}
	i, err := strconv.Atoi(in.Index)
	if err != nil || i < 0 || i >= len(l.content.Lessons) {
		return nil, &engine.Refusal{Code: engine.InvalidLesson}
	}
	return h.markUnit(c, l, l.content.Lessons[i].ID, done)
}

// completeUnit marks the only unit of a course without a syllabus as done.
func (h *Handlers) completeUnit(c *route.Call, in *api.CourseID) (*api.Learned, error) {
	l, err := h.enroll(c, in.EventID)
	if err != nil {
		return nil, err
	}
	if l.content.Type == course.Syllabus {
		return nil, &engine.Refusal{Code: engine.NotUnified}
	}
	return h.markUnit(c, l, course.Unit, true)
}

// markUnit marks one unit in the learner's progress as done or as not done.
func (h *Handlers) markUnit(c *route.Call, l *enrolled, unit string, done bool) (*api.Learned, error) {
	return h.takeStep(c, l, func(p *course.Progress) error {
		p.Mark(unit, done)
		return nil
	})
}

// takeStep calls step to change a learner's progress. If the course is complete afterwards and has
// certificates, the learner gets one, unless the learner or the ticket has one already. The store does
// both in one transaction. If step returns a refusal, nothing changes and takeStep returns the refusal.
func (h *Handlers) takeStep(c *route.Call, l *enrolled, step func(*course.Progress) error) (*api.Learned, error) {
	org, err := h.Accounts.Profile(c.Context, l.event.Details.Org)
	if err != nil {
		return nil, err
	}
	// The certificate is prepared before the transaction, so that the transaction stays short. It
	// keeps the title and the names of this moment, even if they change later.
	earn := &courses.Certificate{
		Number: "BX-" + rand.Text()[:16], Ticket: l.ticket.Serial, Name: l.name, Title: l.event.Details.Title, Template: l.content.Certificate,
	}
	if org != nil {
		earn.Organization = org.Name
	}
	if earn.Name == "" {
		earn.Name = l.holder
	}
	var just bool
	var refusal error
	p, earned, err := h.Courses.Learn(c.Context, l.event.Number, l.holder, func(p *course.Progress) (*courses.Certificate, error) {
		// The store has locked the learner's progress, so that two concurrent steps cannot both
		// complete the course.
		was := l.content.IsComplete(p)
		if refusal = step(p); refusal != nil {
			return nil, refusal
		}
		if !l.content.IsComplete(p) {
			return nil, nil //nolint:nilnil // nothing is earned yet
		}
		// Only the step that completes the course sets CompletedAt.
		if just = !was; just {
			p.CompletedAt = c.Now.UnixMilli()
		}
		if l.content.Certificate == "" {
			return nil, nil //nolint:nilnil // the course issues none
		}
		return earn, nil
	})
	if refusal != nil {
		return nil, refusal
	}
	if err != nil {
		return nil, err
	}
	v := &api.Learned{JustCompleted: just, Certificate: h.certificateView(earned), Progress: progressView(l.content, p, earned)}
	v.Completed = v.Progress.IsComplete
	v.ExamRequired = l.content.Examines() && !p.Passed
	return v, nil
}

// certificateView shows a certificate to its holder. It returns nil if there is none.
func (h *Handlers) certificateView(earned *courses.Certificate) *api.EarnedCertificate {
	if earned == nil {
		return nil
	}
	return &api.EarnedCertificate{
		ID: earned.ID, Number: earned.Number, IssuedAt: earned.IssuedAt.UTC(),
		URL: h.BaseURL + "/api/v1/courses/" + strconv.FormatInt(earned.Event, 10) + "/certificate",
	}
}

// enrollForExam finds a course as enroll does, and refuses a course without an exam.
func (h *Handlers) enrollForExam(c *route.Call, id string) (*enrolled, error) {
	l, err := h.enroll(c, id)
	if err == nil && !l.content.Examines() {
		return nil, &engine.Refusal{Code: engine.NoExam}
	}
	return l, err
}

// getExam shows the questions of the exam, without the right answers, and how the learner has done
// so far.
func (h *Handlers) getExam(c *route.Call, in *api.CourseID) (*api.Exam, error) {
	l, err := h.enrollForExam(c, in.EventID)
	if err != nil {
		return nil, err
	}
	p, err := h.Courses.Progress(c.Context, l.event.Number, l.holder)
	if err != nil {
		return nil, err
	}
	exam := l.content.Exam
	v := &api.Exam{
		EventID: strconv.FormatInt(l.event.Number, 10), PassMarkPct: exam.PassMark, Total: len(exam.Questions), Questions: []api.ExamQuestion{}, Status: statusView(p),
	}
	for _, q := range exam.Questions {
		v.Questions = append(v.Questions, api.ExamQuestion{ID: q.ID, Prompt: q.Prompt, Options: q.Options})
	}
	return v, nil
}

// submitExam grades an attempt and counts it. The result tells for each question whether its answer
// was right. Only an attempt that passes gets the explanations, because a learner who has not
// passed may try again.
func (h *Handlers) submitExam(c *route.Call, in *api.SubmitExam) (*api.ExamResult, error) {
	l, err := h.enrollForExam(c, in.EventID)
	if err != nil {
		return nil, err
	}
	var answers []course.Answer
	// If the answers are not a list, or one of them names no question, the request is refused and
	// does not count as an attempt.
	if in.Answers.Value.Kind() != '[' || json.Unmarshal(in.Answers.Value, &answers) != nil ||
		slices.ContainsFunc(answers, func(a course.Answer) bool { return a.Question == "" }) {
		return nil, &engine.Refusal{Code: engine.InvalidAnswers}
	}
	exam := l.content.Exam
	correct, score := exam.Grade(answers)
	passed := score >= exam.PassMark
	var status api.ExamStatus
	learned, err := h.takeStep(c, l, func(p *course.Progress) error {
		// The limit is checked in the same transaction in which the attempt is counted, so that two
		// concurrent attempts cannot both stay within the limit.
		if wait := p.Wait(c.Now.UnixMilli()); wait > 0 {
			return &engine.Refusal{Code: engine.RateLimited, Retry: wait, Details: map[string]int{"maxPerHour": course.MaxAttempts}}
		}
		p.Try(score, passed, c.Now.UnixMilli())
		status = statusView(p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	v := &api.ExamResult{
		ScorePct: score, Passed: passed, PassMarkPct: exam.PassMark, Total: len(exam.Questions), Status: status,
		Completed: learned.Completed, JustCompleted: learned.JustCompleted, Certificate: learned.Certificate, Progress: learned.Progress,
	}
	for i, q := range exam.Questions {
		r := api.QuestionResult{QuestionID: q.ID, Correct: correct[i]}
		if correct[i] {
			v.CorrectCount++
		}
		if passed {
			r.Explanation = q.Explanation
		}
		v.PerQuestion = append(v.PerQuestion, r)
	}
	return v, nil
}
