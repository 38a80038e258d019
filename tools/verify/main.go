// Command verify runs the checks that every change must pass. It needs only Go:
//
//	go run -C tools ./verify
//
// This is the quick tier. `full` selects the full tier, which takes long. Arguments select steps; `help` lists them.
// The other tools are pinned in tools/go.mod and built into .bin at their first use. The first step that fails ends the
// run with its exit code, which `go run` turns into 1.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const exitInterrupted = 130

func main() { os.Exit(run()) }

func run() int {
	selected, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "verify: %v\n\n%s", err, usage())
		return 2
	}
	if selected.help {
		fmt.Fprint(os.Stdout, usage())
		return 0
	}
	ctx, stop := untilSignal(context.Background())
	defer stop()
	folder, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "verify: %v\n", err)
		return 1
	}
	root, err := findRoot(folder)
	if err != nil {
		fmt.Fprintf(os.Stderr, "verify: %v\n", err)
		return 1
	}
	v := &verifier{
		root: root, out: os.Stdout, err: os.Stderr, tier: selected.tier, test: selected.test,
		// Go's tests leave a third of two cores idle: their longest packages end alone.
		parallel: runtime.GOMAXPROCS(0) > 1,
	}
	began := time.Now()
	results, err := v.runSelected(ctx, selected)
	fmt.Fprint(v.out, table(results))
	if err != nil {
		fmt.Fprintf(os.Stderr, "verify: %v\n", err)
		return exitCode(err)
	}
	fmt.Fprintf(v.out, "verify: done in %s\n", since(began))
	return 0
}

// untilSignal returns a context that ends at the first signal.
func untilSignal(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(parent, signals...)
}

// findRoot returns the repository of a folder: the nearest parent with the tools' module.
func findRoot(folder string) (string, error) {
	for at := folder; ; at = filepath.Dir(at) {
		_, err := os.Stat(filepath.Join(at, "tools", "go.mod"))
		if err == nil {
			return at, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not in a clone of compactord", folder)
		}
	}
}

func exitCode(err error) int {
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	// A command that was killed by a signal has no exit code.
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return exit.ExitCode()
	}
	return 1
}
