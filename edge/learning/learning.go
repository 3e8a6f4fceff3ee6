// Package learning is the area of people who have bought an online course: its lessons, their
// progress, the exam and the certificate. It keeps no state of its own.
package learning

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/hosted"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/course"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence/accounts"
	"boxoffice/persistence/courses"
	"boxoffice/persistence/downloads"
	"boxoffice/persistence/readmodel"
)

// Deps are the stores and services that the handlers work with.
type Deps struct {
	Read     *readmodel.Model
	Accounts *accounts.Store
	Courses  *courses.Store
	// Downloads counts how often a course is opened. Opening a course ends the right to withdraw
	// from the purchase.
	Downloads *downloads.Store
	Files     *hosted.Files
	Settled   func(context.Context) error // waits until the read model has everything that is committed
	BaseURL   string                      // the address under which people reach the service
}

// Handlers answer the area's requests. They may be called by any goroutine.
type Handlers struct{ Deps }

// New makes the handlers.
func New(d Deps) *Handlers { return &Handlers{d} }

// enrolled is a learner in one course.
type enrolled struct {
	// holder is the learner's address in the form of order.NormalEmail. The learner's progress is
	// stored under it.
	holder string
	// name is the learner's name, or "" if it is unknown.
	name    string
	ticket  secrets.Viewer
	event   *readmodel.Event
	content *course.Content
}

// findHoldings returns the caller's valid tickets of courses. The caller's address must be proven,
// because it decides which tickets are the caller's.
func (h *Handlers) findHoldings(c *route.Call) (holder string, held []readmodel.Holding, err error) {
	if !c.Principal.EmailProven {
		return "", nil, &engine.Refusal{
			Code: engine.Forbidden, Message: "Confirm your e-mail address first: by the link that was mailed, or by signing in with a mailed code.",
			Details: route.Reason{Reason: "EMAIL_NOT_PROVEN"},
		}
	}
	holder = order.NormalEmail(c.Principal.Email)
	held, err = h.Read.Holdings(c.Context, order.CustomerOf(holder), holder, event.Course)
	return holder, held, err
}

// refusalDelay bounds how long a learner without a ticket waits for the read model before
// being refused. The read model usually has everything within a moment.
const refusalDelay = 5 * time.Second

// holdingsSettled looks for the holder's tickets again, after waiting for the read model, before a
// learner is refused. At the first look, the read model may have lacked an order that was completed
// just before.
func (h *Handlers) holdingsSettled(c *route.Call, holder string) ([]readmodel.Holding, error) {
	ctx, cancel := context.WithTimeout(c.Context, refusalDelay)
	defer cancel()
	// If the read model takes longer, the learner may be refused although there is a ticket, and
	// can ask again.
	_ = h.Settled(ctx)
	return h.Read.Holdings(c.Context, order.CustomerOf(holder), holder, event.Course)
}

// enroll finds the course that a path names, for a learner who holds a ticket of it. It refuses with
// NOT_A_BUYER a caller without a ticket. Such a caller learns that the event is no course, or that there
// is such an event, only if the public may see it.
func (h *Handlers) enroll(c *route.Call, id string) (*enrolled, error) {
	holder, held, err := h.findHoldings(c)
	if err != nil {
		return nil, err
	}
	unknown := &engine.Refusal{Code: engine.CourseNotFound}
	number, ok := route.ReadNumber(id)
	if !ok || number < 1 {
		return nil, unknown
	}
	e, err := h.Read.EventByNumber(c.Context, number)
	if errors.Is(err, readmodel.ErrNotFound) {
		return nil, unknown
	}
	if err != nil {
		return nil, err
	}
	ofCourse := func(t readmodel.Holding) bool { return t.Event == number }
	i := slices.IndexFunc(held, ofCourse)
	// Most learners bought their tickets long ago, so we wait for the read model only if there is
	// no ticket.
	if i < 0 && e.Details.Category == event.Course {
		if held, err = h.holdingsSettled(c, holder); err != nil {
			return nil, err
		}
		i = slices.IndexFunc(held, ofCourse)
	}
	public := slices.Contains(event.Shown, e.Status) && e.Details.Visibility != "private"
	switch {
	case i < 0 && !public:
		return nil, unknown
	case e.Details.Category != event.Course:
		return nil, &engine.Refusal{Code: engine.NotACourse}
	case i < 0:
		return nil, &engine.Refusal{Code: engine.NotABuyer}
	}
	l := &enrolled{holder: holder, event: &e, ticket: secrets.Viewer{Event: number, Serial: held[i].Serial, Version: held[i].Version}}
	if l.content, err = h.Courses.Read(c.Context, number); err != nil {
		return nil, err
	}
	u, err := h.Accounts.User(c.Context, c.Principal.User)
	if err != nil {
		return nil, err
	}
	if u != nil {
		l.name = u.Name()
	}
	l.name = cmp.Or(l.name, held[i].Name)
	return l, nil
}

