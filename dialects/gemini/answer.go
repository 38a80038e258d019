package gemini

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func newAnswer() dialect.AnswerReader { return &answerReader{} }

// answerReader implements dialect.AnswerReader.
type answerReader struct{ answer dialect.Answer }

// answerEvent holds the fields that are read of an event, or of a whole body. Both have the same shape.
type answerEvent struct {
	Candidates []struct {
		Content struct {
			Parts []answerPart `json:"parts"`
		} `json:"content"`
		FinishReason string `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata *answerUsage `json:"usageMetadata"`
	ModelVersion  string       `json:"modelVersion"`
}

type answerPart struct {
	Text             string          `json:"text"`
	Thought          bool            `json:"thought"`
	ThoughtSignature string          `json:"thoughtSignature"`
	FunctionCall     json.RawMessage `json:"functionCall"`
	ExecutableCode   json.RawMessage `json:"executableCode"`
	ToolCall         json.RawMessage `json:"toolCall"`
}

type answerUsage struct {
	Prompt     dialect.Tokens `json:"promptTokenCount"`
	ToolPrompt dialect.Tokens `json:"toolUsePromptTokenCount"`
	Cached     dialect.Tokens `json:"cachedContentTokenCount"`
	Candidates dialect.Tokens `json:"candidatesTokenCount"`
	Thoughts   dialect.Tokens `json:"thoughtsTokenCount"`
	Total      dialect.Tokens `json:"totalTokenCount"`
}

func (r *answerReader) Answer() *dialect.Answer { return &r.answer }

// Event fails where a field has the wrong type. No known server imitates Gemini with other types.
func (r *answerReader) Event(raw json.RawMessage) (dialect.Piece, error) {
	var e answerEvent
	if err := rawjson.Unmarshal(raw, &e); err != nil {
		return dialect.Piece{}, err
	}
	return r.piece(&e), nil
}

func (r *answerReader) Body(raw json.RawMessage) (dialect.Piece, bool) {
	var e answerEvent
	if rawjson.Unmarshal(raw, &e) != nil || len(e.Candidates) == 0 && e.PromptFeedback.BlockReason == "" {
		return dialect.Piece{}, false
	}
	piece := r.piece(&e)
	piece.Last = true
	return piece, true
}

func (r *answerReader) piece(e *answerEvent) dialect.Piece {
	if e.ModelVersion != "" {
		r.answer.Model = e.ModelVersion
	}
	if e.UsageMetadata != nil {
		r.answer.Usage = parseAnswerUsage(e.UsageMetadata)
	}
	if e.PromptFeedback.BlockReason != "" {
		r.answer.End(compactordv1.StopReason_STOP_REASON_REFUSAL, e.PromptFeedback.BlockReason)
	}
	var piece dialect.Piece
	if len(e.Candidates) == 0 {
		return piece
	}
	for i := range e.Candidates[0].Content.Parts {
		r.part(&e.Candidates[0].Content.Parts[i], &piece)
	}
	r.stop(e.Candidates[0].FinishReason)
	piece.Last = r.answer.Failed
	return piece
}

func (r *answerReader) part(p *answerPart, piece *dialect.Piece) {
	if dialect.IsObject(p.FunctionCall) || dialect.IsObject(p.ExecutableCode) || dialect.IsObject(p.ToolCall) {
		r.answer.ToolCall = true
	}
	piece.Other += len(p.ThoughtSignature)
	if p.Thought {
		piece.Other += len(p.Text)
	} else {
		piece.Text += p.Text
	}
}

// stop records why the model stopped.
func (r *answerReader) stop(word string) {
	switch word {
	case "", "FINISH_REASON_UNSPECIFIED":
	case "UNEXPECTED_TOOL_CALL", "MALFORMED_FUNCTION_CALL", "TOO_MANY_TOOL_CALLS":
		r.answer.End(compactordv1.StopReason_STOP_REASON_TOOL_USE, word)
	case "OTHER":
		// The reason does not say whether the text is complete.
		r.answer.End(compactordv1.StopReason_STOP_REASON_ERROR, word)
	default:
		r.answer.End(stopReasons[word], word)
	}
}

// parseAnswerUsage converts Gemini's counts. Its prompt includes the tokens from the cache, which are subtracted. Its
// text and thinking are counted apart, and are added up.
func parseAnswerUsage(u *answerUsage) *compactordv1.Usage {
	return &compactordv1.Usage{
		InputTokens:     (u.Prompt + u.ToolPrompt - u.Cached).Count(),
		OutputTokens:    (u.Candidates + u.Thoughts).Count(),
		CacheReadTokens: u.Cached.Count(),
		TotalTokens:     u.Total.Count(),
	}
}
