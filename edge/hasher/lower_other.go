//go:build !linux

package hasher

import (
	"os/exec"
	"syscall"
)

// apart does nothing here.
func apart(*exec.Cmd) {}

// lower gives the process a low priority.
func lower() {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10) // a hash at the usual priority is a hash
}
