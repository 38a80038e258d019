// Package docs holds the documents for users and operators, so that the program can print them where there is no
// repository.
package docs

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"sync"
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

// summarized matches an entry of the list of all documents: the document's name, and what is in it.
var summarized = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^- \[[^\]]+\]\(([a-z-]+)\.md\): (.+(?:\n  .+)*)`)
})

// Summary says in a line what is in a document, as the list of all documents does.
func Summary(name string) string {
	list, err := files.ReadFile("README.md")
	if err != nil {
		return ""
	}
	for _, entry := range summarized().FindAllStringSubmatch(string(list), -1) {
		if entry[1] == name {
			return strings.Join(strings.Fields(strings.SplitN(entry[2], "; [", 2)[0]), " ")
		}
	}
	return ""
}

// Title is the heading of a document.
func Title(name string) string {
	text, _ := Page(name)
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimLeft(first, "# ")
}
