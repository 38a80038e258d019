package strategies_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
	"github.com/compactord/compactord/strategies"
)

// used appends a call of a tool with its result, and returns the result's index.
func (l *testLog) used(tool, arguments string, pieces ...*compactordv1.ResultPart) uint32 {
	l.calling(tool, arguments)
	l.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{Parts: pieces}},
	}}})
	return l.head().GetNextIndex() - 1
}

func (l *testLog) calling(tool, arguments string) {
	l.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Name: tool, Arguments: arguments}},
	}}})
}

// failed is like used, with a result that is an error.
func (l *testLog) failed(tool, arguments, text string) uint32 {
	l.calling(tool, arguments)
	l.add(&compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			IsError: true, Parts: []*compactordv1.ResultPart{piece(text)},
		}},
	}}})
	return l.head().GetNextIndex() - 1
}

func piece(text string) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: text}}}
}

// replacements returns the texts of a plan's edits, by message.
func replacements(made *plan) map[uint32]string {
	texts := make(map[uint32]string)
	for _, e := range made.GetEdits() {
		texts[e.GetIndex()] = e.GetReplacement()
	}
	return texts
}

// requireConverged commits a plan, and checks that the same strategy finds nothing more to do.
func requireConverged(t *testing.T, l *testLog, made *plan, parameters *compactordv1.Strategy) {
	t.Helper()
	before := l.head().GetViewTokens()
	l.commit(made, "")
	require.Less(t, l.head().GetViewTokens(), before)
	require.Equal(t, nothing, planned(t, l, parameters).GetSkipReason())
}

// recalled returns what RecallContent returns for the reference in a text.
func recalled(t *testing.T, l *testLog, shown string) string {
	t.Helper()
	ref, err := recall.ParseReference(shown)
	require.NoError(t, err)
	c, err := recall.ContentOf(l.messages[ref.Index], ref.Part, ref.ResultPart)
	require.NoError(t, err)
	return c.Text
}

// arriving returns the edits of policy.on_append of the newest message, which answers a call of the one before.
func arriving(l *testLog, policy *compactordv1.Policy) []*compactordv1.Edit {
	last := l.messages[len(l.messages)-1]
	var call *compactordv1.ToolCall
	if a := last.GetAnswers(); a != nil {
		call = l.messages[a.GetIndex()].GetMessage().GetParts()[a.GetPart()].GetToolCall()
	}
	return strategies.OnAppend(l.heads[len(l.heads)-2], l.counter, policy, last, call)
}

func listOf(list ...*compactordv1.Strategy) *compactordv1.StrategyList {
	return &compactordv1.StrategyList{Strategies: list}
}

func onAppend(list ...*compactordv1.Strategy) *compactordv1.Policy {
	return &compactordv1.Policy{OnAppend: listOf(list...)}
}

func TestDefaultsOfEditsAreTold(t *testing.T) {
	t.Parallel()
	for want, parameters := range map[*compactordv1.Strategy]*compactordv1.Strategy{
		truncating(&compactordv1.TruncateToolOutputsStrategy{
			MaxChars: proto.Uint32(2000), TailChars: proto.Uint32(0), KeepGroups: proto.Uint32(0),
			Placeholder: proto.String(
				"[{omitted} characters left out. To read the whole result, recall index {index}, part {part}.]"),
		}): truncating(nil),
		offloading(&compactordv1.OffloadStrategy{
			OverTokens: proto.Uint32(2000), PreviewChars: proto.Uint32(500), PartialReads: proto.Bool(false),
		}): offloading(nil),
		stripping(&compactordv1.StripMediaStrategy{KeepNewest: proto.Uint32(0)}): stripping(nil),
		dropping(&compactordv1.DropThinkingStrategy{KeepTurns: proto.Uint32(1)}): dropping(nil),
		compressing(&compactordv1.CompressObservationsStrategy{
			OverTokens: proto.Uint32(2000), KeepGroups: proto.Uint32(3),
		}): compressing(nil),
		foldingSubtasks(&compactordv1.FoldSubtasksStrategy{
			Bounds:       compactordv1.SubtaskBounds_SUBTASK_BOUNDS_TODO_ITEMS.Enum(),
			KeepSubtasks: proto.Uint32(1), MinimumTokens: proto.Uint32(1000),
		}): foldingSubtasks(nil),
		collapsing(&compactordv1.DialogueOnlyStrategy{
			KeepTurns: proto.Uint32(0), ToolDigest: compactordv1.ToolDigest_TOOL_DIGEST_LINE.Enum(), OutcomeChars: proto.Uint32(120),
		}): collapsing(nil),
	} {
		requireEqual(t, want, registry().Resolved(nil, parameters))
	}
	given := collapsing(&compactordv1.DialogueOnlyStrategy{KeepTurns: proto.Uint32(4)})
	registry().Resolved(nil, given)
	requireEqual(t, collapsing(&compactordv1.DialogueOnlyStrategy{KeepTurns: proto.Uint32(4)}), given)
}
