package main

import (
	"context"
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// show prints the view as the model gets it, with blocks that only this request has.
func (a *agent) show(ctx context.Context, title string, extra ...*compactordv1.ContextBlock) error {
	answer, err := a.compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{
		Target:      &compactordv1.GetLLMViewRequest_SessionId{SessionId: a.session},
		ExtraBlocks: extra,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "== %s: %d tokens\n", title, answer.GetReport().GetTokens())
	for _, m := range answer.GetMessages() {
		fmt.Fprint(a.out, drawn(m))
	}
	fmt.Fprintln(a.out)
	return nil
}

// drawn is a message on lines of its own: where it comes from, its role, and its content.
func drawn(m *compactordv1.ViewMessage) string {
	lines := strings.Split(content(m.GetMessage()), "\n")
	role := strings.ToLower(strings.TrimPrefix(m.GetMessage().GetRole().String(), "ROLE_"))
	return fmt.Sprintf("%-8s %-9s  %s\n", source(m), role, strings.Join(lines, "\n"+strings.Repeat(" ", 20)))
}

// source says where a message of the view comes from.
func source(m *compactordv1.ViewMessage) string {
	switch from := m.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		return fmt.Sprintf("#%d", from.Index)
	case *compactordv1.ViewMessage_ContextBlock:
		return "block"
	case *compactordv1.ViewMessage_Folded:
		return "fold"
	case *compactordv1.ViewMessage_SummaryOf:
		return "summary"
	default:
		return ""
	}
}

func content(m *compactordv1.Message) string {
	var parts []string
	for _, p := range m.GetParts() {
		switch kind := p.GetKind().(type) {
		case *compactordv1.Part_Text:
			parts = append(parts, kind.Text.GetText())
		case *compactordv1.Part_ToolCall:
			parts = append(parts, fmt.Sprintf("calls %s %s", kind.ToolCall.GetName(), kind.ToolCall.GetArguments()))
		case *compactordv1.Part_ToolResult:
			for _, r := range kind.ToolResult.GetParts() {
				parts = append(parts, r.GetText().GetText())
			}
		}
	}
	return strings.Join(parts, "\n")
}
