package openaichat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openaichat"
)

// BenchmarkMegabyte parses, renders and validates a list of one megabyte.
func BenchmarkMegabyte(b *testing.B) {
	d := openaichat.New()
	var raw strings.Builder
	raw.WriteString(`[{"role":"user","content":"hi"}`)
	for i := 0; raw.Len() < 1<<20; i++ {
		said := rawjson.Quote(strings.Repeat("A line of a program's \"output\",\n\twith tabs.\n", 100))
		fmt.Fprintf(&raw, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"run","arguments":%s}}]}`,
			i, rawjson.Quote(string(rawjson.Object{"text": said}.Encode())))
		fmt.Fprintf(&raw, `,{"role":"tool","tool_call_id":"call_%d","content":%s}`, i, said)
	}
	raw.WriteString("]")
	b.SetBytes(int64(raw.Len()))
	b.ReportAllocs()
	for b.Loop() {
		parsed, err := d.Parse([]byte(raw.String()))
		require.NoError(b, err)
		rendered, err := d.Render(parsed.Messages, dialect.RenderOptions{})
		require.NoError(b, err)
		require.Empty(b, d.Validate(&rendered.List, dialect.Request))
	}
}
