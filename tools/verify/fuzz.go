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

// fuzzTimeVariable says how long each target is fuzzed, as go test's -fuzztime does.
const fuzzTimeVariable = "FUZZTIME"

// What each target is run where the variable is not set: so often, and in a full run longer. Not a time: where that ends while
// an input is tried, go test now and then takes it for a failure of the target.
const (
	fuzzRuns     = "100x"
	fullFuzzRuns = "2000x"
)

// target is a fuzz target of the main module.
type target struct{ folder, name string }

// fuzz runs each target for a short time. What a target fails on stays in its testdata/fuzz, where the tests find it from
// then on.
func (v *verifier) fuzz(ctx context.Context) error {
	targets, err := fuzzTargets(v.root)
	if err != nil {
		return err
	}
	spell := fuzzRuns
	if v.tier == full {
		spell = fullFuzzRuns
	}
	spell = cmp.Or(os.Getenv(fuzzTimeVariable), spell)
	for _, t := range targets {
		args := []string{"go", "test", "-run", "^$", "-fuzz", "^" + t.name + "$", "-fuzztime", spell, t.folder}
		if err := v.run(ctx, command{args: args}); err != nil {
			return err
		}
	}
	return nil
}

var fuzzFunction = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// fuzzTargets finds the targets in the sources: to have them listed by go test, all tests would have to be built first.
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

// skipFolder passes over what go passes over, and over other modules.
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

// fuzzHelp is what the step does.
func fuzzHelp() string {
	return fmt.Sprintf("run each fuzz target %s, full %s, or for %s (such as 20s)", fuzzRuns, fullFuzzRuns, fuzzTimeVariable)
}
