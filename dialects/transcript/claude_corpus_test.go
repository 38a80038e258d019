package transcript_test

import (
	"path/filepath"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Another program made the corpus from these files. It differs from this package in three points: it has the messages
// that a resumed session had abandoned, it has other words around Claude Code's attachments, and it has references to
// tools as JSON in a text, which are opaque here.
func TestNativeClaudeCodeSessionsEqualTheirNeutralCounterparts(t *testing.T) {
	t.Parallel()
	dir := corpus(t)
	for name, abandoned := range map[string][]int{
		"entire-cli-0442a060.jsonl":    {40, 41},
		"entire-cli-847ff7d2.jsonl":    nil,
		"entire-cli-cde341db.jsonl":    nil,
		"entire-skills-35ea950f.jsonl": nil,
		"kimi-cli-14a06f45.jsonl":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			native := openFile(t, filepath.Join(dir, "native", "claude-code", name))
			require.Equal(t, transcript.ClaudeCode, native.Format())
			have, err := native.ReadAll()
			require.NoError(t, err)
			neutral := openFile(t, filepath.Join(dir, name))
			want, err := neutral.ReadAll()
			require.NoError(t, err)
			for i := len(abandoned) - 1; i >= 0; i-- {
				want = append(want[:abandoned[i]], want[abandoned[i]+1:]...)
			}
			require.Equal(t, len(want), len(have))
			for i, m := range have {
				require.NoError(t, protovalidate.Validate(m))
				require.NotNil(t, m.GetWrittenAt())
				requireSaysTheSame(t, want[i], m, i)
			}
			require.Len(t, native.Records(), len(neutral.Records()))
			for i, record := range native.Records() {
				have, want := record.GetCompaction(), neutral.Records()[i].GetCompaction()
				require.Equal(t, want.GetSummary(), have.GetSummary())
				require.Equal(t, want.GetFirstKeptIndex()-uint32(len(abandoned)), have.GetFirstKeptIndex())
				require.Equal(t, want.GetTokensBefore(), have.GetTokensBefore())
				require.Equal(t, "claude-code", have.GetTool())
			}
		})
	}
}

// requireSaysTheSame compares the results of two readers for a message.
func requireSaysTheSame(t *testing.T, want, have *compactordv1.Message, at int) {
	t.Helper()
	switch {
	case strings.HasPrefix(textOf(want), "<system-reminder>\n["):
		require.Equal(t, compactordv1.Role_ROLE_USER, have.GetRole())
		require.Equal(t, compactordv1.Origin_ORIGIN_CONTINUE, have.GetOrigin())
	case strings.HasPrefix(textOf(want), `{"type":"tool_reference"`):
		require.Equal(t, resultOf(want).GetCallId(), resultOf(have).GetCallId())
	default:
		requireSameMessage(t, at, want, have, difference{arguments: true, texts: true})
	}
}
