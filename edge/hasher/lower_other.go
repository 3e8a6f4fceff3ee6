//go:build !linux

package hasher

import (
	"os/exec"
	"syscall"
)

// setOwnSession does nothing here.
func setOwnSession(*exec.Cmd) {}

// lowerPriority gives the process a low priority.
func lowerPriority() {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10) // a hash at the usual priority is a hash
}
