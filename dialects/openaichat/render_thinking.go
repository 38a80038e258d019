package openaichat

import (
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// renderThinking writes reasoning into the fields that it was in.
func (r *renderer) renderThinking(o rawjson.Object, parts []numberedPart) {
	texts := make(map[string][]string)
	for _, n := range parts {
		field := fieldOf(n.part)
		if !slices.Contains(reasoningFields, field) {
			if r.request {
				r.drop(n.at, "The reasoning did not come from a server of this dialect.")
				continue
			}
			field = reasoningContent
		}
		for _, key := range reasoningFields {
			if key != field || key == reasoningDetails {
				restoreField(o, n.part, key)
			}
		}
		if field != reasoningDetails {
			texts[field] = append(texts[field], n.part.GetThinking().GetText())
		}
	}
	for field, said := range texts {
		o[field] = rawjson.Quote(strings.Join(said, "\n"))
	}
	if len(parts) == 1 && !r.request {
		r.restoreThinking(o, parts[0].part)
	}
}

// restoreField sets a field of a message that was kept with a part.
func restoreField(o rawjson.Object, p *compactordv1.Part, key string) {
	if raw, found := dialect.Attached(p.GetAttachments(), kind, key); found && rawjson.Valid(raw) {
		o[key] = raw
	}
}

// restoreThinking restores the original text where decoding changed it.
func (r *renderer) restoreThinking(o rawjson.Object, p *compactordv1.Part) {
	field := fieldOf(p)
	raw, found := dialect.Attached(p.GetAttachments(), kind, field)
	if found && field != reasoningDetails && matchesText(p.GetThinking().GetText())(raw) {
		restoreField(o, p, field)
	}
}

// restoreEmptyReasoning writes back an empty reasoning that a client sent. Some servers refuse calls without the field.
func (r *renderer) restoreEmptyReasoning(o rawjson.Object) {
	for _, key := range []string{reasoningContent, reasoning} {
		if raw, found := dialect.Attached(r.m.GetAttachments(), kind, key); found && string(raw) == `""` {
			o[key] = raw
		}
	}
}
