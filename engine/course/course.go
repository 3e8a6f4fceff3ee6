// Package course says what an online course teaches: its lessons, or its one unit, and its exam. It
// finds out what a course lacks before it can be sold, and grades exams. It has no state: a
// course's content is in a table beside the event's record.
package course

import (
	"fmt"
	"slices"
)

// These are the types of courses. A syllabus has lessons; a unified course is one unit.
const (
	Unified  = "unified"
	Syllabus = "syllabus"
)

// Unit is the id under which the one unit of a unified course is marked as done.
const Unit = "unit"

// Content is everything that a course contains.
type Content struct {
	Type        string     `json:"courseType"`
	Certificate string     `json:"certificateTemplate,omitzero"` // template of the certificate; "" if none is issued
	Lessons     []Lesson   `json:"syllabus,omitzero"`
	PDF         string     `json:"unifiedPdf,omitzero"`
	Video       string     `json:"unifiedVideo,omitzero"`
	Materials   []Material `json:"unifiedMaterials,omitzero"`
	Exam        *Exam      `json:"exam,omitzero"`
}

// Lesson is a lesson of a syllabus. Its id stays the same across edits.
type Lesson struct {
	ID          string     `json:"id,omitzero" maxLength:"64" description:"The id of a lesson that is there, or was, which so keeps its learners' progress; without one, a lesson of the same title does."`
	Title       string     `json:"title" required:"true" format:"name" minLength:"1" maxLength:"200" example:"First steps" description:"The lesson's title."`
	Description string     `json:"description,omitzero" maxLength:"2000" description:"What the lesson is about."`
	Duration    string     `json:"duration,omitzero" enum:"1-4 hours,8-12 hours,24 hours,3 days,A week,2 Weeks,4 Weeks,3 months,6 months" description:"How long it takes; a syllabus is complete when each lesson says so."`
	SkillLevel  string     `json:"skillLevel,omitzero" enum:"Beginner,Intermediate,Advanced,All levels" description:"Whom it is for; a syllabus is complete when each lesson says so."`
	Format      string     `json:"format,omitzero" enum:"Self-paced,Live" description:"Whether one learns alone or at a set time; a syllabus is complete when each lesson says so."`
	PDF         string     `json:"lessonPdf,omitzero" format:"hosted" maxLength:"2048" description:"The lesson's PDF, for learners only: an http(s) address, or /media/<id>. A lesson needs it or lessonVideo."`
	Video       string     `json:"lessonVideo,omitzero" format:"hosted" maxLength:"2048" description:"The lesson's video, for learners only: an http(s) address, or /media/<id>."`
	Materials   []Material `json:"materials,omitzero" maxItems:"10" description:"Files and pages beside the lesson, for learners only."`
	Platform    string     `json:"streamingPlatform,omitzero" maxLength:"100" description:"Where a live lesson is streamed, in words."`
	Writeup     string     `json:"writeup,omitzero" maxLength:"2000" description:"A text of the lesson, for learners only."`
	PIN         string     `json:"lessonPin,omitzero" maxLength:"500" description:"What one needs to open the lesson, for learners only."`
}

// Public returns what everybody may see of a lesson. Its content and its PIN are for learners only.
func (l Lesson) Public() Lesson {
	return Lesson{Title: l.Title, Description: l.Description, Duration: l.Duration, SkillLevel: l.SkillLevel, Format: l.Format}
}

// Material is a file or a page beside a lesson.
type Material struct {
	Name string `json:"name" required:"true" format:"name" minLength:"1" maxLength:"200" description:"What the file or page is called."`
	URL  string `json:"url" required:"true" format:"hosted" minLength:"1" maxLength:"2048" description:"Where it is: an http(s) address, or /media/<id> of a file of the organization's."`
}

// Exam is a course's exam.
type Exam struct {
	Enabled   bool       `json:"enabled" description:"True: the course is done only once the exam is passed; it then needs a question."`
	PassMark  int        `json:"passMarkPct" minimum:"1" maximum:"100" default:"70" description:"How many percent of the questions have to be right."`
	Questions []Question `json:"questions" maxItems:"50" description:"The questions, up to 50."`
}

// Question is a question of an exam. Its id stays the same across edits.
type Question struct {
	ID          string   `json:"id,omitzero" maxLength:"64" description:"The id of a question that is there; without one, a question of the same prompt keeps its id."`
	Prompt      string   `json:"prompt" required:"true" minLength:"1" maxLength:"1000" description:"The question."`
	Options     []string `json:"options" required:"true" minItems:"2" maxItems:"6" minLength:"1" maxLength:"1000" description:"What there is to choose from, 2 to 6."`
	Correct     int      `json:"correctIndex" required:"true" minimum:"0" maximum:"5" description:"Which option is right, from 0."`
	Explanation string   `json:"explanation,omitzero" maxLength:"1000" description:"Why it is right, told to whoever has passed."`
}

