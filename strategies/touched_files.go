package strategies

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// TouchedFiles adds the files that messages read and modified to the lists of the previous entry. A file that was ever
// modified counts as modified. Failed calls count, too: an agent that tried to edit a file is interested in it.
func TouchedFiles(
	before *compactordv1.FileLists, tools *compactordv1.FileTools, messages []*compactordv1.LoggedMessage,
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
		for _, p := range l.GetMessage().GetParts() {
			if call := p.GetToolCall(); call != nil {
				touchByCall(call, tools, touch)
			}
			for _, f := range p.GetToolResult().GetFiles() {
				touch(f.GetPath(), f.GetModified())
			}
		}
	}
	return fileLists(touched)
}

func touchByCall(call *compactordv1.ToolCall, tools *compactordv1.FileTools, touch func(string, bool)) {
	for _, tool := range tools.GetTools() {
		if !slices.Contains(tool.GetNames(), call.GetName()) {
			continue
		}
		var arguments map[string]json.RawMessage
		if json.Unmarshal([]byte(call.GetArguments()), &arguments) == nil {
			touch(pathArgument(arguments, tool.GetPathArguments()), tool.GetModifies())
		}
	}
	for _, path := range patchedFiles(call.GetArguments()) {
		touch(path, true)
	}
}

func pathArgument(arguments map[string]json.RawMessage, names []string) string {
	for _, name := range names {
		var path string
		if json.Unmarshal(arguments[name], &path) == nil && path != "" {
			return path
		}
	}
	return ""
}

// patchHeadings begin the lines that name a file in a patch format that several agents use. In JSON arguments the line
// ends are escaped.
var patchHeadings = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}

func patchedFiles(arguments string) []string {
	if !strings.Contains(arguments, "*** Begin Patch") {
		return nil
	}
	var paths []string
	for _, line := range strings.FieldsFunc(strings.ReplaceAll(arguments, `\n`, "\n"), isLineEnd) {
		for _, heading := range patchHeadings {
			if path, ok := strings.CutPrefix(line, heading); ok {
				paths = append(paths, strings.TrimSpace(path))
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
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}
