package summarizers

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The tags that hold the lists of files at a summary's end.
const (
	readFilesTag     = "read-files"
	modifiedFilesTag = "modified-files"
)

// maxFileTagBytes bounds the paths of one list: they are arguments of tools, of any length and number.
const maxFileTagBytes = 2000

// FileTags are the blocks of the files read and modified, with an empty line before each: a path a line, and how many more
// there are where a list is too long. A list without files has no block.
func FileTags(files *compactordv1.FileLists) string {
	return fileTag(readFilesTag, files.GetRead()) + fileTag(modifiedFilesTag, files.GetModified())
}

// WithFileTags returns the text with the blocks of these files at its end, and without any that it had.
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

var fileTagInPath = regexp.MustCompile(`(?i)<(\s*/?\s*(?:` + readFilesTag + `|` + modifiedFilesTag + `))`)

// taggedPath is a path as it stands in a list: on one line, unable to end the list, and valid UTF-8 as summaries have to be.
func taggedPath(path string) string {
	path = fileTagInPath.ReplaceAllString(path, `<\$1`)
	if !utf8.ValidString(path) || strings.TrimSpace(path) != path || strings.ContainsFunc(path, endsLine) {
		return strconv.Quote(path)
	}
	return path
}

func endsLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// WithoutFileTags returns the text without the blocks that WithFileTags adds, wherever they stand and whoever wrote them,
// and without the white space around it where it had one. A tag without its counterpart goes alone.
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

// endOfFileTag returns the line that ends the block which begins at a line: that one itself where it is not ended before
// another begins.
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

// fileTagLine returns the tag that a line consists of; empty where it is any other line.
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
