package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// fuzzTimeVariable sets how long each target is fuzzed, like go test's -fuzztime.
const fuzzTimeVariable = "FUZZTIME"

// How many runs each target gets by default. These are no times: where a time ends while an input is tried, go test
// sometimes reports a failure of the target.
const (
	fuzzRuns     = "100x"
	fullFuzzRuns = "2000x"
)

// target is a fuzz target of the main module.
type target struct{ folder, name string }

// fuzz runs each target for a short time. Inputs that fail stay in the target's testdata/fuzz, so that the tests run
// them too.
func (v *verifier) fuzz(ctx context.Context) error {
	targets, err := fuzzTargets(v.root)
	if err != nil {
		return err
	}
	fuzzTime := fuzzRuns
	if v.tier == full {
		fuzzTime = fullFuzzRuns
	}
	fuzzTime = cmp.Or(os.Getenv(fuzzTimeVariable), fuzzTime)
	for _, t := range targets {
		args := []string{"go", "test", "-run", "^$", "-fuzz", "^" + t.name + "$", "-fuzztime", fuzzTime, t.folder}
		if err := v.run(ctx, command{args: args}); err != nil {
			return err
		}
	}
	return nil
}

var fuzzFunction = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// fuzzTargets finds the targets in the sources. go test could list them only after building all tests.
func fuzzTargets(root string) ([]target, error) {
	var targets []target
	sources := os.DirFS(root)
	err := fs.WalkDir(sources, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipFolder(sources, file)
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		source, err := fs.ReadFile(sources, file)
		if err != nil {
			return err
		}
		for _, found := range fuzzFunction.FindAllSubmatch(source, -1) {
			targets = append(targets, target{"./" + path.Dir(file), string(found[1])})
		}
		return nil
	})
	slices.SortFunc(targets, func(a, b target) int {
		return cmp.Or(strings.Compare(a.folder, b.folder), strings.Compare(a.name, b.name))
	})
	return targets, err
}

// skipFolder skips the folders that go skips, and other modules.
func skipFolder(sources fs.FS, folder string) error {
	if folder == "." {
		return nil
	}
	name := path.Base(folder)
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(sources, path.Join(folder, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// fuzzHelp returns the help text of the step.
func fuzzHelp() string {
	return fmt.Sprintf("run each fuzz target %s, full %s, or for %s (such as 20s)", fuzzRuns, fullFuzzRuns, fuzzTimeVariable)
}
