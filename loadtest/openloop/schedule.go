package openloop

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"
)

// Segment is a stretch of a schedule: the rate goes from From to To in a
// straight line. Rates are arrivals per second.
type Segment struct {
	For      time.Duration
	From, To float64
}

// Schedule says when actors arrive, fixed before the run starts.
type Schedule struct {
	Segments []Segment
	// Poisson spaces arrivals at random around the rate; otherwise they are
	// evenly spaced.
	Poisson bool
	// Limit is the most arrivals; 0 means as many as the segments give.
	Limit int
}

// Constant is an evenly spaced rate for a time.
func Constant(rate float64, d time.Duration) Schedule {
	return Schedule{Segments: []Segment{{d, rate, rate}}}
}

// Poisson is a constant rate with independent arrivals.
func Poisson(rate float64, d time.Duration) Schedule {
	return Schedule{Segments: []Segment{{d, rate, rate}}, Poisson: true}
}

// Ramp rises from nothing to the rate and stays there until d is over.
func Ramp(rate float64, ramp, d time.Duration) Schedule {
	ramp = min(ramp, d)
	return Schedule{Segments: []Segment{{ramp, 0, rate}, {d - ramp, rate, rate}}, Poisson: true}
}

// Spike is the opening of a sale: up to the peak within ramp, the peak for a
// third of what is left, down to a tenth of it over the next third, and that
// to the end.
func Spike(peak float64, ramp, d time.Duration) Schedule {
	ramp = min(ramp, d)
	third := (d - ramp) / 3
	return Schedule{Segments: []Segment{
		{ramp, peak / 10, peak},
		{third, peak, peak},
		{third, peak, peak / 10},
		{d - ramp - 2*third, peak / 10, peak / 10},
	}, Poisson: true}
}

// Duration is the length of the schedule.
func (s Schedule) Duration() time.Duration {
	var d time.Duration
	for _, seg := range s.Segments {
		d += seg.For
	}
	return d
}

// Arrivals yields the arrival times, since the start of the run, in order. The
// same generator state gives the same arrivals.
//
// An arrival comes each time the area under the rate has grown by one (or, for
// Poisson, by an exponential with mean one); within a segment that area is a
// quadratic in time and is solved for exactly.
func (s Schedule) Arrivals(rng *rand.Rand) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		sent, area := 0, s.step(rng)
		if !s.Poisson {
			area /= 2 // in the middle of its share, so that rounding at the end loses none
		}
		var start time.Duration
		for _, seg := range s.Segments {
			length := seg.For.Seconds()
			slope := 0.0
			if length > 0 {
				slope = (seg.To - seg.From) / length
			}
			at, rate := 0.0, seg.From
			for {
				left := length - at
				available := rate*left + slope*left*left/2
				if area > available || left <= 0 {
					area -= max(available, 0)
					break
				}
				// This form of the quadratic's solution also holds for a slope of 0, where the usual one would
				// divide by it.
				at += 2 * area / (rate + math.Sqrt(max(rate*rate+2*slope*area, 0)))
				rate = seg.From + slope*at
				if s.Limit > 0 && sent == s.Limit {
					return
				}
				if !yield(start + time.Duration(at*float64(time.Second))) {
					return
				}
				sent++
				area = s.step(rng)
			}
			start += seg.For
		}
	}
}

// step returns by how much the area under the rate has to grow until the next arrival: one on average.
func (s Schedule) step(rng *rand.Rand) float64 {
	if s.Poisson {
		return rng.ExpFloat64()
	}
	return 1
}
