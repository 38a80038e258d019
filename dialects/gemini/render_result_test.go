package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/gemini"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// A function response can hold media, and perhaps future kinds, but no parts of contents.
func TestResultsHoldNoPartsOfContents(t *testing.T) {
	t.Parallel()
	result := &compactordv1.ToolResult{CallId: "a", Parts: []*compactordv1.ResultPart{
		opaque(`{"executableCode":{"language":"PYTHON","code":"print(1)"}}`), opaque(`{"somethingNew":{"n":1.0}}`),
	}}
	rendered, err := gemini.New().Render([]*compactordv1.Message{
		{
			Role: compactordv1.Role_ROLE_ASSISTANT,
			Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolCall{
				ToolCall: &compactordv1.ToolCall{Id: "a", Name: "read"},
			}}},
		},
		{
			Role:  compactordv1.Role_ROLE_TOOL,
			Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}},
		},
	}, dialect.RenderOptions{})
	require.NoError(t, err)
	require.JSONEq(t, `{"role":"user","parts":[{"functionResponse":{
		"id":"a","name":"read","parts":[{"somethingNew":{"n":1.0}}],"response":{"output":""}
	}}]}`, string(rendered.Messages[2]))
	require.Len(t, rendered.Dropped, 1)
	require.Equal(t, 1, rendered.Dropped[0].Message)
}
