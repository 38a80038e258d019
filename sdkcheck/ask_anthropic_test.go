package sdkcheck_test

import (
	"context"
	"strconv"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/llm"
)

// askAnthropic sends a completion with Anthropic's SDK, and lets the SDK read the answer.
func askAnthropic(ctx context.Context, s *server, c *llm.Completion) (*llm.Answer, error) {
	params := sdk.MessageNewParams{
		Model: model, MaxTokens: int64(c.MaxOutputTokens),
		Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(c.User))},
	}
	if c.System != "" {
		params.System = []sdk.TextBlockParam{{Text: c.System}}
	}
	if budget, err := strconv.ParseInt(c.Effort, 10, 64); err == nil {
		params.Thinking = sdk.ThinkingConfigParamOfEnabled(budget)
	} else {
		params.OutputConfig.Effort = sdk.OutputConfigEffort(c.Effort)
	}
	service := sdk.NewMessageService(option.WithBaseURL(s.URL), option.WithHTTPClient(s.Client()), option.WithMaxRetries(0), option.WithAPIKey(key))
	stream := service.NewStreaming(ctx, params)
	defer func() { _ = stream.Close() }()
	var message sdk.Message
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
	}
	answer := &llm.Answer{
		Model: message.Model,
		Usage: &compactordv1.Usage{
			InputTokens: uint32(message.Usage.InputTokens), OutputTokens: uint32(message.Usage.OutputTokens),
			CacheReadTokens: uint32(message.Usage.CacheReadInputTokens), CacheWriteTokens: uint32(message.Usage.CacheCreationInputTokens),
		},
		CutOff: message.StopReason == sdk.StopReasonMaxTokens, Refused: message.StopReason == sdk.StopReasonRefusal,
		ToolCall: message.StopReason == sdk.StopReasonToolUse || message.StopReason == sdk.StopReasonPauseTurn,
	}
	for i := range message.Content {
		block := &message.Content[i]
		answer.ToolCall = answer.ToolCall || strings.HasSuffix(block.Type, "tool_use")
		if block.Type == "text" {
			answer.Text += block.Text
		}
	}
	return answer, stream.Err()
}
