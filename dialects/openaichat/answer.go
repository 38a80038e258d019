package openaichat

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func newAnswer() dialect.AnswerReader { return &answerReader{} }

// answerReader implements dialect.AnswerReader.
type answerReader struct{ answer dialect.Answer }

// answerEvent holds the fields that are read of an event, or of a whole body.
type answerEvent struct {
	Model   string          `json:"model"`
	Choices []answerChoice  `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

// answerChoice has a delta in a chunk, and a message in a whole body.
type answerChoice struct {
	Index   int             `json:"index"`
	Delta   json.RawMessage `json:"delta"`
	Message json.RawMessage `json:"message"`
	Finish  string          `json:"finish_reason"`
}

// answerDelta holds the fields that are read of a delta or a message.
type answerDelta struct {
	Content      dialect.Content   `json:"content"`
	Refusal      string            `json:"refusal"`
	ToolCalls    []json.RawMessage `json:"tool_calls"`
	FunctionCall json.RawMessage   `json:"function_call"`
}

type answerUsage struct {
	Prompt     dialect.Tokens `json:"prompt_tokens"`
	Completion dialect.Tokens `json:"completion_tokens"`
	Total      dialect.Tokens `json:"total_tokens"`
	Details    struct {
		Cached     dialect.Tokens `json:"cached_tokens"`
		CacheWrite dialect.Tokens `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

func (r *answerReader) Answer() *dialect.Answer { return &r.answer }

func (r *answerReader) Event(raw json.RawMessage) (dialect.Piece, error) {
	var e answerEvent
	_ = rawjson.Unmarshal(raw, &e)
	r.begin(&e)
	var piece dialect.Piece
	for _, choice := range e.Choices {
		if choice.Index == 0 {
			r.delta(choice.Delta, &piece)
			r.stop(choice.Finish)
		}
	}
	piece.Last = r.answer.Failed
	return piece, nil
}

func (r *answerReader) Body(raw json.RawMessage) (dialect.Piece, bool) {
	var e answerEvent
	_ = rawjson.Unmarshal(raw, &e)
	if len(e.Choices) == 0 || !dialect.IsObject(e.Choices[0].Message) {
		return dialect.Piece{}, false
	}
	r.begin(&e)
	piece := dialect.Piece{Last: true}
	r.delta(e.Choices[0].Message, &piece)
	r.stop(e.Choices[0].Finish)
	return piece, true
}

// begin reads the fields beside the choices.
func (r *answerReader) begin(e *answerEvent) {
	if e.Model != "" {
		r.answer.Model = e.Model
	}
	if dialect.IsObject(e.Usage) {
		r.answer.Usage = parseAnswerUsage(e.Usage)
	}
}

func (r *answerReader) delta(raw json.RawMessage, piece *dialect.Piece) {
	var d answerDelta
	_ = rawjson.Unmarshal(raw, &d)
	if len(d.ToolCalls) > 0 || dialect.IsObject(d.FunctionCall) {
		r.answer.ToolCall = true
	}
	if d.Refusal != "" {
		r.answer.Refused = true
	}
	var text strings.Builder
	for _, part := range d.Content {
		r.answer.Refused = r.answer.Refused || part.Type == "refusal"
		if part.Type == "text" {
			text.WriteString(part.Text)
		}
	}
	piece.Text += text.String()
	// Other content, such as the thinking that servers add in their own fields, counts by its size.
	if text.Len() == 0 {
		piece.Other += len(raw)
	}
}

// stop records why the model stopped. Servers have other words than OpenAI, too.
func (r *answerReader) stop(word string) {
	switch word {
	case "":
	case "abort", "insufficient_system_resource":
		r.answer.End(compactordv1.StopReason_STOP_REASON_ERROR, word)
	default:
		r.answer.End(stopReasons[strings.ToLower(word)], word)
	}
}

// parseAnswerUsage converts OpenAI's counts. Its input includes what came from the cache or was written to it, which is
// subtracted.
func parseAnswerUsage(raw json.RawMessage) *compactordv1.Usage {
	var u answerUsage
	_ = rawjson.Unmarshal(raw, &u)
	return &compactordv1.Usage{
		InputTokens:      (u.Prompt - u.Details.Cached - u.Details.CacheWrite).Count(),
		OutputTokens:     u.Completion.Count(),
		CacheReadTokens:  u.Details.Cached.Count(),
		CacheWriteTokens: u.Details.CacheWrite.Count(),
		TotalTokens:      u.Total.Count(),
	}
}
