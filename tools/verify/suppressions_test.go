package main

import (
	"io/fs"
	"os"
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
	seen := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "node_modules" || name == "testdata" || path != root && name != ".." && name[0] == '.' {
				return fs.SkipDir
			}
			return nil
		}
		switch filepath.Ext(name) {
		case ".go", ".py", ".pyi", ".ts", ".mjs", ".js":
		default:
			return nil
		}
		if generatedName.MatchString(name) || name == "suppressions_test.go" || name == "test_package.py" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil || generatedLine.Match(content) {
			return err
		}
		seen++
		require.Empty(t, suppression.FindString(string(content)), path)
		return nil
	}))
	require.Greater(t, seen, 500)
}
