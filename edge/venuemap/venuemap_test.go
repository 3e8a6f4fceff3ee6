package venuemap_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/edge/route"
	"boxoffice/edge/venuemap"
	"boxoffice/engine/seatmap"
)

type (
	section = venuemap.Section
	row     = venuemap.Row
	seat    = venuemap.Seat
)

// house is a document of some rows.
func house(rows ...row) *venuemap.Document {
	return &venuemap.Document{
		Name: "House", Canvas: venuemap.Canvas{Width: 1000, Height: 500}, Focus: []int{500, 0},
		Sections: []section{{ID: "s", Name: "Stalls", Rows: rows}},
	}
}

func expand(t testing.TB, d *venuemap.Document) *seatmap.Layout {
	t.Helper()
	l, issues := d.Expand()
	require.Empty(t, issues)
	l.Version = 1
	return l
}

// lines writes a layout row by row: its label, and id@x,y of each seat with | for
// an aisle before it, w for a wheelchair and c for a companion.
func lines(l *seatmap.Layout) []string {
	out := make([]string, len(l.Rows))
	for i, r := range l.Rows {
		out[i] = r.Label + ":"
	}
	for i := range l.Len() {
		r := l.SeatRow[i]
		gap := " "
		if l.Gap[i] {
			gap = " | "
		}
		out[r] += fmt.Sprintf("%s%s@%d,%d%s", gap, l.SeatIDs[i], l.SeatX[i], l.SeatY[i], []string{"", "w", "c"}[l.SeatKind[i]])
	}
	return out
}

func TestExpand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row  row
		want []string
	}{
		"listed": {
			row{Label: "A", Seats: []seat{{Label: "1", X: 1, Y: 2}, {ID: "vip:1", Label: "2", X: 3, Y: 2, Kind: "wheelchair"}, {Label: "3", X: 9, Y: 2, Kind: "companion", AisleBefore: true}}},
			[]string{"A: s-A-1@1,2 vip:1@3,2w | s-A-3@9,2c"},
		},
		"straight": {
			row{Label: "A", From: []int{0, 10}, To: []int{100, 10}, Count: 3},
			[]string{"A: s-A-1@0,10 s-A-2@50,10 s-A-3@100,10"},
		},
		"a single seat stands in the middle": {
			row{Label: "A", From: []int{0, 10}, To: []int{100, 30}, Count: 1},
			[]string{"A: s-A-1@50,20"},
		},
		"an aisle is as wide as a seat": {
			row{Label: "A", From: []int{0, 10}, To: []int{100, 10}, Count: 4, AislesAfter: []int{3, 1}},
			[]string{"A: s-A-1@0,10 | s-A-2@40,10 s-A-3@60,10 | s-A-4@100,10"},
		},
		"kinds": {
			row{Label: "A", From: []int{0, 10}, To: []int{20, 10}, Count: 3, Wheelchair: []int{2}, Companion: []int{3, 1}},
			[]string{"A: s-A-1@0,10c s-A-2@10,10w s-A-3@20,10c"},
		},
		"descending": {
			row{Label: "A", From: []int{0, 10}, To: []int{20, 10}, Count: 3, Numbering: "descending", FirstNumber: new(5)},
			[]string{"A: s-A-7@0,10 s-A-6@10,10 s-A-5@20,10"},
		},
		"odd": {
			row{Label: "A", From: []int{0, 10}, To: []int{20, 10}, Count: 3, Numbering: "odd"},
			[]string{"A: s-A-1@0,10 s-A-3@10,10 s-A-5@20,10"},
		},
		"even": {
			row{Label: "A", From: []int{0, 10}, To: []int{20, 10}, Count: 3, Numbering: "even"},
			[]string{"A: s-A-2@0,10 s-A-4@10,10 s-A-6@20,10"},
		},
		"repeated": {
			row{Label: "Y", From: []int{0, 10}, To: []int{10, 10}, Count: 2, Repeat: 3, Step: []int{1, 20}},
			[]string{"Y: s-Y-1@0,10 s-Y-2@10,10", "Z: s-Z-1@1,30 s-Z-2@11,30", "AA: s-AA-1@2,50 s-AA-2@12,50"},
		},
		"growing": { // at the distance of the first row, about its middle
			row{Label: "9", From: []int{100, 10}, To: []int{120, 10}, Count: 3, Repeat: 3, Step: []int{0, 20}, CountStep: 0.5},
			[]string{"9: s-9-1@100,10 s-9-2@110,10 s-9-3@120,10", "10: s-10-1@100,30 s-10-2@110,30 s-10-3@120,30", "11: s-11-1@95,50 s-11-2@105,50 s-11-3@115,50 s-11-4@125,50"},
		},
		"arc": {
			row{Label: "a", Center: []int{200, -50}, Radius: 100, Angles: []float64{180, 0}, Count: 3, Repeat: 1},
			nil, // its ends are off the canvas
		},
		"arcs": {
			row{Label: "a", ID: "1", Center: []int{200, 0}, Radius: 100, Angles: []float64{180, 0}, Count: 3, Repeat: 2, RadiusStep: 50, CountStep: 2},
			[]string{"a: s-1-1@100,0 s-1-2@200,100 s-1-3@300,0", "b: s-2-1@50,0 s-2-2@94,106 s-2-3@200,150 s-2-4@306,106 s-2-5@350,0"},
		},
		"from 0": {
			row{Label: "0", From: []int{0, 10}, To: []int{20, 10}, Count: 3, FirstNumber: new(0), Numbering: "even", Repeat: 2, Step: []int{0, 9}},
			[]string{"0: s-0-0@0,10 s-0-2@10,10 s-0-4@20,10", "1: s-1-0@0,19 s-1-2@10,19 s-1-4@20,19"},
		},
		"any label, with an id": {
			row{Label: "Ряд 7", ID: "r7", From: []int{0, 10}, To: []int{10, 10}, Count: 1},
			[]string{"Ряд 7: s-r7-1@5,10"},
		},
	} {
		l, issues := house(c.row).Expand()
		if c.want == nil {
			require.NotEmpty(t, issues, name)
			continue
		}
		require.Empty(t, issues, name)
		require.Equal(t, c.want, lines(l), name)
		l.Version = 1
		require.NoError(t, l.Validate(), name)
	}
}

