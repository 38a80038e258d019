//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup runs a command and its child processes in a process group, which is interrupted as a whole.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}

// killRest kills the processes that a command has left running.
func killRest(cmd *exec.Cmd) {
	if cmd.Process != nil {
		// The only possible error is that none is left.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
