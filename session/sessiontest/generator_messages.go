package sessiontest

import (
	"slices"

	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// ids are few, so that they occur again. The empty one is a call without an id.
var ids = []string{"", "a", "b", "c", "d", "e"}

var tools = []string{"read", "bash", "edit"}

func (g *Generator) instruct(t *rapid.T) {
	role := oneOf(t, "role", []compactordv1.Role{compactordv1.Role_ROLE_SYSTEM, compactordv1.Role_ROLE_DEVELOPER})
	message := &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{text(g.words(t))}}
	leads := g.head().GetLeadOpen()
	g.count(LeadingDeveloper, leads && role == compactordv1.Role_ROLE_DEVELOPER)
	g.count(LaterSystem, !leads)
	g.W.Append(message, nil)
}

func (g *Generator) user(t *rapid.T) {
	m := g.Model()
	origins := []compactordv1.Origin{
		compactordv1.Origin_ORIGIN_CLIENT, compactordv1.Origin_ORIGIN_CLIENT, compactordv1.Origin_ORIGIN_CLIENT,
		compactordv1.Origin_ORIGIN_UNSPECIFIED, compactordv1.Origin_ORIGIN_IMPORT, compactordv1.Origin_ORIGIN_CONTINUE,
		compactordv1.Origin_ORIGIN_FUTURE,
	}
	if len(m.OpenCalls()) == 0 {
		origins = append(origins, compactordv1.Origin_ORIGIN_MARKER)
	}
	message := &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Origin: oneOf(t, "origin", origins)}
	for range between(t, 0, 2, "parts") {
		switch between(t, 0, 5, "part") {
		case 4:
			message.Parts = append(message.Parts, &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: media(t)}})
		case 5:
			message.Parts = append(message.Parts, &compactordv1.Part{Kind: &compactordv1.Part_Opaque{
				Opaque: &compactordv1.OpaquePart{Dialect: compactordv1.Dialect_DIALECT_GEMINI, Type: "x", Json: `{"x":1}`},
			}})
		default:
			message.Parts = append(message.Parts, text(g.words(t)))
		}
	}
	newest := g.newest(m)
	g.count(UserInARow, newest != nil && newest.is(compactordv1.Role_ROLE_USER))
	g.count(OddOrigin, message.GetOrigin() >= compactordv1.Origin_ORIGIN_CONTINUE)
	g.count(EmptyMessage, len(message.GetParts()) == 0)
	g.count(MissingResult, len(m.OpenCalls()) > 0)
	g.W.Append(message, nil)
}

func (g *Generator) assistant(t *rapid.T) {
	message := &compactordv1.Message{
		Role: compactordv1.Role_ROLE_ASSISTANT, Model: "m", Attachments: attachments(t),
		StopReason: compactordv1.StopReason_STOP_REASON_END,
	}
	g.thinkAndSay(t, message)
	calls := max(0, between(t, -2, 4, "calls"))
	for range calls {
		message.StopReason = compactordv1.StopReason_STOP_REASON_TOOL_USE
		message.Parts = append(message.Parts, g.call(t, message))
	}
	if calls > 0 && chance(t, 20, "text after calls") {
		message.Parts = append(message.Parts, text(g.words(t)))
	}
	if chance(t, 12, "failed") {
		message.StopReason = oneOf(t, "failure", []compactordv1.StopReason{
			compactordv1.StopReason_STOP_REASON_ERROR, compactordv1.StopReason_STOP_REASON_ABORTED,
		})
		g.count(FailedWithCalls, calls > 0)
		g.count(FailedWithout, calls == 0)
	}
	g.report(t, message)
	madeFrom := stale(t, g.head())
	g.count(StaleView, madeFrom != nil)
	g.count(EmptyMessage, len(message.GetParts()) == 0)
	g.count(ParallelCalls, calls > 1)
	extra := uint32(0)
	if chance(t, 15, "extra blocks") {
		extra = uint32(between(t, 1, 300, "extra tokens"))
	}
	g.count(SawExtra, extra > 0 && message.GetUsage() != nil)
	g.W.AppendSeeing(message, madeFrom, extra)
}

func (g *Generator) thinkAndSay(t *rapid.T, message *compactordv1.Message) {
	for range max(0, between(t, -2, 2, "thinking")) {
		message.Parts = append(message.Parts, &compactordv1.Part{
			Kind:        &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: g.words(t)}},
			Attachments: attachments(t),
		})
	}
	g.count(ThinkingParts, len(message.GetParts()) > 0)
	if chance(t, 50, "says") {
		message.Parts = append(message.Parts, text(g.words(t)))
	}
	if chance(t, 3, "draws") {
		message.Parts = append(message.Parts, &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: media(t)}})
	}
}

func (g *Generator) call(t *rapid.T, message *compactordv1.Message) *compactordv1.Part {
	call := &compactordv1.ToolCall{
		Id: oneOf(t, "id", ids), Name: oneOf(t, "tool", tools), Arguments: oneOf(t, "arguments", []string{"", `{"path":"a.go"}`}),
	}
	g.count(NamelessCall, call.GetId() == "")
	if call.GetId() != "" {
		same := func(p *compactordv1.Part) bool { return p.GetToolCall().GetId() == call.GetId() }
		earlier := func(c *Call) bool { return c.ID == call.GetId() }
		m := g.Model()
		g.count(IDReusedWithin, slices.ContainsFunc(message.GetParts(), same))
		g.count(IDReusedOpen, slices.ContainsFunc(m.OpenCalls(), earlier))
		g.count(IDReusedLater, slices.ContainsFunc(m.Calls, earlier) && !slices.ContainsFunc(m.OpenCalls(), earlier))
	}
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}, Attachments: attachments(t)}
}

