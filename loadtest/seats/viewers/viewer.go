package viewers

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// headMax bounds what has to be read before it is known what it is: the head of
// the answer is the longest.
const headMax = 8 << 10

// phase is where a viewer's connection is.
type phase uint8

const (
	away     phase = iota // without one; due says when it comes
	joining               // not connected yet, or without an answer
	watching              // its answer has begun
)

// viewer is one connection and how far it has come in the stream. It has few fields, because there are tens of
// thousands.
type viewer struct {
	fd     int
	phase  phase
	slow   bool // takes little or nothing, until it is told otherwise
	joined bool // it has been here before
	known  bool // it has a map
	at     uint64
	due    time.Time

	frame *frame // that it is reading
	off   int    // how much of it it has
	head  []byte // what it has of something that is too short to be known
}

// reader takes in what viewers read. Only the audience's goroutine uses it.
type reader struct {
	stream  *stream
	now     time.Time
	measure *Measures // nil: nothing is measured
	counts  bool      // the viewer at hand is measured
}

// read takes in bytes that have come for a viewer. They may begin and end anywhere: in the middle of a frame, or of
// a line. An error means that nothing further can be understood.
func (r *reader) read(v *viewer, b []byte) error {
	if r.isCounted() {
		r.measure.Bytes += int64(len(b))
	}
	for len(b) > 0 {
		if v.frame == nil {
			if len(v.head) > 0 {
				b = append(v.head, b...)
				v.head = nil
			}
			var err error
			if b, err = r.beginFrame(v, b); err != nil {
				return err
			}
			if v.frame == nil {
				if len(b) > headMax {
					return fmt.Errorf("no event: %.80q", b)
				}
				v.head = bytes.Clone(b)
				return nil
			}
		}
		var err error
		if b, err = r.takeFrame(v, b); err != nil {
			return err
		}
	}
	return nil
}

// isCounted reports whether the viewer at hand is measured now. Viewers that may be slow are not.
func (r *reader) isCounted() bool { return r.measure != nil && r.counts }

var (
	blank       = []byte("\n\n")
	headEnd     = []byte("\r\n\r\n")
	updateEvent = []byte("event: seat_update\n")
	snapEvent   = []byte("event: snapshot\n")
)

// beginFrame finds out what b begins with. It skips heads of answers, comments and hints. At the beginning of a
// frame it sets the viewer's frame and returns b from there on. If b is too short to tell, it returns b, and the
// viewer keeps it until more has come.
func (r *reader) beginFrame(v *viewer, b []byte) ([]byte, error) {
	for len(b) > 0 {
		switch {
		case bytes.HasPrefix(b, updateEvent): // the first of several: the last has the id
			if !v.known {
				r.stream.find("a viewer without a snapshot is sent an update")
			}
			v.frame, v.off = r.stream.frameOf(v.at+1, false), 0
			return b, nil
		case b[0] == 'i':
			id, rest, ok := bytes.Cut(b, []byte("\n"))
			if !ok || len(rest) < len(updateEvent) {
				return b, nil
			}
			r.beginWithID(v, bytes.TrimPrefix(id, []byte("id: ")), bytes.HasPrefix(rest, snapEvent))
			return b, nil
		case b[0] == 'e' && len(b) < len(updateEvent):
			return b, nil
		default:
			end, size := bytes.Index(b, blank), len(blank)
			if b[0] == 'H' {
				end, size = bytes.Index(b, headEnd), len(headEnd)
			}
			if end < 0 {
				return b, nil
			}
			if err := r.passHead(v, b[:end]); err != nil {
				return nil, err
			}
			b = b[end+size:]
		}
	}
	return b, nil
}

