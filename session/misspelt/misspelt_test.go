package misspelt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/session/misspelt"
)

func TestOf(t *testing.T) {
	presets := []string{"default", "pi", "klaude", "kimi", "xbot", "xbot_current", "claude_code", "hybrid"}
	for name, want := range map[string]string{
		"claude":      " (did you mean klaude or claude_code?)",
		"Claude-Code": " (did you mean claude_code?)",
		"hybird":      " (did you mean hybrid?)",
		"kimmi":       " (did you mean kimi?)",
		"py":          " (did you mean pi?)",
		"current":     "",
		"x":           "",
		"":            "",
		"something":   "",
	} {
		require.Equal(t, want, misspelt.Of(name, presets), name)
	}
}
