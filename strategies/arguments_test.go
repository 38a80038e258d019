package strategies_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/strategies"
)

func TestArgumentsAreReadUpToTheFault(t *testing.T) {
	for text, want := range map[string][]string{
		`{"path":"a.go","limit":10}`:        {"path", "limit"},
		`{"path":"a.go","content":"cut off`: {"path"},
		`{"path":"a.go",}`:                  {"path"},
		`{"path":"a.go"} and more`:          {"path"},
		`["path"]`:                          nil,
		`"path"`:                            nil,
		``:                                  nil,
		`{`:                                 nil,
		`{1:2}`:                             nil,
	} {
		require.Equal(t, want, strategies.ArgumentNames(text), text)
	}
}

func TestMainArgument(t *testing.T) {
	for text, want := range map[string]string{
		`{"path":"src/a.go","pattern":"TODO"}`:         "TODO",
		`{"limit":3,"file_path":"a.go"}`:               "a.go",
		`{"command":"go test ./...\n\tgo vet ./..."}`:  "go test ./... go vet ./...",
		`{"command":["bash","-lc","ls"]}`:              "bash -lc ls",
		`{"limit":3,"note":"first","other":"second"}`:  "first",
		`{"path":null,"query":"","url":"https://x/y"}`: "https://x/y",
		`{"limit":3}`:                                 "",
		`{"prompt":"` + "\x00" + `"}`:                 "",
		`{"path":"` + strings.Repeat("é", 80) + `"}`:  strings.Repeat("é", 80),
		`{"path":"` + strings.Repeat("é", 81) + `"}`:  strings.Repeat("é", 80) + "…",
		`{"path":"a.go","content":"and then it broke`: "a.go",
	} {
		require.Equal(t, want, strategies.MainArgument(text), text)
	}
}

// Whatever arguments a model writes, the result is one line, within the limit, and never ends in half a character.
func FuzzMainArgument(f *testing.F) {
	f.Add(`{"command":"ls -l","path":["a","b"]}`)
	f.Add(`{"path":"\ud800","x":{"y":[[[[`)
	f.Add(`{"a":"` + strings.Repeat("\u00a0b", 90) + `"}`)
	f.Fuzz(func(t *testing.T, arguments string) {
		line := strategies.MainArgument(arguments)
		require.True(t, utf8.ValidString(line))
		require.LessOrEqual(t, utf8.RuneCountInString(line), 81)
		require.NotContains(t, line, "\n")
		require.Equal(t, strings.TrimSpace(line), line)
		require.Equal(t, line, strategies.MainArgument(arguments))
	})
}
