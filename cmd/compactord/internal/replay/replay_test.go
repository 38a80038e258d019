package replay

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// embedded is a conversation in a store in memory.
func embedded(t *testing.T) *conversation.Conversation {
	t.Helper()
	c, err := (&api.App{Terminal: terminal.Terminal{Stderr: io.Discard}}).EmbedInMemory(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return &conversation.Conversation{Client: c, Session: "s"}
}

func said(role compactordv1.Role, chars int) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("x", chars)}},
	}}}
}

// calls is an ASSISTANT message of one token with a tool call.
func calls(id string) *compactordv1.Message {
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: id, Name: "ls", Arguments: "{}"}},
	}}}
}

func results(id string, chars int) *compactordv1.Message {
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{
		Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			CallId: id, Parts: []*compactordv1.ResultPart{{
				Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("y", chars)}},
			}},
		}},
	}}}
}

// three is a turn with three calls: a request of 100 tokens, calls of 1, results of 2,000, an answer of 100.
func three() []*compactordv1.Message {
	return []*compactordv1.Message{
		said(compactordv1.Role_ROLE_USER, 400),
		calls("a"), results("a", 8000), calls("b"), results("b", 8000), calls("c"), results("c", 8000),
		said(compactordv1.Role_ROLE_ASSISTANT, 400),
	}
}

// hiding is a policy that hides all results but the newest with the placeholder `[hidden]`, which has 2 tokens.
func hiding(minimum uint32) *compactordv1.Policy {
	return &compactordv1.Policy{
		ContextWindow: proto.Uint32(6000), OnAppend: &compactordv1.StrategyList{}, Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(4500)},
		Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_PruneToolOutputs{
			PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{
				KeepGroups: proto.Uint32(1), KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(minimum),
				Placeholder: proto.String("[hidden]"),
			},
		}},
	}
}

// The requests have 100, 2,101 and 4,102 tokens. Before the fourth, the context has 6,103 tokens, over the trigger of
// 4,500. Two results then become 2 tokens each, so the fourth has 2,107. It shares its first 101 tokens, the request
// and the first call, with the third.
func TestReplayWithARewrite(t *testing.T) {
	f, err := Run(t.Context(), embedded(t), three(), hiding(0), nil)
	require.NoError(t, err)
	require.Equal(t, &Figures{
		Requests: 4, TriggerTokens: proto.Uint32(4500), Rewrites: 1, PeakTokens: 4102,
		SentTokens: 100 + 2101 + 4102 + 2107, ReusedTokens: 100 + 2101 + 101, LastTokens: 2107, LastMessages: 7,
	}, f)
}

// Hiding both would free less than 5,000 tokens. So the fourth request has 6,103 tokens, over the trigger and the
// window.
func TestReplayWithoutARewrite(t *testing.T) {
	f, err := Run(t.Context(), embedded(t), three(), hiding(5000), nil)
	require.NoError(t, err)
	require.Equal(t, &Figures{
		Requests: 4, TriggerTokens: proto.Uint32(4500), PeakTokens: 6103, RequestsDue: 1, RequestsOverWindow: 1,
		SentTokens: 100 + 2101 + 4102 + 6103, ReusedTokens: 100 + 2101 + 4102, LastTokens: 6103, LastMessages: 7,
	}, f)
}

// A trigger by the conversation does not count the leading messages, so it is that many tokens later.
func TestTriggerIsBesideTheLeadingMessages(t *testing.T) {
	policy := &compactordv1.Policy{Preset: proto.String("default"), ContextWindow: proto.Uint32(200_000)}
	for lead, due := range map[int]uint32{0: 45_000, 400: 45_100, 40_000: 55_000, 600_000: 150_000} {
		messages := three()
		if lead > 0 {
			messages = append([]*compactordv1.Message{said(compactordv1.Role_ROLE_SYSTEM, lead)}, messages...)
		}
		f, err := Run(t.Context(), embedded(t), messages, policy, nil)
		require.NoError(t, err)
		require.Equal(t, proto.Uint32(due), f.TriggerTokens, "%d leading characters", lead)
	}
}

// Instructions of 5,000 tokens are over the trigger of 4,500. The third request, with 7,002 tokens, would be over the
// window of 6,900, and so it is compacted, although it cannot come below the trigger.
func TestInstructionsOverTheTrigger(t *testing.T) {
	policy := hiding(0)
	policy.ContextWindow = proto.Uint32(6_900)
	policy.Strategy = nil
	messages := []*compactordv1.Message{
		said(compactordv1.Role_ROLE_SYSTEM, 20_000), said(compactordv1.Role_ROLE_USER, 2_800),
		said(compactordv1.Role_ROLE_ASSISTANT, 2_000), said(compactordv1.Role_ROLE_USER, 40), said(compactordv1.Role_ROLE_ASSISTANT, 2_000),
		said(compactordv1.Role_ROLE_USER, 1_000), said(compactordv1.Role_ROLE_ASSISTANT, 4),
	}
	f, err := Run(t.Context(), embedded(t), messages, policy, nil)
	require.NoError(t, err)
	require.EqualValues(t, 3, f.RequestsDue)
	require.EqualValues(t, 3, f.RequestsUnreachable)
	require.EqualValues(t, 5_700, f.FixedTokens)
	require.EqualValues(t, 1, f.Compactions)
	require.Zero(t, f.RequestsOverWindow)
}

