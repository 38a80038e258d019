package openai

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire"
	"github.com/compactord/compactord/summarizers/llm"
)

// respond has a response written.
func (p *Provider) respond(ctx context.Context, x *wire.Exchange, c *llm.Completion, text *wire.Text) (*llm.Answer, error) {
	if c.View != nil {
		x.Rewrite(func(body []byte) ([]byte, error) { return inputOnView(body, c.View) })
	}
	stream := p.responses.NewStreaming(ctx, p.responseRequest(c))
	defer func() { _ = stream.Close() }()
	reading := &responseReading{x: x, text: text, answer: &llm.Answer{Model: p.options.Model}}
	for x.Step(stream.Next) {
		if !reading.take(stream.Current()) {
			break
		}
	}
	return x.Finish(reading.answer, text, reading.finished, stream.Err())
}

func (p *Provider) responseRequest(c *llm.Completion) responses.ResponseNewParams {
	text := responses.ResponseInputContentParamOfInputText(c.User)
	message := responses.ResponseInputItemParamOfMessage(
		responses.ResponseInputMessageContentListParam{text}, responses.EasyInputMessageRoleUser)
	request := responses.ResponseNewParams{
		Model: p.options.Model,
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{message}},
		// What is summarized is nobody's to keep.
		Store:     param.NewOpt(false),
		Reasoning: shared.ReasoningParam{Effort: shared.ReasoningEffort(c.Effort)},
	}
	if c.MaxOutputTokens > 0 {
		request.MaxOutputTokens = param.NewOpt(int64(c.MaxOutputTokens))
	}
	if c.System != "" {
		request.Instructions = param.NewOpt(c.System)
	}
	return request
}

// inputOnView puts the agent's own items before the closing message, and its instructions and tools beside them. The cache
// is the one of Chat Completions, over the tools, the instructions and the items.
func inputOnView(body []byte, view *summarizers.View) ([]byte, error) {
	closing, err := wire.Member(body, "input")
	if err != nil {
		return nil, err
	}
	items, err := wire.Elements(closing)
	if err != nil {
		return nil, err
	}
	all := append(append([]json.RawMessage{}, view.Messages...), items...)
	if body, err = wire.Set(body, "input", wire.Array(all...)); err != nil {
		return nil, err
	}
	if len(view.System) > 0 {
		if body, err = wire.Set(body, "instructions", view.System[0]); err != nil {
			return nil, err
		}
	}
	if len(view.Tools) == 0 {
		return body, nil
	}
	return wire.Set(body, "tools", view.Tools)
}

// responseReading takes in the events of a response.
type responseReading struct {
	x        *wire.Exchange
	text     *wire.Text
	answer   *llm.Answer
	finished bool
}

// take is false where the rest does not matter.
func (r *responseReading) take(e responses.ResponseStreamEventUnion) bool {
	switch e.Type {
	case "response.output_text.delta":
		return r.text.Add(e.Delta)
	case "response.refusal.delta", "response.refusal.done":
		r.answer.Refused = true
		return r.text.Pass(len(e.Delta))
	case "response.output_item.added", "response.output_item.done":
		r.answer.ToolCall = r.answer.ToolCall || isCall(e.Item.Type)
		return true
	case "response.completed", "response.incomplete", "response.failed":
		r.end(e.Type, e.Response)
		return false
	default:
		return r.text.Pass(len(e.Delta))
	}
}

// isCall says whether an item of the output is a call of a tool.
func isCall(kind string) bool { return strings.HasSuffix(kind, "_call") }

func (r *responseReading) end(how string, response responses.Response) {
	// Some servers end every answer with the same event, and tell only in its status how it ended.
	if response.Status == "incomplete" || response.Status == "failed" {
		how = "response." + string(response.Status)
	}
	if response.Model != "" {
		r.answer.Model = response.Model
	}
	if response.JSON.Usage.Valid() {
		r.answer.Usage = responseUsage(response.Usage)
	}
	if how == "response.failed" {
		r.x.Fail(&summarizers.ProviderError{Status: 200, Retryable: true})
		return
	}
	r.takeOutput(response.Output)
	if how == "response.incomplete" {
		if response.IncompleteDetails.Reason == "content_filter" {
			r.answer.Refused = true
		} else {
			r.answer.CutOff = true
		}
	}
	r.finished = true
}

// takeOutput reads the output as a whole, for servers that send no deltas.
func (r *responseReading) takeOutput(output []responses.ResponseOutputItemUnion) {
	streamed := !r.text.Empty()
	for _, item := range output {
		r.answer.ToolCall = r.answer.ToolCall || isCall(item.Type)
		if item.Type != "message" {
			continue
		}
		for _, content := range item.Content {
			r.answer.Refused = r.answer.Refused || content.Type == "refusal"
			if content.Type == "output_text" && !streamed {
				r.text.Add(content.Text)
			}
		}
	}
}

func responseUsage(u responses.ResponseUsage) *compactordv1.Usage {
	read, written := u.InputTokensDetails.CachedTokens, u.InputTokensDetails.CacheWriteTokens
	return &compactordv1.Usage{
		InputTokens:      wire.Tokens(u.InputTokens - read - written),
		OutputTokens:     wire.Tokens(u.OutputTokens),
		CacheReadTokens:  wire.Tokens(read),
		CacheWriteTokens: wire.Tokens(written),
		TotalTokens:      wire.Tokens(u.TotalTokens),
	}
}

// wholeResponse makes of a response the event that it ends in.
func wholeResponse(answer []byte) ([]byte, bool) {
	var response struct {
		Object string `json:"object"`
		Status string `json:"status"`
	}
	if json.Unmarshal(answer, &response) != nil || response.Object != "response" {
		return nil, false
	}
	event, err := json.Marshal(map[string]any{"type": "response." + response.Status, "response": json.RawMessage(answer)})
	return event, err == nil
}
