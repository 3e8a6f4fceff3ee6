package hasher

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// setOwnSession puts a worker into a session of its own. The kernel shares the processor
// out among sessions first (sched(7), autogroup): a priority counts only within
// one.
func setOwnSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// niceness is a tenth of the usual weight: on a machine that has no core to
// spare a hash takes some tenths of a second, and is made. (Of idle priority it
// would not be: logins failed at a load of 9.)
const niceness = 10

// lowerPriority makes the session nice, or each thread where sessions do not count: those
// that are made later have it from these. A hash runs on any of them.
func lowerPriority() {
	if os.WriteFile("/proc/self/autogroup", strconv.AppendInt(nil, niceness, 10), 0) == nil {
		return
	}
	threads, _ := os.ReadDir("/proc/self/task") // without, a hash at the usual priority is a hash
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, niceness)
		}
	}
}
