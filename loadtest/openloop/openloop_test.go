package openloop_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/openloop"
)

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func TestSchedules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schedule openloop.Schedule
		want     float64 // arrivals
	}{
		"constant": {openloop.Constant(100, 10*time.Second), 1000},
		"poisson":  {openloop.Poisson(1000, 10*time.Second), 10000},
		"ramp":     {openloop.Ramp(1000, 4*time.Second, 10*time.Second), 2000 + 6000},
		// 550 in the ramp, 3 s at 1000, 3 s falling to 100, 3 s at 100.
		"spike":   {openloop.Spike(1000, time.Second, 10*time.Second), 550 + 3000 + 1650 + 300},
		"limited": {openloop.Schedule{Segments: []openloop.Segment{{time.Second, 10, 10}}, Limit: 3}, 3},
		"no rate": {openloop.Constant(0, time.Second), 0},
		"no time": {openloop.Constant(10, 0), 0},
		"from zero": {openloop.Schedule{Segments: []openloop.Segment{
			{time.Second, 0, 0}, {time.Second, 0, 100}, {time.Second, 100, 0},
		}}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := slices.Collect(c.schedule.Arrivals(rng(7)))
			require.InDelta(t, c.want, float64(len(at)), 0.05*c.want+1)
			require.True(t, slices.IsSorted(at))
			if len(at) > 0 {
				require.LessOrEqual(t, at[len(at)-1], c.schedule.Duration())
			}
			require.Equal(t, at, slices.Collect(c.schedule.Arrivals(rng(7))), "same seed, same arrivals")
		})
	}
}

func TestConstantIsEvenlySpaced(t *testing.T) {
	t.Parallel()
	at := slices.Collect(openloop.Constant(1000, time.Second).Arrivals(rng(1)))
	for i := 1; i < len(at); i++ {
		require.InDelta(t, time.Millisecond, at[i]-at[i-1], float64(time.Microsecond))
	}
}

// actor answers after a time of its own choosing, several times.
type actor struct {
	steps int
	serve func() time.Duration
	wait  time.Duration
	also  openloop.Actor
	code  string
}

func (a *actor) Step(context.Context) openloop.Result {
	<-time.After(a.serve())
	a.steps--
	also := a.also
	a.also = nil
	status := 200
	if a.code != "" {
		status = 503
	}
	return openloop.Result{Status: status, Code: a.code, Done: a.steps <= 0, Wait: a.wait, Also: also}
}

func fixed(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

func TestAStallShowsInTheCorrectedPercentile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		stalled := func() time.Duration { // the server stands still from 4.0 to 4.3 s
			at := time.Since(start)
			if from, to := 4*time.Second, 4300*time.Millisecond; at >= from && at < to {
				return to - at
			}
			return time.Millisecond
		}
		run := func(inFlight int) *openloop.Stats {
			start = time.Now()
			st, err := openloop.Run(t.Context(), openloop.Config{Ops: []string{"get"}, MaxInFlight: inFlight},
				openloop.Constant(1000, 5*time.Second), rng(1),
				func(int) openloop.Actor { return &actor{steps: 1, serve: stalled} })
			require.NoError(t, err)
			return st
		}

		wide := run(4096)
		require.EqualValues(t, 5000, wide.Offered)
		require.Equal(t, wide.Offered, wide.Achieved)
		require.Empty(t, wide.Invalid(openloop.Config{}))
		require.InDelta(t, 2, wide.All.Corrected.P50, 1)
		require.Greater(t, wide.All.Corrected.P99, 200.0, "6 % of the requests met the stall")
		require.Greater(t, wide.Seconds[4].P99, 290.0)
		require.Less(t, wide.Seconds[2].P99, 5.0)

		// Eight connections as in a closed loop: their service times hide the
		// stall, the corrected ones show it, and the run says it was late.
		narrow := run(8)
		require.Less(t, narrow.All.Service.P99, 5.0)
		require.Greater(t, narrow.All.Corrected.P99, 200.0)
		require.Len(t, narrow.Invalid(openloop.Config{}), 1)
		require.Empty(t, narrow.Invalid(openloop.Config{SLO: 10 * time.Second}))
	})
}

