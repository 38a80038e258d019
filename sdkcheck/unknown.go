package sdkcheck

import compactordv1 "github.com/compactord/compactord/proto/compactord/v1"

// unknown holds, by dialect, fields that clients send and the SDK does not have. They are ignored.
var unknown = map[compactordv1.Dialect]map[string]bool{
	compactordv1.Dialect_DIALECT_OPENAI_CHAT: with(
		// OpenAI's imitators write these, or answers have them and requests need not.
		"reasoning_content", "cache_control", "annotations",
	),
	compactordv1.Dialect_DIALECT_OPENAI_RESPONSES: with(
		// Answers have it in all items, and requests in some.
		"status",
	),
	compactordv1.Dialect_DIALECT_ANTHROPIC: with(),
	compactordv1.Dialect_DIALECT_GEMINI:    with(),
}

// with adds the fields that the generators of dialecttest invent.
func with(fields ...string) map[string]bool {
	all := map[string]bool{"x_unknown": true, "x_extra": true, "Role": true, "läuft": true, "x.y": true, "zz": true}
	for _, field := range fields {
		all[field] = true
	}
	return all
}
