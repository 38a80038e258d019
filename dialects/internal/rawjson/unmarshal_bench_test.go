package rawjson_test

import (
	"encoding/json"
	"testing"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// BenchmarkUnmarshal decodes an event of a stream, as is done for each of them.
func BenchmarkUnmarshal(b *testing.B) {
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type event struct {
		Type    string `json:"type"`
		Message struct {
			Type    string          `json:"type"`
			Model   string          `json:"model"`
			Content []block         `json:"content"`
			Stop    string          `json:"stop_reason"`
			Usage   json.RawMessage `json:"usage"`
		} `json:"message"`
		Block block `json:"content_block"`
		Delta struct {
			Type      string `json:"type"`
			Text      string `json:"text"`
			Thinking  string `json:"thinking"`
			Input     string `json:"partial_json"`
			Signature string `json:"signature"`
			Stop      string `json:"stop_reason"`
		} `json:"delta"`
		Usage json.RawMessage `json:"usage"`
	}
	raw := json.RawMessage(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" the next words"}}`)
	for name, unmarshal := range map[string]func(json.RawMessage, any) error{
		"rawjson": rawjson.Unmarshal,
		"json":    func(raw json.RawMessage, into any) error { return json.Unmarshal(raw, into) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var e event
				if err := unmarshal(raw, &e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
