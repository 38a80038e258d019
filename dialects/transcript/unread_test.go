package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// One image that is no base64, a field with a wrong type or a record of an unknown kind made the import of a session
// fail. All other messages must be imported, with a note on each thing that could not be read.
func TestOneBadRecordDoesNotRefuseASession(t *testing.T) {
	t.Parallel()
	const before, behind = "Before.", "Behind."
	for name, c := range map[string]struct{ input, note string }{
		"chat: image": {
			`{"role":"user","content":"Before."}` + "\n" +
				`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,%%%"}}]}` + "\n" + `{"role":"user","content":"Behind."}`,
			"1 message of which a part or a field cannot be read; a line of text replaces a part (line 2)",
		},
		"chat: role": {
			`{"role":"user","content":"Before."}` + "\n" + `{"role":"oracle","content":"x"}` + "\n" + `{"role":"user","content":"Behind."}`,
			"1 record that cannot be read left out (line 2); the first: role: unknown role; known are system, developer, user, assistant, tool and function",
		},
		"anthropic array": {
			`[{"role":"user","content":[{"type":"text","text":"Before."},{"type":"tool_result","tool_use_id":"t"}]},` +
				`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%"}}]},` +
				`{"role":"user","content":"Behind."}]`,
			"1 message of which a part or a field cannot be read; a line of text replaces a part",
		},
		"claude: block": {
			claudeUser("u", "null") + claudeLine("user", "b", "u", `"message":{"content":[{"type":"image","source":7}]}`) +
				claudeLine("user", "c", "b", `"message":{"content":"Behind."}`),
			"1 message of which a part or a field cannot be read; a line of text replaces a part (line 2)",
		},
		"claude: broken in the middle": {
			claudeUser("u", "null") + `{"type":"user","uuid":"b` + "\n" + claudeLine("user", "c", "b", `"message":{"content":"Behind."}`),
			"1 broken line left out (line 2)",
		},
		"pi: image": {
			head + user("a", "null", "Before.") +
				`{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":[{"type":"image","data":"%","mimeType":"image/png"}]}}` + "\n" +
				user("c", "b", "Behind."),
			"1 message of which a part or a field cannot be read; a line of text replaces a part",
		},
		"pi: broken in the middle": {
			head + user("a", "null", "Before.") + `{"type":"message","id":"b` + "\n" + user("c", "b", "Behind."),
			"1 broken line left out (line 3)",
		},
		"pi: entry of a tree": {
			head + user("a", "null", "Before.") + `{"type":"oracle","id":"x","parentId":"a"}` + "\n" + user("c", "a", "Behind."),
			"1 record that cannot be read left out (line 3); the first: type: unknown type of entry",
		},
		"claude: line of a tree": {
			claudeUser("u", "null") + `{"type":7,"uuid":"x","parentUuid":"u"}` + "\n" + claudeLine("user", "c", "u", `"message":{"content":"Behind."}`),
			"1 record that cannot be read left out (line 2); the first: type: must be a string, is a number",
		},
		"gemini-cli: line": {
			`{"sessionId":"s","projectHash":"0"}` + "\n" + `{"id":"1","type":"user","content":"Before."}` + "\n" + `{"$rewindTo":7}` + "\n" +
				`{"id":"2","type":"user","content":"Behind."}`,
			"1 record that cannot be read left out (line 3); the first: $rewindTo: must be a string, is a number",
		},
		"pi: first entry": {
			`{"type":"session","id":"s"}` + "\n" + `{"label":"x"}` + "\n" + `{"type":"message","message":{"role":"user","content":"Before."}}` + "\n" +
				`{"type":"message","message":{"role":"user","content":"Behind."}}`,
			"1 record that cannot be read left out (line 2); the first: type: is missing",
		},
		"pi: stop reason": {
			list + `{"type":"message","message":{"role":"assistant","content":"Before.","stopReason":"x"}}` + "\n" +
				`{"type":"message","message":{"role":"user","content":"Behind."}}`,
			"1 field that cannot be read left out (line 3)",
		},
		"openhands: time": {
			`[{"source":"user","action":"message","args":{"content":"Before."},"timestamp":"x"},` +
				`{"source":"user","action":"message","args":{"content":"Behind."}}]`,
			"1 field that cannot be read left out (line 1)",
		},
		"copilot: result": {
			`{"type":"user.message","data":{"content":"Before."}}` + "\n" + `{"type":"tool.execution_complete","data":7}` + "\n" +
				`{"type":"user.message","data":{"content":"Behind."}}`,
			"1 record that cannot be read left out (line 2); the first: data: must be an object, is a number",
		},
		"gemini-cli: call": {
			geminiChat + `{"id":"1","type":"user","content":"Before."},{"id":"2","type":"gemini","toolCalls":[{"args":{}}]},{"id":"3","type":"user","content":"Behind."}]}`,
			"1 message of which a part or a field cannot be read; a line of text replaces a part",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, notes, err := read(c.input)
			require.NoError(t, err)
			var texts []string
			for _, m := range messages {
				require.NoError(t, protovalidate.Validate(m))
				texts = append(texts, textOf(m))
			}
			require.Contains(t, texts, behind)
			if !strings.HasPrefix(name, "claude") {
				require.Contains(t, texts, before)
			} else {
				require.GreaterOrEqual(t, len(messages), 2)
			}
			require.Contains(t, noteTexts(notes), c.note)
			_, _, err = read(c.input, transcript.Strict())
			require.Error(t, err)
		})
	}
}

func noteTexts(notes []transcript.Note) []string {
	texts := make([]string, len(notes))
	for i, n := range notes {
		texts[i] = n.Text
	}
	return texts
}

