package anthropic

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

// answerEvent holds the fields of an event that are read.
type answerEvent struct {
	Type    string        `json:"type"`
	Message answerMessage `json:"message"`
	Block   answerBlock   `json:"content_block"`
	Delta   struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		Input      string `json:"partial_json"`
		Signature  string `json:"signature"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage json.RawMessage `json:"usage"`
}

// answerMessage holds the fields of a message that are read. A message is a whole body, or the start of a stream.
type answerMessage struct {
	Type       string          `json:"type"`
	Model      string          `json:"model"`
	Content    []answerBlock   `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      json.RawMessage `json:"usage"`
}

type answerBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type answerUsage struct {
	Input      dialect.Tokens `json:"input_tokens"`
	Output     dialect.Tokens `json:"output_tokens"`
	CacheRead  dialect.Tokens `json:"cache_read_input_tokens"`
	CacheWrite dialect.Tokens `json:"cache_creation_input_tokens"`
}

func (r *answerReader) Answer() *dialect.Answer { return &r.answer }

func (r *answerReader) Event(raw json.RawMessage) (dialect.Piece, error) {
	var e answerEvent
	_ = rawjson.Unmarshal(raw, &e)
	switch e.Type {
	case eventStart:
		r.begin(&e.Message)
	case eventBlockStart:
		return dialect.Piece{Text: r.block(e.Block)}, nil
	case eventBlockDelta:
		if e.Delta.Type == "text_delta" {
			return dialect.Piece{Text: e.Delta.Text}, nil
		}
		return dialect.Piece{Other: len(e.Delta.Thinking) + len(e.Delta.Input) + len(e.Delta.Signature)}, nil
	case eventDelta:
		r.count(e.Usage)
		r.stop(e.Delta.StopReason)
		return dialect.Piece{Last: r.answer.Failed}, nil
	case eventStop:
		return dialect.Piece{Last: true}, nil
	}
	return dialect.Piece{}, nil
}

func (r *answerReader) Body(raw json.RawMessage) (dialect.Piece, bool) {
	var m answerMessage
	_ = rawjson.Unmarshal(raw, &m)
	if m.Type != "message" {
		return dialect.Piece{}, false
	}
	r.begin(&m)
	var text strings.Builder
	for _, b := range m.Content {
		text.WriteString(r.block(b))
	}
	r.stop(m.StopReason)
	return dialect.Piece{Text: text.String(), Last: true}, true
}

func (r *answerReader) begin(m *answerMessage) {
	if m.Model != "" {
		r.answer.Model = m.Model
	}
	r.count(m.Usage)
}

// block reads the start of a block, and returns its text.
func (r *answerReader) block(b answerBlock) string {
	if strings.HasSuffix(b.Type, typeToolUse) {
		// The tool is the client's, the server's or that of an MCP server.
		r.answer.ToolCall = true
	}
	if b.Type != typeText {
		return ""
	}
	return b.Text
}

// count reads a usage. A later usage counts the whole answer again, and may leave out earlier fields.
func (r *answerReader) count(raw json.RawMessage) {
	if !dialect.IsObject(raw) {
		return
	}
	var u answerUsage
	_ = rawjson.Unmarshal(raw, &u)
	if r.answer.Usage == nil {
		r.answer.Usage = &compactordv1.Usage{}
	}
	total := r.answer.Usage
	total.InputTokens = max(total.GetInputTokens(), u.Input.Count())
	total.OutputTokens = max(total.GetOutputTokens(), u.Output.Count())
	total.CacheReadTokens = max(total.GetCacheReadTokens(), u.CacheRead.Count())
	total.CacheWriteTokens = max(total.GetCacheWriteTokens(), u.CacheWrite.Count())
}

func (r *answerReader) stop(word string) {
	switch word {
	case "":
	case "model_context_window_exceeded":
		r.answer.Overflow = true
		r.answer.End(compactordv1.StopReason_STOP_REASON_ERROR, word)
	default:
		r.answer.End(stopReasons[word], word)
	}
}
