package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestDeskEvent looks at what an event's own part of the organizer's desk has besides its tickets and guests:
// how it sells beside the one before it, what happens when, the parts of its room, how its page looks, seat maps as files, and what has no
// place and no day.
func TestDeskEvent(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "german": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := openDesk(t, chromium, axe, "event-"+name, as)
			event := o.sellTwo()
			o.compareSales(event)
			o.planProgramme(event)
			o.divideRoom(event)
			o.designPage(event)
			o.bringMaps()
			o.fillInRareFields(event)
			o.sellBook()
			o.writeExam()
			o.faultless()
		})
	}
}

// sellTwo sells three tickets of an event and two of one that begins five days later, and returns the later one.
func (o *organizer) sellTwo() string {
	o.t.Helper()
	sell := func(title string, days, tickets int) string {
		begins := time.Duration(days) * 24 * time.Hour
		event, ids := o.shop.Sell(nodetest.Object{"title": title, "startDate": nodetest.Stamp(begins), "endDate": nodetest.Stamp(begins + 3*time.Hour)},
			nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"type": "free"}))
		o.shop.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], tickets)).Is(201, "")
		return event
	}
	sell("Spring gala", 5, 3)
	return sell("Autumn gala", 10, 2)
}

// compareSales sees how an event sells beside the one before it, and alone.
func (o *organizer) compareSales(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event + "/live")
	o.until(`document.querySelector("#curve .other") && document.querySelector("#curve .own")`)
	o.evaluate(`document.querySelector("#curve").scrollIntoView({block: "center"})`)
	o.step("curve", "#curve .other")
	require.Regexp(o.t, `(?s)Autumn gala: 2 .*10 .*Spring gala: 0 .*, 3 `, o.text("#curve ul"))
	o.set("#beside", "")
	o.until(`!document.querySelector("#curve .other") && document.querySelectorAll("#curve li").length === 1`)
	o.load(o.origin + "organizer/overview")
	o.until(`document.querySelector("#curve .own") && document.querySelectorAll("#curve li").length === 1`) // of the event that begins next
	o.evaluate(`document.querySelector("#curve").scrollIntoView({block: "end"})`)
	o.step("overview", "#curve .own")
}

// planProgramme puts two sessions into the schedule, the second on the day after, moves one and deletes the other.
func (o *organizer) planProgramme(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event + "/programme")
	o.step("no-programme", "#add-session")
	o.choose("#add-session")
	o.fill("#session-title", "Opening")
	begins := fmt.Sprint(o.evaluate(`document.querySelector("#session-start").value`)) // the event's own beginning
	start, err := time.Parse("2006-01-02T15:04", begins)
	require.NoError(o.t, err)
	o.set("#session-end", start.Add(-time.Hour).Format("2006-01-02T15:04"))
	o.evaluate(`document.querySelector(".panel form").noValidate = true`)
	o.choose("#save-session")
	o.step("ends-too-soon", ".panel [aria-invalid]")
	o.forget() // the refusal is in the browser's log
	o.set("#session-end", start.Add(time.Hour).Format("2006-01-02T15:04"))
	o.fill("#session-who", "Adaeze Obi")
	o.fill("#session-room", "Main stage")
	o.step("session", "#save-session")
	o.choose("#save-session")
	o.until(`document.querySelectorAll("main .session").length === 1 && !document.querySelector(".panel")`)
	o.choose("#add-session")
	o.fill("#session-title", "Breakfast")
	o.set("#session-start", start.AddDate(0, 0, 1).Format("2006-01-02T15:04"))
	o.set("#session-end", start.AddDate(0, 0, 1).Add(time.Hour).Format("2006-01-02T15:04"))
	o.choose("#save-session")
	o.until(`document.querySelectorAll("main .session").length === 2 && !document.querySelector(".panel")`)
	o.step("programme", "main .session")
	require.Equal(o.t, "Opening 1 Breakfast 2", o.sessions(event))
	o.evaluate(`[...document.querySelectorAll("main .session")].at(-1).click()`)
	o.choose("#drop-session")
	o.choose("#sure-yes")
	o.until(`document.querySelectorAll("main .session").length === 1 && !document.querySelector(".panel")`)
	o.choose("main .session")
	o.fill("#session-title", "Grand opening")
	o.choose("#save-session")
	o.until(`document.querySelector("main .session")?.innerText === "Grand opening" && !document.querySelector(".panel")`)
	require.Equal(o.t, "Grand opening 1", o.sessions(event))
}

