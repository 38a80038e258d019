package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// client is a package for another language than Go. Its tools are installed into its own folder, as its lock file says,
// and are needed for its generated code too.
type client struct {
	folder string
	// lock is the file that pins its tools, and stamp a copy of it, written when they are all there.
	lock, stamp string
	// lacks says what keeps it from being installed on this machine; it is empty where nothing does.
	lacks   func(*verifier, context.Context) string
	install func(*verifier, context.Context) error
}

func pythonClient() client {
	return client{
		folder:  "clients/python",
		lock:    "requirements-dev.txt",
		stamp:   ".venv/requirements-dev.txt",
		lacks:   (*verifier).lacksPython,
		install: (*verifier).installPython,
	}
}

func typescriptClient() client {
	return client{
		folder:  "clients/ts",
		lock:    "package-lock.json",
		stamp:   "node_modules/.installed-lock.json",
		lacks:   (*verifier).lacksNode,
		install: (*verifier).installTypeScript,
	}
}

func clients() []client { return []client{pythonClient(), typescriptClient()} }

// ready installs the tools of a client where they are missing or others are pinned by now. Where that is not possible it
// prints what is off for that, so that a green run is never taken for more than it was.
func (v *verifier) ready(ctx context.Context, c client, off string) (bool, error) {
	if lack := c.lacks(v, ctx); lack != "" {
		fmt.Fprintf(v.out, "%s of %s off: %s\n", off, c.folder, lack)
		return false, ctx.Err()
	}
	lock, err := os.ReadFile(v.in(c.folder, c.lock))
	if err != nil {
		return false, err
	}
	stamp, err := os.ReadFile(v.in(c.folder, c.stamp))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err == nil && string(stamp) == string(lock) {
		return true, nil
	}
	// What is interrupted must not look whole.
	if err := os.Remove(v.in(c.folder, c.stamp)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := c.install(v, ctx); err != nil {
		return false, err
	}
	return true, os.WriteFile(v.in(c.folder, c.stamp), lock, 0o600)
}

// in returns the path of what is in the clone.
func (v *verifier) in(elements ...string) string {
	return filepath.Join(append([]string{v.root}, elements...)...)
}

// python is the interpreter that virtual environments are made with.
func python() string {
	if named := os.Getenv("PYTHON"); named != "" {
		return named
	}
	if runtime.GOOS == "windows" {
		return "python"
	}
	return "python3"
}

// oldestPython is what the package says in requires-python.
const oldestPython = "3.10"

func (v *verifier) lacksPython(ctx context.Context) string {
	const check = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2], sys.version_info >= (3, 10))"
	quiet := verifier{root: v.root, err: new(strings.Builder)}
	said, err := quiet.output(ctx, "", python(), "-c", check)
	version, newEnough, _ := strings.Cut(said, " ")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return python() + " not found"
	case err != nil:
		return python() + " cannot make virtual environments"
	case newEnough != "True":
		return fmt.Sprintf("%s is %s, and %s is the oldest that will do", python(), version, oldestPython)
	}
	return ""
}

func (v *verifier) installPython(ctx context.Context) error {
	folder := pythonClient().folder
	pip := []string{v.venv("python"), "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"}
	for _, c := range []command{
		{args: []string{python(), "-m", "venv", "--clear", ".venv"}, folder: folder},
		{args: slices.Concat(pip, []string{"--require-hashes", "--requirement", "requirements-dev.txt"}), folder: folder},
		{args: slices.Concat(pip, []string{"--no-deps", "--no-build-isolation", "--editable", "."}), folder: folder},
	} {
		if err := v.run(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// venv returns where a program of the virtual environment is.
func (v *verifier) venv(name string) string {
	folder := v.in(pythonClient().folder, ".venv")
	if runtime.GOOS == "windows" {
		return filepath.Join(folder, "Scripts", name+".exe")
	}
	return filepath.Join(folder, "bin", name)
}

func (v *verifier) lacksNode(context.Context) string { return lacksProgram("node", "npm") }

// lacksProgram says which of some programs is not there.
func lacksProgram(names ...string) string {
	for _, name := range names {
		if path, _ := exec.LookPath(name); path == "" {
			return name + " not found"
		}
	}
	return ""
}

func (v *verifier) installTypeScript(ctx context.Context) error {
	return v.npmInstall(ctx, typescriptClient().folder)
}

// npmInstall installs what a lock file says, and runs none of the programs that come with it.
func (v *verifier) npmInstall(ctx context.Context, folder string) error {
	return v.run(ctx, command{args: []string{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"}, folder: folder})
}
