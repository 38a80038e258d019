package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// output runs a program in the clone and returns what it prints.
func (r *release) output(ctx context.Context, name string, args ...string) (string, error) {
	return outputOf(r.command(ctx, "", name, args...))
}

// command returns a program that runs in a folder of the clone.
func (r *release) command(ctx context.Context, folder, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(r.repository, folder)
	return cmd
}

// outputOf runs a program and returns what it prints. The error has what it says.
func outputOf(cmd *exec.Cmd) (string, error) {
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, failure.String())
	}
	return string(out), nil
}
