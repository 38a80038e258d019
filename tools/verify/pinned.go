package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// tool returns the path of a pinned tool.
func (v *verifier) tool(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(v.root, ".bin", name)
}

// installTools installs the tools of all steps, so that the steps' durations do not include it.
func (v *verifier) installTools(ctx context.Context) error {
	if err := v.buildTools(ctx); err != nil {
		return err
	}
	for _, c := range append(clients(), openAPILinter()) {
		if _, err := v.ready(ctx, c, "tools"); err != nil {
			return err
		}
	}
	return v.installMock(ctx)
}

func (v *verifier) buildTools(ctx context.Context) error {
	pinned, err := v.pinned(ctx)
	if err != nil {
		return err
	}
	names := make([]string, len(pinned))
	for i, pkg := range pinned {
		names[i] = path.Base(pkg)
	}
	return v.need(ctx, names...)
}

// pinned returns the packages of the tools in tools/go.mod.
func (v *verifier) pinned(ctx context.Context) ([]string, error) {
	list, err := v.output(ctx, "tools", "go", "list", "tool")
	return strings.Fields(list), err
}

// need builds the tools that are missing or stale.
func (v *verifier) need(ctx context.Context, names ...string) error {
	stale, err := v.stale(names)
	if err != nil || len(stale) == 0 {
		return err
	}
	pinned, err := v.pinned(ctx)
	if err != nil {
		return err
	}
	var packages []string
	for _, name := range stale {
		at := slices.IndexFunc(pinned, func(pkg string) bool { return path.Base(pkg) == name })
		if at < 0 {
			return fmt.Errorf("tools/go.mod has no tool %s", name)
		}
		packages = append(packages, pinned[at])
	}
	title := "build " + strings.Join(stale, ", ") + " (once; the first build takes a few minutes)"
	return v.timed(title, func() error { return v.build(ctx, packages) })
}

// stale returns the tools that are missing, or older than tools/go.mod and go.sum.
func (v *verifier) stale(names []string) ([]string, error) {
	var pinned time.Time
	for _, file := range []string{"go.mod", "go.sum"} {
		info, err := os.Stat(filepath.Join(v.root, "tools", file))
		if err != nil {
			return nil, err
		}
		if info.ModTime().After(pinned) {
			pinned = info.ModTime()
		}
	}
	var stale []string
	for _, name := range names {
		info, err := os.Stat(v.tool(name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			stale = append(stale, name)
		case err != nil:
			return nil, err
		case info.ModTime().Before(pinned):
			stale = append(stale, name)
		}
	}
	return stale, nil
}

// build builds the tools, and moves them into place when they are complete, so that an interrupted or concurrent build
// leaves no partial tool.
func (v *verifier) build(ctx context.Context, packages []string) (err error) {
	bin := filepath.Join(v.root, ".bin")
	if err := os.MkdirAll(bin, 0o750); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(bin, "build-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	into := []string{"go", "build", "-trimpath", "-buildvcs=false", "-o", temporary + string(filepath.Separator)}
	err = v.exec(ctx, command{args: slices.Concat(into, packages), env: []string{"CGO_ENABLED=0"}, folder: "tools"})
	if err != nil {
		return err
	}
	built, err := os.ReadDir(temporary)
	if err != nil {
		return err
	}
	for _, entry := range built {
		if err := os.Rename(filepath.Join(temporary, entry.Name()), filepath.Join(bin, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}
