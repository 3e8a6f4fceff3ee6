package venuemap

import "fmt"

// Samples are functions that make the maps that come with the program, by name. The maps' units are
// centimetres.
var Samples = map[string]func() *Document{"theatre": Theatre, "arena": Arena, "stadium": Stadium}

// Theatre is a theatre of about 400 seats: curved stalls in three sections with a row for
// wheelchairs behind the middle one, a circle, and two boxes whose seats are listed.
func Theatre() *Document {
	center := []int{1200, -400} // the center of the curved rows, behind the stage
	rows := func(label string, radius, count int, angles ...float64) Row {
		return Row{Label: label, Center: center, Radius: radius, Angles: angles, Count: count}
	}
	middle, left, right := rows("A", 1050, 11, 105, 75), rows("A", 1050, 6, 125, 110), rows("A", 1050, 6, 70, 55)
	middle.Repeat, middle.RadiusStep, middle.CountStep, middle.FirstNumber = 12, 95, 0.9, new(101)
	left.Repeat, left.RadiusStep, left.CountStep, left.Numbering = 10, 95, 0.45, odd
	right.Repeat, right.RadiusStep, right.CountStep, right.Numbering = 10, 95, 0.45, even
	wheelchairs := rows("W", 2200, 8, 100, 80)
	wheelchairs.Wheelchair, wheelchairs.Companion = []int{1, 3, 5, 7}, []int{2, 4, 6, 8}
	circle := rows("A", 2350, 22, 110, 70)
	circle.Repeat, circle.RadiusStep, circle.AislesAfter = 2, 95, []int{11}
	box := func(x int) []Row {
		r := Row{Label: "1"}
		for i := range 5 {
			r.Seats = append(r.Seats, Seat{Label: fmt.Sprint(i + 1), X: x, Y: 520 + 60*i, AisleBefore: i == 3})
		}
		return []Row{r}
	}
	return &Document{
		Name: "Theatre", Canvas: Canvas{2400, 2600}, Focus: []int{1200, 420},
		Sections: []Section{
			{ID: "stalls-left", Name: "Stalls left", Rows: []Row{left}},
			{ID: "stalls", Name: "Stalls", Rows: []Row{middle, wheelchairs}},
			{ID: "stalls-right", Name: "Stalls right", Rows: []Row{right}},
			{ID: "circle", Name: "Circle", Rows: []Row{circle}},
			{ID: "box-1", Name: "Box 1", Rows: box(150)},
			{ID: "box-2", Name: "Box 2", Rows: box(2250)},
		},
		Elements: []Element{
			{Type: "stage", X: 800, Y: 80, Width: 800, Height: 340, Label: "Stage"},
			{Type: "exit", X: 40, Y: 1700, Width: 160, Height: 80, Label: "Exit"},
			{Type: "exit", X: 2200, Y: 1700, Width: 160, Height: 80, Label: "Exit"},
			{Type: "bar", X: 900, Y: 2500, Width: 600, Height: 80, Label: "Foyer bar"},
		},
	}
}

// Arena is a hall of 20,000 seats for a concert: a stage at one end of the floor, blocks of chairs
// in front of the stage, a lower and an upper tier all around, and boxes between the tiers.
func Arena() *Document {
	const seats = 20_000
	b := bowl{x: 7400, y: 5700, straight: 3400}
	sections := arenaFloor(b)
	sections = append(sections, b.makeTier(tier{name: "Lower", first: 101, radius: 1800, rows: 21, sides: 4, ends: 6, wheelchairs: true})...)
	sections = append(sections, b.makeTier(tier{name: "Upper", first: 301, radius: 4100, rows: 15, sides: 4, ends: 12})...)
	boxes := b.makeTier(tier{name: "Box", first: 201, radius: 3800, rows: 1, sides: 4, ends: 8})
	return &Document{
		Name: "Arena", Canvas: Canvas{2 * b.x, 2 * b.y}, Focus: []int{5700, b.y},
		Sections: append(sections, takeSeatsOut(boxes, seats-seatsOf(sections))...),
		Elements: []Element{
			{Type: "stage", X: 4700, Y: b.y - 1000, Width: 1000, Height: 2000, Label: "Stage"},
			{Type: "entrance", X: b.x - 200, Y: 20, Width: 400, Height: 160, Label: "North"},
			{Type: "entrance", X: b.x - 200, Y: 2*b.y - 180, Width: 400, Height: 160, Label: "South"},
		},
	}
}

// arenaFloor returns eight blocks of chairs that face the stage, in two rows of four blocks.
func arenaFloor(b bowl) []Section {
	const wide, deep, chair, row, aisle = 12, 14, 50, 95, 150
	var sections []Section
	for i := range 8 {
		across, back := i%4, i/4
		y := b.y - 2*(wide-1)*chair - 3*aisle/2 + across*((wide-1)*chair+aisle)
		x := 6000 + back*(deep*row+aisle)
		id := "F" + fmt.Sprint(i+1)
		sections = append(sections, Section{ID: id, Name: "Floor " + id, Rows: []Row{{
			Label: "1", From: []int{x, y}, To: []int{x, y + (wide-1)*chair}, Count: wide, Repeat: deep, Step: []int{row, 0},
		}}})
	}
	return sections
}

// Stadium is a stadium of 70,000 seats around a pitch: a lower tier, a club tier with boxes behind
// it, and an upper tier.
func Stadium() *Document {
	const seats = 70_000
	b := bowl{x: 14_200, y: 11_200, straight: 6000}
	sections := b.makeTier(tier{name: "Lower", first: 101, radius: 4800, rows: 27, sides: 5, ends: 12, wheelchairs: true})
	sections = append(sections, b.makeTier(tier{name: "Club", first: 201, radius: 7500, rows: 10, sides: 5, ends: 16})...)
	sections = append(sections, b.makeTier(tier{name: "Upper", first: 301, radius: 8800, rows: 25, sides: 5, ends: 20})...)
	boxes := b.makeTier(tier{name: "Box", first: 401, radius: 8500, rows: 1, sides: 5, ends: 20})
	return &Document{
		Name: "Stadium", Canvas: Canvas{2 * b.x, 2 * b.y}, Focus: []int{b.x, b.y},
		Sections: append(sections, takeSeatsOut(boxes, seats-seatsOf(sections))...),
		Elements: []Element{
			{Type: "field", X: b.x - 5250, Y: b.y - 3400, Width: 10_500, Height: 6800, Label: "Pitch"},
			{Type: "entrance", X: b.x - 400, Y: 20, Width: 800, Height: 240, Label: "North"},
			{Type: "entrance", X: b.x - 400, Y: 2*b.y - 260, Width: 800, Height: 240, Label: "South"},
			{Type: "entrance", X: 20, Y: b.y - 300, Width: 240, Height: 600, Label: "West"},
			{Type: "entrance", X: 2*b.x - 260, Y: b.y - 300, Width: 240, Height: 600, Label: "East"},
		},
	}
}
