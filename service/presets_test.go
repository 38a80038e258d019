package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// klaude-code checks the threshold at two points, before a request and before each step of a turn. Its file lists are
// checked over two rounds.
func TestPresetKlaudeOverTwoRounds(t *testing.T) {
	t.Parallel()
	d := start(t)
	// The input may have 32,000 tokens, and a quarter of them is reserve: due at 24,000. 14,000 are kept, 35 % of the
	// window.
	d.create("s", &compactordv1.Policy{
		Preset: proto.String("klaude"), ContextWindow: proto.Uint32(40_000), MaxOutputTokens: proto.Uint32(8_000),
	})
	file := func(id, tool, path string, tokens int) []*compactordv1.Message {
		return []*compactordv1.Message{
			assistant("", call(id, tool, `{"file_path":"`+path+`"}`)), toolResult(id, long(tokens)),
		}
	}
	d.append("s", user("Mend a.go."))
	d.append("s", file("1", "Read", "a.go", 5_000)...)
	d.append("s", file("2", "Read", "b.go", 5_000)...)
	require.False(t, d.append("s", file("3", "Edit", "a.go", 10)...).GetReport().GetShouldCompact())
	r := d.append("s", assistant("It is mended. "+long(15_000))).GetReport()
	require.Equal(t, uint32(24_000), r.GetTriggerTokens())
	require.True(t, r.GetShouldCompact(), "before the next request")

	first := d.compacted(threshold)
	require.Equal(t, uint32(7), first.GetFirstKeptIndex())
	require.Equal(t, []string{"b.go"}, first.GetFiles().GetRead())
	require.Equal(t, []string{"a.go"}, first.GetFiles().GetModified())
	require.Equal(t, compactordv1.Role_ROLE_SYSTEM, d.view("s")[0].GetMessage().GetRole(), "as its plan says")

	require.False(t, d.append("s", user("Now b.go.")).GetReport().GetShouldCompact())
	d.append("s", file("4", "Read", "c.go", 100)...)
	d.append("s", file("5", "Edit", "b.go", 10)...)
	r = d.append("s", file("6", "Read", "d.go", 14_500)...).GetReport()
	require.True(t, r.GetShouldCompact(), "before the next step")

	second := d.compacted(threshold)
	require.Equal(t, uint32(13), second.GetFirstKeptIndex(), "back to the call whose result reaches the budget")
	require.Equal(t, uint32(8), second.GetSplitTurnStart())
	require.Equal(t, []string{"c.go"}, second.GetFiles().GetRead(), "what is kept is told by the next")
	require.Equal(t, []string{"a.go", "b.go"}, second.GetFiles().GetModified(), "b.go was only read before")
	d.requireChecked()
}

// compacted compacts for a reason by the session's policy and returns the entry.
func (d *daemon) compacted(reason compactordv1.CompactionReason) *compactordv1.CompactionEntry {
	d.t.Helper()
	events, err := d.compactFor(reason, nil)
	require.NoError(d.t, err)
	requireGrammar(d.t, events)
	entry := last(d.t, events).GetCompleted().GetCompaction()
	require.NotNil(d.t, entry, "%v", last(d.t, events))
	return entry
}

// opencode's five strategies in one conversation: results truncated on arrival, older ones pruned, a summary with a
// kept part of two turns, and after an overflow media replaced and the request replayed.
func TestPresetOpencodesFiveStrategies(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", &compactordv1.Policy{
		Preset: proto.String("opencode"), ContextWindow: proto.Uint32(200_000), MaxOutputTokens: proto.Uint32(20_000),
	})
	d.append("s", user("Read all files."))
	for i := range 130 {
		id := fmt.Sprintf("call-%d", i)
		tool := "read"
		if i == 0 {
			tool = "skill"
		}
		d.append("s", assistant("", call(id, tool, `{"filePath":"f`+id+`"}`)), toolResult(id, strings.Repeat("x", 2_500)))
	}
	view := d.view("s")
	require.Equal(t, strings.Repeat("x", 2_000)+"\n[Tool output truncated: omitted 500 chars] [recall #2.0]", resultTextOf(view[2].GetMessage()))

	prune := func() *compactordv1.PruneResponse {
		answer, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
			Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"},
		})
		require.NoError(t, err)
		return answer
	}
	d.append("s", assistant("Read."), user("And the tests?"), assistant("They pass."))
	require.Nil(t, prune().GetPrune(), "the last two turns are protected, and the results are in them")
	d.append("s", user("Then tidy up."), assistant("Tidied up."))
	// A result shows 2,000 characters and a mark of 59: 515 tokens. 78 of them are more than 40,000. 129 are not from
	// skills, so 52 are beyond.
	hidden := prune().GetPrune().GetEdits()
	require.Len(t, hidden, 52)
	require.Equal(t, uint32(4), hidden[0].GetIndex(), "the skill stays")
	require.Equal(t, "[Old tool result content cleared] [recall #4.0]", hidden[0].GetReplacement())

	entry := d.compacted(manual)
	require.Equal(t, uint32(262), entry.GetFirstKeptIndex(), "the last two turns are the tail")
	require.Nil(t, entry.SplitTurnStart)
	require.Len(t, d.messages("s"), 266, "by hand nobody is told to go on")

	// The provider refuses the picture. After it come steps so long that the request is not in the kept part.
	d.append("s", asking("What is on this?", named("")), assistant("I look. "+long(9_000)), assistant("It is a pier."))
	done := d.afterOverflow(nil, nil)
	require.Equal(t, uint32(266), done.GetCompaction().GetReplayedIndex())
	require.Nil(t, done.ContinueIndex, "the request speaks for itself")
	require.Equal(t, entry.GetId(), done.GetCompaction().GetPreviousEntryId())
	view = d.view("s")
	require.Contains(t, texts(view[1]), "[Attached image/png: file]")
	require.Zero(t, d.report("s").GetMediaTokens())
	d.requireChecked()
}
