package transcript_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// claudeLine returns a line of Claude Code with these fields.
func claudeLine(kind, id, parent, fields string) string {
	if parent != "null" {
		parent = `"` + parent + `"`
	}
	return `{"type":"` + kind + `","uuid":"` + id + `","parentUuid":` + parent + `,"sessionId":"s",` + fields + "}\n"
}

// claudeSays returns a line with a piece of an assistant's message.
func claudeSays(id, parent, message, block string) string {
	return claudeLine("assistant", id, parent, `"message":{"id":"`+message+`","role":"assistant","content":[`+block+`],"usage":{"input_tokens":1,"output_tokens":`+id[1:]+`}}`)
}

const claudeCall = `{"type":"tool_use","id":"c","name":"a","input":{}}`

func claudeResult(id, parent string) string {
	return claudeLine("user", id, parent, `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}`)
}

func outline(messages []*compactordv1.Message) []string {
	var lines []string
	for _, m := range messages {
		line := strings.ToLower(strings.TrimPrefix(m.GetRole().String(), "ROLE_")) + " " + textOf(m)
		for _, c := range callsOf(m) {
			line += "call " + c.GetId()
		}
		lines = append(lines, line)
	}
	return lines
}

func TestClaudeCodePaths(t *testing.T) {
	t.Parallel()
	start := claudeUser("u", "null")
	for name, c := range map[string]struct {
		input string
		want  []string
	}{
		"one message of several lines": {
			start + claudeSays("a1", "u", "m", `{"type":"text","text":"x"}`) + claudeSays("a2", "a1", "m", claudeCall) + claudeResult("r", "a2"),
			[]string{"user u", "assistant xcall c", "tool r"},
		},
		"a piece behind a result": {
			start + claudeSays("a1", "u", "m", claudeCall) + claudeResult("r", "a1") + claudeSays("a2", "r", "m", `{"type":"text","text":"x"}`),
			[]string{"user u", "assistant xcall c", "tool r"},
		},
		"what is said among calls waits": {
			start + claudeSays("a1", "u", "m", claudeCall) + claudeUser("v", "a1") + claudeResult("r", "v"),
			[]string{"user u", "assistant call c", "tool r", "user v"},
		},
		"calls that are never answered": {
			start + claudeSays("a1", "u", "m", claudeCall) + claudeUser("v", "a1") + claudeSays("a2", "v", "n", `{"type":"text","text":"x"}`),
			[]string{"user u", "assistant call c", "user v", "assistant x"},
		},
		"a rewind":      {start + claudeUser("v", "u") + claudeUser("w", "u"), []string{"user u", "user w"}},
		"a lost parent": {start + claudeUser("v", "x"), []string{"user v"}},
		"a compaction whose parent is lost": {
			start + claudeLine("system", "b", "null", `"subtype":"compact_boundary","logicalParentUuid":"x","compactMetadata":{"preTokens":7}`) +
				claudeLine("user", "z", "b", `"isCompactSummary":true,"message":{"role":"user","content":"sum"}`) + claudeUser("v", "z"),
			[]string{"user u", "user v"},
		},
		"a summary without a boundary": {
			start + claudeLine("user", "z", "null", `"isCompactSummary":true,"message":{"role":"user","content":"sum"}`) + claudeUser("v", "z"),
			[]string{"user u", "user v"},
		},
		"the queue": {
			start + claudeSays("a1", "u", "m", `{"type":"text","text":"x"}`) +
				`{"type":"queue-operation","sessionId":"s","operation":"enqueue","content":"p"}` + "\n" +
				`{"type":"queue-operation","sessionId":"s","operation":"enqueue","content":"q"}` + "\n" +
				`{"type":"queue-operation","sessionId":"s","operation":"remove"}` + "\n" +
				`{"type":"queue-operation","sessionId":"s","operation":"dequeue"}` + "\n" + claudeUser("q", "a1"),
			[]string{"user u", "assistant x", "user p", "user q"},
		},
		"a line twice": {start + start + claudeUser("v", "u"), []string{"user u", "user v"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, records, _ := readWith(t, c.input)
			require.Equal(t, c.want, outline(messages))
			if strings.Contains(c.input, "isCompactSummary") {
				require.Len(t, records, 1)
				require.Equal(t, "sum", records[0].GetCompaction().GetSummary())
				require.Equal(t, uint32(1), records[0].GetCompaction().GetFirstKeptIndex())
				require.Equal(t, uint32(2), records[0].GetAfterMessages())
			}
		})
	}
}

