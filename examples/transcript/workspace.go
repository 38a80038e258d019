package main

import (
	"fmt"
	"slices"
	"strings"
)

// workspace holds the project's files. Edits are applied, so that later reads show them.
type workspace struct {
	files map[string]string
	paths []string
}

func (w *workspace) put(path, content string) {
	if _, known := w.files[path]; !known {
		w.paths = append(w.paths, path)
		slices.Sort(w.paths)
	}
	w.files[path] = content
}

// read returns a file with line numbers.
func (w *workspace) read(path string) string {
	content, known := w.files[path]
	if !known {
		panic("no file " + path)
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(content) {
		n++
		fmt.Fprintf(&b, "%6d\t%s", n, line)
	}
	return b.String()
}

// lineOf returns the number of the first line with the text.
func (w *workspace) lineOf(path, text string) int {
	before, _, found := strings.Cut(w.files[path], text)
	if !found {
		panic(fmt.Sprintf("%q is not in %s", text, path))
	}
	return strings.Count(before, "\n") + 1
}

// edit replaces a text that must occur once.
func (w *workspace) edit(path, old, replacement string) {
	if n := strings.Count(w.files[path], old); n != 1 {
		panic(fmt.Sprintf("%s holds the text to replace %d times", path, n))
	}
	w.files[path] = strings.Replace(w.files[path], old, replacement, 1)
}

// grep returns at most limit lines that contain a text.
func (w *workspace) grep(text string, limit int) string {
	var b strings.Builder
	found := 0
	for _, path := range w.paths {
		for i, line := range strings.Split(w.files[path], "\n") {
			if !strings.Contains(line, text) {
				continue
			}
			if found++; found <= limit {
				fmt.Fprintf(&b, "%s:%d:%s\n", path, i+1, line)
			}
		}
	}
	switch {
	case found == 0:
		return "no match\n"
	case found > limit:
		fmt.Fprintf(&b, "(%d more matches)\n", found-limit)
	}
	return b.String()
}
