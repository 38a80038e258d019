package summarizers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

func TestEndOfSection(t *testing.T) {
	t.Parallel()
	sections := []*compactordv1.Section{
		{Title: "Goal", Role: compactordv1.SectionRole_SECTION_ROLE_GOAL},
		{Title: "Context", Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
		{Title: "Files", Role: compactordv1.SectionRole_SECTION_ROLE_FILES},
	}
	for name, c := range map[string]struct{ summary, want string }{
		"lines": {
			"## Goal\nPort it.\n\n## Context\n- one\n\n## Files\n- a.go", "## Goal\nPort it.\n\n## Context\n- one\n+\n\n## Files\n- a.go",
		},
		"dense": {"## Goal\nPort it.\n## Context\n- one\n## Files\n- a.go", "## Goal\nPort it.\n## Context\n- one\n+\n## Files\n- a.go"},
		"empty": {"## Goal\nPort it.\n\n## Context\n(none)\n\n## Files\n(none)", "## Goal\nPort it.\n\n## Context\n+\n\n## Files\n(none)"},
		"last":  {"## Goal\nPort it.\n\n## Context\n- one\n", "## Goal\nPort it.\n\n## Context\n- one\n+\n"},
		"a heading of the model's own": {
			"## Goal\nPort it.\n\n## Context\n- one\n\n#### Ports\n- 80\n\n## Files\n- a.go",
			"## Goal\nPort it.\n\n## Context\n- one\n\n#### Ports\n- 80\n+\n\n## Files\n- a.go",
		},
		"missing":              {"## Goal\nPort it.\n\n## Files\n- a.go", "## Goal\nPort it.\n\n## Context\n+\n\n## Files\n- a.go"},
		"missing at the start": {"## Files\n- a.go", "## Context\n+\n\n## Files\n- a.go"},
		"missing at the end":   {"## Goal\nPort it.", "## Goal\nPort it.\n\n## Context\n+"},
		"other prompt":         {"All is well.\n", "All is well.\n\n## Context\n+"},
	} {
		before, after := summarizers.EndOfSection(
			asksFor(summarizers.History, sections), c.summary, compactordv1.SectionRole_SECTION_ROLE_CONTEXT)
		require.Equal(t, c.want, before+"+"+after, name)
	}
}

// A missing section that is part of a group follows the group's heading.
func TestEndOfAMissingSectionInAGroup(t *testing.T) {
	t.Parallel()
	sections := []*compactordv1.Section{
		{Title: "Goal", Role: compactordv1.SectionRole_SECTION_ROLE_GOAL},
		{Title: "State", Subsections: []*compactordv1.Section{
			{Title: "Done", Role: compactordv1.SectionRole_SECTION_ROLE_DONE},
			{Title: "Context", Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT},
		}},
		{Title: "Files", Role: compactordv1.SectionRole_SECTION_ROLE_FILES},
	}
	for summary, want := range map[string]string{
		"## Goal\nPort it.\n\n## Files\n- a.go":          "## Goal\nPort it.\n\n## State\n\n### Context\n+\n\n## Files\n- a.go",
		"## State\n\n### Done\n- it\n\n## Files\n- a.go": "## State\n\n### Done\n- it\n\n### Context\n+\n\n## Files\n- a.go",
	} {
		before, after := summarizers.EndOfSection(
			asksFor(summarizers.History, sections), summary, compactordv1.SectionRole_SECTION_ROLE_CONTEXT)
		require.Equal(t, want, before+"+"+after)
	}
}