// Problem is something that a course has wrong or lacks.
type Problem struct {
	Path    string `json:"path"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Wrong lists the values that no course may have, not even a draft.
func (c *Content) Wrong() []Problem {
	var all []Problem
	if c.Exam == nil {
		return nil
	}
	for i, q := range c.Exam.Questions {
		if q.Correct >= len(q.Options) {
			all = append(all, Problem{fmt.Sprintf("exam.questions[%d].correctIndex", i), "maximum", "must be the index of an option"})
		}
	}
	return all
}

// Missing lists what the course lacks before it can be sold. A draft may lack it.
func (c *Content) Missing() []Problem {
	var all []Problem
	need := func(there bool, message, path string, args ...any) {
		if !there {
			all = append(all, Problem{fmt.Sprintf(path, args...), "required", message})
		}
	}
	if c.Type == Syllabus {
		need(len(c.Lessons) > 0, "a syllabus needs at least one lesson", "syllabus")
		for i := range c.Lessons {
			l := &c.Lessons[i]
			need(l.Duration != "", "is required", "syllabus[%d].duration", i)
			need(l.SkillLevel != "", "is required", "syllabus[%d].skillLevel", i)
			need(l.Format != "", "is required", "syllabus[%d].format", i)
			need(l.PDF != "" || l.Video != "", "a lesson needs lessonPdf or lessonVideo", "syllabus[%d].lessonVideo", i)
		}
	} else {
		need(c.PDF != "" || c.Video != "", "a unified course needs unifiedPdf or unifiedVideo", "unifiedVideo")
	}
	need(!c.Examines() || len(c.Exam.Questions) > 0, "an exam needs a question", "exam.questions")
	return all
}

// Examines reports whether learners have to pass an exam.
func (c *Content) Examines() bool { return c.Exam != nil && c.Exam.Enabled }

// Units returns the ids of the units that have to be completed, in the course's order.
func (c *Content) Units() []string {
	if c.Type != Syllabus {
		return []string{Unit}
	}
	ids := make([]string, len(c.Lessons))
	for i := range c.Lessons {
		ids[i] = c.Lessons[i].ID
	}
	return ids
}

// KeepIDs gives every lesson and question an id, so that learners keep their progress when the
// organizer edits a course. That is the id that the request sent back, or the id of the earlier one
// with the same title, or a fresh one.
func (c *Content) KeepIDs(was *Content, fresh func() string) {
	lessons := newNames(fresh)
	for i := range was.Lessons {
		lessons.addName(was.Lessons[i].ID, was.Lessons[i].Title)
	}
	// Ids that were sent back come first, so that a title can't take an id away from them.
	for i := range c.Lessons {
		lessons.claimID(&c.Lessons[i].ID)
	}
	for i := range c.Lessons {
		lessons.name(&c.Lessons[i].ID, c.Lessons[i].Title)
	}
	if c.Exam == nil {
		return
	}
	questions := newNames(fresh)
	if was.Exam != nil {
		for _, q := range was.Exam.Questions {
			questions.addName(q.ID, q.Prompt)
		}
	}
	for i := range c.Exam.Questions {
		questions.claimID(&c.Exam.Questions[i].ID)
	}
	for i := range c.Exam.Questions {
		questions.name(&c.Exam.Questions[i].ID, c.Exam.Questions[i].Prompt)
	}
}

// names gives out the ids of lessons or of questions, each only once.
type names struct {
	// These are the ids of the earlier version that no lesson or question of the new one has got yet.
	free  []named
	taken map[string]bool // ids that the request sent back
	fresh func() string
}

type named struct{ id, title string }

func newNames(fresh func() string) *names { return &names{taken: map[string]bool{}, fresh: fresh} }

// addName adds an id of the earlier version.
func (n *names) addName(id, title string) { n.free = append(n.free, named{id, title}) }

// claimID keeps an id that was sent back. It clears the id if another lesson in the request has it already. An
// id need not be in the earlier version: a lesson that is put back with the id of a removed one gives its
// learners their progress back.
func (n *names) claimID(id *string) {
	if *id == "" || n.taken[*id] {
		*id = ""
		return
	}
	n.taken[*id] = true
	n.free = slices.DeleteFunc(n.free, func(k named) bool { return k.id == *id })
}

// name gives an id to a lesson or question that has none yet: the free id of the same title, or a fresh one.
func (n *names) name(id *string, title string) {
	if *id != "" {
		return
	}
	i := slices.IndexFunc(n.free, func(k named) bool { return k.title == title })
	if i < 0 {
		*id = n.fresh()
		return
	}
	*id = n.free[i].id
	n.free = slices.Delete(n.free, i, i+1)
}

// Answer says which option a learner chose for a question. Selected counts the options from 0; it is nil if the
// learner chose none.
type Answer struct {
	Question string `json:"questionId"`
	Selected *int   `json:"selectedIndex"`
}

// Grade returns which questions were answered correctly, in the exam's order, and the score in
// percent, rounded down. A question with no answer or with two counts as wrong.
func (e *Exam) Grade(answers []Answer) (correct []bool, score int) {
	chosen, twice := map[string]*int{}, map[string]bool{}
	for _, a := range answers {
		_, twice[a.Question] = chosen[a.Question]
		chosen[a.Question] = a.Selected
	}
	correct = make([]bool, len(e.Questions))
	right := 0
	for i, q := range e.Questions {
		selected := chosen[q.ID]
		if correct[i] = selected != nil && !twice[q.ID] && *selected == q.Correct; correct[i] {
			right++
		}
	}
	if len(e.Questions) == 0 {
		return correct, 0
	}
	return correct, right * 100 / len(e.Questions)
}
