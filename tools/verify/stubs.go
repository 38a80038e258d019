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

// stubs are generated files, by their path below proto.
type stubs map[string][]byte

func readStubs(folder string) (stubs, error) {
	found, files := stubs{}, os.DirFS(folder)
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".pb.go") {
			return err
		}
		found[path], err = fs.ReadFile(files, path)
		return err
	})
	return found, err
}

// differences returns the paths of the stubs that are not the same in both, or are in one only.
func (s stubs) differences(other stubs) []string {
	all := maps.Clone(s)
	maps.Copy(all, other)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(path string) bool {
		mine, have := s[path]
		theirs, had := other[path]
		return have && had && bytes.Equal(mine, theirs)
	})
}

// withStubs generates into a temporary folder, so that a check never changes the tree and the stubs of a proto that is
// gone show up.
func (v *verifier) withStubs(ctx context.Context, title string,
	compare func(committed, fresh stubs, generated string) error,
) error {
	if err := v.need(ctx, "buf", "protoc-gen-go", "protoc-gen-go-grpc"); err != nil {
		return err
	}
	return v.timed(title, func() (err error) {
		// On the same file system as the tree, for what is moved there.
		temporary, err := os.MkdirTemp(filepath.Join(v.root, ".bin"), "stubs-*")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
		if err := v.exec(ctx, command{args: []string{v.tool("buf"), "generate", "--output", temporary}}); err != nil {
			return err
		}
		generated := filepath.Join(temporary, "proto")
		fresh, err := readStubs(generated)
		if err != nil {
			return err
		}
		committed, err := readStubs(filepath.Join(v.root, "proto"))
		if err != nil {
			return err
		}
		return compare(committed, fresh, generated)
	})
}
