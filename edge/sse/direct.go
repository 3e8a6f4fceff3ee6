package sse

import (
	"errors"
	"net"
	"os"
	"time"

	"boxoffice/persistence/panics"
)

// piece is the most bytes that writeItem writes at once. Each such write has a new deadline, so that a viewer
// on a slow line is not cut off during a large snapshot.
const piece = 16 << 10

// write sends a viewer's stream until the stream ends, on a goroutine of its own. If the viewer has left, the
// next write fails and ends the stream. It adds the viewer to h.direct before the first write, so that
// closeDirect can end a write that waits.
func (h *Hub) write(v *viewer) {
	h.mu.Lock()
	h.direct[v] = struct{}{}
	h.mu.Unlock()
	panics.Do(h.cfg.Log, "live stream", func() { h.writeAll(v) })
	h.mu.Lock()
	delete(h.direct, v)
	h.mu.Unlock()
	h.closeConnection(v)
}

// writeAll sends the viewer what it lacks, and then waits for a newer state of the topic or
// for the time of a keep-alive, again and again. It returns when a write fails, when the viewer has been sent the end
// of its stream, or when the hub cuts its streams off.
func (h *Hub) writeAll(v *viewer) {
	silence := time.NewTimer(h.cfg.KeepAlive)
	defer silence.Stop()
	var items []item
	for {
		// The state is loaded before its frames are sent. A state that comes after that
		// closes st.next, so none is missed.
		st := v.topic.state.Load()
		v.needsBeat(h.now())
		items = v.appendMissing(st, items[:0])
		for i := range items {
			if !h.writeItem(v, &items[i]) {
				return
			}
		}
		if v.isDone() {
			return
		}
		if len(items) > 0 {
			silence.Reset(h.cfg.KeepAlive)
			continue
		}
		select {
		case <-st.next:
		case <-silence.C:
		case <-h.cut:
			return
		}
	}
}

// writeItem writes all of an item and reports whether it succeeded. It fails, and the viewer's stream ends, if a
// write fails or if one piece of the item could not be written within Config.Stall.
func (h *Hub) writeItem(v *viewer, it *item) bool {
	for b := it.bytes; len(b) > 0; {
		err := v.conn.SetWriteDeadline(time.Now().Add(h.cfg.Stall))
		if err != nil {
			return false
		}
		n, err := v.conn.Write(b[:min(len(b), piece)])
		h.metrics.bytes.Add(float64(n))
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				h.metrics.cutOff.Inc()
			}
			return false
		}
		b = b[n:]
	}
	v.advanceBy([]item{*it}, len(it.bytes), h.now())
	return true
}

// closeDirect closes the connections of all viewers in h.direct, because their goroutines may be waiting in a
// write. Stop calls it when its context has ended.
func (h *Hub) closeDirect() {
	h.mu.Lock()
	var conns []net.Conn
	for v := range h.direct {
		conns = append(conns, v.conn)
	}
	h.mu.Unlock()
	for _, c := range conns {
		_ = c.Close() // the viewer goes even if this fails
	}
}
