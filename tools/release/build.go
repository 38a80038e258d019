package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// build returns the program for a platform.
func (r *release) build(ctx context.Context, p platform) ([]byte, error) {
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, p.program())
	if err := r.buildTo(ctx, path, "GOOS="+p.os, "GOARCH="+p.arch); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// buildTo builds a program that is static, without paths of this machine and without tables that only debuggers read.
func (r *release) buildTo(ctx context.Context, path string, env ...string) error {
	cmd := r.command(ctx, "", "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", path, "./cmd/compactord")
	cmd.Env = slices.Concat(os.Environ(), []string{"CGO_ENABLED=0", "GOFLAGS="}, env)
	_, err := outputOf(cmd)
	return err
}

// documents are what belongs to the program on every platform.
type documents struct {
	licence, notices, readme []byte
	// completions are the scripts of shells, by shell.
	completions map[string][]byte
	manual      []byte
	// sample is the configuration with all settings, and unit that of systemd.
	sample, unit []byte
}

// shells are those that have completions, in order.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (d *documents) all() []entry {
	files := append(d.licences(), entry{"README.md", d.readme, plain})
	for _, shell := range shells {
		files = append(files, entry{"completions/compactord." + shell, d.completions[shell], plain})
	}
	return append(files, entry{"man/compactord.1", d.manual, plain}, entry{"compactord.yaml", d.sample, plain})
}

// licences are the texts that go with every copy of the program.
func (d *documents) licences() []entry {
	return []entry{{"LICENSE", d.licence, plain}, {"NOTICES.txt", d.notices, plain}}
}

// documents reads the files that belong to the program, and asks a program that runs here for what it writes of itself.
func (r *release) documents(ctx context.Context, notices []byte) (*documents, error) {
	texts := map[string][]byte{}
	for _, name := range []string{"LICENSE", "README.md", "packaging/compactord.yaml", "packaging/systemd/compactord.service"} {
		content, err := os.ReadFile(filepath.Join(r.repository, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		texts[name] = content
	}
	d := &documents{
		licence: texts["LICENSE"], notices: notices, readme: texts["README.md"], sample: texts["packaging/compactord.yaml"],
		unit: texts["packaging/systemd/compactord.service"], completions: map[string][]byte{},
	}
	return d, r.ask(ctx, d)
}

// ask has a program that runs here write the manual and the completions.
func (r *release) ask(ctx context.Context, d *documents) error {
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	program := filepath.Join(folder, "compactord")
	if err := r.buildTo(ctx, program); err != nil {
		return err
	}
	if err := r.checkRevision(ctx, program); err != nil {
		return err
	}
	for _, shell := range shells {
		script, err := r.output(ctx, program, "completion", shell)
		if err != nil {
			return err
		}
		d.completions[shell] = []byte(script)
	}
	page, err := r.output(ctx, program, "man")
	if err != nil {
		return fmt.Errorf("the manual: %w", err)
	}
	d.manual = []byte(page)
	return nil
}

// checkRevision says whether a program knows the commit that it was built from. Go finds none in a worktree of git.
func (r *release) checkRevision(ctx context.Context, program string) error {
	head, err := r.output(ctx, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	said, err := r.output(ctx, program, "version", "--json")
	if err != nil {
		return err
	}
	if !strings.Contains(said, strings.TrimSpace(head)) && !r.changed {
		return errors.New("the program does not know its commit: make a release in a clone, which is no worktree, or give --changed")
	}
	return nil
}
