package main

import (
	"maps"
	"time"
)

// kind is the way in which a show of the demo is sold. The shows differ in it, so that every part
// of the shop can be seen.
type kind int

const (
	standing  kind = iota // a floor without seats
	free                  // general admission that costs nothing
	seated                // seats of a map
	soldOut               // all tickets are gone, and there is a waitlist
	dated                 // buyers choose a date and a slot
	file                  // buyers download it
	course                // buyers learn
	cancelled             // it was on sale, and will not be
)

// show is one of the things that the demo organization sells.
type show struct {
	kind  kind
	away  int      // how many days from now it takes place
	about fields   // the body of the request that makes its event; describe adds the dates and the place
	types []fields // the bodies of the requests that make its ticket types
}

// shows has one show of each kind. The seated show must stay the third, because the program that
// takes the pictures for the documentation finds it by its number.
var shows = []show{
	{standing, 30, fields{
		"title": "Opening Night", "category": "concerts", "shortDesc": "Three bands, one floor, doors at seven.",
		"description": "The house opens with three bands on one night, and a floor without seats.\n\nThere is a bar, a cloakroom and a step-free way to the front left. Bring the code on your phone: it changes every half minute, so a picture of it does not admit.",
	}, []fields{
		{"name": "Floor", "type": "general", "price": 35, "quantityTotal": 1500},
		{"name": "Students", "type": "free", "price": 0, "quantityTotal": 500, "maxPerCustomer": 1},
	}},
	{free, 12, fields{
		"title": "Open Rehearsal", "category": "workshops", "shortDesc": "Sit in while the orchestra works. Free, but places are few.",
		"description": "Two hours in which the orchestra takes a symphony apart and puts it together again.\n\nNothing is played through, and much is played twice. Questions are welcome in the break.",
	}, []fields{{"name": "Listener", "type": "free", "price": 0, "quantityTotal": 60, "maxPerCustomer": 2}}},
	{seated, 45, fields{
		"title": "The Tempest", "category": "theatre", "shortDesc": "A storm, an island, and all of Shakespeare's forgiveness.",
		"description": "Prospero has waited twelve years for this weather.\n\nA new production in two hours and a half, with one interval. Choose your seats on the map; they are kept for you while you look.",
	}, []fields{
		{"name": "Stalls", "type": "reserved", "price": 50, "quantityTotal": 1}, // the seats say how many
		{"name": "Circle", "type": "reserved", "price": 25, "quantityTotal": 1},
	}},
	{soldOut, 20, fields{
		"title": "Songs in the Cellar", "category": "concerts", "shortDesc": "One voice, one guitar, four chairs. All taken: wait for one that comes free.",
		"description": "The smallest stage of the house, under its oldest stones.\n\nThere are only four chairs. Whoever waits is told by mail, in turn, when somebody gives one back.",
	}, []fields{{"name": "Chair", "type": "free", "price": 0, "quantityTotal": 4, "waitlistEnabled": true}}},
	{dated, 1, fields{
		"title": "Behind the Stage", "category": "reservations", "shortDesc": "A walk through workshops, flies and traps, on the day that suits you.",
		"description": "An hour with the people who build the storms.\n\nChoose a day and a time. Closed on Mondays.",
		"reservation": fields{
			"mode": "date_time", "dailyCapacity": 24, "maxAdvanceDays": 60, "closedWeekdays": []int{1},
			"slots": []fields{
				{"label": "Morning", "startTime": "10:00", "endTime": "11:00", "capacity": 12, "sortOrder": 1},
				{"label": "Afternoon", "startTime": "15:00", "endTime": "16:00", "capacity": 12, "sortOrder": 2},
			},
		},
	}, []fields{{"name": "Guest", "type": "general", "price": 12, "quantityTotal": 5000}}},
	{file, 1, fields{
		"title": "The Season in Words", "category": "e-books", "shortDesc": "The programme of the year, to download at once.",
		"description":    "Everything that the house plays this year, with notes by those who play it.",
		"onlineLinkNote": "It opens in any reader.",
	}, []fields{{"name": "Programme", "type": "general", "price": 4, "quantityTotal": 10_000}}},
	{course, 1, fields{
		"title": "How to Build a Storm", "category": "online-course", "shortDesc": "Three lessons on thunder, rain and light, an exam and a certificate.",
		"description": "Learn from our stage hands how weather is made with tin, peas and lamps.\n\nTake your time: what you have done is kept.",
		"courseType":  "syllabus", "syllabus": []fields{
			makeLesson("Thunder", "Hang a sheet of tin by two corners and shake it by a third. The longer the sheet, the farther the storm."),
			makeLesson("Rain", "Dried peas in a wooden drum. Turn it slowly for drizzle."),
			makeLesson("Lightning", "Two lamps that nobody expects, and half a second of dark after them."),
		},
		"certificateTemplate": "cert-3", "exam": fields{"enabled": true, "questions": []fields{{
			"prompt": "What makes rain on our stage?", "options": []string{"A sheet of tin", "Dried peas", "Two lamps"}, "correctIndex": 1,
			"explanation": "They roll in a wooden drum.",
		}}},
	}, []fields{{"name": "Learner", "type": "general", "price": 20, "quantityTotal": 1000}}},
	{cancelled, 25, fields{
		"title": "Winter Journey", "category": "concerts", "shortDesc": "Schubert for one voice and one piano.",
		"description": "Twenty-four songs, sung without a break, and a piano that knows more than the singer.",
	}, []fields{{"name": "Hall", "type": "general", "price": 30, "quantityTotal": 200}}},
}

// programme is the file that the demo sells for download.
const programme = `The Season in Words

Opening Night. Three bands, and the first evening of the house.
The Tempest. Prospero forgives everybody, and that takes two hours and a half.
Songs in the Cellar. Four chairs. Be early.
`

// makeLesson makes a lesson of the demo's course. The address of its film leads nowhere, because
// the demo has no films.
func makeLesson(title, writeup string) fields {
	return fields{
		"title": title, "description": "About " + title + ".", "writeup": writeup, "duration": "A week", "skillLevel": "Beginner",
		"format": "Self-paced", "lessonVideo": "https://video.example.org/" + title,
	}
}

// describe returns the body of the request that makes a show's event, and the moment when its sale
// ends. A show without a date of its own is sold for a year, and any other until its doors open.
func (s *show) describe(now time.Time) (body fields, saleEnd time.Time) {
	// Doors open at 19:00 UTC, and the show begins an hour later.
	evening := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, s.away).Add(19 * time.Hour)
	// The table of shows is never changed, so one process can make the demo more than once.
	body = maps.Clone(s.about)
	maps.Copy(body, fields{"timezone": "UTC", "startDate": formatMoment(evening.Add(time.Hour))})
	if s.kind == file || s.kind == course {
		body["venueType"] = "online"
		return body, now.AddDate(1, 0, 0)
	}
	maps.Copy(body, fields{"venueType": "physical", "venueName": "Demo Hall", "venueCity": "Lagos", "venueCountry": "NG"})
	if s.kind == dated {
		return body, now.AddDate(1, 0, 0)
	}
	maps.Copy(body, fields{"doorOpenTime": formatMoment(evening), "endDate": formatMoment(evening.Add(4 * time.Hour)), "capacity": 2000})
	return body, evening
}

// formatMoment writes a moment as the API takes it.
func formatMoment(t time.Time) string { return t.UTC().Format(time.RFC3339) }
