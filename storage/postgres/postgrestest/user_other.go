//go:build !linux

package postgrestest

import (
	"os"
	"os/exec"
)

// stopSignal ends a server that need not write anything any more.
var stopSignal = os.Kill

// ownFolder does nothing: elsewhere tests do not run as root.
func ownFolder(string) error { return nil }

func asUser(*exec.Cmd) {}
