package sdkcheck_test

import (
	"context"
	"strconv"
	"strings"

	"google.golang.org/genai"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/llm"
)

// askGemini sends a completion with Google's SDK, and lets the SDK read the answer.
func askGemini(ctx context.Context, s *server, c *llm.Completion) (*llm.Answer, error) {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: key, HTTPClient: s.Client(),
		HTTPOptions: genai.HTTPOptions{BaseURL: s.URL, APIVersion: "v1beta"},
	})
	if err != nil {
		return nil, err
	}
	config := &genai.GenerateContentConfig{MaxOutputTokens: int32(c.MaxOutputTokens), AutomaticContinuation: new(false)}
	if budget, err := strconv.ParseInt(c.Effort, 10, 32); err == nil {
		config.ThinkingConfig = &genai.ThinkingConfig{ThinkingBudget: new(int32(budget))}
	} else if c.Effort != "" {
		config.ThinkingConfig = &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevel(strings.ToUpper(c.Effort))}
	}
	if c.System != "" {
		config.SystemInstruction = genai.NewContentFromText(c.System, genai.RoleUser)
	}
	answer := &llm.Answer{}
	contents := []*genai.Content{genai.NewContentFromText(c.User, genai.RoleUser)}
	for piece, err := range client.Models.GenerateContentStream(ctx, model, contents, config) {
		if err != nil {
			return nil, err
		}
		answer.Model = piece.ModelVersion
		if u := piece.UsageMetadata; u != nil {
			answer.Usage = &compactordv1.Usage{
				InputTokens:  uint32(u.PromptTokenCount + u.ToolUsePromptTokenCount - u.CachedContentTokenCount),
				OutputTokens: uint32(u.CandidatesTokenCount + u.ThoughtsTokenCount), CacheReadTokens: uint32(u.CachedContentTokenCount),
				TotalTokens: uint32(u.TotalTokenCount),
			}
		}
		for _, candidate := range piece.Candidates {
			readCandidate(answer, candidate)
		}
	}
	return answer, nil
}

func readCandidate(answer *llm.Answer, candidate *genai.Candidate) {
	answer.CutOff = answer.CutOff || candidate.FinishReason == genai.FinishReasonMaxTokens
	answer.Refused = answer.Refused || candidate.FinishReason == genai.FinishReasonSafety
	if candidate.Content == nil {
		return
	}
	for _, part := range candidate.Content.Parts {
		answer.ToolCall = answer.ToolCall || part.FunctionCall != nil || part.ExecutableCode != nil
		if !part.Thought {
			answer.Text += part.Text
		}
	}
}
