package openai

import (
	"context"
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire"
	"github.com/compactord/compactord/summarizers/llm"
)

// complete has a chat completion written.
func (p *Provider) complete(ctx context.Context, x *wire.Exchange, c *llm.Completion, limit string, text *wire.Text) (*llm.Answer, error) {
	if c.View != nil {
		x.Rewrite(func(body []byte) ([]byte, error) { return chatOnView(body, c.View) })
	}
	stream := p.chat.NewStreaming(ctx, p.chatRequest(c, limit))
	defer func() { _ = stream.Close() }()
	reading := &chatReading{x: x, text: text, answer: &llm.Answer{Model: p.options.Model}}
	for x.Step(stream.Next) {
		if !reading.take(stream.Current()) {
			break
		}
	}
	return x.Finish(reading.answer, text, reading.finished, stream.Err())
}

func (p *Provider) chatRequest(c *llm.Completion, name string) openai.ChatCompletionNewParams {
	request := openai.ChatCompletionNewParams{
		Model:           p.options.Model,
		ReasoningEffort: openai.ReasoningEffort(c.Effort),
		StreamOptions:   openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if c.MaxOutputTokens > 0 {
		limit := param.NewOpt(int64(c.MaxOutputTokens))
		if name == MaxCompletionTokens {
			request.MaxCompletionTokens = limit
		} else {
			request.MaxTokens = limit
		}
	}
	if c.System != "" {
		request.Messages = append(request.Messages, openai.SystemMessage(c.System))
	}
	request.Messages = append(request.Messages, openai.UserMessage(c.User))
	return request
}

// chatOnView puts the agent's own messages before the closing one, and its tools beside them. OpenAI's cache knows a prompt
// by its first tokens, which are those of the tools and then of the messages: as long as both are the agent's to the byte,
// all up to the closing message can come from the cache. How much is to be thought or written is not part of it. Whether a
// tool may be called is left as it is by itself, for the same reason.
func chatOnView(body []byte, view *summarizers.View) ([]byte, error) {
	closing, err := wire.Member(body, "messages")
	if err != nil {
		return nil, err
	}
	messages, err := wire.Elements(closing)
	if err != nil {
		return nil, err
	}
	all := append(append([]json.RawMessage{}, view.Messages...), messages...)
	if body, err = wire.Set(body, "messages", wire.Array(all...)); err != nil || len(view.Tools) == 0 {
		return body, err
	}
	return wire.Set(body, "tools", view.Tools)
}

// chatReading takes in the chunks of a chat completion.
type chatReading struct {
	x      *wire.Exchange
	text   *wire.Text
	answer *llm.Answer
	// finished says that the model told why it stopped. Nothing of the text comes behind it, but the usage does.
	finished bool
}

// take is false where the rest does not matter.
func (r *chatReading) take(chunk openai.ChatCompletionChunk) bool {
	if chunk.Model != "" {
		r.answer.Model = chunk.Model
	}
	if chunk.JSON.Usage.Valid() {
		r.answer.Usage = chatUsage(chunk.Usage)
	}
	for _, choice := range chunk.Choices {
		if choice.Index == 0 && (!r.takeDelta(choice.Delta) || !r.takeFinish(choice.FinishReason)) {
			return false
		}
	}
	return true
}

func (r *chatReading) takeDelta(delta openai.ChatCompletionChunkChoiceDelta) bool {
	if len(delta.ToolCalls) > 0 || delta.JSON.FunctionCall.Valid() {
		r.answer.ToolCall = true
	}
	if delta.Refusal != "" {
		r.answer.Refused = true
	}
	if !r.text.Add(delta.Content) {
		return false
	}
	// What is no text, such as the thinking that servers add in fields of their own, counts by what it takes.
	if delta.Content == "" {
		return r.text.Pass(len(delta.RawJSON()))
	}
	return true
}

// takeFinish reads why the model stopped. Servers have reasons of their own beside OpenAI's.
func (r *chatReading) takeFinish(reason string) bool {
	switch reason {
	case "":
		return true
	case "length":
		r.answer.CutOff = true
	case "tool_calls", "function_call":
		r.answer.ToolCall = true
	case "content_filter":
		r.answer.Refused = true
	case "error", "abort", "insufficient_system_resource":
		r.x.Fail(&summarizers.ProviderError{Status: 200, Code: reason, Retryable: true})
		return false
	}
	r.finished = true
	return true
}

// chatUsage tells apart what OpenAI counts together: its input includes what came from the cache or went there.
func chatUsage(u openai.CompletionUsage) *compactordv1.Usage {
	read, written := u.PromptTokensDetails.CachedTokens, u.PromptTokensDetails.CacheWriteTokens
	return &compactordv1.Usage{
		InputTokens:      wire.Tokens(u.PromptTokens - read - written),
		OutputTokens:     wire.Tokens(u.CompletionTokens),
		CacheReadTokens:  wire.Tokens(read),
		CacheWriteTokens: wire.Tokens(written),
		TotalTokens:      wire.Tokens(u.TotalTokens),
	}
}

// whole returns how an answer that was not streamed becomes the event that says the same.
func whole(api API) func(answer []byte) ([]byte, bool) {
	if api == APIResponses {
		return wholeResponse
	}
	return wholeChat
}

// wholeChat calls the message of a completion the delta of a chunk, which is all that they differ in.
func wholeChat(answer []byte) ([]byte, bool) {
	var completion map[string]json.RawMessage
	var choices []map[string]json.RawMessage
	if json.Unmarshal(answer, &completion) != nil || json.Unmarshal(completion["choices"], &choices) != nil || len(choices) == 0 {
		return nil, false
	}
	for _, choice := range choices {
		choice["delta"] = choice["message"]
		delete(choice, "message")
		if choice["delta"] == nil {
			return nil, false
		}
	}
	var err error
	if completion["choices"], err = json.Marshal(choices); err != nil {
		return nil, false
	}
	event, err := json.Marshal(completion)
	return event, err == nil
}
