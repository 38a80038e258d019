package summaries

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// agentPrompt is the agent's own prompt, without its secrets. It is rendered like the agent's requests, so that the
// provider's prompt cache holds its start.
type agentPrompt struct {
	writer *Writer
	// read returns the prompt as a view for a dialect.
	read func(ctx context.Context, dialect compactordv1.Dialect) (*session.View, error)
}

// render returns the prompt in a dialect.
func (p *agentPrompt) render(ctx context.Context, kind compactordv1.Dialect) (*summarizers.View, error) {
	shape, known := p.writer.config.Dialects[kind]
	if !known {
		return nil, fmt.Errorf("no dialect %s", kind)
	}
	tools, ok := p.tools()
	if !ok {
		return nil, errSecretInTools
	}
	view, err := p.read(ctx, kind)
	if err != nil {
		return nil, err
	}
	messages, err := p.redacted(ctx, view.Messages, tools != p.writer.policy.GetToolsJson())
	if err != nil {
		return nil, err
	}
	rendered, err := shape.Render(messages, dialect.RenderOptions{
		Adaptive: session.ThinksAdaptively(p.writer.op.State.Policy, session.ViewOptions{}),
	})
	if err != nil {
		return nil, fmt.Errorf("the agent's prompt cannot be rendered as %s: %w", shape.Name(), err)
	}
	if broken := shape.Validate(&rendered.List, dialect.History); len(broken) > 0 {
		return nil, fmt.Errorf("the agent's prompt would break the rule %s", broken[0].Rule)
	}
	return &summarizers.View{System: rendered.System, Messages: rendered.Messages, Tools: json.RawMessage(tools)}, nil
}

// redacted returns the messages of the view without their secrets. From the first changed message on, the prompt is not
// the one that the provider knows. It would refuse thinking that it bound to the original, so that is removed from
// there on. If changed is set, the tools before the messages were changed, and all thinking is removed.
func (p *agentPrompt) redacted(
	ctx context.Context, view []*compactordv1.ViewMessage, changed bool,
) ([]*compactordv1.Message, error) {
	messages := make([]*compactordv1.Message, 0, len(view))
	for _, vm := range view {
		m := vm.GetMessage()
		if p.writer.secrets == nil {
			messages = append(messages, m)
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		clean, touched, err := redactedMessage(m, p.writer.Redact)
		if err != nil {
			return nil, err
		}
		if changed = changed || touched; changed {
			clean = withoutThinking(clean)
		}
		if len(clean.GetParts()) > 0 || len(m.GetParts()) == 0 {
			messages = append(messages, clean)
		}
	}
	// After the context ended, redacting returns empty texts.
	if p.writer.secrets != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return messages, nil
}
