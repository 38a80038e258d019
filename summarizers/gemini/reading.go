package gemini

import (
	"net/http"

	"google.golang.org/genai"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire"
	"github.com/compactord/compactord/summarizers/llm"
)

// reading takes in the pieces of a response.
type reading struct {
	x      *wire.Exchange
	text   *wire.Text
	answer *llm.Answer
	// finished says that the model told why it stopped, or the provider why it did not begin.
	finished bool
}

// take is false where the rest does not matter.
func (r *reading) take(piece *genai.GenerateContentResponse) bool {
	if piece.ModelVersion != "" {
		r.answer.Model = piece.ModelVersion
	}
	if piece.UsageMetadata != nil {
		r.answer.Usage = usageOf(piece.UsageMetadata)
	}
	if piece.PromptFeedback != nil && piece.PromptFeedback.BlockReason != "" {
		r.answer.Refused, r.finished = true, true
	}
	if len(piece.Candidates) == 0 || piece.Candidates[0] == nil {
		return true
	}
	candidate := piece.Candidates[0]
	if candidate.Content != nil {
		for _, part := range candidate.Content.Parts {
			if part != nil && !r.takePart(part) {
				return false
			}
		}
	}
	return r.stop(candidate.FinishReason)
}

func (r *reading) takePart(part *genai.Part) bool {
	if part.FunctionCall != nil || part.ExecutableCode != nil || part.ToolCall != nil {
		r.answer.ToolCall = true
	}
	if part.Thought {
		return r.text.Pass(len(part.Text))
	}
	return r.text.Add(part.Text) && r.text.Pass(len(part.ThoughtSignature))
}

// stop reads why the model stopped.
func (r *reading) stop(reason genai.FinishReason) bool {
	switch reason {
	case "", genai.FinishReasonUnspecified, genai.FinishReasonContinuation:
		return true
	case genai.FinishReasonMaxTokens:
		r.answer.CutOff = true
	case genai.FinishReasonUnexpectedToolCall, genai.FinishReasonMalformedFunctionCall, genai.FinishReasonTooManyToolCalls:
		r.answer.ToolCall = true
	case genai.FinishReasonSafety, genai.FinishReasonProhibitedContent, genai.FinishReasonRecitation,
		genai.FinishReasonBlocklist, genai.FinishReasonSPII, genai.FinishReasonLanguage:
		r.answer.Refused = true
	case genai.FinishReasonOther:
		// It does not say whether the text is whole.
		r.x.Fail(&summarizers.ProviderError{Status: http.StatusOK, Code: string(reason), Retryable: true})
		return false
	default:
		// It had finished.
	}
	r.finished = true
	return true
}

// usageOf tells apart what Gemini counts together, its input with what came from the cache, and adds up what it counts
// apart, the text and the thinking.
func usageOf(u *genai.GenerateContentResponseUsageMetadata) *compactordv1.Usage {
	return &compactordv1.Usage{
		InputTokens:     wire.Tokens(int64(u.PromptTokenCount) + int64(u.ToolUsePromptTokenCount) - int64(u.CachedContentTokenCount)),
		OutputTokens:    wire.Tokens(int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount)),
		CacheReadTokens: wire.Tokens(u.CachedContentTokenCount),
		TotalTokens:     wire.Tokens(u.TotalTokenCount),
	}
}
