package session_test

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// The messages of hand-written logs.

func newLog(messages ...*compactordv1.Message) *sessiontest.Writer {
	w := sessiontest.NewWriter(&compactordv1.Policy{})
	for _, m := range messages {
		w.Append(m, nil)
	}
	return w
}

func message(role compactordv1.Role, parts ...*compactordv1.Part) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: parts}
}

func system(text string) *compactordv1.Message {
	return message(compactordv1.Role_ROLE_SYSTEM, session.TextPart(text))
}

func developer(text string) *compactordv1.Message {
	return message(compactordv1.Role_ROLE_DEVELOPER, session.TextPart(text))
}

func user(text string) *compactordv1.Message {
	return message(compactordv1.Role_ROLE_USER, session.TextPart(text))
}

func assistant(parts ...*compactordv1.Part) *compactordv1.Message {
	m := message(compactordv1.Role_ROLE_ASSISTANT, parts...)
	m.StopReason = compactordv1.StopReason_STOP_REASON_END
	return m
}

func says(text string) *compactordv1.Message { return assistant(session.TextPart(text)) }

func stopped(m *compactordv1.Message, why compactordv1.StopReason) *compactordv1.Message {
	m.StopReason = why
	return m
}

func used(m *compactordv1.Message, u *compactordv1.Usage) *compactordv1.Message {
	m.Usage = u
	return m
}

func thinking(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: text}}}
}

func calling(id, name, arguments string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
		ToolCall: &compactordv1.ToolCall{Id: id, Name: name, Arguments: arguments},
	}}
}

func picture(name string) *compactordv1.MediaPart {
	return &compactordv1.MediaPart{
		MimeType: "image/png", Name: name, Source: &compactordv1.MediaPart_Data{Data: []byte{1}},
	}
}

func pictured(name string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: picture(name)}}
}

func answering(id string, parts ...*compactordv1.ResultPart) *compactordv1.Message {
	return message(compactordv1.Role_ROLE_TOOL, &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{
		ToolResult: &compactordv1.ToolResult{CallId: id, Parts: parts},
	}})
}

func answers(id, text string) *compactordv1.Message { return answering(id, resultText(text)) }

func resultText(text string) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: text}}}
}

func resultPicture(name string) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{Media: picture(name)}}
}

func compact(w *sessiontest.Writer, firstKept uint32, summary string) {
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
		Id: fmt.Sprintf("entry-%d", len(w.Log.Items)), FirstKeptIndex: firstKept, Summary: summary,
	}}})
}

func compactReplaying(w *sessiontest.Writer, firstKept, replayed uint32) {
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
		Id: fmt.Sprintf("entry-%d", len(w.Log.Items)), FirstKeptIndex: firstKept, Summary: "s",
		ReplayedIndex: proto.Uint32(replayed),
	}}})
}

func prune(w *sessiontest.Writer, edits ...*compactordv1.Edit) {
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{Edits: edits}}})
}

func revert(w *sessiontest.Writer, point uint32) {
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Revert{Revert: &compactordv1.Revert{Point: point}}})
}

func pin(w *sessiontest.Writer, indexes ...uint32) {
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Pin{
		Pin: &compactordv1.PinChange{Indexes: indexes, Members: w.Model().WithGroups(indexes)},
	}})
}

func unpin(w *sessiontest.Writer, indexes ...uint32) {
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_Unpin{
		Unpin: &compactordv1.PinChange{Indexes: indexes, Members: w.Model().WithGroups(indexes)},
	}})
}

func setPolicy(w *sessiontest.Writer, p *compactordv1.Policy) {
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_PolicyChange{
		PolicyChange: &compactordv1.PolicyChange{Given: p, Resolved: p},
	}})
}

// viewLines prints a view, one line for each message: its role, where it comes from, and its content.
func viewLines(w *sessiontest.Writer) []string {
	return describe(w.State().View(session.ViewOptions{}))
}

func describe(v *session.View) []string {
	lines := make([]string, 0, len(v.Messages))
	for _, vm := range v.Messages {
		lines = append(lines, describeMessage(vm))
	}
	return lines
}

func describeMessage(vm *compactordv1.ViewMessage) string {
	var b strings.Builder
	b.WriteString(strings.ToLower(strings.TrimPrefix(vm.GetMessage().GetRole().String(), "ROLE_")))
	switch o := vm.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		fmt.Fprintf(&b, " %d", o.Index)
	case *compactordv1.ViewMessage_SummaryOf:
		fmt.Fprintf(&b, " summary of %s", o.SummaryOf)
	case *compactordv1.ViewMessage_LogRepair:
		kind := strings.ToLower(strings.TrimPrefix(o.LogRepair.GetKind().String(), "LOG_REPAIR_KIND_"))
		fmt.Fprintf(&b, " %s %d.%d", kind, o.LogRepair.GetIndex(), o.LogRepair.GetPart())
	}
	if vm.GetOutOfPlace() {
		b.WriteString(" out of place")
	}
	for _, k := range vm.GetEdits() {
		b.WriteString(" " + strings.ToLower(strings.TrimPrefix(k.String(), "EDIT_KIND_")))
	}
	b.WriteString(":")
	for _, p := range vm.GetMessage().GetParts() {
		b.WriteString(" " + describePart(p))
	}
	return b.String()
}

func describePart(p *compactordv1.Part) string {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		return fmt.Sprintf("%q", k.Text.GetText())
	case *compactordv1.Part_Thinking:
		return fmt.Sprintf("thinking %q", k.Thinking.GetText())
	case *compactordv1.Part_ToolCall:
		return fmt.Sprintf("call %s %s(%s)", k.ToolCall.GetId(), k.ToolCall.GetName(), k.ToolCall.GetArguments())
	case *compactordv1.Part_ToolResult:
		var b strings.Builder
		b.WriteString("result " + k.ToolResult.GetCallId())
		if k.ToolResult.GetIsError() {
			b.WriteString(" error")
		}
		for _, rp := range k.ToolResult.GetParts() {
			if m := rp.GetMedia(); m != nil {
				b.WriteString(" media " + m.GetName())
			} else {
				fmt.Fprintf(&b, " %q", rp.GetText().GetText())
			}
		}
		return b.String()
	case *compactordv1.Part_Media:
		return "media " + k.Media.GetName()
	default:
		return fmt.Sprint(p)
	}
}
