// Package viewers watches an event's live seats through tens of thousands of connections, at the cost of one
// goroutine, and checks every byte that comes.
//
// An Audience owns the connections. Frames are the same bytes for all viewers, so each frame is kept once, by its
// number. A viewer is a place in that row of frames: what it reads is compared with the frame that must come next.
// The viewer that reads a frame first applies it to the one map that all viewers share. A snapshot must be what
// that map was at the snapshot's number. So a viewer that is at a number, and about which nothing was found, has
// exactly that map: this holds for all viewers, not for a sample of them.
//
// How long updates take is measured by marks: the harness tells when it changes a seat (Mark). Each viewer's delay
// until it has the frame with that change is taken, from the harness's request and from the answer to it. Package
// seats makes audiences. Close ends an audience and its goroutine. Linux only.
package viewers

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Config says who watches what.
type Config struct {
	Host       string // host:port of the service, on loopback
	Path       string // of the stream
	Viewers    int
	Slow       int // of them, the first ones, may be made slow
	PerAddress int // viewers of one client address; 100
	Seats      []string
}

// Measures are what was seen between Begin and End, by all viewers but those that
// may be slow.
type Measures struct {
	Span    time.Duration
	Marks   int64                   // deliveries of marked changes
	Asked   *hdrhistogram.Histogram // from the request for a change, in microseconds
	Granted *hdrhistogram.Histogram // from its answer
	Frames  int64                   // updates, each counted for each viewer that had it
	Bytes   int64                   // of everything: updates, snapshots, comments and heads
	Updates int64                   // bytes of the updates alone
	Jumps   int64                   // viewers whom a snapshot has taken over updates that they lacked
	Again   int64                   // other new snapshots
	Rejoins int64                   // connections after the first one, of all viewers
}

// Standing is how the audience stands at a moment.
type Standing struct {
	Viewers int
	Joined  int    // of them, those that have a map
	Current int    // of them, those at the last number that anybody has seen
	Number  uint64 // that one
	Skipped uint64 // updates that nobody has seen: the map went over them by a snapshot
	Refused int64  // attempts to join, answered 429 or 503
	// Findings are what no viewer should have seen; Found is how many in all.
	Findings []string
	Found    int64
}

// most is what a delay can be, in microseconds; longer ones count as it.
const most = int64(time.Minute / time.Microsecond)

// newDelays makes a histogram of delays in microseconds, with three digits.
func newDelays() *hdrhistogram.Histogram { return hdrhistogram.New(1, most, 3) }
