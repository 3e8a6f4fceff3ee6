package psp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBreaker(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	fresh := func() *breaker {
		return &breaker{Breaker: Breaker{Failures: 3, Window: 30 * time.Second, Pause: 5 * time.Second}}
	}
	call := func(b *breaker, v verdict, now time.Time) (opened, closed bool) {
		p, wait := b.admit(now)
		require.Zero(t, wait, "the call was not let through")
		return b.endCall(p, v, now)
	}

	t.Run("opens on failures in a row and closes on a good probe", func(t *testing.T) {
		t.Parallel()
		b := fresh()
		for range 2 {
			opened, _ := call(b, unhealthy, at(0))
			require.False(t, opened)
		}
		opened, _ := call(b, unhealthy, at(time.Second))
		require.True(t, opened)

		_, wait := b.admit(at(2 * time.Second))
		require.Equal(t, 4*time.Second, wait)
		probe, wait := b.admit(at(6 * time.Second))
		require.Zero(t, wait)
		require.True(t, probe.probe)
		_, wait = b.admit(at(6 * time.Second))
		require.Positive(t, wait, "a second call was let through beside the probe")

		_, closed := b.endCall(probe, healthy, at(7*time.Second))
		require.True(t, closed)
		call(b, healthy, at(7*time.Second))
	})
	t.Run("pauses again after a bad probe", func(t *testing.T) {
		t.Parallel()
		b := fresh()
		for range 3 {
			call(b, unhealthy, at(0))
		}
		call(b, unhealthy, at(5*time.Second))
		_, wait := b.admit(at(9 * time.Second))
		require.Equal(t, time.Second, wait)
	})
	t.Run("lets another probe through when the first told nothing", func(t *testing.T) {
		t.Parallel()
		b := fresh()
		for range 3 {
			call(b, unhealthy, at(0))
		}
		call(b, neutral, at(5*time.Second))
		call(b, healthy, at(5*time.Second))
	})
	t.Run("counts neither across a success nor across the window", func(t *testing.T) {
		t.Parallel()
		b := fresh()
		for _, step := range []struct {
			v  verdict
			at time.Duration
		}{
			{unhealthy, 0},
			{unhealthy, 0},
			{healthy, 0},
			{unhealthy, 0},
			{unhealthy, 0},
			{unhealthy, 31 * time.Second},
			{unhealthy, 32 * time.Second},
		} {
			opened, _ := call(b, step.v, at(step.at))
			require.False(t, opened)
		}
	})
	t.Run("a call from before it opened has no say", func(t *testing.T) {
		t.Parallel()
		b := fresh()
		old, _ := b.admit(at(0))
		for range 3 {
			call(b, unhealthy, at(0))
		}
		opened, _ := b.endCall(old, unhealthy, at(4*time.Second))
		require.False(t, opened)
		_, closed := b.endCall(old, healthy, at(4*time.Second))
		require.False(t, closed)
		_, wait := b.admit(at(4 * time.Second))
		require.Equal(t, time.Second, wait, "the pause was prolonged")
	})
}