// Each line of a message repeats its usage. Only the last line has the complete one.
func TestClaudeCodeUsageIsThatOfTheLastLine(t *testing.T) {
	t.Parallel()
	messages, _, err := read(claudeUser("u", "null") + claudeSays("a1", "u", "m", `{"type":"text","text":"x"}`) + claudeSays("a5", "a1", "m", `{"type":"text","text":"y"}`))
	require.NoError(t, err)
	require.Equal(t, uint32(5), messages[1].GetUsage().GetOutputTokens())
	require.Equal(t, uint32(1), messages[1].GetUsage().GetInputTokens())
}

func TestWhatIsWrongInAFileOfClaudeCodeIsNamed(t *testing.T) {
	t.Parallel()
	start := claudeUser("u", "null")
	for name, c := range map[string]struct{ line, want string }{
		"unknown type":     {`{"type":"hush"}`, "line 2: type: unknown type of line"},
		"no message":       {claudeLine("user", "v", "u", `"a":1`), "line 2: message: is missing"},
		"bad content":      {claudeLine("user", "v", "u", `"message":{"content":7}`), "line 2: message.content: must be a string or an array"},
		"bad block":        {claudeSays("a1", "u", "m", `{"type":"text","text":7}`), "line 2: message.content[0].text: must be a string, is a number"},
		"bad tokens":       {claudeLine("system", "b", "u", `"subtype":"compact_boundary","compactMetadata":{"preTokens":"hush"}`) + claudeLine("user", "z", "b", `"isCompactSummary":true,"message":{"content":"s"}`), "line 2: compactMetadata.preTokens: must be a number, is a string"},
		"bad time":         {claudeLine("user", "v", "u", `"timestamp":"hush","message":{"content":"a"}`), "line 2: timestamp: is not a point in time"},
		"parents in a row": {claudeUser("v", "v"), "line 2: parentUuid: is its own ancestor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := read(start+c.line, transcript.Strict())
			require.EqualError(t, err, c.want)
		})
	}
}

func TestClaudeCodeFailuresAreErrors(t *testing.T) {
	t.Parallel()
	messages, _, err := read(claudeUser("u", "null") + claudeLine("assistant", "a", "u",
		`"isApiErrorMessage":true,"message":{"id":"m","model":"<synthetic>","content":[{"type":"text","text":"529"}],"stop_reason":"stop_sequence","usage":{"input_tokens":0,"output_tokens":0}}`))
	require.NoError(t, err)
	require.Equal(t, compactordv1.StopReason_STOP_REASON_ERROR, messages[1].GetStopReason())
	require.Equal(t, "529", messages[1].GetErrorText())
	require.Empty(t, messages[1].GetModel())
	require.Nil(t, messages[1].GetUsage())
}

func TestNoticesOfClaudeCodeStartNoTurn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]compactordv1.Origin{
		"Do it":                         compactordv1.Origin_ORIGIN_IMPORT,
		"<command-name>/x":              compactordv1.Origin_ORIGIN_IMPORT,
		"<local-command-stdout>":        compactordv1.Origin_ORIGIN_CONTINUE,
		"<task-notification>x":          compactordv1.Origin_ORIGIN_CONTINUE,
		"<system-reminder>x":            compactordv1.Origin_ORIGIN_CONTINUE,
		"[Request interrupted by user]": compactordv1.Origin_ORIGIN_CONTINUE,
	} {
		messages, _, err := read(claudeLine("user", "u", "null", `"message":{"content":"`+text+`"}`))
		require.NoError(t, err)
		require.Equal(t, want, messages[0].GetOrigin(), text)
	}
	require.Equal(t, "Claude Code session file", transcript.ClaudeCode.String())
}
