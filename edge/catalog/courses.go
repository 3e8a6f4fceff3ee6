package catalog

import (
	"crypto/rand"
	"slices"

	"github.com/go-json-experiment/json"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/course"
	"boxoffice/engine/event"
)

// sendsCourse lists the fields of courses that a request sends with a value. A null does not count, nor does
// an empty unifiedPdf or unifiedVideo: these clear a field that an event of another category does not have anyway.
func sendsCourse(f *api.CourseFields) (names []string) {
	add := func(name string, sent bool) {
		if sent {
			names = append(names, name)
		}
	}
	add("courseType", f.CourseType.Set && !f.CourseType.Null)
	add("certificateTemplate", f.CertificateTemplate.Set && !f.CertificateTemplate.Null)
	add("syllabus", f.Syllabus.Set && !f.Syllabus.Null)
	add("unifiedPdf", f.UnifiedPDF.Value != "")
	add("unifiedVideo", f.UnifiedVideo.Value != "")
	add("unifiedMaterials", f.UnifiedMaterials.Set && !f.UnifiedMaterials.Null)
	add("exam", f.Exam.Set && !f.Exam.Null)
	return names
}

// touchesCourse reports whether an edit changes something that decides whether a course is complete.
func touchesCourse(f *api.EventFields) bool {
	return f.CourseType.Set || f.Syllabus.Set || f.UnifiedPDF.Set || f.UnifiedVideo.Set || f.UnifiedMaterials.Set || f.Exam.Set || f.OnlineLink.Set
}

// notACourse returns an issue for each field of courses that is sent for an event of another category.
func notACourse(t *event.Details, f *api.CourseFields) (issues []route.Issue) {
	if t.Category == event.Course {
		return nil
	}
	for _, name := range sendsCourse(f) {
		issues = append(issues, route.Issue{Path: name, Code: route.IssueUnsupported, Message: "is for the category online-course"})
	}
	return issues
}

// editContent writes into a course's content the fields that were sent. The lists that KeepIDs changes are
// copied, because the edit is made again on the same request if another one comes between.
func editContent(c *course.Content, f *api.CourseFields) {
	was := *c
	if f.CourseType.Set {
		if c.Type = f.CourseType.Value; f.CourseType.Null {
			c.Type = course.Unified
		}
	}
	f.CertificateTemplate.Into(&c.Certificate)
	if f.Syllabus.Set {
		c.Lessons = slices.Clone(f.Syllabus.Value) // KeepIDs changes the list below, and the edit may be made twice.
	}
	f.UnifiedPDF.Into(&c.PDF)
	f.UnifiedVideo.Into(&c.Video)
	f.UnifiedMaterials.Into(&c.Materials)
	if f.Exam.Set {
		if c.Exam = nil; !f.Exam.Null {
			exam := f.Exam.Value
			exam.Questions = slices.Clone(exam.Questions)
			c.Exam = &exam
		}
	}
	// A lesson or question that is sent again keeps its id.
	c.KeepIDs(&was, rand.Text)
}

// newCourseIssues returns what is wrong with the course of a new event, and what it lacks. An event of another
// category may have no fields of courses.
func newCourseIssues(t *event.Details, f *api.CourseFields) []route.Issue {
	if t.Category != event.Course {
		return notACourse(t, f)
	}
	c := course.Content{Type: course.Unified}
	editContent(&c, f)
	return issuesOf(append(c.Wrong(), c.Missing()...))
}

// issuesOf turns the problems that the rules of courses find into issues of the request.
func issuesOf(problems []course.Problem) (issues []route.Issue) {
	for _, p := range problems {
		issues = append(issues, route.Issue(p))
	}
	return issues
}

// writeCourse stores the content of a course before the event's actor gets the change, so that an event never names
// content that is missing. An edit of the content must leave the course complete; an edit of only the certificate
// need not. It returns the content, or nil for an event that is not a course, and sets the event's branding.
func (h *Handlers) writeCourse(c *route.Call, number int64, t *event.Details, f *api.EventFields) (*course.Content, error) {
	if t.Category != event.Course {
		return nil, nil //nolint:nilnil // an event that is no course
	}
	var content *course.Content
	var err error
	if touches := touchesCourse(f); touches || f.CertificateTemplate.Set {
		var refusal error
		content, err = h.Courses.Edit(c.Context, number, func(content *course.Content) error {
			editContent(content, &f.CourseFields)
			if wrong := content.Wrong(); len(wrong) > 0 {
				refusal = route.Invalid(issuesOf(wrong)...)
			} else if touches {
				refusal = refuseIfIncomplete(content)
			}
			return refusal
		})
		if refusal != nil {
			return nil, refusal
		}
	} else {
		content, err = h.Courses.Read(c.Context, number)
	}
	if err != nil {
		return nil, err
	}
	return content, setCourseBranding(t, content)
}

// refuseIfIncomplete returns a COURSE_INCOMPLETE refusal with the first thing that a course lacks, or nil.
func refuseIfIncomplete(c *course.Content) error {
	if missing := c.Missing(); len(missing) > 0 {
		return engine.Refuse(engine.CourseIncomplete, missing[0])
	}
	return nil
}

// setCourseBranding writes the course's type and certificate template from its content into the event's branding.
func setCourseBranding(t *event.Details, c *course.Content) error {
	branding := map[string]api.JSON{}
	if err := json.Unmarshal(view.Object(t.Branding), &branding); err != nil {
		return err
	}
	// An event's record has no fields for courses, so its branding says what kind of course
	// it is.
	for name, value := range map[string]*string{"courseType": &c.Type, "certificateTemplate": view.Optional(c.Certificate)} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		branding[name] = text
	}
	// The order of the members is fixed, so that an edit which changes nothing leaves the same bytes.
	text, err := json.Marshal(branding, json.Deterministic(true))
	t.Branding = text
	return err
}

// checkCourse refuses to publish or sell a course that is not complete. It does not check one that is public
// already: that was complete when it became public, and edits keep it so.
func (h *Handlers) checkCourse(c *route.Call, number int64, to event.Move) error {
	if !slices.Contains(event.Public, to.To) {
		return nil
	}
	r, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), event.Get{})
	if err != nil || r.Details.Category != event.Course || slices.Contains(event.Public, r.Status) {
		return err
	}
	content, err := h.Courses.Read(c.Context, number)
	if err != nil {
		return err
	}
	return refuseIfIncomplete(content)
}

// showCourse adds a course's whole content to an event that is shown to its organization. It adds nothing if c is nil.
func showCourse(v *api.Event, c *course.Content) {
	if c == nil {
		return
	}
	showPublicCourse(v, c)
	for i := range c.Lessons {
		v.Syllabus[i].Lesson = c.Lessons[i]
	}
	v.UnifiedPDF, v.UnifiedVideo, v.UnifiedMaterials, v.Exam = api.Shown(c.PDF), api.Shown(c.Video), view.List(c.Materials), c.Exam
}

// showPublicCourse adds the public part of a course's content to an event: its type, its certificate template,
// and the lessons with their names and descriptions, without their material.
func showPublicCourse(v *api.Event, c *course.Content) {
	v.CourseType, v.CertificateTemplate = &c.Type, api.Shown(c.Certificate)
	v.Syllabus = make([]api.PlacedLesson, len(c.Lessons))
	for i := range c.Lessons {
		v.Syllabus[i] = api.PlacedLesson{Order: i + 1, Lesson: c.Lessons[i].Public(), Description: view.Optional(c.Lessons[i].Description)}
	}
}
