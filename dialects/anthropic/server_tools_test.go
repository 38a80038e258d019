package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
)

// The thinking before a server tool's use that is left out would be what the message ends with.
func TestThinkingGoesWithTheServerToolsUseBehindIt(t *testing.T) {
	t.Parallel()
	d := anthropic.New()
	parsed, err := d.Parse([]byte(`[
		{"role":"user","content":"Hello"},
		{"role":"assistant","content":[
			{"type":"text","text":"I look it up."},
			{"type":"thinking","thinking":"As I see it.","signature":"c2lnbmVk"},
			{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}
		]},
		{"role":"user","content":"No, stop."}
	]`))
	require.NoError(t, err)
	rendered, err := d.Render(parsed.Messages, dialect.RenderOptions{})
	require.NoError(t, err)
	require.Empty(t, d.Validate(&rendered.List, dialect.Request))
	require.JSONEq(t, `{"role":"assistant","content":[{"type":"text","text":"I look it up."}]}`, string(rendered.Messages[1]))
	require.Len(t, rendered.Dropped, 2)
}
