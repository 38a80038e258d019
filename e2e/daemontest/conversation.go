package daemontest

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Mark is a word that occurs only in message number i of Working.
func Mark(i int) string { return fmt.Sprintf("mark-%05d", i) }

// Working is a conversation of a system prompt and turns of four messages, each with a tool result of resultChars
// characters. Message i contains Mark(i).
func Working(turns, resultChars int) []*compactordv1.Message {
	messages := []*compactordv1.Message{text(compactordv1.Role_ROLE_SYSTEM, "You are a careful assistant. Never touch main.go. "+Mark(0))}
	next := func() string { return Mark(len(messages)) }
	for i := range turns {
		id := fmt.Sprintf("call-%d", i)
		messages = append(messages, text(compactordv1.Role_ROLE_USER,
			fmt.Sprintf("Request %d: please look into module %d and always keep the tests green. %s", i, i, next())))
		asking := text(compactordv1.Role_ROLE_ASSISTANT, "I will read it. "+next())
		asking.Parts = append(asking.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{
			Id: id, Name: "read", Arguments: fmt.Sprintf(`{"path":"pkg/module%d/file.go"}`, i),
		}}})
		messages = append(messages, asking)
		line := fmt.Sprintf("line of module %d\n", i)
		messages = append(messages, result(id, next()+"\n"+strings.Repeat(line, resultChars/len(line)+1)))
		messages = append(messages, text(compactordv1.Role_ROLE_ASSISTANT,
			fmt.Sprintf("Module %d is fine. I decided to leave it as it is, because its tests pass. %s", i, next())))
	}
	return messages
}

func text(role compactordv1.Role, content string) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: content}}},
	}}
}

func result(id, content string) *compactordv1.Message {
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{
		{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			CallId: id,
			Parts:  []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: content}}}},
		}}},
	}}
}

// By is a policy with a window of 200,000 tokens that names a summarizer and keeps about recentTokens tokens.
func By(name string, fallback compactordv1.SummaryFallback, recentTokens uint32) *compactordv1.Policy {
	return &compactordv1.Policy{
		ContextWindow: proto.Uint32(200_000),
		Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
			Summarize: &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(recentTokens)},
		}},
		Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String(name), Fallback: fallback.Enum()},
	}
}
