package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

var errInterrupted = errors.New("interrupted")

// grace is how long a command may take to end when the run is interrupted.
const grace = 5 * time.Second

// verifier runs steps on one clone.
type verifier struct {
	root string
	out  io.Writer
	err  io.Writer
	tier tier
	test testArgs
	// parallel runs the steps of the clients beside those of Go.
	parallel bool
	// leftOut is what the running step has left out, with the reasons.
	leftOut []string
}

type command struct {
	args []string
	// env is added to the environment.
	env []string
	// folder is the working directory, relative to the root.
	folder string
	// hint says what to do if the command fails.
	hint string
}

// String returns the command as a user would type it.
func (c command) String() string {
	line := strings.Join(append([]string{filepath.Base(c.args[0])}, c.args[1:]...), " ")
	if c.folder != "" {
		line += " (in " + c.folder + ")"
	}
	return line
}

// run runs a command, between a heading and its duration.
func (v *verifier) run(ctx context.Context, c command) error {
	return v.timed(c.String(), func() error { return v.exec(ctx, c) })
}

// timed prints a heading before some work, and its duration afterwards.
func (v *verifier) timed(title string, work func() error) error {
	fmt.Fprintf(v.out, "==> %s\n", title)
	began := time.Now()
	err := work()
	word := "done in"
	if err != nil {
		word = "failed after"
	}
	fmt.Fprintf(v.out, "    %s %s\n", word, since(began))
	return err
}

func since(began time.Time) time.Duration { return time.Since(began).Round(100 * time.Millisecond) }

// exec runs a command and streams its output. When the context ends, it ends the command and all its child processes.
func (v *verifier) exec(ctx context.Context, c command) error {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir = filepath.Join(v.root, c.folder)
	cmd.Env = append(cmd.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = v.out, v.err
	cmd.WaitDelay = grace
	ownGroup(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		killRest(cmd)
		return errInterrupted
	}
	if err != nil && c.hint != "" {
		return fmt.Errorf("%s: %w; %s", c, err, c.hint)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	return nil
}

// output returns what a command prints on stdout.
func (v *verifier) output(ctx context.Context, folder string, args ...string) (string, error) {
	var out strings.Builder
	quiet := verifier{root: v.root, out: &out, err: v.err}
	err := quiet.exec(ctx, command{args: args, folder: folder})
	return strings.TrimSpace(out.String()), err
}
