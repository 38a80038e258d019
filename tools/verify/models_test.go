package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// modelName matches names of models in requests, such as gpt-6-luna. The version is a part of each.
var modelName = regexp.MustCompile(`\b(?:claude-[a-z]+-\d|claude-\d|gpt-\d|gemini-\d|o\d-(?:mini|pro)\b)[\w.-]*\w|\bgpt-\d\b`)

// showsModels reports whether a file shows users which models to name: a document, or an example of a client.
func showsModels(name string) bool {
	switch {
	case strings.HasPrefix(name, "third_party/"), strings.Contains(name, "/testdata/"), name == "CHANGELOG.md":
		return false
	case strings.HasPrefix(name, "clients/") && strings.Contains(name, "/examples/"):
		return true
	default:
		return slices.Contains([]string{".md", ".yaml", ".yml"}, path.Ext(name))
	}
}

// Providers turn old models off, and a document that names one of these breaks at its first use.
func TestDocumentsAndExamplesNameOnlyCurrentModels(t *testing.T) {
	root := filepath.Join("..", "..")
	content, err := os.ReadFile(filepath.Join(root, "clients", "models.json"))
	require.NoError(t, err)
	var byProvider map[string][]string
	require.NoError(t, json.Unmarshal(content, &byProvider))
	var current []string
	for _, models := range byProvider {
		current = append(current, models...)
	}
	for _, model := range current {
		require.Equal(t, model, modelName.FindString(model), "the expression does not see a model of models.json")
	}

	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	require.NoError(t, err)
	var seen []string
	for name := range bytes.SplitSeq(names, []byte{0}) {
		if !showsModels(string(name)) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(string(name))))
		if errors.Is(err, fs.ErrNotExist) {
			// Deleted, but still in git's index.
			continue
		}
		require.NoError(t, err)
		for _, model := range modelName.FindAllString(string(text), -1) {
			require.Contains(t, current, model, "%s names a model that clients/models.json does not have", name)
			seen = append(seen, model)
		}
	}
	for _, model := range []string{"claude-sonnet-5-5", "gpt-6.2-sol"} {
		require.Contains(t, seen, model)
	}
}
