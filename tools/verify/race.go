package main

import (
	"context"
	"os/exec"
	"slices"
	"strings"
)

// sequential are the packages that neither start goroutines nor keep state between calls. The race detector can find
// nothing in their own tests. Where goroutines share what they return, the tests of the packages that do so run under
// it. Only a full run tests these packages under it too.
var sequential = []string{
	"./cmd/compactord/internal/conversation",
	"./cmd/compactord/internal/replay",
	"./recall",
	"./service/points",
	"./session/wording",
	"./storage/transfer",
	"./summarizers/redaction/internal/secrets",
	"./dialects",
	"./dialects/anthropic",
	"./dialects/dialect",
	"./dialects/dialecttest",
	"./dialects/export",
	"./dialects/gemini",
	"./dialects/openaichat",
	"./dialects/openairesponses",
}

// list returns the folders of the packages with tests that match patterns.
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
	// The setting may have arguments after the program.
	fields := strings.Fields(setting)
	if len(fields) == 0 {
		return false, nil
	}
	_, err = exec.LookPath(fields[0])
	return err == nil, nil
}
