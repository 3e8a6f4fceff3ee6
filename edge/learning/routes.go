package learning

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// Routes are the area's rows. Learners need a session. Everybody can check certificates.
func (h *Handlers) Routes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1/courses",
			Tag:    "Courses",
			Auth:   route.User,
			Tier:   route.TierPublic,
			Rows: []route.Op{
				{
					Method:      "GET",
					Path:        "/mine",
					ID:          "listMyCourses",
					Summary:     "List the courses that one has bought",
					Description: "For a learner's shelf: the courses of which the account's address holds a good ticket, with how far the learner has come. It needs a session whose address is proven, as all of a learner's operations.",
					Handler:     route.Handle(h.myCourses),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/courses/{eventId}",
			Tag:    "Courses",
			Auth:   route.User,
			Tier:   route.TierPublic,
			Errors: codes{engine.CourseNotFound, engine.NotACourse, engine.NotABuyer},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "getCourse",
					Summary:     "Read a course that one has bought",
					Description: "The holder of a ticket reads the whole course here; links to our files end after 15 minutes. Opening it ends the right to withdraw from the purchase.",
					Handler:     route.Handle(h.getCourse),
				},
				{
					Method:      "POST",
					Path:        "/lessons/{index}/complete",
					ID:          "completeLesson",
					Summary:     "Mark a lesson as done",
					Description: "The learner says that a lesson of a syllabus is done; said again, it stays so. The last one completes the course, and issues the certificate, unless there is an exam that is not passed.",
					Tier:        route.TierStrict,
					Errors:      codes{engine.NotASyllabus, engine.InvalidLesson},
					Handler:     route.Handle(h.completeLesson),
				},
				{
					Method:      "DELETE",
					Path:        "/lessons/{index}/complete",
					ID:          "reopenLesson",
					Summary:     "Mark a lesson as not done",
					Description: "The learner takes back that a lesson is done. A certificate that was earned stays.",
					Tier:        route.TierStrict,
					Errors:      codes{engine.NotASyllabus, engine.InvalidLesson},
					Handler:     route.Handle(h.reopenLesson),
				},
				{
					Method:      "POST",
					Path:        "/complete",
					ID:          "completeCourse",
					Summary:     "Mark a unified course as done",
					Description: "The learner says that a unified course is done; said again, it stays so. That completes the course, and issues the certificate, unless there is an exam that is not passed.",
					Tier:        route.TierStrict,
					Errors:      codes{engine.NotUnified},
					Handler:     route.Handle(h.completeUnit),
				},
				{
					Method:      "GET",
					Path:        "/exam",
					ID:          "getExam",
					Summary:     "Read a course's exam",
					Description: "The questions of the exam for who holds a ticket, and how the learner stands. What is right, and why, is not in it.",
					Errors:      codes{engine.NoExam},
					Handler:     route.Handle(h.getExam),
				},
				{
					Method:      "POST",
					Path:        "/exam/submit",
					ID:          "submitExam",
					Summary:     "Answer a course's exam",
					Description: "The learner answers all questions at once, ten times an hour at most, and gets the verdict on each. Having passed once is for good; explanations come with an attempt that passes.",
					Tier:        route.TierStrict,
					Errors:      codes{engine.NoExam, engine.InvalidAnswers},
					Handler:     route.Handle(h.submitExam),
				},
				{
					Method:      "GET",
					Path:        "/certificate",
					ID:          "getCertificate",
					Summary:     "Read the certificate that one has earned",
					Description: "The certificate as a PDF, with the number by which everybody can check it. There is none before the course is complete.",
					Errors:      codes{engine.NoCertificate},
					Handler:     route.Bytes([]string{"application/pdf"}, h.getCertificate),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/public/certificates/{number}",
			Tag:    "Courses",
			Auth:   route.Public,
			Tier:   route.TierPublic,
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "checkCertificate",
					Summary:     "Check a certificate by its number",
					Description: "Somebody who is shown a certificate asks here whether it is real and still holds. It names the holder, the course and the organization, as they were when it was issued.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.checkCertificate),
				},
			},
		},
	)
}
