package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// release makes the files of one version.
type release struct {
	*settings
	version string
	// at is the time of the commit, which all files have.
	at time.Time
}

// newRelease reads what the clone says of its version, and empties the folder for the files.
func newRelease(ctx context.Context, s *settings) (*release, error) {
	r := &release{settings: s}
	changed, err := r.output(ctx, "git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if changed != "" && !s.changed {
		return nil, fmt.Errorf("the clone has changes that are not committed: commit them, or give --changed\n%s", changed)
	}
	seconds, err := r.output(ctx, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	unix, err := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the time of the commit: %w", err)
	}
	r.at = time.Unix(unix, 0).UTC()
	if r.version, err = versionOf(s.repository); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(s.out); err != nil {
		return nil, err
	}
	return r, os.MkdirAll(s.out, 0o750)
}

// versionOf returns the version that both clients name. The program has that of the commit's tag, by Go.
func versionOf(repository string) (string, error) {
	project, err := os.ReadFile(filepath.Join(repository, "clients", "python", "pyproject.toml"))
	if err != nil {
		return "", err
	}
	found := regexp.MustCompile(`(?m)^version = "([^"]+)"$`).FindSubmatch(project)
	if found == nil {
		return "", errors.New("clients/python/pyproject.toml names no version")
	}
	content, err := os.ReadFile(filepath.Join(repository, "clients", "ts", "package.json"))
	if err != nil {
		return "", err
	}
	var node struct{ Version string }
	if err := json.Unmarshal(content, &node); err != nil {
		return "", fmt.Errorf("clients/ts/package.json: %w", err)
	}
	if string(found[1]) != node.Version {
		return "", fmt.Errorf("clients/python has version %s, clients/ts %s", found[1], node.Version)
	}
	return node.Version, nil
}

// make makes all files of the platforms.
func (r *release) make(ctx context.Context, chosen []platform) error {
	notices, err := r.notices(ctx, chosen)
	if err != nil {
		return err
	}
	if err := r.write("NOTICES.txt", notices); err != nil {
		return err
	}
	documents, err := r.documents(ctx, notices)
	if err != nil {
		return err
	}
	var clients *clientPackages
	if r.clients {
		if clients, err = r.clientPackages(ctx, chosen); err != nil {
			return err
		}
	}
	for _, p := range chosen {
		if err := r.makePlatform(ctx, p, documents, clients); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		fmt.Fprintln(os.Stderr, "made", p)
	}
	return nil
}

// makePlatform makes the files of one platform.
func (r *release) makePlatform(ctx context.Context, p platform, documents *documents, clients *clientPackages) error {
	program, err := r.build(ctx, p)
	if err != nil {
		return err
	}
	parts, err := partsOf(program, r.at)
	if err != nil {
		return err
	}
	base := fmt.Sprintf("compactord-%s-%s-%s", r.version, p.os, p.arch)
	if err := r.write(base+".cdx.json", parts); err != nil {
		return err
	}
	if err := r.writeArchive(base, p, program, documents); err != nil {
		return err
	}
	if p.os == "linux" {
		if err := r.writeLinuxPackages(p, program, documents); err != nil {
			return err
		}
	}
	if clients == nil {
		return nil
	}
	return r.writeClients(p, program, parts, documents, clients)
}

func (r *release) writeArchive(base string, p platform, program []byte, documents *documents) error {
	files := append([]entry{{p.program(), program, executable}}, documents.all()...)
	for i := range files {
		files[i].name = base + "/" + files[i].name
	}
	if p.os == "windows" {
		content, err := zipped(files, r.at)
		if err != nil {
			return err
		}
		return r.write(base+".zip", content)
	}
	content, err := tarball(files, r.at)
	if err != nil {
		return err
	}
	return r.write(base+".tar.gz", content)
}

func (r *release) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, plain)
}
