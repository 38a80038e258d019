package wording

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// maxPathLineBytes bounds a list of files that the model is shown: paths are arguments of tools, of any length.
const maxPathLineBytes = 2000

// writeFiles lists files below a heading.
func writeFiles(b *strings.Builder, heading string, paths []string) {
	if len(paths) == 0 {
		return
	}
	b.WriteString("\n\n" + heading)
	lines, more := pathLines(paths, nil)
	b.WriteString(lines)
	if more > 0 {
		fmt.Fprintf(b, "\n- and %d more", more)
	}
}

// pathLines lists the paths but those to leave out, one a line, as many as there is room for. more counts those from the
// first on that has none. leave may be nil.
func pathLines(paths []string, leave func(path string) bool) (lines string, more int) {
	var b strings.Builder
	for i, path := range paths {
		if leave != nil && leave(path) {
			continue
		}
		line := "\n- " + summaryWrapper.escape(shownPath(path))
		if b.Len()+len(line) > maxPathLineBytes {
			return b.String(), len(paths) - i
		}
		b.WriteString(line)
	}
	return b.String(), 0
}

// shownPath is a path as lists show it, which must not pass for more than one line.
func shownPath(path string) string {
	if strings.ContainsFunc(path, unicode.IsControl) {
		return strconv.Quote(path)
	}
	return path
}
