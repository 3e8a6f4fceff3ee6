package rig

import (
	"fmt"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A cluster that is started beside a node moves on past the node's port.
func TestClusterMovesPastTakenPorts(t *testing.T) {
	t.Parallel()
	node, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, node.Close()) })
	taken := node.Addr().(*net.TCPAddr).Port
	c := Cluster{Config: ClusterConfig{Nodes: 2, Port: taken - 1}}
	ports, err := c.choosePorts(t.Context())
	require.NoError(t, err)
	require.Len(t, ports, 6)
	_, text, err := net.SplitHostPort(ports[0])
	require.NoError(t, err)
	first, err := strconv.Atoi(text)
	require.NoError(t, err)
	require.Greater(t, first, taken)
	for i, addr := range ports {
		require.Equal(t, fmt.Sprintf("127.0.0.1:%d", first+i), addr)
	}
}
