package sdkcheck_test

import (
	"context"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	sdkresponses "github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/llm"
)

func openAIOptions(s *server) []option.RequestOption {
	return []option.RequestOption{
		option.WithBaseURL(s.URL + "/v1"), option.WithHTTPClient(s.Client()), option.WithMaxRetries(0), option.WithAPIKey(key),
	}
}

// askChat sends a completion with OpenAI's SDK, and lets the SDK read the answer.
func askChat(ctx context.Context, s *server, c *llm.Completion) (*llm.Answer, error) {
	params := sdk.ChatCompletionNewParams{
		Model: model, ReasoningEffort: sdk.ReasoningEffort(c.Effort),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if c.MaxOutputTokens > 0 {
		params.MaxTokens = param.NewOpt(int64(c.MaxOutputTokens))
	}
	if c.System != "" {
		params.Messages = append(params.Messages, sdk.SystemMessage(c.System))
	}
	params.Messages = append(params.Messages, sdk.UserMessage(c.User))
	service := sdk.NewChatCompletionService(openAIOptions(s)...)
	stream := service.NewStreaming(ctx, params)
	defer func() { _ = stream.Close() }()
	answer := &llm.Answer{Model: model}
	var whole sdk.ChatCompletionAccumulator
	for stream.Next() {
		chunk := stream.Current()
		whole.AddChunk(chunk)
		if chunk.Model != "" {
			answer.Model = chunk.Model
		}
		if chunk.JSON.Usage.Valid() {
			answer.Usage = chatUsage(chunk.Usage)
		}
	}
	if len(whole.Choices) > 0 {
		first := &whole.Choices[0]
		answer.Text = first.Message.Content
		answer.CutOff, answer.Refused = first.FinishReason == "length", first.FinishReason == "content_filter" || first.Message.Refusal != ""
		answer.ToolCall = first.FinishReason == "tool_calls" || first.FinishReason == "function_call" || len(first.Message.ToolCalls) > 0
	}
	return answer, stream.Err()
}

func chatUsage(u sdk.CompletionUsage) *compactordv1.Usage {
	read, written := u.PromptTokensDetails.CachedTokens, u.PromptTokensDetails.CacheWriteTokens
	return &compactordv1.Usage{
		InputTokens: uint32(u.PromptTokens - read - written), OutputTokens: uint32(u.CompletionTokens),
		CacheReadTokens: uint32(read), CacheWriteTokens: uint32(written), TotalTokens: uint32(u.TotalTokens),
	}
}

// askResponses is askChat for the other API.
func askResponses(ctx context.Context, s *server, c *llm.Completion) (*llm.Answer, error) {
	text := sdkresponses.ResponseInputContentParamOfInputText(c.User)
	message := sdkresponses.ResponseInputItemParamOfMessage(
		sdkresponses.ResponseInputMessageContentListParam{text}, sdkresponses.EasyInputMessageRoleUser)
	params := sdkresponses.ResponseNewParams{
		Model: model, Store: param.NewOpt(false), Reasoning: shared.ReasoningParam{Effort: shared.ReasoningEffort(c.Effort)},
		Input: sdkresponses.ResponseNewParamsInputUnion{OfInputItemList: sdkresponses.ResponseInputParam{message}},
	}
	if c.MaxOutputTokens > 0 {
		params.MaxOutputTokens = param.NewOpt(int64(c.MaxOutputTokens))
	}
	if c.System != "" {
		params.Instructions = param.NewOpt(c.System)
	}
	service := sdkresponses.NewResponseService(openAIOptions(s)...)
	stream := service.NewStreaming(ctx, params)
	defer func() { _ = stream.Close() }()
	var last sdkresponses.Response
	var items []sdkresponses.ResponseOutputItemUnion
	for stream.Next() {
		switch event := stream.Current(); event.Type {
		case "response.output_item.done":
			items = append(items, event.Item)
		case "response.completed", "response.incomplete":
			last = event.Response
		}
	}
	if len(last.Output) > 0 {
		items = last.Output
	}
	answer := &llm.Answer{Model: last.Model, CutOff: last.Status == "incomplete"}
	if last.JSON.Usage.Valid() {
		u := &last.Usage
		read, written := u.InputTokensDetails.CachedTokens, u.InputTokensDetails.CacheWriteTokens
		answer.Usage = &compactordv1.Usage{
			InputTokens: uint32(u.InputTokens - read - written), OutputTokens: uint32(u.OutputTokens),
			CacheReadTokens: uint32(read), CacheWriteTokens: uint32(written), TotalTokens: uint32(u.TotalTokens),
		}
	}
	for i := range items {
		answer.ToolCall = answer.ToolCall || strings.HasSuffix(items[i].Type, "_call")
		for _, content := range items[i].Content {
			answer.Refused = answer.Refused || items[i].Type == "message" && content.Type == "refusal"
			if items[i].Type == "message" && content.Type == "output_text" {
				answer.Text += content.Text
			}
		}
	}
	return answer, stream.Err()
}
