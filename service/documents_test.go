package service_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var exampleJSON = regexp.MustCompile("(?s)```json\n(.*?)```")

// The policies in the documents are accepted as they are, and the first of each resolves as described.
func TestPoliciesOfTheDocuments(t *testing.T) {
	t.Parallel()
	for file, holds := range map[string]func(*compactordv1.Policy) bool{
		"configuration.md": func(p *compactordv1.Policy) bool {
			rungs := p.GetStrategy().GetLadder().GetRungs()
			return len(rungs) == 2 && len(rungs[1].GetStrategy().GetFirstEffective().GetStrategies()) == 2 &&
				p.GetTrigger().GetTargetTokens() == 27_000 && len(p.GetOnAppend().GetStrategies()) == 1 && len(p.GetOnUserMessage().GetStrategies()) == 1
		},
		"strategies.md": func(p *compactordv1.Policy) bool {
			return p.GetOnAppend().GetStrategies()[0].GetOffload().GetOverTokens() == 2000 &&
				p.GetOnUserMessage().GetStrategies()[0].GetDialogueOnly().GetToolDigest() == compactordv1.ToolDigest_TOOL_DIGEST_LINE
		},
	} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "docs", file))
			require.NoError(t, err)
			examples := exampleJSON.FindAllSubmatch(text, -1)
			require.NotEmpty(t, examples)
			for i, example := range examples {
				req := &compactordv1.CreateSessionRequest{}
				require.NoError(t, protojson.Unmarshal(example[1], req))
				d := start(t)
				created, err := d.sessions.CreateSession(t.Context(), req)
				require.NoError(t, err)
				resolved := created.GetSession().GetResolvedPolicy()
				require.True(t, i > 0 || holds(resolved), "%v", resolved)
			}
		})
	}
}

// The client plan in the documents is accepted as it is.
func TestClientPlanOfTheDocuments(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "docs", "client-model.md"))
	require.NoError(t, err)
	examples := exampleJSON.FindAllSubmatch(text, -1)
	require.Len(t, examples, 1)
	req := &compactordv1.PlanCompactionRequest{}
	require.NoError(t, protojson.Unmarshal(examples[0][1], req))
	d := start(t)
	d.create(req.GetSessionId(), small(1000))
	d.append(req.GetSessionId(), working(6, 2000)...)
	plan := d.plan(req)
	require.Equal(t, uint32(9), plan.GetPlan().GetCut().GetFirstKeptIndex())
	require.Len(t, plan.GetPlan().GetEdits(), 2)
	require.Equal(t, []compactordv1.SummaryPromptKind{
		compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_OBSERVATION, compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY,
	}, kindsOf(plan))
}
