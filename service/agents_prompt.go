package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

var (
	// errSecretInItem says that the agent's own prompt cannot be sent: a provider's item must come back byte for byte.
	errSecretInItem = summarizers.ErrSecretInItem
	// errSecretInName says the same of the name or the id of a call: no provider takes other characters there.
	errSecretInName = fmt.Errorf("%w, or the name or the id of a call", summarizers.ErrSecretInItem)
)

// agentsPrompt is the agent's own prompt up to a cut: what GetLLMView gives of all that the cut covers. It is drawn and
// rendered as there, so that a provider's prompt cache serves it. Only what its last message may have been merged with is
// behind the cut and missing.
type agentsPrompt struct {
	service *Service
	author  *author
	// shown draws it for the provider of a dialect, or as the neutral view.
	shown func(dialect compactordv1.Dialect) *session.View
}

// agentsPrompt is the agent's own prompt up to the plan's cut; nil where the policy does not want it sent, or there is no cut.
func (c *compaction) agentsPrompt() *agentsPrompt {
	cut := c.plan.GetCut()
	if cut == nil || !c.policy.GetSummary().GetCachedPrefix() {
		return nil
	}
	return &agentsPrompt{
		service: c.service, author: c.author,
		shown: func(dialect compactordv1.Dialect) *session.View {
			return views.UpTo(c.snapshot.View(session.ViewOptions{Dialect: dialect}), cut.GetFirstKeptIndex())
		},
	}
}

// messages are those of the neutral view that it consists of.
func (p *agentsPrompt) messages() []*compactordv1.ViewMessage {
	return p.shown(compactordv1.Dialect_DIALECT_UNSPECIFIED).Messages
}

// draw renders it in a dialect.
func (p *agentsPrompt) draw(ctx context.Context, kind compactordv1.Dialect) (*summarizers.View, error) {
	shape, err := p.service.dialect(kind, "dialect")
	if err != nil {
		return nil, err
	}
	tools, ok := p.tools()
	if !ok {
		return nil, errSecretInTools
	}
	shown, err := p.redacted(ctx, p.shown(kind), tools != p.author.policy.GetToolsJson())
	if err != nil {
		return nil, err
	}
	r, err := views.Render(shape, shown, false)
	if err != nil {
		return nil, err
	}
	if broken := shape.Validate(&r.List, dialect.History); len(broken) > 0 {
		return nil, fmt.Errorf("the agent's prompt would break the rule %s", broken[0].Rule)
	}
	return &summarizers.View{System: r.System, Messages: r.Messages, Tools: json.RawMessage(tools)}, nil
}

// redacted is the view without its secrets. From the first message that had one, nothing is the prompt that the provider
// knows: it would refuse the thinking that it bound to that, so it gets none. Where the tools before it were changed, that
// is all of it.
func (p *agentsPrompt) redacted(ctx context.Context, view *session.View, changed bool) (*session.View, error) {
	if p.author.redactor == nil {
		return view, nil
	}
	shown := &session.View{Report: &compactordv1.ViewReport{}}
	for _, vm := range view.Messages {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		m, touched, err := redactedMessage(vm.GetMessage(), p.author.redact)
		if err != nil {
			return nil, err
		}
		if changed = changed || touched; changed {
			m = withoutThinking(m)
		}
		if len(m.GetParts()) == 0 && len(vm.GetMessage().GetParts()) > 0 {
			continue
		}
		shown.Messages = append(shown.Messages, &compactordv1.ViewMessage{
			Message: m, Origin: vm.GetOrigin(), OutOfPlace: vm.GetOutOfPlace(),
		})
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return shown, nil
}

// redactedMessage replaces the secrets of a message, which stays as it is where it has none. Of one that changes, what
// its provider added goes: ids and signatures are of what it was.
func redactedMessage(m *compactordv1.Message, redact func(string) string) (*compactordv1.Message, bool, error) {
	clean := proto.CloneOf(m)
	touched := false
	text := func(into *string) {
		if now := redact(*into); now != *into {
			*into, touched = now, true
		}
	}
	attached := func(all []*compactordv1.Attachment) {
		for _, a := range all {
			touched = touched || redact(a.GetJson()) != a.GetJson()
		}
	}
	var err error
	fixed := func(problem error, all ...string) {
		for _, s := range all {
			if redact(s) != s {
				err = problem
			}
		}
	}
	text(&clean.Name)
	attached(clean.GetAttachments())
	for _, p := range clean.GetParts() {
		attached(p.GetAttachments())
		switch k := p.GetKind().(type) {
		case *compactordv1.Part_Text:
			text(&k.Text.Text)
		case *compactordv1.Part_Thinking:
			text(&k.Thinking.Text)
		case *compactordv1.Part_ToolCall:
			fixed(errSecretInName, k.ToolCall.GetName(), k.ToolCall.GetId())
			text(&k.ToolCall.Arguments)
		case *compactordv1.Part_Media:
			redactMedia(k.Media, text)
		case *compactordv1.Part_Opaque:
			fixed(errSecretInItem, k.Opaque.GetJson())
		case *compactordv1.Part_ToolResult:
			fixed(errSecretInName, k.ToolResult.GetName(), k.ToolResult.GetCallId())
			for _, rp := range k.ToolResult.GetParts() {
				attached(rp.GetAttachments())
				switch k := rp.GetKind().(type) {
				case *compactordv1.ResultPart_Text:
					text(&k.Text.Text)
				case *compactordv1.ResultPart_Media:
					redactMedia(k.Media, text)
				case *compactordv1.ResultPart_Opaque:
					fixed(errSecretInItem, k.Opaque.GetJson())
				}
			}
		}
	}
	if err != nil || !touched {
		return m, false, err
	}
	dropAttachments(clean)
	return clean, true, nil
}

// redactMedia replaces secrets in documents of text, whatever type they are said to be of, and in the names and addresses
// of all media.
func redactMedia(m *compactordv1.MediaPart, text func(*string)) {
	text(&m.Name)
	switch k := m.GetSource().(type) {
	case *compactordv1.MediaPart_Uri:
		text(&k.Uri)
	case *compactordv1.MediaPart_Data:
		if strings.HasPrefix(m.GetMimeType(), "text/") || utf8.Valid(k.Data) {
			s := string(k.Data)
			text(&s)
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