// sessions are the titles and days of what happens at an event.
func (o *organizer) sessions(event string) string {
	o.t.Helper()
	var all []string
	for _, s := range o.shop.Own("GET", "/organizer/events/"+event+"/schedule", nil).Is(200, "").Data("sessions").([]any) {
		all = append(all, fmt.Sprint(s.(nodetest.Object)["sessionTitle"], " ", s.(nodetest.Object)["dayNumber"]))
	}
	return strings.Join(all, " ")
}

// divideRoom names a part of the room, changes it, and deletes it once no ticket names it.
func (o *organizer) divideRoom(event string) {
	o.t.Helper()
	o.choose("#add-part")
	o.fill("#part-name", "Balcony")
	o.fill("#part-holds", "250")
	o.step("part", "#save-part")
	o.choose("#save-part")
	o.there("main .part")
	o.choose("main .part")
	o.fill("#part-holds", "200")
	o.choose("#save-part")
	o.until(`document.querySelector("main .part")?.parentElement.innerText.includes("200") && !document.querySelector(".panel")`)
	require.Equal(o.t, 200., o.shop.Own("GET", "/organizer/events/"+event+"/sections", nil).Is(200, "").Data("sections.0.capacity"))
	drop := func() {
		o.load(o.origin + "organizer/events/" + event + "/programme")
		o.choose("main .part")
		o.choose("#drop-part")
		o.choose("#sure-yes")
	}
	nameOnType := func(which int) {
		o.load(o.origin + "organizer/events/" + event + "/tickets")
		o.choose("main .type button")
		o.there("#type-part")
		o.evaluate(fmt.Sprintf(`(() => { const f = document.querySelector("#type-part"); f.selectedIndex = %d; f.dispatchEvent(new Event("change", {bubbles: true})); })()`, which))
		o.choose("#save-type")
		o.until(`!document.querySelector("#save-type")`)
	}
	nameOnType(1)
	drop()
	o.step("part-in-use", ".panel .note.warn")
	o.forget() // the refusal is in the browser's log
	nameOnType(0)
	drop()
	o.until(`!document.querySelector("main .part") && !document.querySelector(".panel")`)
}

// designPage chooses how the event's page looks, which the preview shows at once, and the page once it is saved.
func (o *organizer) designPage(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event + "/page")
	o.step("page", "#preview .hero")
	o.set("#layout", "festival")
	o.set("#hero", "gradient")
	o.set("#primaryColor", "#7a0b2e")
	o.set("#textColor", "#dddddd")
	o.there(".note.warn") // it can't be read on white
	o.set("#textColor", "#1a1a1a")
	o.fill("#cta", "Come along")
	o.choose("#showPoweredBy")
	o.choose("#add-faq")
	o.fill("#question-0", "Is there parking?")
	o.fill("#answer-0", "Behind the hall.")
	o.choose("#add-link")
	o.fill("#platform-0", "instagram")
	o.fill("#address-0", "https://instagram.example/gala")
	o.until(`document.querySelector("#preview.festival .gradient") && /Come along[^]*Is there parking/.test(document.querySelector("#preview").innerText)`)
	o.step("design", "#preview")
	o.evaluate(`document.querySelector("#preview").scrollIntoView({block: "center"})`)
	o.step("preview", "#preview")
	o.choose("#save-page")
	saved := func() nodetest.Answer {
		return o.shop.Own("GET", "/organizer/event-customization/"+event, nil).Is(200, "")
	}
	o.shop.Becomes("festival", func() string { return saved().Str("customization.layoutPattern") })
	p := saved()
	require.Equal(o.t, "gradient #7a0b2e Come along Is there parking? https://instagram.example/gala", strings.Join([]string{
		p.Str("customization.heroStyle"), p.Str("customization.primaryColor"), p.Str("customization.ctaLabel"),
		p.Str("customization.faqs.0.question"), p.Str("customization.socialLinks.instagram"),
	}, " "))
	require.Equal(o.t, false, p.Data("customization.showPoweredBy"))
}

