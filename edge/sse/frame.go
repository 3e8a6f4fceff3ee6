package sse

import (
	"bytes"
	"compress/flate"
	"sync"
)

// frame is bytes of a stream that all viewers share. It never changes.
type frame struct {
	number uint64
	plain  []byte
	once   sync.Once
	packed []byte
}

// form is the frame as it is sent, packed for those who take gzip.
func (f *frame) form(packed bool) []byte {
	if !packed {
		return f.plain
	}
	f.once.Do(func() { f.packed = pack(f.plain) })
	return f.packed
}

// gzipHeader begins a stream of packed frames (RFC 1952, section 2.3). The
// stream has no trailer, which would need a checksum per viewer: it ends as if
// it had been cut off, which is how streams end.
var gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// level packs a map of 70,000 seats in 4 ms; the default takes nine times as
// long for two bytes less in a hundred.
const level = 4

var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, level)
	if err != nil {
		panic(err) // the level exists
	}
	return w
}}

// pack deflates bytes by themselves, up to a byte border (RFC 1951; a sync
// flush). So frames that were packed once can follow each other in any stream:
// no compressor per viewer.
func pack(plain []byte) []byte {
	w, _ := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	var b bytes.Buffer
	w.Reset(&b)
	_, _ = w.Write(plain) // a buffer takes everything
	_ = w.Flush()
	return bytes.Clone(b.Bytes())
}
