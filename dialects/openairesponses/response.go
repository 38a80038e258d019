package openairesponses

import (
	"errors"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var errMoreCached = errors.New("is more than the whole input")

// parseResponse parses a response body into one ASSISTANT message. The response's own id is not kept, since it must
// never get into a request.
func (p *parser) parseResponse(b *body) (*dialect.Parsed, error) {
	p.reply, p.parsed.Response = true, true
	p.settled = settledIDs(b)
	m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT}
	if err := p.parsed.FillFrom(func() error { return fillFromResponse(m, b.response) }, b.response); err != nil {
		return nil, dialect.Malformed(-1, 0, err)
	}
	if err := p.append(0, m); err != nil {
		return nil, dialect.Malformed(-1, 0, err)
	}
	p.assistant = m
	if err := p.parseItems(b.messages); err != nil {
		return nil, err
	}
	m.StopReason, p.parsed.ProviderStop = stopReasonOf(b.response, m), providerStop(b.response)
	p.parsed.EndStream(b.ending)
	return &p.parsed, nil
}

// settledIDs returns the ids of the calls that the response answers itself.
func settledIDs(b *body) map[string]bool {
	settled := make(map[string]bool)
	for _, raw := range b.messages {
		o, err := rawjson.SplitObject(raw)
		if err != nil {
			continue
		}
		typ, err := itemType(o)
		if k := kindOfOutput(typ); err != nil || k == nil || k.isText {
			continue
		}
		if id := callIDIn(o, typ); id != "" {
			settled[id] = true
		}
	}
	return settled
}

// fillFromResponse sets the model, usage and error of a message from its response.
func fillFromResponse(m *compactordv1.Message, o rawjson.Object) error {
	var err error
	if m.Model, err = o.BoundedText("model", dialect.MaxName); err != nil {
		return err
	}
	usage, err := o.Sub("usage")
	if err != nil {
		return err
	}
	if usage != nil {
		if m.Usage, err = parseUsage(usage); err != nil {
			return rawjson.In("usage", err)
		}
	}
	failure, err := o.Sub("error")
	if err != nil {
		return err
	}
	text, err := failure.Text("message")
	if err != nil {
		return rawjson.In("error", err)
	}
	m.ErrorText = strings.ToValidUTF8(text[:min(len(text), dialect.MaxErrorText)], "")
	return nil
}

// parseUsage reads the tokens of a response. Its input includes what was read from a cache and written to it.
func parseUsage(o rawjson.Object) (*compactordv1.Usage, error) {
	usage := &compactordv1.Usage{}
	details, err := o.Sub("input_tokens_details")
	if err != nil {
		return nil, err
	}
	for _, count := range []struct {
		of   rawjson.Object
		key  string
		path string
		into *uint32
	}{
		{o, "input_tokens", "", &usage.InputTokens},
		{o, "output_tokens", "", &usage.OutputTokens},
		{o, "total_tokens", "", &usage.TotalTokens},
		{details, "cached_tokens", "input_tokens_details", &usage.CacheReadTokens},
		{details, "cache_write_tokens", "input_tokens_details", &usage.CacheWriteTokens},
	} {
		if *count.into, err = count.of.Count(count.key); err != nil && count.path != "" {
			return nil, rawjson.In(count.path, err)
		} else if err != nil {
			return nil, err
		}
	}
	if usage.GetCacheReadTokens() > usage.GetInputTokens() {
		return nil, rawjson.In("input_tokens_details", rawjson.In("cached_tokens", errMoreCached))
	}
	usage.InputTokens -= usage.GetCacheReadTokens()
	if usage.GetCacheWriteTokens() > usage.GetInputTokens() {
		return nil, rawjson.In("input_tokens_details", rawjson.In("cache_write_tokens", errMoreCached))
	}
	usage.InputTokens -= usage.GetCacheWriteTokens()
	return usage, nil
}

func stopReasonOf(o rawjson.Object, m *compactordv1.Message) compactordv1.StopReason {
	switch {
	case o.IsText("status", "completed"):
		for _, p := range m.GetParts() {
			if p.GetToolCall() != nil {
				return compactordv1.StopReason_STOP_REASON_TOOL_USE
			}
		}
		return compactordv1.StopReason_STOP_REASON_END
	case o.IsText("status", "incomplete"):
		return incompleteReason(o)
	case o.IsText("status", "failed"):
		return compactordv1.StopReason_STOP_REASON_ERROR
	case o.IsText("status", "cancelled"):
		return compactordv1.StopReason_STOP_REASON_ABORTED
	default:
		return compactordv1.StopReason_STOP_REASON_UNSPECIFIED
	}
}

// providerStop returns the provider's own word for why the response ended: the error's code, the reason why it is
// incomplete, or its status.
func providerStop(o rawjson.Object) string {
	for _, place := range []struct{ object, key string }{{"error", "code"}, {"incomplete_details", "reason"}} {
		inner, err := o.Sub(place.object)
		if err != nil {
			continue
		}
		if word, err := inner.Text(place.key); err == nil && word != "" {
			return word
		}
	}
	word, err := o.Text("status")
	if err != nil {
		return ""
	}
	return word
}

func incompleteReason(o rawjson.Object) compactordv1.StopReason {
	details, err := o.Sub("incomplete_details")
	switch {
	case err != nil:
		return compactordv1.StopReason_STOP_REASON_UNSPECIFIED
	case details.IsText("reason", "content_filter"):
		return compactordv1.StopReason_STOP_REASON_REFUSAL
	case details.IsText("reason", "max_output_tokens"):
		return compactordv1.StopReason_STOP_REASON_LENGTH
	default:
		return compactordv1.StopReason_STOP_REASON_UNSPECIFIED
	}
}
