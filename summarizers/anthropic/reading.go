package anthropic

import (
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire"
	"github.com/compactord/compactord/summarizers/llm"
)

// reading takes in the events of a message.
type reading struct {
	x      *wire.Exchange
	text   *wire.Text
	answer *llm.Answer
	// finished says that the model told why it stopped. Nothing of the text comes behind it.
	finished bool
}

// take is false where the rest does not matter.
func (r *reading) take(e anthropic.MessageStreamEventUnion) bool {
	switch e.Type {
	case "message_start":
		r.start(e.Message)
	case "content_block_start":
		if isCall(e.ContentBlock.Type) {
			r.answer.ToolCall = true
		}
		if e.ContentBlock.Type == "text" {
			return r.text.Add(e.ContentBlock.Text)
		}
	case "content_block_delta":
		if e.Delta.Type == "text_delta" {
			return r.text.Add(e.Delta.Text)
		}
		return r.text.Pass(len(e.Delta.Thinking) + len(e.Delta.PartialJSON) + len(e.Delta.Signature))
	case "message_delta":
		r.count(e.Usage)
		return r.stop(e.Delta.StopReason)
	case "message_stop":
		return false
	}
	return true
}

// isCall says whether a block is a call of a tool, the client's or the server's.
func isCall(kind string) bool { return strings.HasSuffix(kind, "tool_use") }

func (r *reading) start(message anthropic.Message) {
	if message.Model != "" {
		r.answer.Model = message.Model
	}
	if !message.JSON.Usage.Valid() {
		return
	}
	r.answer.Usage = &compactordv1.Usage{
		InputTokens:      wire.Tokens(message.Usage.InputTokens),
		OutputTokens:     wire.Tokens(message.Usage.OutputTokens),
		CacheReadTokens:  wire.Tokens(message.Usage.CacheReadInputTokens),
		CacheWriteTokens: wire.Tokens(message.Usage.CacheCreationInputTokens),
	}
}

// count takes in a later usage. It counts from the beginning, and may leave out what was told before.
func (r *reading) count(u anthropic.MessageDeltaUsage) {
	if u.RawJSON() == "" {
		return
	}
	if r.answer.Usage == nil {
		r.answer.Usage = &compactordv1.Usage{}
	}
	total := r.answer.Usage
	total.OutputTokens = max(total.GetOutputTokens(), wire.Tokens(u.OutputTokens))
	total.InputTokens = max(total.GetInputTokens(), wire.Tokens(u.InputTokens))
	total.CacheReadTokens = max(total.GetCacheReadTokens(), wire.Tokens(u.CacheReadInputTokens))
	total.CacheWriteTokens = max(total.GetCacheWriteTokens(), wire.Tokens(u.CacheCreationInputTokens))
}

// stop reads why the model stopped.
func (r *reading) stop(reason anthropic.StopReason) bool {
	switch reason {
	case "":
		return true
	case anthropic.StopReasonMaxTokens:
		r.answer.CutOff = true
	case anthropic.StopReasonToolUse, anthropic.StopReasonPauseTurn:
		r.answer.ToolCall = true
	case anthropic.StopReasonRefusal:
		r.answer.Refused = true
	case anthropic.StopReasonModelContextWindowExceeded:
		r.x.Fail(&summarizers.ProviderError{Status: http.StatusOK, Code: string(reason), Overflow: true})
		return false
	default:
		// It had finished.
	}
	r.finished = true
	return true
}
