package strategies

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// TouchedFiles adds the files that messages read and modified to the lists of the previous entry. A file that was ever
// modified counts as modified. Failed calls count, too: an agent that tried to edit a file is interested in it.
func TouchedFiles(
	before *compactordv1.FileLists, tools *compactordv1.FileTools, messages []*compactordv1.LoggedMessage,
) *compactordv1.FileLists {
	return touchedFiles(nil, before, toolsByName(tools), messages)
}

// FilesOf returns the files that messages of a state touched.
func FilesOf(
	s *session.State, tools *compactordv1.FileTools, messages []*compactordv1.LoggedMessage,
) *compactordv1.FileLists {
	return touchedFiles(s.Known, nil, toolsByName(tools), messages)
}

// FilesAfter returns the files of a new summary of a state that covers these messages.
func FilesAfter(
	s *session.State, tools *compactordv1.FileTools, covered []*compactordv1.LoggedMessage,
) *compactordv1.FileLists {
	return touchedFiles(s.Known, s.Entry.GetFiles(), toolsByName(tools), covered)
}

func touchedFiles(
	known *session.Known, before *compactordv1.FileLists, tools toolTable, messages []*compactordv1.LoggedMessage,
) *compactordv1.FileLists {
	touched := make(map[string]bool)
	touch := func(path string, modified bool) {
		if path != "" {
			touched[path] = touched[path] || modified
		}
	}
	for _, path := range before.GetRead() {
		touch(path, false)
	}
	for _, path := range before.GetModified() {
		touch(path, true)
	}
	for _, l := range messages {
		for _, call := range factsOf(known, l).calls {
			touchByCall(call, tools[call.tool], touch)
		}
		for _, p := range l.GetMessage().GetParts() {
			for _, f := range p.GetToolResult().GetFiles() {
				touch(f.GetPath(), f.GetModified())
			}
		}
	}
	return fileLists(touched)
}

// toolTable holds the entries of file tools by the names that they have.
type toolTable map[string][]*compactordv1.FileTool

func toolsByName(tools *compactordv1.FileTools) toolTable {
	byName := make(toolTable)
	for _, tool := range tools.GetTools() {
		for _, name := range tool.GetNames() {
			byName[name] = append(byName[name], tool)
		}
	}
	return byName
}

func touchByCall(call *callFacts, tools []*compactordv1.FileTool, touch func(string, bool)) {
	for _, tool := range tools {
		touch(pathArgument(call.fields(), tool.GetPathArguments()), tool.GetModifies())
	}
	for _, path := range call.patched() {
		touch(path, true)
	}
}

// pathArgument returns the first argument of these names that is a text. Of several fields with one name the last counts.
func pathArgument(fields []field, names []string) string {
	for _, name := range names {
		for _, f := range slices.Backward(fields) {
			if f.name != name {
				continue
			}
			if path := stringValue(f.value); path != "" {
				return path
			}
			break
		}
	}
	return ""
}

// patchHeadings begin the lines that name a file in a patch format that several agents use. In JSON arguments the line
// ends are escaped.
var patchHeadings = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}

// How many files of one patch are listed, and how long their paths are.
const (
	maxPatchedFiles = 1000
	maxPathBytes    = 4 << 10
)

func patchedFiles(arguments string) []string {
	if !strings.Contains(arguments, "*** Begin Patch") {
		return nil
	}
	var paths []string
	for _, line := range strings.FieldsFunc(strings.ReplaceAll(arguments, `\n`, "\n"), isLineEnd) {
		for _, heading := range patchHeadings {
			if path, ok := strings.CutPrefix(line, heading); ok && len(path) <= maxPathBytes && len(paths) < maxPatchedFiles {
				paths = append(paths, strings.Clone(strings.TrimSpace(path)))
			}
		}
	}
	return paths
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' }

func fileLists(touched map[string]bool) *compactordv1.FileLists {
	lists := &compactordv1.FileLists{}
	for path, modified := range touched {
		if modified {
			lists.Modified = append(lists.Modified, path)
		} else {
			lists.Read = append(lists.Read, path)
		}
	}
	slices.SortFunc(lists.GetRead(), compareUTF16)
	slices.SortFunc(lists.GetModified(), compareUTF16)
	return lists
}

// compareUTF16 orders like JavaScript's default sort, so that lists agree with those of the agents that we replace.
func compareUTF16(a, b string) int {
	for a != "" && b != "" {
		x, sizeX := utf8.DecodeRuneInString(a)
		y, sizeY := utf8.DecodeRuneInString(b)
		if x != y {
			return cmp.Or(cmp.Compare(firstUnit(x), firstUnit(y)), cmp.Compare(x, y))
		}
		a, b = a[sizeX:], b[sizeY:]
	}
	return cmp.Compare(len(a), len(b))
}

// firstUnit returns the first UTF-16 unit of a character.
func firstUnit(r rune) rune {
	if high, _ := utf16.EncodeRune(r); high != utf8.RuneError {
		return high
	}
	return r
}