// beginWithID begins a frame whose first event carries the id, and checks that the id fits the viewer: an update
// must be the next one, and a snapshot must not be older than what the viewer has. The id names the life of the
// stream (epoch) and the number.
func (r *reader) beginWithID(v *viewer, id []byte, snapshot bool) {
	epoch, text, _ := bytes.Cut(id, []byte("-"))
	number, err := strconv.ParseUint(string(text), 10, 64)
	s := r.stream
	if s.epoch == "" {
		s.epoch = string(epoch)
	}
	switch {
	case err != nil || s.epoch != string(epoch):
		s.find("a viewer of %s-%d is sent %q", s.epoch, v.at, id)
	case snapshot && v.known && number < v.at:
		s.find("a viewer at %d is sent snapshot %d", v.at, number)
	case !snapshot && !v.known:
		s.find("a viewer without a snapshot is sent update %d", number)
	case !snapshot && number != v.at+1:
		s.find("a viewer at %d is sent update %d", v.at, number)
	}
	v.frame, v.off = s.frameOf(number, snapshot), 0
}

// errRefused says that a viewer was not let in.
var errRefused = errors.New("refused")

// passHead skips the head of an answer, a comment or a hint when to come again. Only a head changes something: with
// 200 the viewer is watching, and with 429 or 503 it has been refused.
func (r *reader) passHead(v *viewer, b []byte) error {
	switch {
	case bytes.Equal(b, []byte(":")), bytes.HasPrefix(b, []byte("retry: ")):
		return nil
	case v.phase == joining && bytes.HasPrefix(b, []byte("HTTP/1.1 200 ")):
		v.phase = watching
		return nil
	case v.phase == joining && (bytes.HasPrefix(b, []byte("HTTP/1.1 429 ")) || bytes.HasPrefix(b, []byte("HTTP/1.1 503 "))):
		return errRefused
	}
	return fmt.Errorf("neither head, comment nor hint: %.80q", b)
}

// takeFrame takes in what belongs to the viewer's frame and returns the bytes after it. It first compares with what
// others have read of the frame, and then adds what nobody has read yet.
func (r *reader) takeFrame(v *viewer, b []byte) ([]byte, error) {
	f := v.frame
	n := min(len(b), len(f.bytes)-v.off)
	if !bytes.Equal(b[:n], f.bytes[v.off:v.off+n]) {
		return nil, fmt.Errorf("frame %d (snapshot: %t) is not what others were sent, from byte %d on", f.number, f.snapshot, v.off)
	}
	v.off, b = v.off+n, b[n:]
	if !f.whole && len(b) > 0 {
		b = f.growBy(b)
		v.off = len(f.bytes)
		if f.whole {
			r.stream.learnFrame(f, r.now)
		}
	}
	if f.whole && v.off == len(f.bytes) {
		r.finishFrame(v, f)
	}
	return b, nil
}

// finishFrame moves the viewer to a frame that it has had whole, and measures it. A viewer's first snapshot is not
// measured: it says nothing about how soon changes are told.
func (r *reader) finishFrame(v *viewer, f *frame) {
	from, had := v.at, v.known
	v.frame, v.at, v.known = nil, f.number, true
	if !r.isCounted() || !had {
		return
	}
	switch {
	case !f.snapshot:
		r.measure.Frames++
		r.measure.Updates += int64(len(f.bytes))
		r.noteDelays(f)
	case f.number == from:
		r.measure.Again++
	default: // the snapshot is how it learns of the marks of the updates
		r.measure.Jumps++
		for number := from + 1; number <= f.number; number++ {
			if u := r.stream.updates[number]; u != nil {
				r.noteDelays(u)
			}
		}
	}
}

// noteDelays records how long the marked changes of an update took to reach the viewer, from the request for the
// change and from its answer.
func (r *reader) noteDelays(f *frame) {
	for _, m := range f.marks {
		r.measure.Marks++
		recordDelay(r.measure.Asked, r.now.Sub(m.asked))
		var since time.Duration // what is granted is on its way at once, to viewers too
		if granted := m.granted.Load(); granted != nil {
			since = r.now.Sub(*granted)
		}
		recordDelay(r.measure.Granted, since)
	}
}

// recordDelay records a delay in microseconds. A delay beyond the histogram's range counts as the longest one
// instead of being lost.
func recordDelay(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(d.Microseconds(), 1), most)) // within its range
}
