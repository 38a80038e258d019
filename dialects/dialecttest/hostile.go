package dialecttest

import (
	"encoding/json"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// hostile: attachments may say anything in the place of anything, since clients can send them. What comes of it need not
// be valid, for whoever hands it out validates it; but it is rendered, validated, and reported truly.
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

// contradictions draws attachments of fields that a dialect makes of the neutral message itself.
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
