package openloop

import (
	"fmt"
	"time"
)

// Percentiles are latencies in milliseconds.
type Percentiles struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// OpStats is one operation over the whole run.
type OpStats struct {
	Op     string `json:"op"`
	Count  int64  `json:"count"`
	Failed int64  `json:"failed"` // steps with no answer, or with a 5xx
	// Corrected is from the intended send time, Service from the real one.
	Corrected Percentiles `json:"corrected"`
	Service   Percentiles `json:"service"`
}

// Second is one second of a run; latencies are in milliseconds, corrected
// unless the name says otherwise.
type Second struct {
	At         int     `json:"at"`
	Offered    int64   `json:"offered"` // steps that were due in this second; known at the end of the run
	Done       int64   `json:"done"`    // steps that ended in this second, answered or not
	Failed     int64   `json:"failed"`
	P50        float64 `json:"p50"`
	P99        float64 `json:"p99"`
	Max        float64 `json:"max"`
	ServiceP99 float64 `json:"serviceP99"`
	LagP99     float64 `json:"lagP99"`
}

// ErrorKey names a sort of answer that was not the wanted one. Code is the
// API's error code, or "timeout" or "connection" when no answer came.
type ErrorKey struct {
	Op     string
	Status int
	Code   string
}

// Stats is what a run measured.
type Stats struct {
	Window   time.Duration // for how long arrivals were made
	Offered  int64         // steps that were due within the window
	Achieved int64         // how many of those were answered until a second after the window
	Unsent   int64         // how many of those were never sent
	Dropped  int64         // arrivals that were refused because too many actors were alive
	Ops      []OpStats
	All      OpStats
	Lag      Percentiles // the real minus the intended send time, within the window
	Seconds  []Second
	Errors   map[ErrorKey]int64
}

// Invalid lists why the run's latencies must not be believed; empty for a
// valid run.
func (s *Stats) Invalid(cfg Config) []string {
	cfg.setDefaults()
	var why []string
	if most := cfg.SLO.Seconds() * 1000 * cfg.MaxLagShare; s.Lag.P99 > most {
		why = append(why, fmt.Sprintf(
			"send-lag p99 %.1f ms is above %.1f ms (%.0f %% of the %v SLO): the generator was late itself",
			s.Lag.P99, most, cfg.MaxLagShare*100, cfg.SLO))
	}
	// Requests that were never answered have no latency. Too many of them would make the percentiles look better
	// than they were.
	if float64(s.Achieved) < 0.99*float64(s.Offered) {
		why = append(why, fmt.Sprintf("achieved %d of %d offered requests, less than 99 %%", s.Achieved, s.Offered))
	}
	return why
}

func millis(us int64) float64 { return float64(us) / 1000 }
