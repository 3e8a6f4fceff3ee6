package api

import (
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine/course"
)

// CourseFields are the fields of EventFields that only events of the category online-course may have.
type CourseFields struct {
	CourseType          route.Opt[string]            `json:"courseType,omitzero" enum:"unified,syllabus" description:"unified: the course is one PDF or video; syllabus: it has lessons. unified by default, of the category online-course alone."`
	CertificateTemplate route.Opt[string]            `json:"certificateTemplate,omitzero" enum:"cert-1,cert-2,cert-3,cert-4,cert-5,cert-6,cert-7,cert-8" description:"The design of the certificate that a learner earns; null: none is issued."`
	Syllabus            route.Opt[[]course.Lesson]   `json:"syllabus,omitzero" maxItems:"200" description:"The lessons of a syllabus, in order. What is sent replaces all; lessons that keep their id or title keep their learners' progress."`
	UnifiedPDF          route.Opt[string]            `json:"unifiedPdf,omitzero" format:"hosted" maxLength:"2048" description:"The PDF of a unified course: an http(s) address, or /media/<id>. A unified course needs it or unifiedVideo."`
	UnifiedVideo        route.Opt[string]            `json:"unifiedVideo,omitzero" format:"hosted" maxLength:"2048" description:"The video of a unified course: an http(s) address, or /media/<id>."`
	UnifiedMaterials    route.Opt[[]course.Material] `json:"unifiedMaterials,omitzero" maxItems:"10" description:"Files and pages beside a unified course. What is sent replaces all."`
	Exam                route.Opt[course.Exam]       `json:"exam,omitzero" description:"The exam at the end of the course; null removes it."`
}

// Course is what an event teaches, in the event's record. Its organization sees everything. The public sees
// only the type of the course, the certificate's design, and what the lessons are about.
type Course struct {
	CourseType          *string           `json:"courseType,omitzero" description:"unified or syllabus, of the category online-course alone."`
	CertificateTemplate Hidden            `json:"certificateTemplate,omitzero" description:"The design of the certificate that a learner earns; null: none is issued."`
	Syllabus            []PlacedLesson    `json:"syllabus,omitzero" description:"The lessons of a syllabus, in order. The public sees what they are about, and not what is in them."`
	UnifiedPDF          Hidden            `json:"unifiedPdf,omitzero" description:"The PDF of a unified course, null without one. Only the organization is shown it here."`
	UnifiedVideo        Hidden            `json:"unifiedVideo,omitzero" description:"The video of a unified course, null without one. Only the organization is shown it here."`
	UnifiedMaterials    []course.Material `json:"unifiedMaterials,omitzero" description:"Files and pages beside a unified course. Only the organization is shown them here."`
	Exam                *course.Exam      `json:"exam,omitzero" description:"The exam with its answers. Only the organization is shown it here."`
}

// PlacedLesson is a lesson with its place in the course.
type PlacedLesson struct {
	Order int `json:"order" description:"The lesson's place, from 1."`
	course.Lesson
	Description *string `json:"description" description:"What the lesson is about; null if nothing is said."`
}

// CourseID names a course by its event's number. Any other text is answered as a course that does not exist,
// and not as an invalid request.
type CourseID struct {
	EventID string `path:"eventId" maxLength:"128" example:"1024" description:"The number of the course's event. Its UUID names no course here."`
}

// LessonIndex names a lesson by its place in the course.
type LessonIndex struct {
	CourseID
	Index string `path:"index" maxLength:"128" description:"The place of the lesson in the course, from 0."`
}

// SubmitExam has a learner's answers to the questions of an exam, which make one attempt.
type SubmitExam struct {
	CourseID
	Answers route.Opt[JSON] `json:"answers,omitzero" maxLength:"100000" example:"[{\"questionId\":\"4KX7QWJ2MZ5RT3VN6YBLCDHFGA\",\"selectedIndex\":0}]" description:"A list of { questionId, selectedIndex } in any order, the index from 0. A question without an answer counts as wrong."`
}

// CourseMeta is a short description of a course: its title, its type and its certificate's design.
type CourseMeta struct {
	ID                  string  `json:"id" example:"1024" description:"The number of the course's event."`
	Title               string  `json:"title" example:"Sourdough from scratch" description:"The event's title."`
	CourseType          string  `json:"courseType" enum:"unified,syllabus" description:"A syllabus has lessons, a unified course one piece of content."`
	CertificateTemplate *string `json:"certificateTemplate" example:"cert-1" description:"How its certificate looks; null: the course issues none."`
}

