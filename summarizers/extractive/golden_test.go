package extractive_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares summaries of small conversations with files that a person has reviewed.
func TestGolden(t *testing.T) {
	t.Parallel()
	conversations, err := filepath.Glob(filepath.Join("testdata", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, conversations)
	for _, path := range conversations {
		log, _ := loadConversation(t, path)
		lead, rest := splitLead(log)
		half := len(rest) / 2
		for name, write := range map[string]func() string{
			"2000": func() string { return summarize(t, &summarizers.Request{Lead: lead, Messages: rest, MaxTokens: 2000}) },
			"250":  func() string { return summarize(t, &summarizers.Request{Lead: lead, Messages: rest, MaxTokens: 250}) },
			"merged": func() string {
				first := summarize(t, &summarizers.Request{Lead: lead, Messages: rest[:half], MaxTokens: 1000})
				return summarize(t, &summarizers.Request{Lead: lead, Messages: rest[half:], PreviousSummary: first, MaxTokens: 1000})
			},
			"code": func() string {
				return summarize(t, &summarizers.Request{
					Lead: lead, Messages: rest, MaxTokens: 1000, Sections: sessiontest.CodeSections(),
				})
			},
			"without_files": func() string {
				return summarize(t, &summarizers.Request{
					Lead: lead, Messages: rest, MaxTokens: 1000, Sections: sessiontest.SectionLists()["without_files"],
				})
			},
			"recent_work": func() string {
				return summarize(t, &summarizers.Request{
					Lead: lead, Messages: rest, MaxTokens: 1000, Sections: sessiontest.SectionLists()["recent_work"],
				})
			},
			"range": func() string {
				return summarize(t, &summarizers.Request{Kind: summarizers.Range, Lead: lead, Messages: rest[half:], MaxTokens: 600})
			},
			"prefix": func() string {
				return summarize(t, &summarizers.Request{Kind: summarizers.TurnPrefix, Lead: lead, Messages: rest[:half], MaxTokens: 600})
			},
		} {
			golden := fmt.Sprintf("%s.%s.md", strings.TrimSuffix(path, ".jsonl"), name)
			t.Run(filepath.Base(golden), func(t *testing.T) {
				t.Parallel()
				got := write() + "\n"
				if *update {
					require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
				}
				want, err := os.ReadFile(golden)
				require.NoError(t, err)
				require.Equal(t, string(want), got)
			})
		}
	}
}
