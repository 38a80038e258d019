package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// embeddedFile is a file of the program that is generated from the contract, or from another project's module. third_party
// has that project's licence.
type embeddedFile struct {
	path    string
	content func(*verifier, context.Context) ([]byte, error)
}

func embeddedFiles() []embeddedFile {
	vocabulary := func(name string) embeddedFile {
		return embeddedFile{"session/bpe/vocabularies/" + name + ".tokens", func(*verifier, context.Context) ([]byte, error) {
			published, err := assets.Assets.ReadFile(name + ".tiktoken")
			if err != nil {
				return nil, err
			}
			return packTokens(published)
		}}
	}
	return []embeddedFile{
		vocabulary("o200k_base"), vocabulary("cl100k_base"),
		{"summarizers/redaction/internal/secrets/gitleaks.gen.go", func(v *verifier, ctx context.Context) ([]byte, error) {
			table, err := v.output(ctx, gitleaksModule, "go", "run", ".")
			return []byte(table + "\n"), err
		}},
		{openAPIFile, (*verifier).openAPI},
	}
}

// gitleaksModule generates the rules of gitleaks. Its tests compare our findings with those of gitleaks's own engine.
const gitleaksModule = "summarizers/redaction/gitleaks"

// packTokens encodes a vocabulary as its tokens in order, each after a byte with its length. The input has a line for
// each token: the token in base64, and its rank.
func packTokens(published []byte) ([]byte, error) {
	var packed bytes.Buffer
	rank := 0
	for line := range bytes.Lines(published) {
		encoded, written, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		token, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", rank+1, err)
		case len(token) == 0 || len(token) > math.MaxUint8:
			return nil, fmt.Errorf("line %d: a token of %d bytes", rank+1, len(token))
		case written != strconv.Itoa(rank):
			return nil, fmt.Errorf("line %d: not rank %d", rank+1, rank)
		}
		packed.WriteByte(byte(len(token)))
		packed.Write(token)
		rank++
	}
	return packed.Bytes(), nil
}

// generateEmbedded writes the embedded files that have changed.
func (v *verifier) generateEmbedded(ctx context.Context) error {
	return v.timed("generate the files that are embedded", func() error {
		return v.eachStale(ctx, embeddedFiles(), func(path string, fresh []byte) error {
			fmt.Fprintln(v.out, path)
			return write(v.root, path, string(fresh))
		})
	})
}

func (v *verifier) checkEmbedded(ctx context.Context) error {
	return v.timed("check that the files that are embedded are fresh", func() error {
		var stale []error
		err := v.eachStale(ctx, embeddedFiles(), func(path string, _ []byte) error {
			stale = append(stale, fmt.Errorf("its source has changed since %s was generated; run `go run -C tools ./verify generate` and commit", path))
			return nil
		})
		return errors.Join(append(stale, err)...)
	})
}

// eachStale calls do for each file that differs from its generated content.
func (v *verifier) eachStale(ctx context.Context, files []embeddedFile, do func(path string, fresh []byte) error) error {
	for _, file := range files {
		fresh, err := file.content(v, ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", file.path, err)
		}
		committed, err := os.ReadFile(v.in(filepath.FromSlash(file.path)))
		if err == nil && bytes.Equal(committed, fresh) {
			continue
		}
		if err := do(file.path, fresh); err != nil {
			return err
		}
	}
	return nil
}
