package daemontest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/compactord/compactord/storage/postgres/postgrestest"
)

// RunWithProgram builds the program, sets its path and where it keeps its state, runs the tests of a package in a folder
// of e2e, and returns their exit code.
func RunWithProgram(m *testing.M, path *string) int {
	folder, err := os.MkdirTemp("", "compactord-")
	if err == nil {
		defer func() { _ = os.RemoveAll(folder) }()
		*path = filepath.Join(folder, "compactord")
		build := exec.CommandContext(context.Background(), "go", "build", "-o", *path, "../../cmd/compactord")
		build.Stderr = os.Stderr
		err = errors.Join(build.Run(), KeepState(folder))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		return 1
	}
	return postgrestest.Suite{M: m}.Run()
}
