package sdkcheck_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmaxmax/go-sse"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/summarizers/llm"
)

// A stream is split into the same events as by a library for server-sent events, however its lines are written.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := serve(t)
	ours := s.ours(t, chat)
	rapid.Check(t, func(rt *rapid.T) {
		s.stream = eventStream(rt)
		var want strings.Builder
		for event, err := range sse.Read(strings.NewReader(s.stream), nil) {
			require.NoError(rt, err)
			var chunk struct {
				Choices []struct{ Delta struct{ Content string } }
			}
			if event.Data == "" || event.Data == "[DONE]" {
				continue
			}
			require.NoError(rt, json.Unmarshal([]byte(event.Data), &chunk), event.Data)
			want.WriteString(chunk.Choices[0].Delta.Content)
		}
		got, err := ours.Complete(t.Context(), &llm.Completion{User: "x"}, func(string) {})
		require.NoError(rt, err, "%q", s.stream)
		require.Equal(rt, want.String(), got.Text, "%q", s.stream)
	})
}

// eventStream draws a stream of chunks: lines with any of the three line ends, data in one line or several, and between
// them comments, other fields and empty lines.
func eventStream(t *rapid.T) string {
	var b strings.Builder
	end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end of lines")
	line := func(text string) { b.WriteString(text + end) }
	if rapid.Bool().Draw(t, "mark") {
		b.WriteString("\ufeff")
	}
	texts := append(rapid.SliceOf(rapid.String()).Draw(t, "texts"), "")
	for i, text := range texts {
		for _, other := range rapid.SliceOfN(rapid.SampledFrom([]string{
			": alive", ":", "event: chunk", "id: 1", "id", "retry: 10", "data-x: 1", " data: {}", "event:", "",
		}), 0, 4).Draw(t, "other lines") {
			line(other)
		}
		quoted, _ := json.Marshal(text)
		finish := "null"
		if i == len(texts)-1 {
			finish = `"stop"`
		}
		space := rapid.SampledFrom([]string{"", " ", "  "}).Draw(t, "space")
		line("data:" + space + `{"choices":[{"index":0,`)
		if rapid.Bool().Draw(t, "comment in the midst") {
			line(": alive")
		}
		line("data:" + space + `"delta":{"content":` + string(quoted) + `},"finish_reason":` + finish + `}]}`)
		line("")
	}
	return b.String()
}
