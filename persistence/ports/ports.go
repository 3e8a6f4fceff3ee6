// Package ports gives out ports of this machine for servers that are about to be started: the nodes
// of load tests and of tests. It has no goroutines.
package ports

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
)

// The ports are below the range from which Linux takes ports for outgoing connections and for
// listeners that name no port. So nobody takes a port by chance before its server listens there. They
// are above 10080, which browsers refuse (WHATWG Fetch, "bad port").
const (
	firstPort = 11_000
	blocks    = 40
	blockSize = 500
)

// own is the block of ports of this process. Two processes that looked for free ports in one range
// would find the same ports, so each takes a block.
var own struct {
	sync.Mutex
	door  net.Listener // on the block's first port; whoever listens there owns the block
	first int
	taken int // the place of the port that was given out last
}

// Free returns n loopback addresses (host:port) that nobody listens on. No later call in this process
// returns one of them again before 498 others have been given out. Another process may be given them
// once this process has ended.
func Free(ctx context.Context, n int) ([]string, error) {
	own.Lock()
	defer own.Unlock()
	for i := 0; own.door == nil && i < blocks; i++ {
		own.first = firstPort + i*blockSize
		own.door, _ = new(net.ListenConfig).Listen(ctx, "tcp", loopbackAt(own.first)) // an error means that it is another's
	}
	if own.door == nil {
		return nil, fmt.Errorf("ports: all blocks from %d to %d are taken", firstPort, firstPort+blocks*blockSize-1)
	}
	var addresses []string
	for range blockSize {
		if len(addresses) == n {
			return addresses, nil
		}
		own.taken = own.taken%(blockSize-1) + 1
		address := loopbackAt(own.first + own.taken)
		if ln, err := new(net.ListenConfig).Listen(ctx, "tcp", address); err == nil {
			if err := ln.Close(); err != nil {
				return nil, fmt.Errorf("ports: %w", err)
			}
			addresses = append(addresses, address)
		}
	}
	return nil, errors.New("ports: too few are free")
}

// loopbackAt returns the loopback address with a port.
func loopbackAt(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
