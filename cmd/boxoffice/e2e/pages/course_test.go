package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestCourses makes an online course of a lesson at the organizer's desk (make pages).
func TestCourses(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org() // there is an owner
	as := size{width: 320, height: 640, scale: 2, touch: true}
	window := openBrowser(t).open(t, strings.TrimSuffix(s.URL, "/api/v1")+"/organizer/events/new?kind=online-course", as)
	o := &organizer{began: time.Now(), width: as.width, buyer: buyer{window: window, shop: s, name: "courses", axe: readAxe(t)}}
	o.fill("#email", "owner@example.org")
	o.fill("#password", "correct horse")
	o.insist("form button.wide", "#title")
	o.fill("#title", "Knots for Beginners")
	o.set("#start", time.Now().AddDate(0, 1, 0).Format("2006-01-02")+"T20:00")
	o.set("#end", "")
	o.choose(`input[value="online"]`)
	o.fill("#description", "Seven knots that hold and come undone again, each shown slowly from both sides.")
	o.choose(`input[value="syllabus"]`)
	o.choose("#add-lesson")
	o.fill("#lesson-0", "The bowline")
	o.set("#lesson-0-duration", "3 days")
	o.choose("#save")
	o.step("what-is-wrong", "#lesson-0-video[aria-invalid]")
	o.forget() // the refusal is in the browser's log
	o.fill("#lesson-0-video", "https://films.example.org/bowline")
	o.choose("#save")
	o.there("#add-type")
	event := strings.Split(fmt.Sprint(o.evaluate("location.pathname")), "/")[3]
	got := s.Own("GET", "/organizer/events/"+event, nil).Is(200, "")
	for path, want := range map[string]string{"title": "The bowline", "duration": "3 days", "lessonVideo": "https://films.example.org/bowline"} {
		require.Equal(t, want, got.Str("syllabus.0."+path))
	}

	t.Log("a lesson that is renamed stays the same lesson")
	o.choose(`main nav a[href$="` + event + `"]`)
	o.until(`document.querySelector("#lesson-0")?.value === "The bowline"`)
	o.fill("#lesson-0", "The king of knots")
	o.choose("#save")
	renamed := func() nodetest.Answer { return s.Own("GET", "/organizer/events/"+event, nil).Is(200, "") }
	require.Eventually(t, func() bool { return renamed().Str("syllabus.0.title") == "The king of knots" }, browserTime/2, 50*time.Millisecond)
	require.Equal(t, got.Str("syllabus.0.id"), renamed().Str("syllabus.0.id"))

	t.Log("a text and a picture are sent, and saving waits for the picture")
	o.load(o.origin + "organizer/events/" + event)
	o.there("#lesson-0-pdf-file")
	o.evaluate(`(() => {
		const t = new DataTransfer(), f = document.querySelector("#lesson-0-pdf-file");
		t.items.add(new File(["%PDF-1.4\n%%EOF\n"], "knots.pdf", {type: "application/pdf"}));
		f.files = t.files;
		f.dispatchEvent(new Event("change", {bubbles: true}));
	})()`)
	o.until(`document.querySelector("#lesson-0-pdf").value.startsWith("/media/")`)
	o.step("text", "#lesson-0-pdf-file")
	o.run(`(() => {
		const c = new OffscreenCanvas(600, 400), d = c.getContext("2d");
		d.fillStyle = "#2b6";
		d.fillRect(0, 0, 600, 400);
		return c.convertToBlob().then((blob) => {
			const t = new DataTransfer(), f = document.querySelector("#cover");
			t.items.add(new File([blob], "knots.png", {type: "image/png"}));
			f.files = t.files;
			f.dispatchEvent(new Event("change", {bubbles: true}));
			document.querySelector("#save").click();
		});
	})()`)
	require.Eventually(t, func() bool { return strings.HasPrefix(fmt.Sprint(renamed().Data("coverImage")), "/media/") }, browserTime/2, 50*time.Millisecond)
	require.Regexp(t, `^/media/\d+$`, renamed().Str("syllabus.0.lessonPdf"))
	o.examine(renamed)
	o.faultless()
}

// examine gives the course an exam, a certificate and a material that is the text that was sent before, and the event a
// line-up and one more picture, which is its cover.
func (o *organizer) examine(saved func() nodetest.Answer) {
	o.t.Helper()
	o.until(`!document.querySelector("#save").disabled && document.querySelector(".cover img").src.includes("/media/")`)
	o.set("#certificate", "cert-3")
	o.choose("#exam")
	o.fill("#question-0", "Which knot makes a loop that does not slip?")
	o.fill("#option-0-0", "The bowline")
	o.fill("#option-0-1", "The reef knot")
	o.choose("#lesson-0-materials-add")
	o.fill("#lesson-0-materials-0-name", "All knots on one page")
	o.choose("#lesson-0-materials-0-file-before")
	o.step("files", ".panel .take")
	o.choose(".panel .take")
	o.until(`document.querySelector("#lesson-0-materials-0-file").value.startsWith("/media/")`)
	o.choose("#gallery-file-before")
	o.step("pictures", ".panel .take img")
	o.choose(".panel .take")
	o.there("#gallery img")
	o.choose("#lineup summary")
	o.choose("#add-act")
	o.fill("#act-0-name", "Adaeze Obi")
	o.set("#act-0-kind", "speaker")
	o.step("lineup", "#act-0-name")
	o.choose("#save")
	require.Eventually(o.t, func() bool { return saved().Str("certificateTemplate") == "cert-3" }, browserTime/2, 50*time.Millisecond)
	got := saved()
	require.Equal(o.t, "Which knot makes a loop that does not slip? The bowline 0 70 true", fmt.Sprint(got.Str("exam.questions.0.prompt"), " ", got.Str("exam.questions.0.options.0"), " ", got.Data("exam.questions.0.correctIndex"), " ", got.Data("exam.passMarkPct"), " ", got.Data("exam.enabled")))
	require.Equal(o.t, got.Str("syllabus.0.lessonPdf"), got.Str("syllabus.0.materials.0.url"))
	require.Equal(o.t, got.Str("coverImage"), got.Str("gallery.0"))
	require.Equal(o.t, "speaker Adaeze Obi", got.Str("entities.0.kind")+" "+got.Str("entities.0.name"))
	o.load(o.origin + "organizer/events/" + got.Str("id"))
	o.until(`document.querySelector("#question-0")?.value.startsWith("Which knot") && document.querySelector("[name=right-0]").checked && document.querySelector("#lineup summary").innerText.includes("(1)")`)
}