// sellBook puts a book on sale, which is a file, and sees that its buyer gets it.
func (o *organizer) sellBook() {
	o.t.Helper()
	o.load(o.origin + "organizer/events/new")
	o.choose("#begin-digital")
	o.fill("#title", "Songs of the quay")
	o.set("#category", "e-books")
	o.fill("#description", "Forty songs that were sung on the quay, with their notes and where they come from.")
	o.until(`document.querySelector("#preview .title").innerText === "Songs of the quay" && !document.querySelector("#start")`)
	o.step("book", "#preview .hero")
	o.choose("#save")
	o.choose("#add-type")
	o.fill("#name", "The book")
	o.evaluate(`(() => {
		const t = new DataTransfer(), f = document.querySelector("#access-file");
		t.items.add(new File(["%PDF-1.4\n%%EOF\n"], "songs.pdf", {type: "application/pdf"}));
		f.files = t.files;
		f.dispatchEvent(new Event("change", {bubbles: true}));
	})()`)
	o.until(`document.querySelector("#access").value.startsWith("/media/")`)
	o.fill("#access-note", "Print it on both sides.")
	o.step("file", "#save-type")
	o.choose("#save-type")
	o.there("main .type")
	o.choose("#publish")
	o.there("#in-shop")
	event := strings.Split(fmt.Sprint(o.evaluate("location.pathname")), "/")[3]
	types := o.shop.Own("GET", "/events/"+event+"/tickets", nil).Is(200, "")
	require.Regexp(o.t, `^/media/\d+$`, types.Str("items.0.accessUrl"))
	order := o.shop.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", types.Str("items.0.id"), 1)).Is(201, "")
	read := o.shop.Order(order.Str("id"), order.Str("accessToken"))
	require.Equal(o.t, "Print it on both sides.", read.Str("tickets.0.accessNote"))
	require.Equal(o.t, true, read.Data("tickets.0.downloadable"))
}

// writeExam looks at the exam of a course that is being written.
func (o *organizer) writeExam() {
	o.t.Helper()
	o.load(o.origin + "organizer/events/new?kind=online-course")
	o.choose("#exam")
	o.choose("#materials-add")
	o.evaluate(`document.querySelector("#materials-0-name").scrollIntoView({block: "center"})`)
	o.step("materials", "#materials-0-name")
	o.evaluate(`document.querySelector("#question-0").scrollIntoView({block: "center"})`)
	o.step("exam", "#question-0")
}

// fillInRareFields fills in the fields that few events need. One of them is wrong at first, so the desk has to say which.
func (o *organizer) fillInRareFields(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event)
	o.choose("#lineup summary")
	o.choose("#add-act")
	o.fill("#act-0-name", "Adaeze Obi")
	o.fill("#act-0-role", "Saxophone")
	o.evaluate(`document.querySelector("#act-0-name").scrollIntoView({block: "center"})`)
	o.step("lineup", "#act-0-role")
	o.choose("#more summary")
	o.fill("#capacity", "500")
	o.fill("#tags", "gala, quay")
	o.fill("#returns", "Until a week before.")
	o.fill("#minutes", "4")
	o.choose("#save")
	o.step("too-soon", "#minutes[aria-invalid]")
	o.forget() // the refusal is in the browser's log
	o.fill("#minutes", "20")
	o.choose("#rotating")
	o.choose("#save")
	own := func() nodetest.Answer { return o.shop.Own("GET", "/organizer/events/"+event, nil).Is(200, "") }
	o.shop.Becomes("20", func() string { return fmt.Sprint(own().Data("orderWindowMinutes")) })
	got := own()
	require.Equal(o.t, "Adaeze Obi, Saxophone", got.Str("entities.0.name")+", "+got.Str("entities.0.role"))
	require.Equal(o.t, "500 gala quay Until a week before. true true", fmt.Sprint(got.Data("capacity"), " ", got.Str("tags.0"), " ", got.Str("tags.1"), " ", got.Str("returnPolicy"), " ", got.Data("rotatingOnly"), " ", got.Data("extensions")))
}
