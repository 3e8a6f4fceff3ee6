package sse

import (
	"crypto/tls"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// maxBatch is about the most frames of one write. More would not make writing cheaper, because a few thousand
// bytes already cost more than the system call.
const maxBatch = 32

// viewer is one stream: its connection, and how far it has come. Only one goroutine writes
// to it and touches its fields. Durations are times of Hub.now.
type viewer struct {
	topic  *topic
	client netip.Addr
	conn   net.Conn
	packed bool  // the viewer is sent gzip
	lot    uint8 // which of the hub's hints the viewer gets

	whole bool   // a snapshot must be sent next
	last  bool   // the last frame of the stream has been written, or begun
	next  uint64 // number of the frame after the last one that was begun
	rest  []byte // what is left to write of a frame that was begun; its bytes are shared

	began   time.Duration // when the frame in rest was begun
	moved   time.Duration // when the viewer last took something, or when a write to it last could not go on
	refresh time.Duration // when a new snapshot is due

	fd      int  // the connection's descriptor; this and the next two fields are used only by a shard
	index   int  // the viewer's index in shard.topics[topic]
	blocked bool // the connection takes nothing until epoll reports it
}

// item is bytes to write to a viewer, with the values that the viewer's fields have once some are written.
type item struct {
	bytes    []byte
	next     uint64
	snapshot bool
	last     bool
}

// resumeAfter lets the viewer go on after the frame with the id lastID, if the ring still has all frames that
// followed. Otherwise the viewer gets a snapshot first.
func (v *viewer) resumeAfter(lastID string) {
	v.whole = true
	epoch, number, ok := strings.Cut(lastID, "-")
	if !ok || epoch != v.topic.epoch {
		return
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if st := v.topic.state.Load(); err == nil && n <= st.last && n+1 >= st.firstFrame() {
		v.next, v.whole = n+1, false
	}
}

// appendMissing appends what the viewer lacks, in order: the rest of a frame that was begun, a snapshot if one is
// due, the frames after that, and, if the hub stops, the last hint. If there is no snapshot yet, it asks the
// topic for one. It does not move the viewer on; advanceBy does, once bytes have been written.
func (v *viewer) appendMissing(st *state, items []item) []item {
	if len(v.rest) > 0 {
		items = append(items, item{bytes: v.rest, next: v.next, last: v.last})
	}
	if v.last {
		return items
	}
	next := v.next
	if next < st.firstFrame() && !v.whole {
		v.whole = true
		v.topic.hub.metrics.resyncs.Inc()
	}
	if v.whole {
		if s := st.snapshot; s != nil && s.number+1 >= next { // a snapshot older than what the viewer has seen is never sent
			next = s.number + 1
			items = append(items, item{bytes: s.wireBytes(v.packed), next: next, snapshot: true})
		} else {
			v.topic.askSnapshot()
		}
	}
	there := next >= st.firstFrame()
	for ; there && next <= st.last && len(items) < maxBatch; next++ {
		items = append(items, item{bytes: st.frames[next-st.firstFrame()].wireBytes(v.packed), next: next + 1})
	}
	if st.final && (!there || next > st.last) {
		hint := v.topic.hub.hints[v.lot]
		items = append(items, item{bytes: hint.wireBytes(v.packed), next: next, last: true})
	}
	return items
}

// advanceBy moves the viewer on by the n bytes of the items that the kernel has taken. What
// is left of a frame that was begun goes into rest.
func (v *viewer) advanceBy(items []item, n int, now time.Duration) {
	if n > 0 {
		v.moved = now
	}
	for i := range items {
		if n == 0 {
			return
		}
		it := &items[i]
		if i > 0 || len(v.rest) == 0 {
			v.began = now
		}
		v.next, v.last = it.next, it.last
		if it.snapshot {
			v.whole, v.refresh = false, v.topic.hub.refreshAt(now)
		}
		size := min(n, len(it.bytes))
		v.rest = it.bytes[size:]
		n -= size
	}
}

// isDone reports whether the viewer has been sent everything, so that its connection can be
// closed.
func (v *viewer) isDone() bool { return v.last && len(v.rest) == 0 }

// needsBeat prepares what is due at the time now: a new snapshot, or a comment that keeps the connection open. It
// reports whether there may be something to write.
func (v *viewer) needsBeat(now time.Duration) bool {
	h := v.topic.hub
	if now >= v.refresh {
		v.whole = true
	}
	if len(v.rest) == 0 && now-v.moved >= h.cfg.KeepAlive {
		v.rest, v.began = h.comment.wireBytes(v.packed), now
	}
	return v.whole || len(v.rest) > 0
}

// isStalled reports whether a blocked viewer must be cut off: it took nothing for Config.Stall, or needs more than
// six times as long for one frame. The second rule is for viewers that take a few bytes now and then and
// so would keep a whole frame in memory.
func (v *viewer) isStalled(now time.Duration) bool {
	stall := v.topic.hub.cfg.Stall
	return now-v.moved >= stall || len(v.rest) > 0 && now-v.began >= 6*stall
}

// innerConnection returns the innermost connection under those that wrap it. plain reports whether what is
// written to it reaches the viewer unchanged.
func innerConnection(c net.Conn) (inner net.Conn, plain bool) {
	for plain = true; ; {
		if _, ok := c.(*tls.Conn); ok {
			plain = false
		}
		w, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c, plain
		}
		c = w.NetConn()
	}
}
