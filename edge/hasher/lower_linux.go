package hasher

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// setOwnSession makes a worker start in a session of its own. The kernel first divides the processor among sessions
// (sched(7), autogroup), and the priority of a process counts only within its session.
func setOwnSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// niceness is the nice value of workers. It gives them a tenth of the usual share of the processor, so that on a busy
// machine a hash takes some tenths of a second. With idle priority, hashes were not finished in time: logins
// failed at a load of 9.
const niceness = 10

// lowerPriority sets the nice value of the worker's session or, if the kernel does not schedule by sessions, of each of
// its threads. Threads that start later inherit it.
func lowerPriority() {
	if os.WriteFile("/proc/self/autogroup", strconv.AppendInt(nil, niceness, 10), 0) == nil {
		return
	}
	threads, _ := os.ReadDir("/proc/self/task") // If this fails, hashes are made at the usual priority.
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, niceness)
		}
	}
}
