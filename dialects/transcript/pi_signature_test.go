package transcript_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/openairesponses"
	"github.com/compactord/compactord/dialects/transcript"
)

// Pi keeps a reasoning item of OpenAI Responses whole. It is rendered unchanged.
func TestReasoningItemsOfPiComeBack(t *testing.T) {
	t.Parallel()
	say := func(signature string) string {
		return list + `{"type":"message","message":{"role":"assistant","api":"openai-responses","content":[{"type":"thinking","thinking":"Look first.","thinkingSignature":"` + signature + `"}]}}`
	}
	messages, notes, err := read(say(`{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"Look first.\"}],\"encrypted_content\":\"eHg=\"}`))
	require.NoError(t, err)
	require.Equal(t, []transcript.Note{{1, "1 label entry left out"}}, notes)
	list, err := openairesponses.New().Render(messages, dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	require.Len(t, list.Messages, 1)
	require.JSONEq(t, `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Look first."}],"encrypted_content":"eHg="}`, string(list.Messages[0]))

	messages, notes, err = read(say("rs_1"))
	require.NoError(t, err)
	require.Equal(t, "Look first.", thinkingOf(messages[0]))
	require.Contains(t, notes, transcript.Note{Count: 1, Text: "1 signature that no dialect can give back left out"})
}