// brokenLine breaks a line of JSON: it cuts the line, or gives one value another kind.
func brokenLine(t *rapid.T, line []byte) []byte {
	if len(line) > 2 && rapid.Bool().Draw(t, "cut") {
		return line[:1+rapid.IntRange(0, len(line)-3).Draw(t, "at")]
	}
	var value map[string]any
	if json.Unmarshal(line, &value) != nil {
		return []byte("{")
	}
	// The place of a line in a tree stays readable: only its content is broken.
	for _, key := range []string{"message", "payload", "data"} {
		if inner, holds := value[key].(map[string]any); holds {
			value[key] = brokenValue(t, inner)
			broken, err := json.Marshal(value)
			if err != nil {
				return []byte("{")
			}
			return broken
		}
	}
	places := make(map[string]any)
	for _, key := range []string{"id", "parentId", "uuid", "parentUuid", "logicalParentUuid", "isSidechain"} {
		if place, there := value[key]; there {
			places[key] = place
			delete(value, key)
		}
	}
	whole, isObject := brokenValue(t, value).(map[string]any)
	if !isObject {
		return []byte("{")
	}
	maps.Copy(whole, places)
	broken, err := json.Marshal(whole)
	if err != nil {
		return []byte("{")
	}
	return broken
}

func brokenValue(t *rapid.T, value any) any {
	switch v := value.(type) {
	case map[string]any:
		if len(v) > 0 {
			key := rapid.SampledFrom(slices.Sorted(maps.Keys(v))).Draw(t, "key")
			if v[key] = brokenValue(t, v[key]); rapid.IntRange(0, 9).Draw(t, "drop") == 0 {
				delete(v, key)
			}
			return v
		}
	case []any:
		if len(v) > 0 {
			at := rapid.IntRange(0, len(v)-1).Draw(t, "element")
			v[at] = brokenValue(t, v[at])
			return v
		}
	}
	return rapid.SampledFrom([]any{7.5, "%%%", true, nil, []any{"x"}, map[string]any{"x": 1}, "data:image/png;base64,%"}).Draw(t, "odd")
}

// Whatever breaks in one line, the messages of all other lines are imported, and a note or a line of text replaces a
// missing message.
func TestWhateverBreaksInOneLineTheOthersComeIn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"openai.jsonl", "anthropic.jsonl", "gemini.jsonl", "responses.jsonl", "pi-list.jsonl", "pi-tree.jsonl", "claude.jsonl",
		"codex.jsonl", "codex-old.jsonl", "geminicli.jsonl", "copilot.jsonl", "openhands-events.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("testdata", name))
			require.NoError(t, err)
			lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
			whole, _, err := read(string(text))
			require.NoError(t, err)
			rapid.Check(t, func(t *rapid.T) {
				// The first line shows the format, and in a tree the last line shows the conversation.
				at := rapid.IntRange(1, len(lines)-2).Draw(t, "line")
				broken := slices.Clone(lines)
				broken[at] = brokenLine(t, slices.Clone(lines[at]))
				messages, _, err := read(string(bytes.Join(broken, []byte("\n"))))
				require.NoError(t, err, "%s", broken[at])
				for _, m := range messages {
					require.NoError(t, protovalidate.Validate(m))
				}
				// The neighbours of a missing message can now be one message.
				require.GreaterOrEqual(t, len(messages)+mostOfALine(whole)+1, len(whole), "%s", broken[at])
			})
		})
	}
}

// mostOfALine returns the most messages that came from one line or response.
func mostOfALine(messages []*compactordv1.Message) int {
	of := make(map[string]int)
	most := 0
	for _, m := range messages {
		key := fmt.Sprint(m.GetSourcePosition())
		of[key]++
		most = max(most, of[key])
	}
	return most
}

// The note on a document on one line named "lines 1, 1, 1".
func TestALineIsNamedOnce(t *testing.T) {
	t.Parallel()
	const bad = `{"role":"oracle","content":"x"}`
	note := func(text string) string {
		_, notes, err := read(text)
		require.NoError(t, err)
		require.Len(t, notes, 1)
		return notes[0].Text
	}
	const good = `{"role":"user","content":"hi"}`
	require.Contains(t, note(`[`+good+strings.Repeat(","+bad, 12)+`]`), "12 records that cannot be read left out (line 1); ")
	require.Contains(t, note(good+strings.Repeat("\n"+bad, 10)), "left out (lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11); ")
	require.Contains(t, note(good+strings.Repeat("\n"+bad, 11)), "left out (lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...); ")
}

// A time that could not be read removed its message where the reader looked for it in the wrong object.
func TestAWrongTimeLosesNoMessage(t *testing.T) {
	t.Parallel()
	times := regexp.MustCompile(`("timestamp": ?)("[^"]*"|[0-9.]+)`)
	for _, name := range []string{
		"pi-list.jsonl", "pi-tree.jsonl", "claude.jsonl", "codex.jsonl", "codex-old.jsonl", "geminicli.json", "geminicli.jsonl",
		"copilot.jsonl", "openhands.jsonl", "openhands-events.jsonl", "openhands-headless.txt", "minisweagent.traj.json",
	} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		whole, _, err := read(string(text))
		require.NoError(t, err, name)
		for _, wrong := range []string{`"hush"`, `true`, `{}`, `1e300`} {
			messages, _, err := read(times.ReplaceAllString(string(text), "${1}"+wrong))
			require.NoError(t, err, name)
			require.Len(t, messages, len(whole), "%s with the time %s", name, wrong)
		}
	}
}
