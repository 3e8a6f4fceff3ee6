package nodetest

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The ports of tests are below those that the system gives to outgoing connections. Other tests
// open thousands of those, and so none can take a port before its node listens on it.
const (
	firstPort = 10_000
	blocks    = 40
	blockSize = 500
)

// ports are this process's own. Packages are tested at the same time, and two processes that looked
// for a free port in the same range would find the same one.
var ports struct {
	sync.Mutex
	door  net.Listener // on the first port of the block; the process that listens there owns the block
	first int
	taken int
}

// Address returns a loopback address that no other test has, in this process or another.
func Address(t testing.TB) string {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	for n := 0; ports.door == nil && n < blocks; n++ {
		ports.first = firstPort + n*blockSize
		ports.door, _ = net.Listen("tcp", address(ports.first))
	}
	require.NotNil(t, ports.door, "no block of ports is free")
	for range blockSize {
		ports.taken = ports.taken%(blockSize-1) + 1
		a := address(ports.first + ports.taken)
		if ln, err := net.Listen("tcp", a); err == nil {
			require.NoError(t, ln.Close())
			return a
		}
	}
	require.Fail(t, "no free port")
	return ""
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
