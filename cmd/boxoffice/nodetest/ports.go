package nodetest

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The ports of tests are below the range from which the system takes ports for outgoing
// connections. Other tests open thousands of such connections. So none of them can take a port
// before its node listens there. They are above 10080, which browsers refuse (WHATWG Fetch, "bad port").
const (
	firstPort = 11_000
	blocks    = 40
	blockSize = 500
)

// ports are the ports of this process. Packages are tested at the same time, each in a process of
// its own. Two processes that looked for free ports in one range would find the same ports, so each
// takes a block.
var ports struct {
	sync.Mutex
	door  net.Listener // on the first port of the block; the process that listens there owns the block
	first int
	taken int
}

// Address returns a loopback address that no other test uses, in this process or in another.
func Address(t testing.TB) string {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	for n := 0; ports.door == nil && n < blocks; n++ {
		ports.first = firstPort + n*blockSize
		ports.door, _ = net.Listen("tcp", loopbackAt(ports.first))
	}
	require.NotNil(t, ports.door, "no block of ports is free")
	// The ports of the block are used in turn, because a port that was just closed may still be
	// busy.
	for range blockSize {
		ports.taken = ports.taken%(blockSize-1) + 1
		a := loopbackAt(ports.first + ports.taken)
		if ln, err := net.Listen("tcp", a); err == nil {
			require.NoError(t, ln.Close())
			return a
		}
	}
	require.Fail(t, "no free port")
	return ""
}

// loopbackAt returns the loopback address with a port.
func loopbackAt(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
