package main

import (
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// This file simulates the user, the model and the tool. All of it is deterministic.

const systemPrompt = "You review the modules of a web shop, one after the other. Quote file names exactly."

// callsPerTurn is how many files the model reads before it answers.
const callsPerTurn = 3

// request returns the user's message in a turn.
func request(turn int) string {
	if turn == 0 {
		return "Review the shop's modules with me. Never change anything under db/migrations. Begin with module 1."
	}
	return fmt.Sprintf("Thanks. Now review module %d.", turn+1)
}

// think simulates the model: it reads files until this turn has enough results, then answers. A view longer than its
// window is an error in a provider's words.
func think(view []*compactordv1.ViewMessage, window uint32) (*compactordv1.Message, error) {
	var tokens, results uint32
	for _, vm := range view {
		tokens += vm.GetTokens()
	}
	if tokens > window {
		return nil, fmt.Errorf("prompt is too long: %d tokens > %d maximum", tokens, window)
	}
	for i := len(view) - 1; i >= 0 && view[i].GetMessage().GetRole() != compactordv1.Role_ROLE_USER; i-- {
		if view[i].GetMessage().GetRole() == compactordv1.Role_ROLE_TOOL {
			results++
		}
	}
	if results >= callsPerTurn {
		return text(compactordv1.Role_ROLE_ASSISTANT,
			fmt.Sprintf("I read %d files of this module; the checks at their boundaries look right.", results)), nil
	}
	said := text(compactordv1.Role_ROLE_ASSISTANT, "I will read the next file.")
	said.StopReason = compactordv1.StopReason_STOP_REASON_TOOL_USE
	said.Parts = append(said.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{
		Id:        fmt.Sprintf("call_%d", results+1), // ids may repeat: a result belongs to the nearest open call
		Name:      "read_file",
		Arguments: fmt.Sprintf(`{"path":"shop/handler_%d.go"}`, results+1),
	}}})
	return said, nil
}

// runTools returns the results of a message's tool calls, one message each.
func runTools(said *compactordv1.Message) []*compactordv1.Message {
	var results []*compactordv1.Message
	for _, part := range said.GetParts() {
		call := part.GetToolCall()
		if call == nil {
			continue
		}
		result := &compactordv1.ToolResult{
			CallId: call.GetId(),
			Parts:  []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: file(call)}}}},
		}
		results = append(results, &compactordv1.Message{
			Role:  compactordv1.Role_ROLE_TOOL,
			Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}},
		})
	}
	return results
}

// file returns about 1,500 tokens of source code.
func file(call *compactordv1.ToolCall) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\npackage shop\n", call.GetArguments())
	for line := range 120 {
		fmt.Fprintf(&b, "\tif order[%d] == nil { return errMissing(%d) }\n", line, line)
	}
	return b.String()
}
