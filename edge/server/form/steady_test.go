package form_test

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/server/form"
)

// TestBodiesComeSteadily sends bodies on a clock that moves with each piece: what was sent fast at
// first buys no time later.
func TestBodiesComeSteadily(t *testing.T) {
	t.Parallel()
	type piece struct {
		bytes int
		after time.Duration
	}
	trickle := func(first int) []piece {
		pieces := []piece{{first, 0}}
		for range 20 {
			pieces = append(pieces, piece{1, 10 * time.Second})
		}
		return pieces
	}
	steady := make([]piece, 1800)
	for i := range steady {
		steady[i] = piece{5 << 10, time.Second}
	}
	for name, one := range map[string]struct {
		pieces []piece
		whole  bool
	}{
		"a megabyte, then bytes":    {trickle(1 << 20), false},
		"bytes from the beginning":  {trickle(1), false},
		"steadily for half an hour": {steady, true},
		"at once":                   {[]piece{{1 << 20, 0}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := net.Pipe()
			now, length := time.Unix(0, 0), int64(0)
			for _, p := range one.pieces {
				length += int64(p.bytes)
			}
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				for _, p := range one.pieces {
					if _, err := theirs.Write(make([]byte, p.bytes)); err != nil {
						return
					}
				}
			}()
			// The clock is read once before each piece, or part of one, is read.
			read, at := int64(0), 0
			clock := func() time.Time {
				for ; at < len(one.pieces) && read >= int64(one.pieces[at].bytes); at++ {
					read -= int64(one.pieces[at].bytes)
					if at+1 < len(one.pieces) {
						now = now.Add(one.pieces[at+1].after)
					}
				}
				return now
			}
			conn := &counting{ours, &read}
			_, err := io.Copy(io.Discard, form.ReadSteadily(conn, conn, int(length), clock))
			require.NoError(t, ours.Close())
			<-sent
			if one.whole {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			}
		})
	}
}

// counting counts what is read of a connection.
type counting struct {
	net.Conn
	read *int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	*c.read += int64(n)
	return n, err
}
