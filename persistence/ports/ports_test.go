package ports_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/ports"
)

// TestFree makes sure that neither this process nor another is given a port twice, and that no port is
// given out on which somebody listens.
func TestFree(t *testing.T) {
	t.Parallel()
	const asks = "BOXOFFICE_TEST_ASKS_FOR_PORTS"
	if os.Getenv(asks) != "" {
		given, err := ports.Free(t.Context(), 100)
		require.NoError(t, err)
		_, err = os.Stdout.WriteString(strings.Join(given, " ") + "\n")
		require.NoError(t, err)
		return
	}
	seen := map[string]bool{}
	note := func(given []string) {
		require.Len(t, given, 100)
		for _, address := range given {
			require.False(t, seen[address], address)
			seen[address] = true
		}
	}
	given, err := ports.Free(t.Context(), 100)
	require.NoError(t, err)
	note(given)
	listener, err := net.Listen("tcp", given[0])
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()

	path, err := os.Executable()
	require.NoError(t, err)
	other := exec.CommandContext(t.Context(), path, "-test.run=^TestFree$")
	other.Env = append(os.Environ(), asks+"=1")
	said, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, other.Wait())
	note(strings.Fields(line))

	for range 5 { // which comes round to the first ports again
		given, err := ports.Free(t.Context(), 100)
		require.NoError(t, err)
		require.NotContains(t, given, listener.Addr().String())
	}
	_, err = ports.Free(t.Context(), 500)
	require.ErrorContains(t, err, "too few")
}