// with is a row that is right, changed.
func with(change func(*row)) row {
	r := row{Label: "A", From: []int{0, 10}, To: []int{100, 10}, Count: 5}
	change(&r)
	return r
}

func TestExpandRefuses(t *testing.T) {
	t.Parallel()
	arc := func(change func(*row)) row {
		r := row{Label: "A", Center: []int{500, 0}, Radius: 100, Angles: []float64{100, 80}, Count: 5}
		change(&r)
		return r
	}
	listed := func(seats ...seat) row { return row{Label: "A", Seats: seats} }
	a := seat{Label: "1", X: 1, Y: 1}
	for name, c := range map[string]struct {
		doc  *venuemap.Document
		want string // path and code of the one issue
	}{
		"no form":                  {house(row{Label: "A"}), "sections[0].rows[0] required"},
		"two forms":                {house(with(func(r *row) { r.Radius = 5 })), "sections[0].rows[0] format"},
		"listed and drawn":         {house(with(func(r *row) { r.From, r.To, r.Seats = nil, nil, []seat{a} })), "sections[0].rows[0] format"},
		"no from":                  {house(with(func(r *row) { r.From = nil })), "sections[0].rows[0].from required"},
		"no to":                    {house(with(func(r *row) { r.To = nil })), "sections[0].rows[0].to required"},
		"no step":                  {house(with(func(r *row) { r.Repeat = 2 })), "sections[0].rows[0].step required"},
		"no center":                {house(arc(func(r *row) { r.Center = nil })), "sections[0].rows[0].center required"},
		"no radius":                {house(arc(func(r *row) { r.Radius = 0 })), "sections[0].rows[0].radius required"},
		"no angles":                {house(arc(func(r *row) { r.Angles = nil })), "sections[0].rows[0].angles required"},
		"no radius step":           {house(arc(func(r *row) { r.Repeat = 2 })), "sections[0].rows[0].radiusStep required"},
		"no radius left":           {house(arc(func(r *row) { r.Repeat, r.RadiusStep = 2, -100 })), "sections[0].rows[0].radiusStep minimum"},
		"label that cannot count":  {house(with(func(r *row) { r.Label, r.Repeat, r.Step = "A1", 2, []int{0, 9} })), "sections[0].rows[0].label format"},
		"id that cannot count":     {house(with(func(r *row) { r.ID, r.Repeat, r.Step = "a-1", 2, []int{0, 9} })), "sections[0].rows[0].id format"},
		"label that is no id":      {house(with(func(r *row) { r.Label = "Ряд" })), "sections[0].rows[0].id required"},
		"odd from an even number":  {house(with(func(r *row) { r.Numbering, r.FirstNumber = "odd", new(2) })), "sections[0].rows[0].firstNumber format"},
		"even from an odd number":  {house(with(func(r *row) { r.Numbering, r.FirstNumber = "even", new(1) })), "sections[0].rows[0].firstNumber format"},
		"aisle after the last":     {house(with(func(r *row) { r.AislesAfter = []int{1, 5} })), "sections[0].rows[0].aislesAfter[1] maximum"},
		"aisle twice":              {house(with(func(r *row) { r.AislesAfter = []int{1, 1} })), "sections[0].rows[0].aislesAfter[1] duplicate"},
		"wheelchair beyond":        {house(with(func(r *row) { r.Wheelchair = []int{6} })), "sections[0].rows[0].wheelchair[0] maximum"},
		"two kinds":                {house(with(func(r *row) { r.Wheelchair, r.Companion = []int{2}, []int{1, 2} })), "sections[0].rows[0].companion[1] duplicate"},
		"row too long":             {house(with(func(r *row) { r.Count, r.Repeat, r.Step, r.CountStep = 999, 3, []int{0, 9}, 1 })), "sections[0].rows[0].countStep maximum"},
		"off the canvas":           {house(listed(seat{Label: "1", X: 1001, Y: 1})), "sections[0].rows[0].seats[0] maximum"},
		"below the canvas":         {house(listed(seat{Label: "1", X: 1, Y: 501})), "sections[0].rows[0].seats[0] maximum"},
		"id twice":                 {house(listed(a, seat{ID: "s-A-1", Label: "2", X: 2, Y: 2})), "sections[0].rows[0].seats[1] duplicate"},
		"two seats at one point":   {house(listed(a, seat{Label: "2", X: 1, Y: 1})), "sections[0].rows[0].seats[1] duplicate"},
		"two seats of one name":    {house(listed(a), listed(seat{ID: "x", Label: "1", X: 2, Y: 2})), "sections[0].rows[1].seats[0] duplicate"},
		"id of other letters":      {house(listed(seat{ID: "a b", Label: "1", X: 1, Y: 1})), "sections[0].rows[0].seats[0] format"},
		"label that makes no id":   {house(listed(seat{Label: "ä", X: 1, Y: 1})), "sections[0].rows[0].seats[0] format"},
		"id too long":              {house(row{Label: "A", ID: strings.Repeat("x", 20), Seats: []seat{{Label: strings.Repeat("1", 18), X: 1, Y: 1}}}), "sections[0].rows[0].seats[0] format"},
		"section's id":             {&venuemap.Document{Canvas: venuemap.Canvas{Width: 9, Height: 9}, Focus: []int{0, 0}, Sections: []section{{ID: "ä"}}}, "sections[0].id format"},
		"section's id twice":       {&venuemap.Document{Canvas: venuemap.Canvas{Width: 9, Height: 9}, Focus: []int{0, 0}, Sections: []section{{ID: "a"}, {ID: "a"}}}, "sections[1].id duplicate"},
		"focus off the canvas":     {&venuemap.Document{Canvas: venuemap.Canvas{Width: 9, Height: 9}, Focus: []int{10, 0}}, "focus maximum"},
		"element off the canvas":   {&venuemap.Document{Canvas: venuemap.Canvas{Width: 9, Height: 9}, Focus: []int{0, 0}, Elements: []venuemap.Element{{Type: "stage", X: 5, Width: 5, Height: 1}}}, "elements[0] maximum"},
		"text without text":        {&venuemap.Document{Canvas: venuemap.Canvas{Width: 9, Height: 9}, Focus: []int{0, 0}, Elements: []venuemap.Element{{Type: "text", Width: 5, Height: 1}}}, "elements[0].label required"},
		"a seat too many":          {house(slices.Repeat([]row{{Label: "A", From: []int{0, 0}, To: []int{999, 0}, Count: 1000, Repeat: 101, Step: []int{0, 1}}}, 1)...), "sections max_items"},
		"far more seats than that": {house(slices.Repeat([]row{{Label: "A", From: []int{0, 0}, To: []int{999, 0}, Count: 1000, Repeat: 200, Step: []int{0, 1}}}, 1000)...), "sections max_items"},
	} {
		l, issues := c.doc.Expand()
		require.Nil(t, l, name)
		require.Len(t, issues, 1, name)
		require.Equal(t, c.want, issues[0].Path+" "+issues[0].Code, name)
	}
	_, issues := house(with(func(r *row) { r.From, r.To, r.Count = []int{5, 5}, []int{5, 5}, 1000 })).Expand()
	require.Len(t, issues, route.MaxIssues, "there is an end to what is told")
}

