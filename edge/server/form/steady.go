package form

import (
	"bufio"
	"io"
	"net"
	"net/http/httputil"
	"os"
	"time"
)

// A body must come in steadily: some of it within every pauseTime, and in any rateSpan at leastRate.
// So a client that trickles bytes cannot occupy a place for long, whatever it has sent before.
const (
	pauseTime = 15 * time.Second
	rateSpan  = 30      // seconds
	leastRate = 4 << 10 // bytes a second
)

// Steady reads a body of a known length, or of chunks, from a connection.
type Steady struct {
	conn    net.Conn
	from    io.Reader
	chunked bool
	left    int64 // bytes left of a body of known length
	ended   bool  // all of the body has been read
	now     func() time.Time
	began   time.Time
	second  int64           // the newest second that is counted; reading began in second 0
	counts  [rateSpan]int64 // bytes that were read in each of the last seconds
}

// ReadSteadily begins to read the body of a request: length bytes of from, or chunks where length is
// negative. conn is the connection below from, whose read deadlines it sets.
func ReadSteadily(conn net.Conn, from io.Reader, length int, now func() time.Time) *Steady {
	b := &Steady{conn: conn, from: from, left: int64(length), now: now, began: now()}
	if length < 0 {
		b.from, b.chunked = httputil.NewChunkedReader(bufio.NewReader(from)), true
	}
	return b
}

// isTooSlow reports whether too little has come in the last rateSpan, and makes the newest count
// the count of this second. It returns false during the first rateSpan seconds.
func (b *Steady) isTooSlow() bool {
	at := int64(b.now().Sub(b.began).Seconds())
	for n := 0; b.second < at && n < rateSpan; n++ {
		b.second++
		b.counts[b.second%rateSpan] = 0
	}
	b.second = max(b.second, at)
	recent := int64(0)
	for _, n := range b.counts {
		recent += n
	}
	return at >= rateSpan && recent < rateSpan*leastRate
}

// Read reads on. A body that breaks off gives io.ErrUnexpectedEOF, a body that comes too slowly
// os.ErrDeadlineExceeded.
func (b *Steady) Read(p []byte) (int, error) {
	if b.ended || !b.chunked && b.left == 0 {
		b.ended = true
		return 0, io.EOF
	}
	if b.isTooSlow() {
		return 0, os.ErrDeadlineExceeded
	}
	if err := b.conn.SetReadDeadline(time.Now().Add(pauseTime)); err != nil {
		return 0, err
	}
	if !b.chunked && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.from.Read(p)
	b.counts[b.second%rateSpan] += int64(n)
	if b.chunked {
		b.ended = err == io.EOF
		return n, err
	}
	b.left -= int64(n)
	b.ended = b.left == 0
	if err == io.EOF && !b.ended {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
