package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// place is where generated files are committed: a folder or a file.
type place struct {
	path string
	// suffixes are the suffixes of the generated files. Without any, all files of the folder are generated.
	suffixes []string
}

func (p place) holds(file string) bool {
	return len(p.suffixes) == 0 || slices.ContainsFunc(p.suffixes, func(s string) bool { return strings.HasSuffix(file, s) })
}

// stubs are generated files by their path, relative to the root.
type stubs map[string][]byte

// readStubs reads the generated files of places, all of which must exist.
func readStubs(root string, places []place) (stubs, error) {
	found, files := stubs{}, os.DirFS(root)
	for _, p := range places {
		err := fs.WalkDir(files, p.path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !p.holds(file) {
				return err
			}
			found[file], err = fs.ReadFile(files, file)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// differences returns the paths of the files that differ or exist in only one of the two.
func (s stubs) differences(other stubs) []string {
	all := maps.Clone(s)
	maps.Copy(all, other)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(path string) bool {
		mine, have := s[path]
		theirs, had := other[path]
		return have && had && bytes.Equal(mine, theirs)
	})
}

// withStubs generates into a temporary folder, so that a check never changes the tree, and stubs of a removed proto are
// noticed.
func (v *verifier) withStubs(ctx context.Context, title string,
	compare func(committed, fresh stubs, generated string) error,
) error {
	if err := v.need(ctx, "buf", "protoc-gen-go", "protoc-gen-go-grpc"); err != nil {
		return err
	}
	var without []client
	for _, c := range clients() {
		ready, err := v.ready(ctx, c, "generated code")
		if err != nil {
			return err
		}
		if !ready {
			without = append(without, c)
		}
	}
	return v.timed(title, func() (err error) {
		// Files can be moved only within one file system.
		temporary, err := os.MkdirTemp(v.in(".bin"), "stubs-*")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
		places, err := v.generateInto(ctx, temporary, without)
		if err != nil {
			return err
		}
		fresh, err := readStubs(temporary, places)
		if err != nil {
			return err
		}
		committed, err := readStubs(v.root, slices.DeleteFunc(places, func(p place) bool {
			_, err := os.Stat(v.in(p.path))
			return errors.Is(err, fs.ErrNotExist)
		}))
		if err != nil {
			return err
		}
		return compare(committed, fresh, temporary)
	})
}

// generateInto generates all files into a folder, except the code of some clients. It returns the places of the files.
func (v *verifier) generateInto(ctx context.Context, folder string, without []client) ([]place, error) {
	for _, name := range []string{"buf.gen.yaml", "buf.gen.details.yaml"} {
		template, err := v.template(name, without)
		if err != nil {
			return nil, err
		}
		if template == "" {
			continue
		}
		err = v.exec(ctx, command{args: []string{v.tool("buf"), "generate", "--template", template, "--output", folder}})
		if err != nil {
			return nil, err
		}
	}
	places := []place{{path: "proto", suffixes: []string{".pb.go"}}}
	for _, generate := range []struct {
		client client
		code   func(*verifier, context.Context, string) ([]place, error)
	}{{pythonClient(), (*verifier).pythonCode}, {typescriptClient(), (*verifier).typescriptCode}} {
		if slices.ContainsFunc(without, func(c client) bool { return c.folder == generate.client.folder }) {
			continue
		}
		filled, err := generate.code(v, ctx, folder)
		if err != nil {
			return nil, err
		}
		places = append(places, filled...)
	}
	copied, err := v.copies(folder)
	return append(places, copied...), err
}

// move moves a generated file into the clone, or removes it there if it is no longer generated.
func (v *verifier) move(file, generated string, fresh stubs) error {
	target := v.in(filepath.FromSlash(file))
	if _, wanted := fresh[file]; !wanted {
		return os.Remove(target)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return err
	}
	return os.Rename(filepath.Join(generated, filepath.FromSlash(file)), target)
}
