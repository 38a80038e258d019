package openairesponses_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrittenAsItWasParsed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"conversation.json", "tools.json", "response.json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			written(t, testdata(t, name))
		})
	}
}

// TestKeptOnce checks that attachments do not repeat what a message has.
func TestKeptOnce(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"once"},{"type":"summary_text","text":"more"}]}]`,
		`[{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"once"}]}]`,
		`[{"role":"user","content":[{"type":"input_text","text":"once"}]}]`,
		`[{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"once","annotations":[]}]}]`,
		`[{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"once"}]}]`,
		`[{"type":"local_shell_call","call_id":"c1","action":{"command":["once"]}}]`,
		`[{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"once","stderr":"once","outcome":null}]}]`,
		`[{"role":"user","content":[{"type":"input_file","file_data":"b25jZQ=="}]}]`,
	} {
		for _, m := range parse(t, raw).Messages {
			for _, a := range append(m.GetAttachments(), m.GetParts()[0].GetAttachments()...) {
				require.NotContains(t, a.GetJson(), "once", raw)
				require.NotContains(t, a.GetJson(), "b25jZQ", raw)
			}
		}
	}
}
