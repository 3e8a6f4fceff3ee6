package cluster

import (
	"bufio"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cluster/wire"
)

// A stranger that announces a large hello gets no memory for it, and is not waited for.
func TestTooLargeAHello(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	defer far.Close()
	go func() { _, _ = far.Write([]byte{0, 16, 0, 0, wire.FrameHello}) }() // announces 1 MB and sends nothing of it
	l := newLink(near)
	_, err := l.readHello(bufio.NewReader(near), "a", "")
	require.ErrorIs(t, err, wire.ErrFrame)
	l.breakLink(err)
}
