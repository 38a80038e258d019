package openairesponses

import (
	"encoding/json"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func newAnswer() dialect.AnswerReader { return &answerReader{} }

// answerReader implements dialect.AnswerReader.
type answerReader struct {
	answer dialect.Answer
	// streamed reports that there was text before the last event, which then repeats it.
	streamed bool
	// items is the text of the finished items. Some servers leave them out of the last event.
	items strings.Builder
}

// answerEvent holds the fields of an event that are read.
type answerEvent struct {
	Type     string         `json:"type"`
	Delta    string         `json:"delta"`
	Item     answerItem     `json:"item"`
	Response answerResponse `json:"response"`
}

// answerResponse is a response: a whole body, or the one in the last event of a stream.
type answerResponse struct {
	Object     string          `json:"object"`
	Status     string          `json:"status"`
	Model      string          `json:"model"`
	Output     []answerItem    `json:"output"`
	Usage      json.RawMessage `json:"usage"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// answerItem holds the fields that are read of an item of any type.
type answerItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content dialect.Content `json:"content"`
}

type answerUsage struct {
	Input   dialect.Tokens `json:"input_tokens"`
	Output  dialect.Tokens `json:"output_tokens"`
	Total   dialect.Tokens `json:"total_tokens"`
	Details struct {
		Cached     dialect.Tokens `json:"cached_tokens"`
		CacheWrite dialect.Tokens `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

func (r *answerReader) Answer() *dialect.Answer { return &r.answer }

func (r *answerReader) Event(raw json.RawMessage) (dialect.Piece, error) {
	var e answerEvent
	_ = rawjson.Unmarshal(raw, &e)
	switch e.Type {
	case "response.output_text.delta":
		r.streamed = r.streamed || e.Delta != ""
		return dialect.Piece{Text: e.Delta}, nil
	case "response.refusal.delta", "response.refusal.done":
		r.answer.Refused = true
	case "response.output_item.added", "response.output_item.done":
		text := r.item(&e.Item)
		if e.Type == "response.output_item.done" {
			r.items.WriteString(text)
		}
		return dialect.Piece{}, nil
	case "response.completed", "response.incomplete", "response.failed":
		return dialect.Piece{Text: r.end(e.Type, &e.Response), Last: true}, nil
	}
	return dialect.Piece{Other: len(e.Delta)}, nil
}

func (r *answerReader) Body(raw json.RawMessage) (dialect.Piece, bool) {
	var response answerResponse
	_ = rawjson.Unmarshal(raw, &response)
	if response.Object != "response" {
		return dialect.Piece{}, false
	}
	return dialect.Piece{Text: r.end(eventPrefix+response.Status, &response), Last: true}, true
}

// item reads an item of the output, and returns its text.
func (r *answerReader) item(item *answerItem) string {
	r.answer.ToolCall = r.answer.ToolCall || strings.HasSuffix(item.Type, "_call")
	if item.Type != typeMessage && (item.Type != "" || item.Role == "") {
		return ""
	}
	var text strings.Builder
	for _, content := range item.Content {
		r.answer.Refused = r.answer.Refused || content.Type == typeRefusal
		if content.Type == typeOutputText || content.Type == typePlainText {
			text.WriteString(content.Text)
		}
	}
	return text.String()
}

// end reads the whole response. It returns the text of the response for servers that send no deltas. Some servers end
// every answer with the same event, and only its status says how it ended.
func (r *answerReader) end(how string, response *answerResponse) string {
	if response.Status == "incomplete" || response.Status == "failed" {
		how = eventPrefix + response.Status
	}
	if response.Model != "" {
		r.answer.Model = response.Model
	}
	if dialect.IsObject(response.Usage) {
		r.answer.Usage = parseAnswerUsage(response.Usage)
	}
	switch how {
	case "response.completed":
		r.answer.End(compactordv1.StopReason_STOP_REASON_END, "")
	case "response.incomplete":
		r.answer.End(whyIncompleteAnswer(response), "")
	case "response.failed":
		r.answer.End(compactordv1.StopReason_STOP_REASON_ERROR, "")
		return ""
	default:
		return ""
	}
	return r.output(response.Output)
}

// output returns the text of an output, unless it was streamed.
func (r *answerReader) output(items []answerItem) string {
	var text strings.Builder
	for i := range items {
		text.WriteString(r.item(&items[i]))
	}
	switch {
	case r.streamed:
		return ""
	case len(items) == 0:
		return r.items.String()
	default:
		return text.String()
	}
}

func whyIncompleteAnswer(response *answerResponse) compactordv1.StopReason {
	if response.Incomplete.Reason == "content_filter" {
		return compactordv1.StopReason_STOP_REASON_REFUSAL
	}
	return compactordv1.StopReason_STOP_REASON_LENGTH
}

// parseAnswerUsage converts OpenAI's counts. Its input includes what came from the cache or was written to it, which is
// subtracted.
func parseAnswerUsage(raw json.RawMessage) *compactordv1.Usage {
	var u answerUsage
	_ = rawjson.Unmarshal(raw, &u)
	return &compactordv1.Usage{
		InputTokens:      (u.Input - u.Details.Cached - u.Details.CacheWrite).Count(),
		OutputTokens:     u.Output.Count(),
		CacheReadTokens:  u.Details.Cached.Count(),
		CacheWriteTokens: u.Details.CacheWrite.Count(),
		TotalTokens:      u.Total.Count(),
	}
}
