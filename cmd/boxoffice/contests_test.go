package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/bookings"
	"boxoffice/loadtest/broadcast"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/million"
	"boxoffice/loadtest/overload"
	"boxoffice/loadtest/room"
	"boxoffice/loadtest/transfers"
	"boxoffice/loadtest/waitlist"
)

// runContest runs a contest as its command would, with nodes of its own. Each check of its audit
// must have had something to check.
func runContest[C any](t *testing.T, run func(context.Context, C, io.Writer, *slog.Logger) (*contest.Result, error), flags ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts processes")
	}
	allowNodes(t)
	var cfg C
	parser, err := kong.New(&cfg)
	require.NoError(t, err)
	_, err = parser.Parse(append(flags, "--out="+t.TempDir()))
	require.NoError(t, err)
	var out bytes.Buffer
	r, err := run(t.Context(), cfg, &out, slog.New(slog.DiscardHandler))
	require.NoError(t, err, out.String())
	for _, c := range r.Checks {
		require.Positive(t, c.Checked, "%s\n%s", c.Name, out.String())
	}
}

func TestTransfersContest(t *testing.T) { runContest(t, transfers.Run, "--races=100") }

// TestWaitlistContest leaves out orders that expire, because that takes five minutes.
func TestWaitlistContest(t *testing.T) {
	runContest(t, waitlist.Run, "--units=20", "--waiting=40", "--given=20", "--kills=1", "--abandons=0")
}

// TestBookingsContest leaves out orders that expire, because that takes five minutes.
func TestBookingsContest(t *testing.T) {
	runContest(t, bookings.Run, "--buyers=40", "--dates=2", "--slots=2", "--kills=1", "--abandons=0", "--late=0")
}

func TestBroadcastContest(t *testing.T) {
	runContest(t, broadcast.Run, "--attendees=200", "--rate=20", "--within=30s")
}

// TestRoomContest lets few come: what a node takes is for another time.
func TestRoomContest(t *testing.T) {
	runContest(t, room.Run, "--clients=4", "--phase=1s", "--crowd=1", "--look=2s")
}

// TestOverloadContest sends little: what a node takes is for another time.
func TestOverloadContest(t *testing.T) {
	runContest(t, overload.Run, "--clients=4", "--phase=1s", "--connections=256", "--times=1")
}

// TestMillionContest has few areas, of 15 tickets each, so that each is sold out.
func TestMillionContest(t *testing.T) {
	runContest(t, million.Run, "--requests=2000", "--events=2", "--areas=9", "--rate=500", "--connections=256")
}
