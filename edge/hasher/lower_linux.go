package hasher

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// setOwnSession makes cmd run in a session of its own once it is started, so that lowerPriority can lower
// it against the node: the kernel divides the processor among sessions first (sched(7), autogroup), and
// priorities of threads count only within a session.
func setOwnSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// niceness gives a worker a tenth of the usual weight. On a machine whose cores are all busy, a
// hash then takes some tenths of a second. With idle priority, hashes would not be made in time: at
// a load of 9, logins failed.
const niceness = 10

// lowerPriority lowers the priority of the process's session or, if the kernel has no priorities of
// sessions, of each thread, because a hash may run on any of them. Later threads inherit the
// priority. Errors are ignored, because a hash at the usual priority is still a hash.
func lowerPriority() {
	if os.WriteFile("/proc/self/autogroup", strconv.AppendInt(nil, niceness, 10), 0) == nil {
		return
	}
	threads, _ := os.ReadDir("/proc/self/task") // if this fails, the priority stays the usual one
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, niceness)
		}
	}
}