// myCourses returns the courses that the caller holds tickets for, each once: first the courses that the caller has
// begun and then the others. In both parts, the courses that were created last come first.
func (h *Handlers) myCourses(c *route.Call, _ *route.None) (*api.MyCourses, error) {
	holder, held, err := h.findHoldings(c)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(held, func(a, b readmodel.Holding) int { return cmp.Compare(b.Event, a.Event) })
	held = slices.CompactFunc(held, func(a, b readmodel.Holding) bool { return a.Event == b.Event })
	v := &api.MyCourses{Courses: []api.MyCourse{}}
	var later []api.MyCourse
	for _, t := range held {
		e, err := h.Read.EventByNumber(c.Context, t.Event)
		if err != nil {
			return nil, err
		}
		l := &enrolled{holder: holder, event: &e}
		if l.content, err = h.Courses.Read(c.Context, t.Event); err != nil {
			return nil, err
		}
		p, earned, err := h.findStanding(c, l)
		if err != nil {
			return nil, err
		}
		mine := api.MyCourse{Meta: l.courseMeta(), Progress: progressView(l.content, p, earned)}
		if p.Started() {
			v.Courses = append(v.Courses, mine)
		} else {
			later = append(later, mine)
		}
	}
	v.Courses = append(v.Courses, later...)
	return v, nil
}

// findStanding returns how far a learner has come, and the certificate that the learner has
// earned, or nil. A learner who has not begun has an empty progress.
func (h *Handlers) findStanding(c *route.Call, l *enrolled) (*course.Progress, *courses.Certificate, error) {
	p, err := h.Courses.Progress(c.Context, l.event.Number, l.holder)
	if err != nil {
		return nil, nil, err
	}
	earned, err := h.Courses.Earned(c.Context, l.event.Number, l.holder)
	return p, earned, err
}

// getCourse shows a learner everything that a course teaches. Seeing it ends the right to withdraw
// from the purchase. So the visit is counted before the answer is made.
func (h *Handlers) getCourse(c *route.Call, in *api.CourseID) (*api.LearnerCourse, error) {
	l, err := h.enroll(c, in.EventID)
	if err != nil {
		return nil, err
	}
	p, earned, err := h.findStanding(c, l)
	if err != nil {
		return nil, err
	}
	// The answer has the whole course, so the learner can no longer withdraw from the purchase.
	if _, err := h.Downloads.Count(c.Context, l.event.Number, l.ticket.Serial, c.Now); err != nil {
		return nil, err
	}
	v := &api.LearnerCourse{
		Meta: l.courseMeta(), HolderName: view.Optional(l.name), Progress: progressView(l.content, p, earned), Lessons: []api.LearnerLesson{},
	}
	content := l.content
	if err := h.signLinks(c, l); err != nil {
		return nil, err
	}
	if content.Type != course.Syllabus {
		v.Unified = &api.LearnerUnit{
			PDF: view.Optional(content.PDF), Video: view.Optional(content.Video),
			Materials: materialsView(content.Materials), PIN: view.Optional(l.event.Details.OnlineNote), Completed: slices.Contains(p.Done, course.Unit),
		}
		return v, nil
	}
	for i, lesson := range content.Lessons {
		lesson.Materials = materialsView(lesson.Materials)
		v.Lessons = append(v.Lessons, api.LearnerLesson{
			Index: i, Lesson: lesson, Description: view.Optional(lesson.Description), PDF: view.Optional(lesson.PDF), Video: view.Optional(lesson.Video),
			Writeup: view.Optional(lesson.Writeup), PIN: view.Optional(lesson.PIN), Completed: slices.Contains(p.Done, lesson.ID),
		})
	}
	return v, nil
}

// signLinks replaces the links to our own files in l.content by signed links for this learner. They
// expire after 15 minutes (hosted.Files), so passing them on is of little use. No other request may
// share l.content.
func (h *Handlers) signLinks(c *route.Call, l *enrolled) error {
	var links []*string
	add := func(pdf, video *string, materials []course.Material) {
		links = append(links, pdf, video)
		for i := range materials {
			links = append(links, &materials[i].URL)
		}
	}
	add(&l.content.PDF, &l.content.Video, l.content.Materials)
	for i := range l.content.Lessons {
		lesson := &l.content.Lessons[i]
		add(&lesson.PDF, &lesson.Video, lesson.Materials)
	}
	return h.Files.Sign(c.Context, l.event.Details.Org, l.ticket, c.Now, links...)
}

// materialsView returns the materials that still have a link. Signing replaces the link to a file
// that no longer exists by "".
func materialsView(signed []course.Material) []course.Material {
	return view.List(slices.DeleteFunc(signed, func(m course.Material) bool { return m.URL == "" }))
}

// courseMeta shows the few fields that identify a course.
func (l *enrolled) courseMeta() api.CourseMeta {
	return api.CourseMeta{
		ID: strconv.FormatInt(l.event.Number, 10), Title: l.event.Details.Title, CourseType: l.content.Type, CertificateTemplate: view.Optional(l.content.Certificate),
	}
}

// progressView shows how far a learner has come. earned is nil if the learner has no certificate.
func progressView(c *course.Content, p *course.Progress, earned *courses.Certificate) api.CourseProgress {
	total := len(c.Units())
	v := api.CourseProgress{TotalLessons: total, CompletedLessons: c.Completed(p), IsComplete: c.IsComplete(p)}
	if total > 0 {
		v.PercentComplete = len(v.CompletedLessons) * 100 / total
	}
	if c.Examines() {
		v.Exam = new(statusView(p))
	}
	if earned != nil {
		v.CertificateID = &earned.ID
	}
	return v
}

// statusView shows how a learner has done in the exam so far. Before the first attempt there are no
// scores.
func statusView(p *course.Progress) api.ExamStatus {
	v := api.ExamStatus{AttemptsUsed: p.Attempts, Passed: p.Passed}
	if p.Attempts > 0 {
		v.BestScorePct, v.LatestScorePct = &p.Best, &p.Latest
	}
	return v
}
