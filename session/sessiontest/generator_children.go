package sessiontest

import (
	"slices"

	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// copyFromParent appends what a child that sees chosen messages has copied: some turns, with their indexes in the
// parent's log, and without usage.
func (g *Generator) copyFromParent(t *rapid.T) {
	at := uint32(between(t, 0, 9, "parent index"))
	add := func(m *compactordv1.Message) {
		g.W.Copy(m, at)
		at += uint32(between(t, 1, 3, "left out"))
	}
	for range between(t, 1, 3, "copied turns") {
		if chance(t, 70, "request") {
			add(&compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{text(g.words(t))}})
		}
		m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT}
		g.thinkAndSay(t, m)
		g.count(CopiedThinking, slices.ContainsFunc(m.GetParts(), isThinking))
		if !chance(t, 50, "works") {
			add(m)
			continue
		}
		m.Parts = append(m.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
			ToolCall: &compactordv1.ToolCall{Id: "copied", Name: "read"},
		}})
		add(m)
		add(&compactordv1.Message{Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{CallId: "copied"}},
		}}})
	}
}

// endChild writes the record of a child's end. In a fork of the child, others follow it.
func (g *Generator) endChild(t *rapid.T) {
	g.count(ChildEnded, true)
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_ChildEnd{ChildEnd: &compactordv1.ChildEnd{
		CallId: oneOf(t, "call", ids), Result: g.words(t), IsError: chance(t, 20, "failed"),
	}}})
}
