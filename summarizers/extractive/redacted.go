package extractive

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// maxPasses is how often a digest is written at most before all messages are redacted.
const maxPasses = 3

// withoutSecretsBefore returns the request with the previous summary redacted, which can be older than the policy that
// wants that.
func withoutSecretsBefore(req *summarizers.Request) *summarizers.Request {
	if req.Redact == nil || req.PreviousSummary == "" {
		return req
	}
	clean := *req
	clean.PreviousSummary = req.Redact(req.PreviousSummary)
	return &clean
}

// withoutSecretsIn returns the request with each message redacted that the summary cites, and whether that changed one.
// A part of a secret is not recognized as one, so messages are redacted as a whole, before anything is cut out of them.
// The statements of a digest cite all that they are of.
func withoutSecretsIn(ctx context.Context, req *summarizers.Request, all bool, text string, done map[uint32]bool) (*summarizers.Request, bool) {
	if req.Redact == nil {
		return req, false
	}
	cited := shownIn(req.Messages, text)
	changed, redactedOnes := false, map[*compactordv1.LoggedMessage]bool{}
	redacted := func(messages []*compactordv1.LoggedMessage) []*compactordv1.LoggedMessage {
		clean := slices.Clone(messages)
		for i, m := range clean {
			if done[m.GetIndex()] || !all && !cited[m.GetIndex()] || ctx.Err() != nil {
				continue
			}
			done[m.GetIndex()] = true
			m, err := req.Read(m)
			if err != nil {
				// Reading it again for the digest fails, too.
				continue
			}
			if redacted, ok := redactedMessage(m, req.Redact); ok {
				clean[i], changed = redacted, true
				redactedOnes[redacted] = true
			}
		}
		return clean
	}
	clean := *req
	clean.Lead, clean.Messages, clean.Following = redacted(req.Lead), redacted(req.Messages), redacted(req.Following)
	clean.Earlier = redacted(req.Earlier)
	if req.Contents != nil {
		clean.Contents = func(m *compactordv1.LoggedMessage) (*compactordv1.LoggedMessage, error) {
			if redactedOnes[m] {
				return m, nil
			}
			return req.Contents(m)
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
	m, ok := proto.Clone(m).(*compactordv1.LoggedMessage)
	if !ok {
		return m, false
	}
	r := messageRedaction{redact: redact}
	var texts []*string
	for _, p := range m.GetMessage().GetParts() {
		switch k := p.GetKind().(type) {
		case *compactordv1.Part_Text:
			texts = append(texts, &k.Text.Text)
		case *compactordv1.Part_ToolCall:
			r.text(&k.ToolCall.Name)
			r.text(&k.ToolCall.Arguments)
		case *compactordv1.Part_ToolResult:
			r.result(k.ToolResult)
		case *compactordv1.Part_Media:
			r.text(&k.Media.Name)
			r.text(&k.Media.MimeType)
		default:
		}
	}
	r.texts(texts)
	if m.GetMessage() != nil {
		r.text(&m.Message.Name)
		r.text(&m.Message.ErrorText)
	}
	return m, r.changed
}

// messageRedaction replaces the secrets in a message.
type messageRedaction struct {
	redact  func(string) string
	changed bool
}

func (r *messageRedaction) text(text *string) {
	if redacted := r.redact(*text); redacted != *text {
		*text, r.changed = redacted, true
	}
}

// texts redacts the parts of one text. A secret can begin in one part and end in the next: the first part then gets all
// of the text.
func (r *messageRedaction) texts(parts []*string) {
	for _, part := range parts {
		r.text(part)
	}
	if len(parts) < 2 {
		return
	}
	for _, between := range []string{"", "\n"} {
		list := make([]string, len(parts))
		for i, part := range parts {
			list[i] = *part
		}
		joined := strings.Join(list, between)
		redacted := r.redact(joined)
		if redacted == joined {
			continue
		}
		for _, part := range parts {
			*part = ""
		}
		*parts[0], r.changed = redacted, true
		return
	}
}

func (r *messageRedaction) result(res *compactordv1.ToolResult) {
	r.text(&res.Name)
	for _, f := range res.GetFiles() {
		r.text(&f.Path)
	}
	var texts []*string
	for _, p := range res.GetParts() {
		if t := p.GetText(); t != nil {
			texts = append(texts, &t.Text)
		}
	}
	r.texts(texts)
}

// severalTexts says whether a message, or a result in it, has a text in several parts.
func severalTexts(m *compactordv1.LoggedMessage) bool {
	texts := 0
	for _, p := range m.GetMessage().GetParts() {
		if p.GetText() != nil {
			texts++
		}
		if texts > 1 || len(p.GetToolResult().GetParts()) > 1 {
			return true
		}
	}
	return false
}

// rewriting is the progress of a digest that is written again.
type rewriting struct{ summarizers.Progress }

// Read reports nothing: the messages were read before.
func (rewriting) Read(uint32) {}
