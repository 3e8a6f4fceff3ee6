package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/persisttest"
)

// nodeForTest runs boxoffice instead of the tests if the process was started for that.
func nodeForTest() {
	if os.Getenv("BOXOFFICE_TEST_NODE") != "" {
		main()
		os.Exit(0)
	}
}

// allowNodes lets the code under test start nodes by running this program. What they store is in memory, so that no
// disk that others keep busy makes their Postgres late.
func allowNodes(t *testing.T) {
	t.Helper()
	t.Setenv("BOXOFFICE_TEST_NODE", "1")
	t.Setenv("TMPDIR", persisttest.ServerDir(t))
}

func TestMain(m *testing.M) {
	nodeForTest()
	nodetest.Main(m, nodetest.MostlyWaiting)
}

// program returns a run of this program with arguments and with knobs in the form KEY=value.
func program(t *testing.T, args []string, knobs ...string) (cmd *exec.Cmd, said *bytes.Buffer) {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	cmd, said = exec.CommandContext(t.Context(), path, args...), new(bytes.Buffer)
	cmd.Env = append(append(os.Environ(), "BOXOFFICE_TEST_NODE=1"), knobs...)
	cmd.Stderr = said
	return cmd, said
}

// TestUnknownArguments makes sure that one line says what is wrong, for every command.
func TestUnknownArguments(t *testing.T) {
	t.Parallel()
	for args, why := range map[string]string{
		"bogus": "unexpected argument bogus", "serve --bogus": "unknown flag --bogus", "keys bogus": "unexpected argument bogus", "cluster --nodes=x": "--nodes",
	} {
		cmd, said := program(t, strings.Fields(args))
		require.Error(t, cmd.Run(), args)
		require.Contains(t, said.String(), why)
		require.Equal(t, 1, strings.Count(said.String(), "\n"), said.String())
	}
}

// TestServe starts a node and a second one at the same addresses, and stops the first.
func TestServe(t *testing.T) {
	t.Parallel()
	listen := persisttest.Address(t)
	knobs := func(paysim string) []string {
		return []string{
			"BOXOFFICE_DATABASE_URL=" + persisttest.DB(t), "BOXOFFICE_ALLOW_UNSAFE_POSTGRES=true", "BOXOFFICE_LISTEN=" + listen, "BOXOFFICE_PAYSIM_LISTEN=" + paysim,
			"BOXOFFICE_MASTER_KEY=" + strings.Repeat("ab", 32), "BOXOFFICE_MAIL_DIR=" + t.TempDir(),
		}
	}
	paysim := persisttest.Address(t)
	cmd, said := program(t, nil, knobs(paysim)...)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listen+"/readyz", nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		return err == nil && res.Body.Close() == nil && res.StatusCode == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond)

	for knob, other := range map[string]string{"BOXOFFICE_PAYSIM_LISTEN": paysim, "BOXOFFICE_LISTEN": persisttest.Address(t)} {
		second, why := program(t, nil, knobs(other)...)
		require.Error(t, second.Run())
		require.Contains(t, why.String(), "boxoffice: "+knob+": listen tcp")
	}

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
	require.Regexp(t, `(?s)"msg":"stopping".*"msg":"stopped"}\n$`, said.String())
}
