package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// bringMaps brings seat maps as files: one of ours, which it replaces by one with more seats, and plans of pretix
// and seats.io, whose losses it reads first. It seats an event by the plan of pretix and chooses seats by a line
// around them.
func (o *organizer) bringMaps() {
	o.t.Helper()
	event := o.shop.Draft(nodetest.Object{"title": "The Seagull", "category": "theatre"})
	o.shop.Own("POST", "/organizer/events/"+event+"/tickets", nodetest.With(nodetest.TypeBody(30, 100), nodetest.Object{"name": "Seat", "type": "reserved"})).Is(201, "")
	o.load(o.origin + "organizer/events/" + event + "/seating")
	o.there("#map-file")
	arc := `{"name": "Arena", "canvas": {"width": 1000, "height": 800}, "focus": [500, 50], "elements": [], "sections": [
		{"id": "ring", "name": "Ring", "rows": [{"label": "A", "center": [500, 50], "radius": 300, "radiusStep": 50, "angles": [30, 150], "count": 20, "repeat": %d}]}]}`
	o.openFile(fmt.Sprintf(arc, 2))
	o.choose("#bring-map")
	o.until(`document.querySelector("#map-which")?.innerText.includes("Arena, 40")`)
	o.evaluate(`(() => { const f = document.querySelector("#map-which"); f.selectedIndex = 1; f.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	o.there("#save-map")
	o.openFile(fmt.Sprintf(arc, 3))
	o.choose("#bring-map")
	o.until(`document.querySelector("#map-which").innerText.includes("Arena, 60")`)
	o.evaluate(`document.querySelector("#map-which").scrollIntoView({block: "center"})`)
	o.step("map", "#map-which")
	require.Len(o.t, o.shop.Own("GET", "/organizer/venues", nil).Is(200, "").Data("items.0.versions"), 2)
	o.set("#map-which", "")
	o.refusePlans()
	o.bringPlans()
	o.seatByPlan(event)
}

// openFile chooses a file of this text.
func (o *organizer) openFile(text string) {
	o.t.Helper()
	o.evaluate(fmt.Sprintf(`(() => {
		const t = new DataTransfer(), f = document.querySelector("#map-file");
		t.items.add(new File([%q], "plan.json", {type: "application/json"}));
		f.files = t.files;
		f.dispatchEvent(new Event("change", {bubbles: true}));
	})()`, text))
	o.until(`document.querySelector("#fault, #plan-of")`)
}

// planOf is a plan of others (testdata/plans), with a change.
func (o *organizer) planOf(name string, change ...string) string {
	o.t.Helper()
	plan, err := os.ReadFile(filepath.Join("testdata", "plans", name+".json"))
	require.NoError(o.t, err)
	return strings.NewReplacer(change...).Replace(string(plan))
}

// refusePlans opens files that are no plans, each of which is told where it is wrong.
func (o *organizer) refusePlans() {
	o.t.Helper()
	for file, at := range map[string]string{
		"no map":           "",
		"{\n\"zones\": x}": "2",
		`{"seats": 12}`:    "",
		`{"name": "Hall", "canvas": {"width": 500}}`: "canvas.height",
		`{"sections": [7]}`:                          "canvas",
		`[]`:                                         "",
		`{"zones": [], "categories": []}`:            "",
		o.planOf("pretix-hall", `"seat_number":"7"`, `"seat_number":null`):                    "zones[0].rows[0].seats[6].seat_number",
		o.planOf("pretix-hall", `"rows":[{`, `"rows":[7,{`):                                   "zones[0].rows[0]",
		o.planOf("pretix-hall", `"position":{"x":40,"y":0}`, `"position":{"x":"40","y":0}`):   "zones[0].position.x",
		o.planOf("pretix-hall", `"seat_number":"2"`, `"seat_number":"1"`):                     "zones[0].rows[0].seats[1]",
		o.planOf("pretix-hall", `"categories":[{`, `"categories":[{"name":null},{`):           "categories[0].name",
		o.planOf("seatsio-rows", `"subChart": {`, `"subChart": {"tables": 5, "old": {`) + "}": "subChart.tables",
		o.planOf("seatsio-sections", `"topLeft": {`, `"topLeft": null, "old": {`):             "subChart.sections[0].topLeft",
	} {
		o.openFile(file)
		o.there("#fault")
		require.Contains(o.t, o.text("#fault"), at)
		require.Equal(o.t, true, o.evaluate(`document.querySelector("#bring-map").disabled`))
	}
	o.step("no-plan", "#fault")
}

// bringPlans brings three plans of others, and finds them among the maps with what they have.
func (o *organizer) bringPlans() {
	o.t.Helper()
	for _, plan := range []struct{ name, called, sections, losses string }{
		{"seatsio-rows", "Sample chart", "Cat1 16 Cat2 16", "colours 4 areas 2"},
		{"seatsio-tables", "Two tables", "Cat1 12", "colours 2 whole 1 moved 6"},
		{"seatsio-sections", "Sample chart with sections", "Section A 36 Section B 35", "colours 2 outlines 2 entrances 2 focus 1"},
		{"pretix-hall", "Kammerspiel", "Parkett, PK 1 20 Parkett, PK 2 20 Rang 10", "colours 6 labels 4 directions 4 sizes 10 outlines 1 turned 1 repeated 1"},
	} {
		o.openFile(o.planOf(plan.name))
		o.there("#plan-picture")
		require.Equal(o.t, plan.losses, o.evaluate(`[...document.querySelectorAll("#lost li")].map((e) => e.dataset.code + " " + e.dataset.count).join(" ")`))
		if plan.name == "seatsio-tables" {
			o.fill("#plan-name", "Two tables")
		}
		o.evaluate(`document.querySelector("#plan-picture").scrollIntoView({block: "center"})`)
		o.step(plan.name, "#lost")
		o.choose("#bring-map")
		o.until(fmt.Sprintf(`!document.querySelector("#plan-of") && [...document.querySelectorAll("#venue option")].some((e) => e.innerText.startsWith("%s, "))`, plan.called))
		require.Equal(o.t, plan.sections, o.sectionsOf(plan.called))
	}
}

// sectionsOf are the sections of a map of this name, each with how many seats it has.
func (o *organizer) sectionsOf(name string) string {
	o.t.Helper()
	var all []string
	for _, item := range o.shop.Own("GET", "/organizer/venues", nil).Is(200, "").Data("items").([]any) {
		venue := item.(nodetest.Object)
		if venue["name"] != name {
			continue
		}
		read := o.shop.Own("GET", fmt.Sprint("/organizer/venues/", venue["id"]), nil).Is(200, "")
		for _, s := range read.Data("document.sections").([]any) {
			seats := 0
			for _, r := range s.(nodetest.Object)["rows"].([]any) {
				seats += len(r.(nodetest.Object)["seats"].([]any))
			}
			all = append(all, fmt.Sprint(s.(nodetest.Object)["name"], " ", seats))
		}
	}
	return strings.Join(all, " ")
}

// seatByPlan seats an event by the map that was brought last, withholds the seats of a line around the left gallery, and
// has sections sold.
func (o *organizer) seatByPlan(event string) {
	o.t.Helper()
	o.until(`document.querySelector("#venue")?.selectedOptions[0].innerText.startsWith("Kammerspiel")`)
	o.choose("#attach")
	o.there("#lasso")
	// The gallery lies at the bottom of the picture, five seats on either side.
	o.around("Rang", 0.5)
	o.step("lasso", "#block")
	require.Equal(o.t, "5", o.evaluate(`document.querySelector("#block").innerText.match(/\d+/)[0]`))
	o.choose("#block")
	o.until(`[...document.querySelectorAll(".figure strong")].map((e) => e.innerText).join() === "45,0,0,5"`)
	o.around("", 1)
	o.evaluate(`(() => { const f = document.querySelector("#their-type"); f.selectedIndex = 1; f.dispatchEvent(new Event("change", {bubbles: true})); })()`)
	o.choose("#price-them")
	o.until(`[...document.querySelectorAll(".section select")].every((e) => e.selectedIndex === 1)`)
	o.step("priced", "#lasso")
	require.Len(o.t, o.shop.Own("GET", "/organizer/events/"+event+"/seating", nil).Is(200, "").Data("pricing"), 3)
}

// around draws a line around the left part of the picture: of its lower fifth, where the gallery is, or of all of it.
func (o *organizer) around(section string, part float64) {
	o.t.Helper()
	from := 0.0
	if section != "" {
		from = 0.85
	}
	o.evaluate(`document.querySelector("#lasso").scrollIntoView({block: "center"})`)
	o.evaluate(fmt.Sprintf(`(() => {
		const svg = document.querySelector("#lasso"), {width, height} = svg.viewBox.baseVal, to = svg.getScreenCTM();
		svg.setPointerCapture = () => {};
		const at = (type, x, y) => { const p = new DOMPoint(x * width, y * height).matrixTransform(to); svg.dispatchEvent(new PointerEvent(type, {pointerId: 1, button: 0, clientX: p.x, clientY: p.y, bubbles: true})); };
		at("pointerdown", 0, %[1]f);
		for (const [x, y] of [[%[2]f, %[1]f], [%[2]f, 1], [0, 1]]) at("pointermove", x, y);
		at("pointerup", 0, 1);
	})()`, from, part))
	o.there("#block")
}
