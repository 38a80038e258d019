package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// toolLoops returns a list of calls and results, of about a megabyte.
func toolLoops(loops int) []byte {
	text := strings.Repeat("func f(x int) { fmt.Println(\"x\",\tx) }\n", 50)
	var list []json.RawMessage
	for i := range loops {
		list = append(list,
			json.RawMessage(fmt.Sprintf(`{"role":"user","content":"Step %d."}`, i)),
			json.RawMessage(fmt.Sprintf(`{"role":"assistant","content":[{"type":"thinking","thinking":"So.","signature":"c2ln"},
				{"type":"tool_use","id":"toolu_%d","name":"read","input":{"path":"a.go"}}]}`, i)),
			json.RawMessage(fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%s}]}`,
				i, rawjson.Quote(text))),
			json.RawMessage(`{"role":"assistant","content":[{"type":"text","text":"Done."}]}`),
		)
	}
	list = append(list, json.RawMessage(`{"role":"user","content":"Thanks."}`))
	return rawjson.EncodeArray(list)
}

func BenchmarkParse(b *testing.B) {
	raw := toolLoops(450)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		_, err := anthropic.New().Parse(raw)
		require.NoError(b, err)
	}
}

func BenchmarkRender(b *testing.B) {
	raw := toolLoops(450)
	parsed, err := anthropic.New().Parse(raw)
	require.NoError(b, err)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		_, err := anthropic.New().Render(parsed.Messages, dialect.RenderOptions{})
		require.NoError(b, err)
	}
}

func BenchmarkValidate(b *testing.B) {
	raw := toolLoops(450)
	list, err := anthropic.New().Split(raw)
	require.NoError(b, err)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		require.Empty(b, anthropic.New().Validate(list, dialect.Request))
	}
}