// pick is mostly the first of the values.
func pick[T any](t *rapid.T, usual T, others ...T) T {
	if i := rapid.IntRange(0, 15*len(others)).Draw(t, "pick"); i < len(others) {
		return others[i]
	}
	return usual
}

// Whatever the tags let through is refused with an issue, or a layout that the
// seatmap kind takes.
func TestExpandAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var rows []row
		for i := range rapid.IntRange(1, 3).Draw(t, "rows") {
			r := row{
				Label: pick(t, string(rune('A'+9*i)), "ZZZ", "zz", "2147483647", "A1", "ü", "aB"), ID: pick(t, "", "9", "x-1"),
				Count: pick(t, 7, 0, 1, 2, 999, 1000), FirstNumber: pick(t, nil, new(0), new(1), new(2), new(100_000)), Numbering: pick(t, "", "ascending", "descending", "odd", "even"),
				AislesAfter: pick(t, nil, []int{2, 1}, []int{3, 3}, []int{999}), Wheelchair: pick(t, nil, []int{1, 2}, []int{1000}), Companion: pick(t, nil, []int{3}, []int{1}),
				Repeat: pick(t, 2, 0, 1, 5, 200), CountStep: pick(t, 0, 0.37, 20),
			}
			if rapid.Bool().Draw(t, "arc") {
				r.Center, r.Radius, r.RadiusStep = []int{500, pick(t, 10*i, -100_000, 200_000)}, pick(t, 100, 0, 1, 100_100), pick(t, 20, 0, -1, -200_000)
				r.Angles = []float64{90, pick(t, 10, rapid.Float64Range(-720, 720).Draw(t, "angle"))}
			} else {
				r.From, r.To = pick(t, []int{0, 300 + 10*i}, nil, []int{0, 0}), pick(t, []int{900, 310 + 10*i}, nil, []int{0, 0})
				r.Step = pick(t, []int{1, 3}, nil, []int{-100_000, 0}, []int{0, 0})
			}
			rows = append(rows, r)
		}
		l, issues := house(rows...).Expand()
		if len(issues) > 0 {
			require.Nil(t, l)
			return
		}
		l.Version = 1
		require.NoError(t, l.Validate())
	})
}

