package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// sequential are the packages that neither start a goroutine nor keep anything between calls. The race detector finds
// nothing in their own tests; where goroutines share what they return, it is under the tests of the packages that do.
var sequential = []string{
	"./recall",
	"./session",
	"./session/wording",
	"./strategies/...",
	"./dialects",
	"./dialects/anthropic",
	"./dialects/dialect",
	"./dialects/dialecttest",
	"./dialects/export",
	"./dialects/gemini",
	"./dialects/internal/rawjson",
	"./dialects/openaichat",
	"./dialects/openairesponses",
}

// raceTests runs the tests of the tools, and of those packages that are not sequential, under the race detector. They are
// short: a property has a fifth of its checks, and what is told by a sample of the recordings is.
func (v *verifier) raceTests(ctx context.Context, packages []string) error {
	compiler, err := v.hasCompiler(ctx)
	if err != nil {
		return err
	}
	if !compiler {
		fmt.Fprintln(v.out, "race detector off: no C compiler found")
		return nil
	}
	concurrent, err := v.concurrent(ctx, packages)
	if err != nil {
		return err
	}
	if len(concurrent) == 0 {
		fmt.Fprintln(v.out, "race detector off: nothing concurrent in these packages")
		return nil
	}
	args := []string{"go", "test", "-race", "-short", "-vet=off", "-shuffle=on", "-count=1", "-timeout=30m"}
	env := []string{"CGO_ENABLED=1"}
	if len(v.test.packages) == 0 {
		all := slices.Concat(args, []string{"./..."}, v.test.flags)
		if err := v.run(ctx, command{args: all, env: env, folder: "tools"}); err != nil {
			return err
		}
	}
	return v.run(ctx, command{args: slices.Concat(args, concurrent, v.test.flags), env: env})
}

// concurrent are those of the packages, in their order, that have tests and are not sequential.
func (v *verifier) concurrent(ctx context.Context, packages []string) ([]string, error) {
	tested, err := v.list(ctx, packages)
	if err != nil {
		return nil, err
	}
	without, err := v.list(ctx, sequential)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(tested, func(p string) bool { return slices.Contains(without, p) }), nil
}

// list resolves patterns to the folders of the packages that have tests.
func (v *verifier) list(ctx context.Context, patterns []string) ([]string, error) {
	const folder = `{{if or .TestGoFiles .XTestGoFiles}}.{{slice .ImportPath (len .Module.Path)}}{{end}}`
	out, err := v.output(ctx, "", slices.Concat([]string{"go", "list", "-f", folder}, patterns)...)
	return strings.Fields(out), err
}

func (v *verifier) hasCompiler(ctx context.Context) (bool, error) {
	setting, err := v.output(ctx, "", "go", "env", "CC")
	if err != nil {
		return false, err
	}
	// It may have arguments behind it.
	fields := strings.Fields(setting)
	if len(fields) == 0 {
		return false, nil
	}
	_, err = exec.LookPath(fields[0])
	return err == nil, nil
}
