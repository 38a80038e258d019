// Package docs holds the documents for users and operators, so that the program can print them where there is no
// repository.
package docs

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// notShown are the documents that only list others, and those for contributors.
var notShown = []string{"README", "architecture", "release", "seed-cases"}

// Page returns the text of a document by its name, such as `dialects`.
func Page(name string) (text string, known bool) {
	if slices.Contains(notShown, name) || strings.Contains(name, "/") {
		return "", false
	}
	content, err := files.ReadFile(name + ".md")
	return string(content), err == nil
}

// Names are the names of all documents, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".md"); !slices.Contains(notShown, name) {
			names = append(names, name)
		}
	}
	return names
}

// Title is the heading of a document.
func Title(name string) string {
	text, _ := Page(name)
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimLeft(first, "# ")
}