// TestLookAlike has seats that a ticket would name alike: their sections' names, rows and labels are
// the same to people, whatever their ids are.
func TestLookAlike(t *testing.T) {
	t.Parallel()
	at := func(i int, name, row, label string) section {
		return section{ID: fmt.Sprint("s", i), Name: name, Rows: []venuemap.Row{{ID: "r", Label: row, Seats: []seat{{ID: fmt.Sprint("seat", i), Label: label, X: i, Y: 1}}}}}
	}
	base := at(1, "Balcony é", "A", "1b")
	for _, other := range []section{
		at(2, "Balcony é", "A", "1b"), at(2, " BALCONY  e\u0301", "a\u200b", "1B "), at(2, "Balcony\u00a0é\ufe0f", "Ａ", "1\u00adb"), at(2, "balcony\u200d é", "A\u202e", "１b"),
	} {
		d := house()
		d.Sections = []section{base, other}
		_, issues := d.Expand()
		require.Len(t, issues, 1)
		require.Equal(t, "sections[1].rows[0].seats[0] duplicate", issues[0].Path+" "+issues[0].Code)
		require.Contains(t, issues[0].Message, "looks like seat1 on a ticket")
	}
	for _, other := range []section{at(2, "Balcony e", "A", "1b"), at(2, "Balcony é", "AA", "1b"), at(2, "Balcony é", "A", "1")} {
		d := house()
		d.Sections = []section{base, other}
		expand(t, d)
	}
}

