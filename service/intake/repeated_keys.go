package intake

import (
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const keyRepeated = "an object of the JSON has a key twice; kept as it is, and the last value counts"

// findRepeatedKeys finds the parts of a neutral message in whose JSON an object has a key twice.
func (in *input) findRepeatedKeys(at int, m *compactordv1.Message) {
	if attachmentsRepeatKey(m.GetAttachments()) {
		in.addFinding(dialect.InputRepeatedKey, at, 0, keyRepeated)
	}
	for i, p := range m.GetParts() {
		if partRepeatsKey(p) {
			in.addFinding(dialect.InputRepeatedKey, at, i, keyRepeated)
		}
	}
}

// findRepeatedKeysIn finds the messages of a provider's JSON in which an object has a key twice, and the calls whose
// arguments are a text with such an object.
func (in *input) findRepeatedKeysIn(d dialect.Dialect, raw string) {
	found := make(map[int]bool)
	for _, at := range dialect.RepeatedKeys(d, raw) {
		found[at] = true
		in.addFinding(dialect.InputRepeatedKey, at, 0, keyRepeated)
	}
	for i, m := range in.messages {
		at := in.positions[i]
		for part, p := range m.GetParts() {
			if !found[at] && dialect.RepeatsKey(p.GetToolCall().GetArguments()) {
				in.addFinding(dialect.InputRepeatedKey, at, part, keyRepeated)
			}
		}
	}
}

func partRepeatsKey(p *compactordv1.Part) bool {
	return dialect.RepeatsKey(p.GetToolCall().GetArguments()) || dialect.RepeatsKey(p.GetOpaque().GetJson()) ||
		attachmentsRepeatKey(p.GetAttachments()) ||
		slices.ContainsFunc(p.GetToolResult().GetParts(), func(r *compactordv1.ResultPart) bool {
			return dialect.RepeatsKey(r.GetOpaque().GetJson()) || attachmentsRepeatKey(r.GetAttachments())
		})
}

func attachmentsRepeatKey(attachments []*compactordv1.Attachment) bool {
	return slices.ContainsFunc(attachments, func(a *compactordv1.Attachment) bool { return dialect.RepeatsKey(a.GetJson()) })
}
