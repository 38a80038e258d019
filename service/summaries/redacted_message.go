package summaries

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

var (
	// errSecretInItem says that the agent's own prompt cannot be sent: an opaque item with a secret must be sent back byte
	// for byte.
	errSecretInItem = summarizers.ErrSecretInItem
	// errSecretInName says the same of a secret in the name or the id of a call: providers accept only certain characters
	// there.
	errSecretInName = fmt.Errorf("%w, or the name or the id of a call", summarizers.ErrSecretInItem)
)

// redactedMessage returns the message with its secrets replaced, and whether it changed. A changed message loses its
// attachments, since the provider's ids and signatures belong to the original.
func redactedMessage(m *compactordv1.Message, redact func(string) string) (*compactordv1.Message, bool, error) {
	clean := proto.CloneOf(m)
	r := &messageRedaction{redact: redact}
	r.text(&clean.Name)
	r.attached(clean.GetAttachments())
	for _, p := range clean.GetParts() {
		r.part(p)
	}
	if r.err != nil || !r.touched {
		return m, false, r.err
	}
	dropAttachments(clean)
	return clean, true, nil
}

// messageRedaction visits all places of a message that can hold a secret.
type messageRedaction struct {
	redact  func(string) string
	touched bool
	// err says that a secret is in a place where it cannot be replaced.
	err error
}

func (r *messageRedaction) text(into *string) {
	if now := r.redact(*into); now != *into {
		*into, r.touched = now, true
	}
}

// fixed checks texts that cannot be changed.
func (r *messageRedaction) fixed(problem error, all ...string) {
	for _, s := range all {
		if r.redact(s) != s {
			r.err = problem
		}
	}
}

// attached checks attachments. They are removed if anything changes.
func (r *messageRedaction) attached(all []*compactordv1.Attachment) {
	for _, a := range all {
		r.touched = r.touched || r.redact(a.GetJson()) != a.GetJson()
	}
}

func (r *messageRedaction) part(p *compactordv1.Part) {
	r.attached(p.GetAttachments())
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		r.text(&k.Text.Text)
	case *compactordv1.Part_Thinking:
		r.text(&k.Thinking.Text)
	case *compactordv1.Part_ToolCall:
		r.fixed(errSecretInName, k.ToolCall.GetName(), k.ToolCall.GetId())
		r.text(&k.ToolCall.Arguments)
	case *compactordv1.Part_Media:
		r.media(k.Media)
	case *compactordv1.Part_Opaque:
		r.fixed(errSecretInItem, k.Opaque.GetJson())
	case *compactordv1.Part_ToolResult:
		r.fixed(errSecretInName, k.ToolResult.GetName(), k.ToolResult.GetCallId())
		for _, rp := range k.ToolResult.GetParts() {
			r.resultPart(rp)
		}
	}
}

func (r *messageRedaction) resultPart(p *compactordv1.ResultPart) {
	r.attached(p.GetAttachments())
	switch k := p.GetKind().(type) {
	case *compactordv1.ResultPart_Text:
		r.text(&k.Text.Text)
	case *compactordv1.ResultPart_Media:
		r.media(k.Media)
	case *compactordv1.ResultPart_Opaque:
		r.fixed(errSecretInItem, k.Opaque.GetJson())
	}
}

// media replaces secrets in the names and addresses of media, and in their data if it is text, whatever its MIME type.
func (r *messageRedaction) media(m *compactordv1.MediaPart) {
	r.text(&m.Name)
	switch k := m.GetSource().(type) {
	case *compactordv1.MediaPart_Uri:
		r.text(&k.Uri)
	case *compactordv1.MediaPart_Data:
		if strings.HasPrefix(m.GetMimeType(), "text/") || utf8.Valid(k.Data) {
			s := string(k.Data)
			r.text(&s)
			k.Data = []byte(s)
		}
	}
}

func dropAttachments(m *compactordv1.Message) {
	m.Attachments = nil
	for _, p := range m.GetParts() {
		p.Attachments = nil
		for _, rp := range p.GetToolResult().GetParts() {
			rp.Attachments = nil
		}
	}
}

func withoutThinking(m *compactordv1.Message) *compactordv1.Message {
	clean := proto.CloneOf(m)
	clean.Parts = slices.DeleteFunc(clean.GetParts(), func(p *compactordv1.Part) bool { return p.GetThinking() != nil })
	return clean
}
