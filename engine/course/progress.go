package course

import "slices"

// Progress is how far a learner has come with a course. It is stored as JSON.
type Progress struct {
	Done        []string `json:"done,omitzero"` // ids of the lessons that the learner has finished, or Unit
	Attempts    int      `json:"attempts,omitzero"`
	Best        int      `json:"best,omitzero"` // best result of the exam, percent
	Latest      int      `json:"latest,omitzero"`
	Passed      bool     `json:"passed,omitzero"` // whether the exam was ever passed
	Recent      []int64  `json:"recent,omitzero"` // when attempts were made, unix milliseconds; Wait drops those of more than an hour ago
	CompletedAt int64    `json:"completedAt,omitzero"`
}

// A learner may try an exam MaxAttempts times in an hour, so that nobody finds the right options by
// guessing.
const (
	MaxAttempts = 10
	hour        = 60 * 60 * 1000
)

// Started reports whether the learner has done anything yet.
func (p *Progress) Started() bool { return len(p.Done) > 0 || p.Attempts > 0 }

// Mark notes that a unit is done, or that it is not.
func (p *Progress) Mark(unit string, done bool) {
	i := slices.Index(p.Done, unit)
	switch {
	case done && i < 0:
		p.Done = append(p.Done, unit)
	case !done && i >= 0:
		p.Done = slices.Delete(p.Done, i, i+1)
	}
}

// Wait returns in how many seconds the learner may try the exam again, and 0 if that is now. It
// also forgets attempts that are older than an hour. at is unix milliseconds.
func (p *Progress) Wait(at int64) int {
	p.Recent = slices.DeleteFunc(p.Recent, func(t int64) bool { return t <= at-hour })
	if len(p.Recent) < MaxAttempts {
		return 0
	}
	return int((p.Recent[0]+hour-at)/1000) + 1
}

// Try notes an attempt at the exam, with its score in percent and its time in unix milliseconds.
func (p *Progress) Try(score int, passed bool, at int64) {
	p.Attempts++
	p.Latest, p.Best, p.Passed = score, max(p.Best, score), p.Passed || passed
	p.Recent = append(p.Recent, at)
}

// Completed returns the indexes of the units that are done.
func (c *Content) Completed(p *Progress) []int {
	done := []int{}
	for i, id := range c.Units() {
		if slices.Contains(p.Done, id) {
			done = append(done, i)
		}
	}
	return done
}

// IsComplete reports whether the learner has done all units that the course has now, and has passed
// the exam if there is one. A course without units can't be completed.
func (c *Content) IsComplete(p *Progress) bool {
	n := len(c.Units())
	return n > 0 && len(c.Completed(p)) == n && (p.Passed || !c.Examines())
}
