package wording

import (
	"fmt"
	"strings"

	"github.com/compactord/compactord/session/quotation"
)

// maxPathLineBytes bounds a list of files that the model reads: paths are arguments of tools and can have any length.
const maxPathLineBytes = 2000

// writeFiles writes a list of files under a heading.
func writeFiles(b *strings.Builder, heading string, paths []string) {
	if len(paths) == 0 {
		return
	}
	b.WriteString("\n\n" + heading)
	lines, more := pathLines(paths, maxPathLineBytes, nil)
	b.WriteString(lines)
	if more > 0 {
		fmt.Fprintf(b, "\n- and %d more", more)
	}
}

// pathLines returns the paths that fit into this many bytes, one a line, without those for which leave returns true. more
// is the number of the other paths from the first one on that does not fit. leave may be nil.
func pathLines(paths []string, most int, leave func(path string) bool) (lines string, more int) {
	var b strings.Builder
	for _, path := range paths {
		if leave != nil && leave(path) {
			continue
		}
		line := "\n- " + summaryWrapper.escape(shownPath(path))
		if more > 0 || b.Len()+len(line) > most {
			more++
			continue
		}
		b.WriteString(line)
	}
	return b.String(), more
}

// shownPath returns a path as lists show it. One that can be a sentence is quoted.
func shownPath(path string) string {
	if quotation.CanBeSentence(path) {
		return quotation.Quote(path)
	}
	return path
}
