package pages

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestLearning takes a course from the ticket to the certificate: signs in, does the lessons, fails
// the exam, passes it, and opens the page by which everybody can check what was earned. Then the
// course grows, and at last its money goes back (make pages).
func TestLearning(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "german": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t)
			base := strings.TrimSuffix(s.URL, "/api/v1")
			lesson := func(title string) nodetest.Object {
				return nodetest.Object{
					"title": title, "description": "Seen slowly, from both sides.", "duration": "A week", "skillLevel": "Beginner", "format": "Self-paced", "lessonVideo": "https://films.example.org/" + strings.ReplaceAll(title, " ", "-"),
					"writeup": "Take a rope.\nMake a loop.", "lessonPin": "ROPE-7", "materials": []nodetest.Object{{"name": "Sheet to print", "url": "https://files.example.org/sheet.pdf"}},
				}
			}
			question := func(prompt string) nodetest.Object {
				return nodetest.Object{"prompt": prompt, "options": []string{"The bowline", "A granny knot"}, "correctIndex": 0, "explanation": "It holds, and comes undone."}
			}
			lessons := []nodetest.Object{lesson("The bowline"), lesson("The sheet bend")}
			event, ids := s.Sell(nodetest.Object{
				"title": "Knots for Beginners", "category": "online-course", "endDate": nodetest.Absent, "venueType": "online", "courseType": "syllabus", "certificateTemplate": "cert-1", "syllabus": lessons,
				"exam": nodetest.Object{"enabled": true, "questions": []nodetest.Object{question("Which knot holds?"), question("Which knot does a sailor tie first?")}},
			}, nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"type": "free", "name": "Course"}))
			order, token := s.Place("ada@example.org", ids[0], 1)
			b := &buyer{window: chromium.open(t, base+"/o/"+order+"#token="+token, as), shop: s, name: "learning-" + name, axe: axe}
			if name == "german" {
				b.choose(`.languages [lang="de"]`)
				b.until(`document.documentElement.lang === "de"`) // the page is loaded anew
			}
			b.choose(`a[href^="/learn/"]`)
			b.there("#email")
			learn := base + b.evaluate("location.pathname").(string)
			b.step("sign-in", "#email")
			b.signIn()
			b.lessons()
			b.exam()
			b.step("earned", "#share")
			b.choose("#share")
			b.step("certificate", "article svg")
			certificate := b.evaluate("location.href").(string)

			t.Log("the course grows: the certificate stays")
			s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"syllabus": append(lessons, lesson("The clove hitch"))}).Is(200, "")
			b.load(learn)
			b.step("changed", ".note.warn")

			t.Log("the ticket ends: so do the course and the certificate")
			s.Own("POST", "/organizer/orders/"+order+"/refund", nodetest.Object{"reason": "x"}).Is(200, "")
			require.NoError(t, s.AwaitLists(t.Context()))
			b.load(learn)
			b.step("ended", "#other")
			b.forget() // the refusal is in the browser's log
			b.load(certificate)
			b.step("holds-no-more", ".verdict.bad")
			b.load(base + "/certificates/BX-NONE")
			b.step("unknown", "h1 ~ .number")
			b.forget()
			b.faultless()
		})
	}
}

// signIn signs in where one stands, by mailed digits.
func (b *buyer) signIn() {
	b.t.Helper()
	began := time.Now()
	b.fill("#email", "ada@example.org")
	b.choose("form button.wide")
	b.there("#code")
	b.fill("#code", loginDigits.FindString(b.shop.Mail(b.t, "ada@example.org", "login_code", began).Text))
}

// lessons does both lessons, and one of them twice.
func (b *buyer) lessons() {
	b.t.Helper()
	b.step("lesson", "#done")
	b.choose("#done")
	b.until(`location.hash === "#lesson-2" && document.querySelector(".dot.done")`)
	b.choose(`nav a[href="#lesson-1"]`)
	b.choose("#reopen")
	b.until(`!document.querySelector(".dot.done")`)
	b.choose("#done")
	b.until(`location.hash === "#lesson-2" && document.querySelector(".dot.done")`)
	b.choose("#done")
	b.step("exam", "#begin")
}

// exam fails once, then passes.
func (b *buyer) exam() {
	b.t.Helper()
	b.choose("#begin")
	b.choose("#forth")
	b.step("choose-one", "#issue")
	b.choose(`input[value="1"]`)
	b.choose("#forth")
	b.until(`document.querySelectorAll("form .verbs button").length === 2`)
	b.choose(`input[value="0"]`)
	b.choose("#forth")
	b.step("not-passed", ".over #begin")
	for range 2 {
		b.choose("#begin, #forth")
		b.choose(`input[value="0"]`)
	}
	b.choose("#forth")
	b.step("passed", ".over .good")
}
