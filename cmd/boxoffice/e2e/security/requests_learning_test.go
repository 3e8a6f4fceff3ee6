package security

import (
	"boxoffice/cmd/boxoffice/nodetest"
)

// learningRequests are those of who has bought an online course.
func (w *world) learningRequests() map[string]func() request {
	enroll := func(changes nodetest.Object) request {
		body := nodetest.With(nodetest.EventBody(), nodetest.Object{
			"category": "online-course", "endDate": nodetest.Absent, "unifiedVideo": nodetest.URI(30), "certificateTemplate": "cert-1",
		})
		a := w.Own("POST", "/organizer/events", nodetest.With(body, changes)).Is(201, "")
		event := "/organizer/events/" + a.Str("id")
		ticketType := w.Own("POST", event+"/tickets", nodetest.TypeBody(0, -1)).Is(201, "").Str("id")
		w.Own("POST", event+"/publish", nil).Is(200, "")
		buyer := w.email()
		w.Call("POST", "/orders", nodetest.OrderBody(buyer, ticketType, 1)).Is(201, "")
		r := naming("eventId", a.Str("numericId"))
		r.person = w.person(buyer).Str("accessToken")
		w.Becomes("200", func() string {
			if w.As(r.person).Own("GET", "/courses/"+a.Str("numericId"), nil).Status == 200 {
				return "200"
			}
			return ""
		})
		return r
	}
	unified := func() request { return enroll(nil) }
	lesson := func() request {
		r := enroll(nodetest.Object{"courseType": "syllabus", "syllabus": []nodetest.Object{
			{"title": "One", "duration": "A week", "skillLevel": "Beginner", "format": "Live", "lessonPdf": nodetest.URI(30), "writeup": "w", "lessonPin": "p", "description": "d"},
		}})
		r.params["index"] = "0"
		return r
	}
	exam := func() request {
		return enroll(nodetest.Object{"exam": nodetest.Object{"enabled": true, "questions": []nodetest.Object{
			{"prompt": "Which?", "options": []string{"a", "b"}, "correctIndex": 1, "explanation": "e"},
		}}})
	}
	certified := func() (r request, number string) {
		r = unified()
		a := w.As(r.person).Own("POST", "/courses/"+r.params["eventId"]+"/complete", nil).Is(200, "")
		return r, a.Str("certificate.number")
	}
	return map[string]func() request{
		"listMyCourses": func() request {
			r := request{}.by(unified().person)
			r.mailbox = true
			return r
		},
		"getCourse":      lessonless(lesson),
		"completeLesson": lesson,
		"reopenLesson":   lesson,
		"completeCourse": unified,
		"getExam":        exam,
		"submitExam":     func() request { return exam().with(nodetest.Object{"answers": []any{}}) },
		"getCertificate": func() request {
			r, _ := certified()
			return r
		},
		"checkCertificate": func() request {
			_, number := certified()
			return naming("number", number)
		},
	}
}

// lessonless is a request without the lesson that it names.
func lessonless(make func() request) func() request {
	return func() request {
		r := make()
		delete(r.params, "index")
		return r
	}
}
