//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// together puts a command and all that it starts into a process group, which is interrupted as a whole.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
}

// killRest ends what a command has left running.
func killRest(cmd *exec.Cmd) {
	if cmd.Process != nil {
		// Mostly nothing is left, which is the one error there can be.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
