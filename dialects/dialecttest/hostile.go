package dialecttest

import (
	"encoding/json"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// hostile draws attachments that contradict the message, since clients can send them. The result need not be valid,
// since the caller validates it. But it must be rendered and validated without a panic, with a correct report.
func hostile(t *rapid.T, d dialect.Dialect) {
	messages := history(t)
	for _, m := range messages {
		m.Attachments = append(m.Attachments, contradictions(t, d)...)
		for _, p := range m.GetParts() {
			p.Attachments = append(p.Attachments, contradictions(t, d)...)
			for _, rp := range p.GetToolResult().GetParts() {
				rp.Attachments = append(rp.Attachments, contradictions(t, d)...)
			}
		}
	}
	for _, opts := range []dialect.RenderOptions{{}, {AsWritten: true}, {Breakpoints: []int{}}} {
		r, err := d.Render(messages, opts)
		require.NoError(t, err)
		requireReport(t, d, messages, r)
		requireViolations(t, d, &r.List)
		require.True(t, json.Valid(d.Document(&r.List)))
	}
}

// contradictions draws attachments for fields that a dialect makes from the neutral message itself.
func contradictions(t *rapid.T, d dialect.Dialect) []*compactordv1.Attachment {
	if !chance(t, 30) {
		return nil
	}
	a := &compactordv1.Attachment{Dialect: d.Kind(), Key: oneOf(t, wordsOfDialects), Json: string(replacement(t))}
	if chance(t, 20) {
		a.Key = "$" + a.GetKey()
	}
	if chance(t, 10) {
		a.Json = ""
	}
	return []*compactordv1.Attachment{a}
}
