package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// pinnedPackage is a line of a lock file that pins a package: its name, its version, and perhaps a condition.
var pinnedPackage = regexp.MustCompile(`(?m)^([A-Za-z0-9._-]+)==([^\s;]+)( ; [^\\\n]+)?`)

// extendedPackage is a requirement of pyproject.toml with extras: its name, and its extras in brackets.
var extendedPackage = regexp.MustCompile(`"([A-Za-z0-9._-]+)(\[[A-Za-z0-9._,-]+\])`)

// checkNewestFrameworks does what checkFrameworks does, with the newest releases of the frameworks and of all that they
// need. It tries all of them, so that its failure says all that new releases have broken.
func (v *verifier) checkNewestFrameworks(ctx context.Context) error {
	env, err := v.frameworkTests(ctx)
	if err != nil {
		return err
	}
	var broken []error
	for _, f := range frameworks {
		if _, lack := f.python(ctx, v); lack != "" {
			v.leaveOut(f.name, lack)
			continue
		}
		venv := f.venv() + "-newest"
		err := v.installNewest(ctx, f, venv)
		if err == nil {
			err = v.checkFramework(ctx, f, venv, env)
		}
		if err != nil {
			broken = append(broken, fmt.Errorf("%s: %w", f.name, err))
		}
		if ctx.Err() != nil {
			return errors.Join(broken...)
		}
	}
	if err := v.checkNewestNodeFrameworks(ctx, env); err != nil {
		broken = append(broken, err)
	}
	return errors.Join(broken...)
}

// installNewest makes an environment with the packages that a lock file names, each in its newest release that fits the
// others, and says which are newer than the pinned ones.
func (v *verifier) installNewest(ctx context.Context, f framework, venv string) error {
	folder := pythonClient().folder
	lock, err := os.ReadFile(v.in(folder, f.lock()))
	if err != nil {
		return err
	}
	project, err := os.ReadFile(v.in(folder, "pyproject.toml"))
	if err != nil {
		return err
	}
	wanted := venv + ".txt"
	if err := os.MkdirAll(filepath.Dir(v.in(folder, wanted)), 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(v.in(folder, wanted), []byte(unpinned(string(lock), string(project))), 0o600); err != nil {
		return err
	}
	python := v.venvProgram(venv, "python")
	pip := []string{python, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"}
	for _, c := range []command{
		{args: []string{interpreter(), "-m", "venv", "--clear", venv}, folder: folder},
		{args: slices.Concat(pip, []string{"--requirement", wanted}), folder: folder},
		{args: slices.Concat(pip, []string{"--no-deps", "--no-build-isolation", "--editable", "."}), folder: folder},
	} {
		if err := v.run(ctx, c); err != nil {
			return err
		}
	}
	installed, err := v.output(ctx, folder, python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check")
	if err != nil {
		return err
	}
	fmt.Fprintf(v.out, "    not as pinned: %s\n", strings.Join(differences(string(lock), installed), ", "))
	return nil
}

// unpinned returns the packages of a lock file without versions and hashes. They have the extras that the project asks for,
// which may need more in a newer release.
func unpinned(lock, project string) string {
	extras := map[string]string{}
	for _, found := range extendedPackage.FindAllStringSubmatch(project, -1) {
		extras[found[1]] = found[2]
	}
	var text strings.Builder
	for _, found := range pinnedPackage.FindAllStringSubmatch(lock, -1) {
		fmt.Fprintln(&text, strings.TrimSpace(found[1]+extras[found[1]]+found[3]))
	}
	return text.String()
}

// differences returns the packages that are installed in another version than the lock file's.
func differences(lock, installed string) []string {
	pinned := map[string]string{}
	for _, found := range pinnedPackage.FindAllStringSubmatch(lock, -1) {
		pinned[found[1]] = found[2]
	}
	var others []string
	for line := range strings.Lines(installed) {
		name, version, _ := strings.Cut(strings.TrimSpace(line), "==")
		name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
		if was, ok := pinned[name]; ok && was != version {
			others = append(others, fmt.Sprintf("%s %s, pinned %s", name, version, was))
		}
	}
	if len(others) == 0 {
		return []string{"nothing"}
	}
	return others
}
