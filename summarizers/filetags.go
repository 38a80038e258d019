package summarizers

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// The tags around the lists of files at the end of a summary.
const (
	readFilesTag     = "read-files"
	modifiedFilesTag = "modified-files"
)

// maxFileTagBytes limits the paths of one list. Paths are arguments of tools: they can be long, and many.
const maxFileTagBytes = 2000

// FileTags returns the blocks of the files read and modified, each after an empty line. A block has one path a line. If
// the list is too long, its last line says how many more paths there are. A list without files has no block.
func FileTags(files *compactordv1.FileLists) string {
	return fileTag(readFilesTag, files.GetRead()) + fileTag(modifiedFilesTag, files.GetModified())
}

// WithFileTags returns the text with the blocks of these files at its end. It removes blocks that the text already had.
func WithFileTags(text string, files *compactordv1.FileLists) string {
	return WithoutFileTags(text) + FileTags(files)
}

func fileTag(tag string, paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	var b strings.Builder
	left, more := maxFileTagBytes, 0
	for _, path := range paths {
		line := taggedPath(path) + "\n"
		if len(line) > left {
			more++
			continue
		}
		left -= len(line)
		b.WriteString(line)
	}
	if more > 0 {
		fmt.Fprintf(&b, "(%d more)\n", more)
	}
	return "\n\n<" + tag + ">\n" + b.String() + "</" + tag + ">"
}

var fileTagInPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<(\s*/?\s*(?:` + readFilesTag + `|` + modifiedFilesTag + `))`)
})

// taggedPath returns a path as a list shows it: on one line, valid UTF-8, and without a tag that would end the list.
func taggedPath(path string) string {
	path = fileTagInPath().ReplaceAllString(path, `<\$1`)
	if !utf8.ValidString(path) || strings.TrimSpace(path) != path || strings.ContainsFunc(path, session.EndsLine) {
		return strconv.Quote(path)
	}
	return path
}

// WithoutFileTags returns the text without the blocks that WithFileTags adds, wherever they are and whoever wrote them.
// If it removed a line, it also trims white space at both ends. Of a tag without its counterpart, only the tag is
// removed.
func WithoutFileTags(text string) string {
	if !strings.Contains(text, readFilesTag+">") && !strings.Contains(text, modifiedFilesTag+">") {
		return text
	}
	lines := strings.Split(text, "\n")
	kept := make([]string, 0, len(lines))
	for at := 0; at < len(lines); at++ {
		tag, closes := fileTagLine(lines[at])
		switch {
		case tag == "":
			kept = append(kept, lines[at])
		case !closes:
			at = endOfFileTag(lines, at, tag)
		}
	}
	if len(kept) == len(lines) {
		return text
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// endOfFileTag returns the index of the line that closes the block which begins at line start. It returns start if
// another tag comes first or the block is never closed.
func endOfFileTag(lines []string, start int, tag string) int {
	for at := start + 1; at < len(lines); at++ {
		switch next, closes := fileTagLine(lines[at]); {
		case next == "":
		case closes && next == tag:
			return at
		default:
			return start
		}
	}
	return start
}

// fileTagLine returns the file tag that is alone on a line, or "" for any other line.
func fileTagLine(line string) (tag string, closes bool) {
	name, ok := strings.CutPrefix(strings.TrimSpace(line), "<")
	if !ok {
		return "", false
	}
	name, closes = strings.CutPrefix(name, "/")
	switch name {
	case readFilesTag + ">":
		return readFilesTag, closes
	case modifiedFilesTag + ">":
		return modifiedFilesTag, closes
	default:
		return "", false
	}
}
