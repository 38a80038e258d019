package transcript_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
)

// repeatedLines returns an opening and then one text many times, without holding all of it.
type repeatedLines struct {
	opening, line []byte
	times, at     int
}

func (r *repeatedLines) Read(p []byte) (int, error) {
	if len(r.opening) > 0 {
		n := copy(p, r.opening)
		r.opening = r.opening[n:]
		return n, nil
	}
	if r.times == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.line[r.at:])
	if r.at += n; r.at == len(r.line) {
		r.at = 0
		r.times--
	}
	return n, nil
}

// Reading a large file needs only a few times the memory of its largest line.
func TestLargeFilesAreStreamed(t *testing.T) {
	const line, times = 32 << 10, 96
	text := strings.Repeat("a", line)
	for name, c := range map[string]struct{ opening, line string }{
		"openai":    {"", `{"role":"tool","content":"` + text + `"}` + "\n"},
		"array":     {`[{"role":"tool","content":"a"}`, `,{"role":"tool","content":"` + text + `"}` + "\n"},
		"body":      {`{"messages":[{"role":"tool","content":"a"}`, `,{"role":"tool","content":"` + text + `"}` + "\n"},
		"anthropic": {"", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"` + text + `"}]}` + "\n"},
		"responses": {"", `{"type":"function_call_output","call_id":"c","output":"` + text + `"}` + "\n"},
		"gemini":    {"", `{"role":"user","parts":[{"text":"` + text + `"}]}` + "\n"},
		"pi":        {list, `{"type":"message","message":{"role":"user","content":"` + text + `"}}` + "\n"},
		"kimi":      {kimiStart, `{"role":"user","content":"` + text + `"}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := transcript.Open(&repeatedLines{opening: []byte(c.opening), line: bytes.Clone([]byte(c.line)), times: times})
			require.NoError(t, err)
			var before, now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			read := 0
			for {
				_, err := r.Next()
				var wrong *transcript.LineError
				if errors.Is(err, io.EOF) || errors.As(err, &wrong) {
					break // An array or body breaks off.
				}
				require.NoError(t, err)
				if read++; read%32 == 0 {
					runtime.GC()
					runtime.ReadMemStats(&now)
					require.Less(t, int64(now.HeapAlloc)-int64(before.HeapAlloc), int64(32*line), "after %d messages", read)
				}
			}
			require.GreaterOrEqual(t, read, times)
		})
	}
}
