package transcript

import "github.com/compactord/compactord/dialects/anthropic"

// openClaude reads a session file of Claude Code.
func openClaude(in *lines, _ beginning) (source, error) {
	return &claudeSession{
		in: in, remarks: in.remarks, dialect: anthropic.New(),
		open: make(map[string]bool), names: make(callNames), before: make(map[string]uint32),
	}, nil
}
