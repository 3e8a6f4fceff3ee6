package openloop

import (
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Medians has the median of each percentile over several measurements, at least one.
func Medians(all []Percentiles) Percentiles {
	of := func(get func(Percentiles) float64) float64 {
		values := make([]float64, len(all))
		for i, p := range all {
			values[i] = get(p)
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return Percentiles{
		P50: of(func(p Percentiles) float64 { return p.P50 }), P90: of(func(p Percentiles) float64 { return p.P90 }),
		P95: of(func(p Percentiles) float64 { return p.P95 }), P99: of(func(p Percentiles) float64 { return p.P99 }),
		P999: of(func(p Percentiles) float64 { return p.P999 }), Max: of(func(p Percentiles) float64 { return p.Max }),
	}
}

// PercentilesOf reads the percentiles from a histogram of microseconds.
func PercentilesOf(h *hdrhistogram.Histogram) Percentiles {
	at := func(q float64) float64 { return millis(h.ValueAtQuantile(q)) }
	return Percentiles{at(50), at(90), at(95), at(99), at(99.9), millis(h.Max())}
}
