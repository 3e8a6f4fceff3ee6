package rig_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/loadtest/rig"
)

// burn uses CPU until this process has used that much more of it: how long that takes
// depends on what else the machine does.
func burn(t *testing.T, d time.Duration) {
	t.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for end := used() + d; used() < end; {
	}
}

func TestSamplerSeesWhatWasBurnt(t *testing.T) {
	s := rig.StartSampler(
		rig.Target{Name: "self", PID: rig.FixedPID(os.Getpid())},
		rig.Target{Name: "nobody", PID: rig.FixedPID(0)},
	)
	burn(t, 300*time.Millisecond)
	u := s.Stop()
	require.Equal(t, []string{"self", "nobody"}, u.Names)
	require.GreaterOrEqual(t, u.Total[0], 270*time.Millisecond, "the kernel counts in ticks of 10 ms")
	require.Zero(t, u.Total[1])
	require.NotEmpty(t, u.Seconds)
	require.GreaterOrEqual(t, u.Steal, 0.0)
	require.GreaterOrEqual(t, u.Others, 0.0)
	require.Equal(t, u, s.Stop(), "stopping twice is fine")
}

func TestTreeCountsLiveAndEndedChildren(t *testing.T) {
	const loop = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
	// The first child ends and is waited for, the second lives on.
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sh -c '"+loop+"'; sh -c '"+loop+"; echo done; read x'; exit 0")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = out.Read(make([]byte, 8))
	require.NoError(t, err)

	require.Len(t, rig.Descendants(cmd.Process.Pid), 1)
	pid := 0
	s := rig.StartSampler(
		rig.Target{Name: "tree", PID: func() int { return pid }, Tree: true},
		rig.Target{Name: "parent", PID: func() int { return pid }},
	)
	pid = cmd.Process.Pid // from now on: as after a restart, all its CPU is new
	u := s.Stop()
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
	require.Greater(t, u.Total[0], 20*time.Millisecond)
	require.Less(t, u.Total[1], u.Total[0]/2, "the parent alone did next to nothing")
}

func TestOthersAreWhatIsNotSampled(t *testing.T) {
	all := rig.StartSampler()
	mine := rig.StartSampler(rig.Target{Name: "self", PID: rig.FixedPID(os.Getpid())})
	began := time.Now()
	burn(t, time.Second)
	u, everything := mine.Stop(), all.Stop()
	cores := u.Total[0].Seconds() / time.Since(began).Seconds()
	require.InDelta(t, everything.Others-cores, u.Others, 0.3)
	require.Greater(t, everything.Others, cores/2)
}

func TestMachineAndPIDFile(t *testing.T) {
	require.NotEmpty(t, rig.ReadMachine(2).Kernel)
	path := filepath.Join(t.TempDir(), "postmaster.pid")
	require.NoError(t, os.WriteFile(path, []byte("123\n/data\n"), 0o600))
	pid, err := rig.ReadPIDFile(path)
	require.NoError(t, err)
	require.Equal(t, 123, pid)
	require.NoError(t, os.WriteFile(path, []byte("x\n"), 0o600))
	_, err = rig.ReadPIDFile(path)
	require.Error(t, err)
}
