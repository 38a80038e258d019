package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// suppression matches comments that turn a check off.
var suppression = regexp.MustCompile(`//\s?nolint\b|//lint:\w*ignore|#nosec|@ts-(?:ignore|expect-error|nocheck)\b|eslint-disable|` +
	`prettier-ignore|#\s?noqa\b|#\s?type:\s?ignore|#\s?pyright:|#\s?mypy:|#\s?ruff:|#\s?fmt:\s?(?:off|skip)`)

// The first line or the name of a file says that it is generated.
var (
	generatedLine = regexp.MustCompile(`\A.*(?:[Gg]enerated|protoc-gen)`)
	generatedName = regexp.MustCompile(`_pb2(?:_grpc)?\.pyi?$|_pb\.ts$`)
)

// A check that is wrong for a kind of file is turned off in the linters' configuration, with its reason.
func TestNoCheckIsTurnedOffInCodeWrittenByHand(t *testing.T) {
	root := filepath.Join("..", "..")
	// Not a walk over the folders: other steps build in them meanwhile.
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	require.NoError(t, err)
	seen := 0
	for name := range bytes.SplitSeq(names, []byte{0}) {
		path := filepath.FromSlash(string(name))
		switch filepath.Ext(path) {
		case ".go", ".py", ".pyi", ".ts", ".mjs", ".js":
		default:
			continue
		}
		base := filepath.Base(path)
		if generatedName.MatchString(base) || base == "suppressions_test.go" || base == "test_package.py" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, path))
		if errors.Is(err, fs.ErrNotExist) {
			// Deleted, but still in git's index.
			continue
		}
		require.NoError(t, err)
		if generatedLine.Match(content) {
			continue
		}
		seen++
		require.Empty(t, suppression.FindString(string(content)), path)
	}
	require.Greater(t, seen, 500)
}
