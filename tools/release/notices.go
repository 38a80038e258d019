package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// module is a part of the program that has a licence of its own.
type module struct{ Path, Version, Dir string }

// notices returns the licences of all that is built into the programs: the modules, the parts of third_party, and Go's own
// library.
func (r *release) notices(ctx context.Context, of []platform) ([]byte, error) {
	modules, err := r.modules(ctx, of)
	if err != nil {
		return nil, err
	}
	root, err := r.output(ctx, "go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	lines := strings.Fields(root)
	modules = append(modules, module{"Go's standard library", lines[1], lines[0]})
	parts, err := os.ReadDir(filepath.Join(r.repository, "third_party"))
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		modules = append(modules, module{"third_party/" + part.Name(), "", filepath.Join(r.repository, "third_party", part.Name())})
	}
	var out bytes.Buffer
	fmt.Fprintln(&out, "The program has parts of others, under these licences.")
	for _, m := range modules {
		texts, err := licencesIn(m.Dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		fmt.Fprintf(&out, "\n%s\n%s\n\n", strings.Repeat("=", 80), strings.TrimSpace(m.Path+" "+m.Version))
		for _, text := range texts {
			out.Write(bytes.TrimSpace(text))
			out.WriteString("\n\n")
		}
	}
	return append(bytes.TrimSpace(out.Bytes()), '\n'), nil
}

// modules returns the modules that are built into the program on some platform, in order.
func (r *release) modules(ctx context.Context, of []platform) ([]module, error) {
	found := map[string]module{}
	for _, p := range of {
		cmd := r.command(ctx, "", "go", "list", "-deps", "-json=Module", "./cmd/compactord")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=")
		text, err := outputOf(cmd)
		if err != nil {
			return nil, err
		}
		for list := json.NewDecoder(strings.NewReader(text)); ; {
			var of struct {
				Module *struct {
					module
					Main bool
				}
			}
			err := list.Decode(&of)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			if of.Module != nil && !of.Module.Main {
				found[of.Module.Path] = of.Module.module
			}
		}
	}
	all := make([]module, 0, len(found))
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// licenceNames are the names of files with a licence or what it demands to be told.
var licenceNames = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// licencesIn returns the licences of a module, in the order of their names. A module without one cannot be given on.
func licencesIn(folder string) ([][]byte, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	for _, f := range files {
		if f.IsDir() || !licenceNames.MatchString(f.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("no licence in %s", folder)
	}
	return texts, nil
}
