package service_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

// plainChat asks a model by Chat Completions. It knows nothing of faults; what it is for is that all it is given goes into
// the request. The SDK of package openai would have to be built anew for each fuzz target of this package.
type plainChat struct {
	url    string
	client *http.Client
}

func (*plainChat) Dialect() compactordv1.Dialect { return compactordv1.Dialect_DIALECT_OPENAI_CHAT }

func (p *plainChat) Complete(ctx context.Context, c *llm.Completion, text func(delta string)) (*llm.Answer, error) {
	res, err := p.post(ctx, c)
	if err != nil {
		return nil, &summarizers.ProviderError{Err: err}
	}
	defer func() { _ = res.Body.Close() }()
	var all strings.Builder
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		var event struct {
			Choices []struct {
				Delta struct{ Content string }
			}
		}
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData || json.Unmarshal([]byte(data), &event) != nil {
			continue
		}
		for _, choice := range event.Choices {
			all.WriteString(choice.Delta.Content)
			text(choice.Delta.Content)
		}
	}
	return &llm.Answer{Text: all.String(), Model: "m"}, nil
}

func (p *plainChat) post(ctx context.Context, c *llm.Completion) (*http.Response, error) {
	message := func(role, text string) json.RawMessage {
		raw, _ := json.Marshal(map[string]string{"role": role, "content": text})
		return raw
	}
	body := map[string]any{"model": "m", "stream": true, "max_tokens": c.MaxOutputTokens}
	if c.View == nil {
		body["messages"] = []json.RawMessage{message("system", c.System), message("user", c.User)}
	} else {
		body["messages"] = append(append([]json.RawMessage{}, c.View.Messages...), message("user", c.User))
		if len(c.View.Tools) > 0 {
			body["tools"] = c.View.Tools
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"chat/completions", bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return p.client.Do(req)
}
