package gemini

import (
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// reportFields reports fields of the content that are not sent.
func (r *renderer) reportFields(at int, m *compactordv1.Message) {
	unknown, role := false, false
	for _, a := range m.GetAttachments() {
		own := a.GetDialect() == kind && !strings.HasPrefix(a.GetKey(), dialect.NotePrefix) && a.GetJson() != ""
		role = role || own && a.GetKey() == "role"
		unknown = unknown || own && a.GetKey() != "role" && a.GetKey() != "parts"
	}
	if unknown {
		r.repair(ruleMessageFields, at, "fields of the content that are neither role nor parts were left out")
	}
	if role {
		r.repair(ruleRoles, at, "the content was given the role of its side")
	}
}

// renderUser adds a USER message, or an instruction within the conversation.
func (r *renderer) renderUser(at int, m *compactordv1.Message) {
	if m.GetRole() != compactordv1.Role_ROLE_USER {
		r.renderInstruction(at, m)
		return
	}
	r.reportFields(at, m)
	if n := len(r.contents); n > 0 && r.contents[n-1].responses && noted(m.GetAttachments(), noteContent) == sameContent {
		r.repair(ruleResultsAlone, at, "parts beside function responses were moved into another content")
	}
	var parts []rawjson.Draft
	for i, p := range m.GetParts() {
		if part, ok := r.renderPart(at, i, p); ok {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		r.repair(ruleContentNotEmpty, at, "a message without content was given a text that says so")
		parts = []rawjson.Draft{renderText(wording.EmptyUser, nil)}
	}
	r.add(at, roleUser, parts)
}

// renderInstruction adds an instruction as text of the user, marked as an instruction. Gemini accepts instructions only
// at the start.
func (r *renderer) renderInstruction(at int, m *compactordv1.Message) {
	hasText := false
	for _, p := range m.GetParts() {
		hasText = hasText || p.GetText().GetText() != ""
	}
	if !hasText {
		r.repair(ruleContentNotEmpty, at, "an empty instruction was left out")
		return
	}
	r.repair(ruleRoles, at, "an instruction within the conversation became text of the user")
	r.add(at, roleUser, []rawjson.Draft{renderText(instructionText(m), nil)})
}

func instructionText(m *compactordv1.Message) string {
	texts := make([]string, 0, len(m.GetParts()))
	for _, p := range m.GetParts() {
		texts = append(texts, p.GetText().GetText())
	}
	return wording.Instruction(strings.Join(texts, "\n"))
}
