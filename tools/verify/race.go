package main

import (
	"context"
	"os/exec"
	"slices"
	"strings"
)

// sequential are the packages that neither start a goroutine nor keep anything between calls. The race detector finds
// nothing in their own tests; where goroutines share what they return, it is under the tests of the packages that do. Only
// a full run has it there.
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