// Messages between two answers can need several appends, and messages after the last answer need no request. Without a
// window no request is over it.
func TestReplayOfManyMessagesBetweenAnswers(t *testing.T) {
	const many = conversation.BatchMessages + 10
	var messages []*compactordv1.Message
	for range many {
		messages = append(messages, said(compactordv1.Role_ROLE_USER, 4))
	}
	messages = append(messages, said(compactordv1.Role_ROLE_ASSISTANT, 4), said(compactordv1.Role_ROLE_USER, 4),
		said(compactordv1.Role_ROLE_ASSISTANT, 4), said(compactordv1.Role_ROLE_USER, 4))
	var logged []int
	f, err := Run(t.Context(), embedded(t), messages, &compactordv1.Policy{}, func(r Request) {
		logged = append(logged, r.Logged)
		require.Len(t, r.View, r.Logged)
	})
	require.NoError(t, err)
	require.Equal(t, []int{many, many + 2}, logged)
	require.EqualValues(t, 2*many+2, f.SentTokens)
	require.EqualValues(t, many, f.ReusedTokens)
	require.Zero(t, f.RequestsOverWindow)
	require.Nil(t, f.TriggerTokens)
}

// With the trigger disabled, compaction is never due.
func TestReplayWithoutATrigger(t *testing.T) {
	policy := hiding(0)
	policy.Trigger.Enabled = proto.Bool(false)
	f, err := Run(t.Context(), embedded(t), three(), policy, nil)
	require.NoError(t, err)
	require.Nil(t, f.TriggerTokens)
	require.Zero(t, f.Rewrites)
	require.Zero(t, f.RequestsDue)
}

// Before the fourth request the ladder hides two results and summarizes the messages before the second of them. Edits
// with a cut count as one rewrite and one compaction.
func TestReplayWithEditsAndACut(t *testing.T) {
	policy := hiding(0)
	policy.Trigger.TargetTokens = proto.Uint32(1)
	policy.Strategy = &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: &compactordv1.LadderStrategy{
		Rungs: []*compactordv1.LadderStrategy_Rung{
			{Strategy: policy.GetStrategy()},
			{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
				Summarize: &compactordv1.SummarizeStrategy{RecentToolGroups: proto.Uint32(2)},
			}}},
		},
	}}}
	lived := embedded(t)
	f, err := Run(t.Context(), lived, three(), policy, nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, f.Rewrites)
	require.EqualValues(t, 1, f.Compactions)
	require.EqualValues(t, 100+2101, f.ReusedTokens, "the fourth request begins with the summary")
	require.EqualValues(t, 5, f.LastMessages, "the summary and two groups")
}

// The sums of sent and reused tokens agree with an agent that fetches each view whole and compares it with the one
// before, byte by byte.
func TestReplayAgreesWithAnAgentThatFetchesAll(t *testing.T) {
	path := sample.File(t, "talk.jsonl", sample.Talk(40))
	read, err := conversation.ReadTranscript(t.Context(), &api.App{}, path, conversation.Reading{}, nil)
	require.NoError(t, err)
	policies := map[string]*compactordv1.Policy{"hiding": hiding(0)}
	for _, preset := range []string{"default", "pi", "hybrid"} {
		policies[preset] = &compactordv1.Policy{Preset: proto.String(preset), ContextWindow: proto.Uint32(9000)}
	}
	for preset, policy := range policies {
		f, err := Run(t.Context(), embedded(t), read.Messages, policy, nil)
		require.NoError(t, err)
		require.Positive(t, f.Rewrites, preset)
		requests, sent, reused := fetchAll(t, embedded(t), read.Messages, policy)
		require.Equal(t, requests, f.Requests, preset)
		require.Equal(t, sent, f.SentTokens, preset)
		require.Equal(t, reused, f.ReusedTokens, preset)
	}
}

// fetchAll replays the messages one by one.
func fetchAll(
	t *testing.T, c *conversation.Conversation, messages []*compactordv1.Message, policy *compactordv1.Policy,
) (requests uint32, sent, reused uint64) {
	t.Helper()
	_, err := c.Create(t.Context(), policy)
	require.NoError(t, err)
	var last []*compactordv1.ViewMessage
	due := false
	for _, m := range messages {
		if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			if due {
				_, err := c.Compact(t.Context(), conversation.CompactRequest("s", compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD), nil)
				require.NoError(t, err)
			}
			v, err := c.View(t.Context())
			require.NoError(t, err)
			requests++
			same := true
			for i, vm := range v.Messages {
				sent += uint64(vm.GetTokens())
				same = same && i < len(last) && proto.Equal(vm.GetMessage(), last[i].GetMessage())
				if same {
					reused += uint64(vm.GetTokens())
				}
			}
			last = v.Messages
		}
		answer, err := c.Sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: "s", Messages: []*compactordv1.Message{m},
		})
		require.NoError(t, err)
		due = answer.GetReport().GetShouldCompact()
	}
	return requests, sent, reused
}

func TestWindowForATranscript(t *testing.T) {
	for tokens, window := range map[uint32]uint32{
		0: 8000, 11_999: 8000, 12_000: 8000, 12_001: 8100, 131_361: 88_000, 150_000: 100_000, 150_001: 110_000,
		4_000_000_000: 100_000_000,
	} {
		require.Equal(t, window, WindowFor(tokens), "%d tokens", tokens)
	}
}
