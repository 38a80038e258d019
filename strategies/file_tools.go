package strategies

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Which tools read and modify files, where a policy does not say it.

// pathArguments are the names that the common agents' tools have for a path, the more usual first.
var pathArguments = []string{
	"file_path", "filePath", "path", "target_file", "targetFile", "TargetFile", "absolute_path", "AbsolutePath",
	"notebook_path", "filename", "file_name", "file",
}

// fileReaders and fileWriters are the common agents' tools. Names are case-sensitive, so each spelling stands for itself.
var (
	fileReaders = []string{
		"read",                 // Pi, opencode
		"Read", "NotebookRead", // Claude Code, klaude-code
		"read_file",                 // Gemini CLI, Cline, Roo Code, Cursor, Copilot
		"ReadFile", "ReadMediaFile", // kimi-cli
		"view", "open", "cat", // Crush, SWE-agent
		"view_file", "view_image", "open_file", // Windsurf, Codex
	}
	fileWriters = []string{
		"write", "edit", "patch", "multiedit", // Pi, opencode
		"Write", "Edit", "MultiEdit", "NotebookEdit", // Claude Code, klaude-code
		"write_file", "edit_file", "create_file", "replace", "str_replace", // Gemini CLI, Cursor, Copilot
		"WriteFile", "StrReplaceFile", // kimi-cli
		"write_to_file", "replace_in_file", "apply_diff", "insert_content", // Cline, Roo Code
		"search_replace", "delete_file", "replace_file_content", // Cursor, Windsurf
		"replace_string_in_file", "insert_edit_into_file", // Copilot
		// One tool for both, which views and edits by a command in its arguments: OpenHands, SWE-agent, Anthropic's.
		// A file only seen is listed as changed then, which costs a look; the other way a change would be missed.
		"str_replace_editor", "str_replace_based_edit_tool",
	}
)

// FileTools are the tools that a policy says touch files: the common agents' where it says nothing.
func FileTools(p *compactordv1.Policy) *compactordv1.FileTools {
	if p.GetFileTools() != nil {
		return p.GetFileTools()
	}
	return commonFileTools()
}

func commonFileTools() *compactordv1.FileTools {
	return fileTools(pathArguments, fileReaders, fileWriters)
}

// piFileTools are what Pi itself goes by; other names and arguments it ignores.
func piFileTools() *compactordv1.FileTools {
	return fileTools([]string{"path"}, []string{"read"}, []string{"write", "edit"})
}

func fileTools(arguments, readers, writers []string) *compactordv1.FileTools {
	return &compactordv1.FileTools{Tools: []*compactordv1.FileTool{
		{Names: slices.Clone(readers), PathArguments: slices.Clone(arguments)},
		{Names: slices.Clone(writers), PathArguments: slices.Clone(arguments), Modifies: true},
	}}
}