// ExamStatus sums up a learner's attempts at an exam.
type ExamStatus struct {
	AttemptsUsed   int  `json:"attemptsUsed" description:"How many attempts the learner has made in all."`
	BestScorePct   *int `json:"bestScorePct" description:"The best attempt, in percent; null before the first one."`
	LatestScorePct *int `json:"latestScorePct" description:"The last attempt, in percent; null before the first one."`
	Passed         bool `json:"passed" description:"Whether any attempt has passed. Once is for good."`
}

// CourseProgress says which lessons of a course a learner has done, and how the learner stands in its exam.
type CourseProgress struct {
	TotalLessons     int         `json:"totalLessons" description:"How many lessons there are; 1 for a unified course."`
	CompletedLessons []int       `json:"completedLessons" description:"The lessons that are done, by their places from 0."`
	PercentComplete  int         `json:"percentComplete" description:"The share of lessons that are done, in whole percent, rounded down. The exam is not in it."`
	IsComplete       bool        `json:"isComplete" description:"Whether all lessons are done, and the exam, if there is one, is passed."`
	CertificateID    *string     `json:"certificateId" description:"The id of the certificate that was earned; null until then."`
	Exam             *ExamStatus `json:"exam" description:"How the learner stands in the exam; null without one."`
}

// MyCourse is a course for which the caller holds a ticket, with the caller's progress.
type MyCourse struct {
	Meta     CourseMeta     `json:"meta" description:"What the course is."`
	Progress CourseProgress `json:"progress" description:"How far the caller has come."`
}

// MyCourses are the courses for which the caller holds a ticket. Those that the caller has begun come first.
type MyCourses struct {
	Courses []MyCourse `json:"courses" description:"The courses of which the caller holds a ticket: those that were begun first, then the newest."`
}

// LearnerLesson is a lesson with its content, which only learners see, and whether the caller has done it.
type LearnerLesson struct {
	Index int `json:"index" description:"The lesson's place in the course, from 0."`
	course.Lesson
	Description *string `json:"description" description:"What the lesson is about; null if nothing is said."`
	PDF         *string `json:"lessonPdf" description:"The lesson as a PDF; null without one. A file of ours by a link of 15 minutes."`
	Video       *string `json:"lessonVideo" description:"The lesson as a video; null without one. A file of ours by a link of 15 minutes."`
	Writeup     *string `json:"writeup" description:"The lesson as a text; null without one."`
	PIN         *string `json:"lessonPin" description:"What opens the lesson elsewhere, such as a meeting's PIN; null without one."`
	Completed   bool    `json:"completed" description:"Whether the caller has marked it as done."`
}

// LearnerUnit is the content of a unified course, which has no lessons.
type LearnerUnit struct {
	PDF       *string           `json:"pdf" description:"The course as a PDF; null without one. A file of ours by a link of 15 minutes."`
	Video     *string           `json:"video" description:"The course as a video; null without one. A file of ours by a link of 15 minutes."`
	Materials []course.Material `json:"materials" description:"What else there is to take along; empty without any."`
	PIN       *string           `json:"pin" description:"What opens the course elsewhere, such as a meeting's PIN; null without one."`
	Completed bool              `json:"completed" description:"Whether the caller has marked it as done."`
}

// LearnerCourse is a course with its content, as its learners read it. Links to files that we host are valid
// for 15 minutes.
type LearnerCourse struct {
	Meta       CourseMeta      `json:"meta" description:"What the course is."`
	HolderName *string         `json:"holderName" description:"The caller's name, as a certificate would have it; null if nobody knows, and it has the e-mail address."`
	Progress   CourseProgress  `json:"progress" description:"How far the caller has come."`
	Lessons    []LearnerLesson `json:"lessons" description:"The lessons of a syllabus, in order; empty of a unified course."`
	Unified    *LearnerUnit    `json:"unified,omitzero" description:"What a unified course has in place of lessons; left out of a syllabus."`
}

