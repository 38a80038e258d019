package openairesponses_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/openairesponses"
)

// loop returns a tool loop of about 1 MB.
func loop() []byte {
	var items []string
	for i := range 250 {
		items = append(items,
			`{"type":"reasoning","id":"rs_`+fmt.Sprint(i)+`","summary":[],"encrypted_content":"`+strings.Repeat("Zm9v", 250)+`"}`,
			fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"read","arguments":"{\"path\":\"a.txt\"}","status":"completed"}`, i, i),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":"%s"}`, i, strings.Repeat(`a line\n`, 400)),
		)
	}
	return []byte("[" + strings.Join(items, ",") + "]")
}

func BenchmarkParseRenderValidate(b *testing.B) {
	raw := loop()
	d := openairesponses.New()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		parsed, err := d.Parse(raw)
		require.NoError(b, err)
		r, err := d.Render(parsed.Messages, dialect.RenderOptions{})
		require.NoError(b, err)
		require.Empty(b, d.Validate(&r.List, dialect.Request))
	}
}
