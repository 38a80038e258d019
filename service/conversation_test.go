package service_test

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func user(text string) *compactordv1.Message {
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{textPart(text)}}
}

func system(text string) *compactordv1.Message {
	return &compactordv1.Message{Role: compactordv1.Role_ROLE_SYSTEM, Parts: []*compactordv1.Part{textPart(text)}}
}

func assistant(text string, calls ...*compactordv1.ToolCall) *compactordv1.Message {
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{textPart(text)}}
	for _, call := range calls {
		m.Parts = append(m.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}})
	}
	return m
}

func call(id, name, arguments string) *compactordv1.ToolCall {
	return &compactordv1.ToolCall{Id: id, Name: name, Arguments: arguments}
}

func toolResult(id, text string) *compactordv1.Message {
	return &compactordv1.Message{
		Role: compactordv1.Role_ROLE_TOOL,
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
			CallId: id,
			Parts: []*compactordv1.ResultPart{
				{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: text}}},
			},
		}}}},
	}
}

func textPart(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
}

// working returns a conversation of n turns, each with a tool call whose result has resultChars characters.
func working(turns, resultChars int) []*compactordv1.Message {
	messages := []*compactordv1.Message{system("You are a careful assistant. Never touch main.go.")}
	for i := range turns {
		id := fmt.Sprintf("call-%d", i)
		messages = append(messages,
			user(fmt.Sprintf("Request %d: please look into module %d and always keep the tests green.", i, i)),
			assistant("I will read it.", call(id, "read", fmt.Sprintf(`{"path":"pkg/module%d/file.go"}`, i))),
			toolResult(id, strings.Repeat(fmt.Sprintf("line of module %d\n", i), resultChars/18+1)),
			assistant(fmt.Sprintf("Module %d is fine. I decided to leave it as it is, because its tests pass.", i)),
		)
	}
	return messages
}

// small returns a policy with a small window.
func small(recentTokens uint32) *compactordv1.Policy {
	return &compactordv1.Policy{
		ContextWindow: proto.Uint32(20000),
		Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
			Summarize: &compactordv1.SummarizeStrategy{RecentTokens: proto.Uint32(recentTokens)},
		}},
	}
}

// hideAllBut returns a policy that prunes the results of all but the newest n tool groups, however little that frees.
func hideAllBut(n uint32) *compactordv1.Policy {
	return &compactordv1.Policy{PruneStrategy: &compactordv1.Strategy{
		Kind: &compactordv1.Strategy_PruneToolOutputs{PruneToolOutputs: &compactordv1.PruneToolOutputsStrategy{
			KeepGroups: proto.Uint32(n), KeepTokens: proto.Uint32(0), MinimumTokens: proto.Uint32(0),
		}},
	}}
}

func mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// long returns a text of about that many tokens.
func long(tokens int) string { return strings.Repeat("abc ", tokens) }

// splitting returns a policy that keeps the newest tokens and splits turns.
func splitting(recent uint32) *compactordv1.Policy {
	return by("writer", noFallback, small(recent))
}
