package postgrestest

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is the user id of who owns nothing. PostgreSQL does not run as root.
const nobody = 65534

// stopSignal ends a server that need not write anything any more.
const stopSignal = syscall.SIGQUIT

// ownFolder gives a folder to the user that the server runs as.
func ownFolder(folder string) error {
	if os.Getuid() != 0 {
		return nil
	}
	return os.Chown(folder, nobody, nobody)
}

// asUser lets a program run as that user, and end with this process.
func asUser(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
}
