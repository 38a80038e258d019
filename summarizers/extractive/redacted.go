package extractive

import (
	"context"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// maxPasses is how often a digest is written at most before all messages are redacted.
const maxPasses = 3

// withoutSecretsIn returns the request with each message redacted that the summary cites, and whether that changed one.
// A part of a secret is not recognized as one, so messages are redacted as a whole, before anything is cut out of them.
// The statements of a digest cite all that they are of.
func withoutSecretsIn(ctx context.Context, req *summarizers.Request, all bool, text string, done map[uint32]bool) (*summarizers.Request, bool) {
	if req.Redact == nil {
		return req, false
	}
	cited := shownIn(req.Messages, text)
	clean := *req
	clean.Messages = make([]*compactordv1.LoggedMessage, len(req.Messages))
	changed := false
	for i, m := range req.Messages {
		clean.Messages[i] = m
		if done[m.GetIndex()] || !all && !cited[m.GetIndex()] || ctx.Err() != nil {
			continue
		}
		done[m.GetIndex()] = true
		if redacted, ok := redactedMessage(m, req.Redact); ok {
			clean.Messages[i], changed = redacted, true
		}
	}
	return &clean, changed
}

// shownIn returns the messages that a digest cites. A short answer also shows the question that it answers: a sentence
// of the agent since the user's message before it.
func shownIn(messages []*compactordv1.LoggedMessage, text string) map[uint32]bool {
	cited := map[uint32]bool{}
	for _, index := range summarizers.Citations(text) {
		cited[index] = true
	}
	if !strings.Contains(text, answering) && !strings.Contains(text, thatIs) {
		return cited
	}
	for _, m := range messages {
		switch m.GetMessage().GetRole() {
		case compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_ASSISTANT:
			cited[m.GetIndex()] = true
		default:
		}
	}
	return cited
}

// redactedMessage returns a copy of a message without secrets. It returns false if the message has none.
func redactedMessage(m *compactordv1.LoggedMessage, redact func(string) string) (*compactordv1.LoggedMessage, bool) {
	changed := false
	clean := func(text *string) {
		if redacted := redact(*text); redacted != *text {
			*text, changed = redacted, true
		}
	}
	m, ok := proto.Clone(m).(*compactordv1.LoggedMessage)
	if !ok {
		return m, false
	}
	for _, p := range m.GetMessage().GetParts() {
		if t := p.GetText(); t != nil {
			clean(&t.Text)
		}
		if c := p.GetToolCall(); c != nil {
			clean(&c.Arguments)
		}
		for _, part := range p.GetToolResult().GetParts() {
			if t := part.GetText(); t != nil {
				clean(&t.Text)
			}
		}
	}
	if m.GetMessage().GetErrorText() != "" {
		clean(&m.Message.ErrorText)
	}
	return m, changed
}

// rewriting is the progress of a digest that is written again.
type rewriting struct{ summarizers.Progress }

// Read reports nothing: the messages were read before.
func (rewriting) Read(uint32) {}
