package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// client is a package for another language than Go. Its tools, which also generate its code, are installed into its own
// folder by its lock file.
type client struct {
	folder string
	// lock is the lock file. stamp is a file that says what the tools were installed from; it is written when all of
	// them are installed.
	lock, stamp string
	// language returns the program that runs the client, with its version. lack says what this machine lacks for it; it
	// is empty if nothing is missing.
	language func(*verifier, context.Context) (found, lack string)
	install  func(*verifier, context.Context) error
}

func pythonClient() client {
	return client{
		folder:   "clients/python",
		lock:     "requirements-dev.txt",
		stamp:    ".venv/requirements-dev.txt",
		language: (*verifier).python,
		install:  (*verifier).installPython,
	}
}

func typescriptClient() client {
	return client{
		folder:   "clients/ts",
		lock:     "package-lock.json",
		stamp:    "node_modules/.installed-lock.json",
		language: (*verifier).node,
		install:  (*verifier).installTypeScript,
	}
}

func clients() []client { return []client{pythonClient(), typescriptClient()} }

// ready installs the tools of a client if they are missing, or were installed for another interpreter, another folder
// (they contain its path) or another lock file. If that is impossible, it returns false and reports that the work named
// by off is left out.
func (v *verifier) ready(ctx context.Context, c client, off string) (bool, error) {
	found, lack := c.language(v, ctx)
	if lack != "" {
		v.leaveOut(off+" of "+c.folder, lack)
		return false, ctx.Err()
	}
	lock, err := os.ReadFile(v.in(c.folder, c.lock))
	if err != nil {
		return false, err
	}
	wanted := fmt.Sprintf("%s\n%s\n%s", found, v.in(c.folder), lock)
	stamp, err := os.ReadFile(v.in(c.folder, c.stamp))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err == nil && string(stamp) == wanted {
		return true, nil
	}
	// An interrupted installation must not look complete.
	if err := os.Remove(v.in(c.folder, c.stamp)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := c.install(v, ctx); err != nil {
		return false, err
	}
	return true, os.WriteFile(v.in(c.folder, c.stamp), []byte(wanted), 0o600)
}

// in returns the path of a file in the clone.
func (v *verifier) in(elements ...string) string {
	return filepath.Join(append([]string{v.root}, elements...)...)
}

// interpreter is the Python program that creates virtual environments.
func interpreter() string {
	if named := os.Getenv("PYTHON"); named != "" {
		return named
	}
	if runtime.GOOS == "windows" {
		return "python"
	}
	return "python3"
}

// The oldest versions, as in requires-python and in engines of the packages.
const (
	oldestPython = "3.10"
	oldestNode   = 20
)

func (v *verifier) python(ctx context.Context) (found, lack string) {
	const ask = "import sys, venv, ensurepip, os.path; " +
		"print(sys.version_info >= (3, 10), '%d.%d.%d' % sys.version_info[:3], os.path.realpath(sys.executable))"
	said, err := v.ask(ctx, interpreter(), "-c", ask)
	newEnough, found, _ := strings.Cut(said, " ")
	version, _, _ := strings.Cut(found, " ")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", interpreter() + " not found"
	case err != nil:
		return "", interpreter() + " cannot make virtual environments"
	case newEnough != "True":
		return "", fmt.Sprintf("%s is %s, and %s is the oldest that works", interpreter(), version, oldestPython)
	}
	return found, ""
}

// ask returns what a program prints on stdout, and discards its stderr.
func (v *verifier) ask(ctx context.Context, program string, args ...string) (string, error) {
	quiet := verifier{root: v.root, err: io.Discard}
	return quiet.output(ctx, "", append([]string{program}, args...)...)
}

func (v *verifier) installPython(ctx context.Context) error {
	return v.installVenv(ctx, ".venv", pythonClient().lock)
}

// installVenv makes a virtual environment with the packages of a lock file, and with the Python client as it is here.
func (v *verifier) installVenv(ctx context.Context, venv, lock string) error {
	folder := pythonClient().folder
	pip := []string{v.venvProgram(venv, "python"), "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"}
	for _, c := range []command{
		{args: []string{interpreter(), "-m", "venv", "--clear", venv}, folder: folder},
		{args: slices.Concat(pip, []string{"--require-hashes", "--requirement", lock}), folder: folder},
		{args: slices.Concat(pip, []string{"--no-deps", "--no-build-isolation", "--editable", "."}), folder: folder},
	} {
		if err := v.run(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// venv returns the path of a program of the Python client's virtual environment.
func (v *verifier) venv(name string) string { return v.venvProgram(".venv", name) }

// venvProgram returns the path of a program of one of the virtual environments below the Python client.
func (v *verifier) venvProgram(venv, name string) string {
	folder := v.in(pythonClient().folder, filepath.FromSlash(venv))
	if runtime.GOOS == "windows" {
		return filepath.Join(folder, "Scripts", name+".exe")
	}
	return filepath.Join(folder, "bin", name)
}

func (v *verifier) node(ctx context.Context) (found, lack string) {
	if lack := lacksProgram("node", "npm"); lack != "" {
		return "", lack
	}
	found, err := v.ask(ctx, "node", "--version")
	major, _, _ := strings.Cut(strings.TrimPrefix(found, "v"), ".")
	number, notNumber := strconv.Atoi(major)
	switch {
	case err != nil || notNumber != nil:
		return "", "node does not say its version"
	case number < oldestNode:
		return "", fmt.Sprintf("node is %s, and %d is the oldest that works", found, oldestNode)
	}
	return "node " + found, ""
}

// lacksProgram returns a message about the first missing program; empty if there is none.
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

// npmInstall installs the packages of a lock file without running their install scripts.
func (v *verifier) npmInstall(ctx context.Context, folder string) error {
	return v.run(ctx, command{args: []string{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"}, folder: folder})
}