// EarnedCertificate is a certificate as the learner who earned it is shown it.
type EarnedCertificate struct {
	ID       string    `json:"id" description:"The certificate's id, a UUID."`
	Number   string    `json:"number" example:"BX-7Q2MCKD3V5WXPB4N" description:"What everybody can check it by."`
	IssuedAt time.Time `json:"issuedAt" description:"When it was earned."`
	URL      string    `json:"url" example:"https://boxoffice.example/api/v1/courses/1024/certificate" description:"Where its holder reads it as a PDF, with the session."`
}

// Learned is the answer when a learner marks a lesson or a unified course as done, or a lesson as not done.
type Learned struct {
	Completed     bool               `json:"completed" description:"Whether the course is complete now."`
	JustCompleted bool               `json:"justCompleted" description:"Whether this very step has completed it."`
	ExamRequired  bool               `json:"examRequired" description:"Whether there is an exam, and the learner has not passed it."`
	Certificate   *EarnedCertificate `json:"certificate" description:"The certificate that was earned; null without one."`
	Progress      CourseProgress     `json:"progress" description:"How far the learner has come now."`
}

// Exam is a course's exam as learners read it, without the right answers.
type Exam struct {
	EventID     string         `json:"eventId" example:"1024" description:"The number of the course's event."`
	PassMarkPct int            `json:"passMarkPct" example:"70" description:"The least score that passes, in percent."`
	Total       int            `json:"total" description:"How many questions there are."`
	Questions   []ExamQuestion `json:"questions" description:"The questions, in order, without what is right."`
	Status      ExamStatus     `json:"status" description:"How the learner stands in it."`
}

// ExamQuestion is a question of an exam with the options to choose from, without the right answer.
type ExamQuestion struct {
	ID      string   `json:"id" example:"4KX7QWJ2MZ5RT3VN6YBLCDHFGA" description:"The question's id, which its answer names."`
	Prompt  string   `json:"prompt" example:"When is the dough ready?" description:"What is asked."`
	Options []string `json:"options" description:"What to choose from; an answer names the place of one, from 0."`
}

// ExamResult is the result of one attempt at an exam, and what the course has come to with it.
type ExamResult struct {
	ScorePct      int                `json:"scorePct" description:"The score of this attempt, in percent."`
	Passed        bool               `json:"passed" description:"Whether this attempt has passed."`
	PassMarkPct   int                `json:"passMarkPct" example:"70" description:"The least score that passes, in percent."`
	CorrectCount  int                `json:"correctCount" description:"How many questions were answered rightly."`
	Total         int                `json:"total" description:"How many questions there are."`
	PerQuestion   []QuestionResult   `json:"perQuestion" description:"The verdict on each question, in order."`
	Status        ExamStatus         `json:"status" description:"How the learner stands after this attempt."`
	Completed     bool               `json:"completed" description:"Whether the course is complete now."`
	JustCompleted bool               `json:"justCompleted" description:"Whether this attempt has completed it."`
	Certificate   *EarnedCertificate `json:"certificate" description:"The certificate that was earned; null without one."`
	Progress      CourseProgress     `json:"progress" description:"How far the learner has come now."`
}

// QuestionResult tells whether an attempt at an exam answered one question correctly.
type QuestionResult struct {
	QuestionID  string `json:"questionId" example:"4KX7QWJ2MZ5RT3VN6YBLCDHFGA" description:"The question, by its id."`
	Correct     bool   `json:"correct" description:"Whether it was answered rightly."`
	Explanation string `json:"explanation,omitzero" description:"Why, in the teacher's words; only of an attempt that has passed."`
}

// CertificateNumber names a certificate by the number that is printed on it.
type CertificateNumber struct {
	Number string `path:"number" format:"id" maxLength:"64" description:"The number on the certificate."`
}

// PublicCertificate is what everybody who knows a certificate's number may see of the certificate.
type PublicCertificate struct {
	Number       string    `json:"number" example:"BX-7Q2MCKD3V5WXPB4N" description:"The certificate's number."`
	Valid        bool      `json:"valid" description:"Whether it still holds: false once the ticket by which it was earned was refunded or cancelled."`
	HolderName   string    `json:"holderName" example:"Ada Obi" description:"Whose it is, as it was issued."`
	Title        string    `json:"title" example:"Sourdough from scratch" description:"The course's title, as it was then."`
	Organization string    `json:"organization" example:"Harbour School" description:"The organization that issued it, as it was called then."`
	IssuedAt     time.Time `json:"issuedAt" description:"When it was earned."`
}