// TestWarmUp: latencies of what was due in the warm-up are not kept, answers are.
func TestWarmUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		cold := func() time.Duration {
			if time.Since(start) < time.Second {
				return 100 * time.Millisecond
			}
			return time.Millisecond
		}
		st, err := openloop.Run(t.Context(), openloop.Config{Ops: []string{"get"}, Warm: time.Second},
			openloop.Constant(100, 3*time.Second), rng(1), func(int) openloop.Actor { return &actor{steps: 1, serve: cold} })
		require.NoError(t, err)
		require.EqualValues(t, 300, st.Offered)
		require.EqualValues(t, 300, st.All.Count)
		require.Less(t, st.All.Corrected.Max, 10.0)
		require.Less(t, st.All.Service.Max, 10.0)
		require.Greater(t, st.Seconds[0].P99, 90.0)
	})
}

func TestFollowUpStepsAndTwins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		st, err := openloop.Run(t.Context(), openloop.Config{Ops: []string{"get"}},
			openloop.Constant(10, time.Second), rng(1), func(int) openloop.Actor {
				twin := &actor{steps: 1, serve: fixed(time.Millisecond), code: "UNAVAILABLE"}
				return &actor{steps: 3, serve: fixed(time.Millisecond), wait: 2 * time.Second, also: twin}
			})
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(start), 4950*time.Millisecond, "the last actor waits twice after its arrival")
		require.EqualValues(t, 40, st.All.Count)
		require.EqualValues(t, 10, st.All.Failed)
		require.Equal(t, map[openloop.ErrorKey]int64{{Op: "get", Status: 503, Code: "UNAVAILABLE"}: 10}, st.Errors)
		require.Less(t, st.Lag.Max, 3.0, "a follow-up step is due after its wait, not at the arrival")
	})
}

func TestSaturationIsInvalid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st, err := openloop.Run(t.Context(),
			openloop.Config{Ops: []string{"get"}, MaxInFlight: 1, Drain: 2 * time.Second},
			openloop.Constant(100, 4*time.Second), rng(1),
			func(int) openloop.Actor { return &actor{steps: 1, serve: fixed(20 * time.Millisecond)} })
		require.NoError(t, err)
		require.EqualValues(t, 400, st.Offered)
		require.InDelta(t, 250, st.Achieved, 15)
		require.InDelta(t, 100, st.Unsent, 15)
		require.Len(t, st.Invalid(openloop.Config{}), 2)
	})
}

func TestArrivalsBeyondTheLimitAreDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st, err := openloop.Run(t.Context(), openloop.Config{Ops: []string{"get"}, MaxWaiting: 10},
			openloop.Constant(100, time.Second), rng(1),
			func(int) openloop.Actor { return &actor{steps: 1, serve: fixed(10 * time.Second)} })
		require.NoError(t, err)
		require.EqualValues(t, 90, st.Dropped)
		require.EqualValues(t, 100, st.Offered)
		require.Zero(t, st.Achieved, "answers after the grace do not count")
	})
}

func TestStopAndCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(stop) })
		quick := func(int) openloop.Actor { return &actor{steps: 1, serve: fixed(time.Millisecond)} }
		st, err := openloop.Run(t.Context(), openloop.Config{Ops: []string{"get"}, Stop: stop},
			openloop.Constant(100, time.Hour), rng(1), quick)
		require.NoError(t, err)
		require.InDelta(t, time.Second, st.Window, float64(10*time.Millisecond))
		require.InDelta(t, 100, st.Achieved, 2)
		require.Equal(t, st.Offered, st.Achieved)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = openloop.Run(ctx, openloop.Config{Ops: []string{"get"}}, openloop.Constant(100, time.Hour), rng(1), quick)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestSecondsAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []openloop.Second
		st, err := openloop.Run(t.Context(), openloop.Config{
			Ops: []string{"get"}, OnSecond: func(s openloop.Second) { told = append(told, s) },
		}, openloop.Constant(100, 3*time.Second), rng(1), func(int) openloop.Actor {
			return &actor{steps: 1, serve: fixed(time.Millisecond)}
		})
		require.NoError(t, err)
		require.Len(t, told, len(st.Seconds))
		var offered, done int64
		for _, s := range st.Seconds {
			offered, done = offered+s.Offered, done+s.Done
		}
		require.EqualValues(t, 300, offered)
		require.EqualValues(t, 300, done)
	})
}
