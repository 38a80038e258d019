package strategies

import (
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The tools that read and modify files, if a policy does not name them.

// pathArguments are the names for a path in common agents' tools, the most usual first.
var pathArguments = []string{
	"file_path", "filePath", "path", "target_file", "targetFile", "TargetFile", "absolute_path", "AbsolutePath",
	"notebook_path", "filename", "file_name", "file",
}

// fileReaders and fileWriters are the tools of common agents. Names are case-sensitive, so each spelling is listed.
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
		// These tools both read and write, depending on a command in their arguments: OpenHands, SWE-agent,
		// Anthropic's. A file that they only read is thus listed as modified, which costs an extra look. The other way,
		// a change would be missed.
		"str_replace_editor", "str_replace_based_edit_tool",
	}
)

// FileTools returns the policy's tools that touch files. If the policy names none, it returns those of common agents.
func FileTools(p *compactordv1.Policy) *compactordv1.FileTools {
	if p.GetFileTools() != nil {
		return p.GetFileTools()
	}
	return commonFileTools()
}

func commonFileTools() *compactordv1.FileTools {
	return fileTools(pathArguments, fileReaders, fileWriters)
}

// piFileTools are the tools that Pi itself recognizes; it ignores other names and arguments.
func piFileTools() *compactordv1.FileTools {
	return fileTools([]string{"path"}, []string{"read"}, []string{"write", "edit"})
}

func fileTools(arguments, readers, writers []string) *compactordv1.FileTools {
	return &compactordv1.FileTools{Tools: []*compactordv1.FileTool{
		{Names: slices.Clone(readers), PathArguments: slices.Clone(arguments)},
		{Names: slices.Clone(writers), PathArguments: slices.Clone(arguments), Modifies: true},
	}}
}
