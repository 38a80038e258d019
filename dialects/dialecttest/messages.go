package dialecttest

import (
	"strings"

	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func textPart(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
}

func onlyBlank(m *compactordv1.Message) bool {
	for _, p := range m.GetParts() {
		if p.GetText() == nil || strings.TrimSpace(p.GetText().GetText()) != "" {
			return false
		}
	}
	return true
}

// Instruction draws a SYSTEM or DEVELOPER message.
func (g *Generator) Instruction(t *rapid.T) *compactordv1.Message {
	m := &compactordv1.Message{
		Role:        oneOf(t, []compactordv1.Role{compactordv1.Role_ROLE_SYSTEM, compactordv1.Role_ROLE_DEVELOPER}),
		Attachments: g.attachments(t),
	}
	for range g.some(t, 2) {
		m.Parts = append(m.Parts, g.textPart(t))
	}
	return m
}

// some draws how many parts a message has: mostly one, sometimes none, at most n.
func (g *Generator) some(t *rapid.T, n int) int {
	switch dice(t, 10) {
	case 8:
		return 0
	case 9:
		return n
	default:
		return 1
	}
}

func (g *Generator) textPart(t *rapid.T) *compactordv1.Part {
	p := textPart(g.text(t))
	p.Attachments = g.attachments(t)
	return p
}

// User draws a USER message.
func (g *Generator) User(t *rapid.T) *compactordv1.Message {
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Attachments: g.attachments(t), Name: g.speaker(t)}
	for range g.some(t, 4) {
		switch dice(t, 6) {
		case 4:
			m.Parts = append(m.Parts, &compactordv1.Part{
				Kind: &compactordv1.Part_Media{Media: g.media(t)}, Attachments: g.attachments(t),
			})
		case 5:
			m.Parts = append(m.Parts, &compactordv1.Part{Kind: &compactordv1.Part_Opaque{Opaque: g.opaque(t)}})
		default:
			m.Parts = append(m.Parts, g.textPart(t))
		}
	}
	return m
}

func (g *Generator) speaker(t *rapid.T) string {
	return oneOf(t, []string{"", "", "", "", "", "alice", "Ada Lovelace", "名前", strings.Repeat("n", 256)})
}

// Assistant draws an ASSISTANT message without calls.
func (g *Generator) Assistant(t *rapid.T) *compactordv1.Message {
	m := g.spoken(t)
	for range g.some(t, 3) {
		m.Parts = append(m.Parts, g.assistantPart(t))
	}
	return m
}

func (g *Generator) spoken(t *rapid.T) *compactordv1.Message {
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Attachments: g.attachments(t), Name: g.speaker(t)}
	if chance(t, 30) {
		m.Model, m.StopReason = "model-1", compactordv1.StopReason_STOP_REASON_END
		m.Usage = &compactordv1.Usage{InputTokens: 12, OutputTokens: 3}
	}
	return m
}

// assistantPart draws a part that the model can write, except calls.
func (g *Generator) assistantPart(t *rapid.T) *compactordv1.Part {
	switch dice(t, 12) {
	case 6, 7, 8:
		return g.thinking(t)
	case 9:
		p := g.textPart(t)
		p.GetText().Refusal = true
		g.count(Refusal, true)
		return p
	case 10:
		g.count(MediaAssistant, true)
		return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: g.media(t)}, Attachments: g.attachments(t)}
	case 11:
		return &compactordv1.Part{Kind: &compactordv1.Part_Opaque{Opaque: g.opaque(t)}}
	default:
		return g.textPart(t)
	}
}

// thinking draws reasoning in the form of one of the providers.
func (g *Generator) thinking(t *rapid.T) *compactordv1.Part {
	think := &compactordv1.ThinkingPart{Text: g.text(t)}
	p := &compactordv1.Part{Kind: &compactordv1.Part_Thinking{Thinking: think}}
	attach := func(d compactordv1.Dialect, key, json string) {
		p.Attachments = append(p.Attachments, &compactordv1.Attachment{Dialect: d, Key: key, Json: json})
	}
	switch dice(t, 6) {
	case 0:
		attach(compactordv1.Dialect_DIALECT_ANTHROPIC, "signature", `"c2lnbmVk"`)
		g.count(ThinkingSigned, true)
	case 1:
		think.Text, think.Redacted = "", true
		attach(compactordv1.Dialect_DIALECT_ANTHROPIC, "data", `"Z2VoZWlt"`)
		g.count(ThinkingRedacted, true)
	case 2:
		attach(compactordv1.Dialect_DIALECT_OPENAI_RESPONSES, "id", `"rs_68a1"`)
		attach(compactordv1.Dialect_DIALECT_OPENAI_RESPONSES, "encrypted_content", `"Z2VoZWlt"`)
		g.count(ThinkingForeign, true)
	case 3:
		attach(compactordv1.Dialect_DIALECT_GEMINI, "thoughtSignature", `"c2lnbmVk"`)
		g.count(ThinkingForeign, true)
	case 4:
		think.Redacted = true
		p.Attachments = g.attachments(t)
		g.count(ThinkingRedacted, true)
	default:
		p.Attachments = g.attachments(t)
		g.count(ThinkingUnsigned, true)
	}
	return p
}

// calling draws an ASSISTANT message with calls.
func (g *Generator) calling(t *rapid.T) *compactordv1.Message {
	m := g.spoken(t)
	for range dice(t, 4) {
		m.Parts = append(m.Parts, g.assistantPart(t))
	}
	calls := max(1, dice(t, 10)-1)
	within := make(map[string]bool)
	for range calls {
		if chance(t, 10) {
			part := g.assistantPart(t)
			g.count(ThinkingBetween, part.GetThinking() != nil)
			m.Parts = append(m.Parts, part)
		}
		m.Parts = append(m.Parts, g.call(t, within))
	}
	if chance(t, 15) {
		g.count(TextAfterCalls, true)
		m.Parts = append(m.Parts, g.textPart(t))
	}
	for id := range within {
		g.used[id] = true
	}
	g.count(OneCall, calls == 1)
	g.count(ManyCalls, calls > 1)
	g.count(EightCalls, calls == 8)
	return m
}
