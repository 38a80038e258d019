package sdkcheck_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/e2e/corpus"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/sdkcheck"
	"github.com/compactord/compactord/session/sessiontest"
)

func TestGeneratedHistories(t *testing.T) {
	t.Parallel()
	for _, d := range dialects.All() {
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			for range 10 {
				rapid.Check(t, func(t *rapid.T) {
					requireReadable(t, d, proper(dialecttest.NewGenerator(sessiontest.Counts{}).History(t)))
				})
			}
		})
	}
}

// proper leaves out attachments and items that no provider made. They are sent back unchanged, since future ones look
// the same.
func proper(messages []*compactordv1.Message) []*compactordv1.Message {
	for _, m := range messages {
		m.Attachments = nil
		m.Parts = slices.DeleteFunc(m.GetParts(), func(p *compactordv1.Part) bool { return nonsense(p.GetOpaque()) })
		for _, p := range m.GetParts() {
			keys := map[string]bool{}
			switch {
			case p.GetThinking() != nil:
				keys = map[string]bool{
					"signature": true, "data": true, "thoughtSignature": true, "encrypted_content": true, "id": true,
				}
			case p.GetToolCall() != nil:
				keys = map[string]bool{"thoughtSignature": true}
			}
			p.Attachments = slices.DeleteFunc(p.GetAttachments(), func(a *compactordv1.Attachment) bool {
				return !keys[a.GetKey()] || !json.Valid([]byte(a.GetJson()))
			})
			if r := p.GetToolResult(); r != nil {
				r.Parts = slices.DeleteFunc(r.GetParts(), func(rp *compactordv1.ResultPart) bool { return nonsense(rp.GetOpaque()) })
				for _, rp := range r.GetParts() {
					rp.Attachments = nil
				}
			}
		}
	}
	return messages
}

func nonsense(o *compactordv1.OpaquePart) bool {
	return o != nil && slices.Contains([]string{"", "x", "text"}, o.GetType())
}

// Every recording is checked unchanged, and at some lengths as strategies leave it. TestEveryViewOfARecordingIsValid
// checks all lengths.
func TestRecordings(t *testing.T) {
	t.Parallel()
	files, all := corpus.Files(t), dialects.All()
	for i, file := range files {
		view := dialecttest.ViewOf(corpus.Read(t, file))
		for _, d := range all {
			requireReadable(t, d, view)
		}
		scenarios := corpus.Scenarios(t)
		scenarios[i%len(scenarios)].Run(t, corpus.Read(t, file), 4, func(v corpus.View) {
			for _, d := range all {
				requireReadable(t, d, v.Messages)
			}
		})
	}
}

func requireReadable(t require.TestingT, d dialect.Dialect, messages []*compactordv1.Message) {
	r, err := d.Render(messages, dialect.RenderOptions{})
	require.NoError(t, err)
	require.NoErrorf(t, sdkcheck.Check(d.Kind(), &r.List), "%s\n\n%s", d.Document(&r.List), dialecttest.Describe(messages))
}