func TestFullHouse(t *testing.T) {
	t.Parallel()
	l := expand(t, house(row{Label: "1", From: []int{0, 0}, To: []int{999, 0}, Count: 1000, Repeat: 100, Step: []int{0, 1}}))
	require.Equal(t, seatmap.MaxSeats, l.Len())
	require.NoError(t, l.Validate())
}

func TestSamples(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		seats, sections, spaces, bytes int
		apart                          float64 // cm from any seat to the next
	}{
		"theatre": {400, 6, 4, 2_000, 50},
		"arena":   {20_000, 84, 120, 16_000, 49},
		"stadium": {70_000, 176, 242, 34_000, 49},
	} {
		d := venuemap.Samples[name]()
		l := expand(t, d)
		require.NoError(t, l.Validate(), name)
		require.Equal(t, want.seats, l.Len(), name)
		require.Len(t, l.Sections, want.sections, name)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(l.SeatIDs))), want.seats, name)
		byKind := map[uint8]int{}
		for _, k := range l.SeatKind {
			byKind[k]++
		}
		require.Equal(t, want.spaces, byKind[seatmap.Wheelchair], name)
		require.Equal(t, want.spaces, byKind[seatmap.Companion], "%s: one for each wheelchair", name)
		require.GreaterOrEqual(t, closest(l), want.apart, name)
		for _, e := range d.Elements {
			if e.Type == "stage" || e.Type == "field" {
				for i := range l.Len() {
					x, y := int(l.SeatX[i]), int(l.SeatY[i])
					require.False(t, x > e.X && x < e.X+e.Width && y > e.Y && y < e.Y+e.Height, "%s: %s is on the %s", name, l.SeatIDs[i], e.Type)
				}
			}
		}
		text, err := d.Text()
		require.NoError(t, err)
		require.Less(t, len(text), want.bytes, name)
		same, err := venuemap.Parse(text)
		require.NoError(t, err)
		again, _, err := venuemap.Publishable(text)
		require.NoError(t, err)
		again.Version = 1
		require.Equal(t, l, again, name)
		require.Equal(t, d.Elements, same.Elements)
	}
	require.ElementsMatch(t, []string{"theatre", "arena", "stadium"}, slices.Collect(maps.Keys(venuemap.Samples)))
}

// closest is the distance of the two seats that are nearest to one another.
func closest(l *seatmap.Layout) float64 {
	const cell = 100 // longer than the answer
	at := map[[2]int32][]int{}
	least := math.Inf(1)
	for i := range l.Len() {
		x, y := l.SeatX[i]/cell, l.SeatY[i]/cell
		for dx := int32(-1); dx <= 1; dx++ {
			for dy := int32(-1); dy <= 1; dy++ {
				for _, j := range at[[2]int32{x + dx, y + dy}] {
					least = min(least, math.Hypot(float64(l.SeatX[i]-l.SeatX[j]), float64(l.SeatY[i]-l.SeatY[j])))
				}
			}
		}
		at[[2]int32{x, y}] = append(at[[2]int32{x, y}], i)
	}
	return least
}

func TestNothingToPublish(t *testing.T) {
	t.Parallel()
	d := house()
	d.Sections = nil
	text, err := d.Text()
	require.NoError(t, err)
	_, _, err = venuemap.Publishable(text)
	require.ErrorContains(t, err, "VALIDATION_ERROR")
	_, _, err = venuemap.Publishable([]byte("{"))
	require.Error(t, err)
}

func BenchmarkExpand(b *testing.B) {
	d := venuemap.Stadium()
	for b.Loop() {
		expand(b, d)
	}
}
