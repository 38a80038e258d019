package dialecttest

import (
	"strings"

	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	// plainIDs are few, so that they are repeated. The last ones look like those that replace missing and repeated ids.
	plainIDs   = []string{"a", "b", "c", "d", "call_1", "toolu_01AbC", "fc_68a1", "call_1_0", "call_3_1", "a_2", "a_3"}
	foreignIDs = []string{
		"functions.read:0", "call_1|fc_68a1", "with space", "ключ", "🙂", "\x00", "a/b", " ", "\u2028", "x" + strings.Repeat("é", 40),
		strings.Repeat("x", 65),
	}
	plainNames   = []string{"read", "bash", "edit_file", "mcp__server__list-all"}
	refusedNames = []string{
		"with space", "functions.read", "läuft", "🙂", "\x00", " ", "a/b", strings.Repeat("n", 129), strings.Repeat("名", 85), "0", "$",
	}
)

func (g *Generator) call(t *rapid.T, within map[string]bool) *compactordv1.Part {
	call := &compactordv1.ToolCall{Id: g.id(t), Name: g.name(t), Arguments: g.arguments(t)}
	g.count(CallIDWithin, call.GetId() != "" && within[call.GetId()])
	g.count(CallIDLater, call.GetId() != "" && g.used[call.GetId()])
	within[call.GetId()] = true
	p := &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: call}, Attachments: g.attachments(t)}
	if chance(t, 20) {
		p.Attachments = append(p.Attachments, &compactordv1.Attachment{
			Dialect: compactordv1.Dialect_DIALECT_GEMINI, Key: "thoughtSignature", Json: `"c2lnbmVk"`,
		})
	}
	return p
}

func (g *Generator) id(t *rapid.T) string {
	switch dice(t, 16) {
	case 12:
		g.count(CallIDEmpty, true)
		return ""
	case 13, 14:
		g.count(CallIDForeign, true)
		return oneOf(t, foreignIDs)
	case 15:
		g.count(CallIDLong, true)
		return strings.Repeat("l", 511) + oneOf(t, []string{"1", "2"})
	default:
		g.count(CallID, true)
		return oneOf(t, plainIDs)
	}
}

func (g *Generator) name(t *rapid.T) string {
	if chance(t, 15) {
		g.count(NameRefused, true)
		return oneOf(t, refusedNames)
	}
	return oneOf(t, plainNames)
}

func (g *Generator) arguments(t *rapid.T) string {
	switch dice(t, 12) {
	case 7:
		g.count(ArgumentsEmpty, true)
		return oneOf(t, []string{"", " ", "\n"})
	case 8:
		g.count(ArgumentsNoObject, true)
		return oneOf(t, []string{`["a"]`, "null", "42", `"text"`, "true", "[]"})
	case 9:
		g.count(ArgumentsNoJSON, true)
		return oneOf(t, []string{
			`{"path": "a.g`, "rm -rf build", "{", "{'a': 1}", `{"a":1}{"b":2}`, `{"a":1,}`, "\x00", "\u2028", "```json\n{}\n```",
		})
	case 10:
		g.count(ArgumentsNumbers, true)
		return oneOf(t, []string{`{"n":12345678901234567890123}`, `{"n":1e400}`, `{"n":-0.0}`, `{"n":1.10}`})
	case 11:
		return oneOf(t, []string{
			`{"a":1,"a":2}`, `{"s":"\ud83d"}`, `{"":{"":[]}}`, ` { "a" : 1 } `, `{"\u0000":"\u2028"}`, `{"_raw":"x"}`,
			strings.Repeat(`{"a":`, 30) + "1" + strings.Repeat("}", 30),
		})
	default:
		return oneOf(t, []string{"{}", `{"path":"a.go"}`, `{"command":"go test ./...","läuft":"🙂"}`})
	}
}

// Result draws the result of a call.
func (g *Generator) Result(t *rapid.T, call *compactordv1.ToolCall) *compactordv1.Message {
	result := &compactordv1.ToolResult{CallId: call.GetId(), IsError: chance(t, 20)}
	if chance(t, 50) {
		result.Name = call.GetName()
	}
	if chance(t, 5) {
		result.Name = g.name(t)
	}
	for range g.some(t, 3) {
		result.Parts = append(result.Parts, g.resultPart(t))
	}
	if chance(t, 5) {
		result.Files = []*compactordv1.FileTouch{{Path: "a.go", Modified: true}}
	}
	g.count(ResultFailed, result.GetIsError())
	g.count(ResultWithoutParts, len(result.GetParts()) == 0)
	return &compactordv1.Message{
		Role: compactordv1.Role_ROLE_TOOL, Attachments: g.attachments(t),
		Parts: []*compactordv1.Part{{
			Kind: &compactordv1.Part_ToolResult{ToolResult: result}, Attachments: g.attachments(t),
		}},
	}
}

func (g *Generator) resultPart(t *rapid.T) *compactordv1.ResultPart {
	switch dice(t, 10) {
	case 8:
		g.count(ResultMedia, true)
		return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{Media: g.media(t)}, Attachments: g.attachments(t)}
	case 9:
		g.count(ResultOpaque, true)
		return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Opaque{Opaque: g.opaque(t)}}
	default:
		return &compactordv1.ResultPart{
			Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: g.text(t)}}, Attachments: g.attachments(t),
		}
	}
}