func (g *Generator) report(t *rapid.T, message *compactordv1.Message) {
	switch between(t, 0, 6, "usage") {
	case 4:
		message.Usage = &compactordv1.Usage{}
		g.count(UsageZero, true)
	case 5:
		message.Usage = &compactordv1.Usage{
			InputTokens: uint32(between(t, 0, 5000, "input")), OutputTokens: 7, CacheReadTokens: 11, CacheWriteTokens: 13,
		}
		g.count(UsageReported, true)
	case 6:
		message.Usage = &compactordv1.Usage{TotalTokens: uint32(between(t, 1, 5000, "total")), InputTokens: 3}
		g.count(UsageReported, true)
	default:
		g.reportLikely(t, message)
	}
}

// reportLikely gives an answer in a calibrated log the usage that a model might report, so that calibration has an
// effect.
func (g *Generator) reportLikely(t *rapid.T, message *compactordv1.Message) {
	if g.W.Log.Estimator != compactordv1.Estimator_ESTIMATOR_CALIBRATED {
		return
	}
	permille := between(t, 300, 2500, "permille")
	message.Usage = &compactordv1.Usage{InputTokens: g.head().GetViewTokens()*uint32(permille)/1000 + 100}
	g.count(UsageReported, true)
}

func (g *Generator) result(t *rapid.T) {
	m := g.Model()
	result := &compactordv1.ToolResult{Name: oneOf(t, "tool", []string{"", "read"}), IsError: chance(t, 20, "error")}
	for range between(t, 0, 2, "parts") {
		if chance(t, 25, "media") {
			result.Parts = append(result.Parts, &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{Media: media(t)}})
			continue
		}
		if chance(t, 10, "opaque") {
			result.Parts = append(result.Parts, &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Opaque{
				Opaque: &compactordv1.OpaquePart{Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Type: "x", Json: `{"x":1}`},
			}})
			g.count(OpaqueInResult, true)
			continue
		}
		result.Parts = append(result.Parts, &compactordv1.ResultPart{
			Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: g.words(t)}},
		})
	}
	if chance(t, 20, "files") {
		result.Files = []*compactordv1.FileTouch{{Path: "a.go", Modified: true}}
	}
	result.CallId = g.resultID(t, m)
	message := &compactordv1.Message{
		Role: compactordv1.Role_ROLE_TOOL,
		Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_ToolResult{ToolResult: result}, Attachments: attachments(t),
		}},
	}
	logged := g.W.AppendEdited(message, g.arrival(t, message)...)
	g.count(ArrivalEdited, len(logged.GetArrivalEdits()) > 0)
	g.count(ArrivalPinned, len(logged.GetArrivalEdits()) > 0 && g.Model().Pinned(logged.GetIndex()))
	g.countResult(m, logged.GetIndex())
}

// arrival returns random arrival edits of a result, where they make it smaller.
func (g *Generator) arrival(t *rapid.T, message *compactordv1.Message) []*compactordv1.Edit {
	if !chance(t, 50, "edited on arrival") {
		return nil
	}
	e := &compactordv1.Edit{
		Kind: oneOf(t, "arrival kind", []compactordv1.EditKind{
			compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT,
			compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT,
		}),
		Replacement: oneOf(t, "arrival text", []string{"cut", "[was cut]"}),
	}
	before := session.MessageTokens(g.W.counter, message)
	after := session.TextTokens(g.W.counter, e.GetReplacement())
	if after >= before {
		return nil
	}
	e.TokensFreed = before - after
	return []*compactordv1.Edit{e}
}

// resultID returns mostly the id of an open call, else that of any call, else one that no call had.
func (g *Generator) resultID(t *rapid.T, m *Model) string {
	open := m.OpenCalls()
	drawn := between(t, 0, 99, "answers")
	if len(open) > 0 && drawn < 80 {
		c := oneOf(t, "open call", open)
		if c.Nameless && chance(t, 70, "without id") {
			return ""
		}
		return c.ID
	}
	if len(m.Calls) > 0 && drawn < 92 {
		return oneOf(t, "any call", m.Calls).ID
	}
	return oneOf(t, "unknown id", []string{"", "z"})
}

// countResult counts the class of a result that was appended.
func (g *Generator) countResult(before *Model, index uint32) {
	m := g.Model()
	a := m.Find(index)
	id := a.Message.GetParts()[0].GetToolResult().GetCallId()
	had := func(fits func(*Call) bool) bool {
		return slices.ContainsFunc(before.Calls, func(c *Call) bool { return c.ID == id && fits(c) })
	}
	switch a.Place {
	case compactordv1.ResultPlace_RESULT_PLACE_ANSWER:
		first := before.OpenCalls()[0]
		inOrder := first.Owner.Index == a.Answers.Owner.Index && first.Part == a.Answers.Part
		g.count(AnswerInOrder, inOrder)
		g.count(AnswerInterleaved, !inOrder)
		g.count(AnswerNameless, id == "")
		g.count(AnswerLate, a.Late)
	case compactordv1.ResultPlace_RESULT_PLACE_VOID:
		g.count(VoidResult, true)
	default:
		g.count(LateResult, had(func(c *Call) bool { return c.ClosedBy != nil }))
		g.count(SecondResult, had(func(c *Call) bool { return c.Result != nil }))
		g.count(OrphanResult, !had(func(*Call) bool { return true }))
	}
}
