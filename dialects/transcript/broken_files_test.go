package transcript_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// The start of files whose lines are messages, with one message each, and a further line.
var lineFormats = map[string]struct{ opening, more string }{
	"openai":    {hello, hello},
	"anthropic": {`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"a","input":{}}]}` + "\n", hello},
	"responses": {`{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}` + "\n", hello},
	"gemini":    {`{"role":"user","parts":[{"text":"a"}]}` + "\n", `{"role":"model","parts":[{"text":"b"}]}` + "\n"},
	"kimi":      {`{"role":"_checkpoint","id":0}` + "\n" + hello, hello},
	"pi":        {list + `{"type":"message","message":{"role":"user","content":"a"}}` + "\n", `{"type":"message","message":{"role":"user","content":"b"}}` + "\n"},
	"claude":    {claudeUser("a", "null"), claudeUser("b", "a")},
}

// claudeUser returns a user's line of Claude Code. Its text is its id.
func claudeUser(id, parent string) string {
	if parent != "null" {
		parent = `"` + parent + `"`
	}
	return `{"type":"user","uuid":"` + id + `","parentUuid":` + parent + `,"sessionId":"s","message":{"role":"user","content":"` + id + `"}}` + "\n"
}

// The rest of a broken line is left out and noted. All other lines are read.
func TestCase135BrokenLinesAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range lineFormats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := strings.Count(c.opening, "\n")
			input := c.opening + `{"role":"user","con` + "\n" + "hush\n" + c.more + strings.TrimSuffix(c.more, "}\n")
			messages, notes, err := read(input)
			require.NoError(t, err)
			require.Len(t, messages, 2)
			require.Contains(t, notes, transcript.Note{Count: 3, Text: "3 broken lines left out (lines " + numbers(at+1, at+2, at+4) + ")"})
			_, _, err = read(input, transcript.Strict())
			var line *transcript.LineError
			require.ErrorAs(t, err, &line)
			require.Equal(t, at+1, line.Line)
		})
	}
}

// A file of broken lines only is refused.
func TestFilesOfNothingButBrokenLinesAreRefused(t *testing.T) {
	t.Parallel()
	for _, opts := range [][]transcript.Option{nil, {transcript.As(transcript.Kimi)}} {
		_, _, err := read(`{"role":"user","content":"hus`, opts...)
		require.EqualError(t, err, "line 1: is not valid JSON: it breaks off at its end")
	}
}

func numbers(n ...int) string {
	var words []string
	for _, n := range n {
		words = append(words, string(rune('0'+n)))
	}
	return strings.Join(words, ", ")
}

func TestCase136LinesCutWithinACharacterAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range lineFormats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, notes, err := read(c.opening + c.more + "{\"role\":\"user\",\"content\":\"hus\xe2\x82")
			require.NoError(t, err)
			require.Len(t, messages, 2)
			text := "1 broken line left out (line " + numbers(strings.Count(c.opening, "\n")+2) + ")"
			require.Contains(t, notes, transcript.Note{Count: 1, Text: text})
		})
	}
}

func TestCase137FilesThatBeginWithoutTheirHeaderAreRefused(t *testing.T) {
	t.Parallel()
	entry := user("a", "null", "hush")
	for name, c := range map[string]struct {
		input, want string
		opts        []transcript.Option
	}{
		"no header":             {entry, transcript.ErrUnknownFormat.Error() + ": its first object has id, message, parentId, type, the nearest is pi", nil},
		"half a header":         {`{"type":"session","id` + "\n" + entry, transcript.ErrUnknownFormat.Error(), nil},
		"a header further down": {entry + head, "line 1: a session file of Pi begins with its header, and this is none", nil},
		"no header, for sure":   {entry, "line 1: a session file of Pi begins with its header, and this is none", []transcript.Option{transcript.As(transcript.Pi)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := read(c.input, c.opts...)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// In files without ids, a compaction names the first kept entry by its position in the file. The header has position 0.
func TestCase138OldFilesOfPiSayWhatTheyWereMigratedTo(t *testing.T) {
	t.Parallel()
	say := func(fields, text string) string {
		return `{"type":"message",` + fields + `"message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	old := `{"type":"session","id":"s"}` + "\n" + say("", "1") + `{"type":"label"}` + "\n" + say("", "2") + say("", "3") +
		`{"type":"compaction","summary":"1 was said","firstKeptEntryIndex":3,"tokensBefore":9}` + "\n" + say("", "4")
	migrated := head + say(`"id":"a","parentId":null,`, "1") + `{"type":"label","id":"b","parentId":"a"}` + "\n" +
		say(`"id":"c","parentId":"b",`, "2") + say(`"id":"d","parentId":"c",`, "3") +
		`{"type":"compaction","id":"e","parentId":"d","summary":"1 was said","firstKeptEntryId":"c","tokensBefore":9}` + "\n" +
		say(`"id":"f","parentId":"e",`, "4")
	for _, input := range []string{old, migrated} {
		messages, records, _ := readWith(t, input)
		require.Len(t, messages, 4)
		require.Len(t, records, 1)
		require.Equal(t, uint32(1), records[0].GetCompaction().GetFirstKeptIndex())
		require.Equal(t, uint32(3), records[0].GetAfterMessages())
	}
	// The index of the header names no entry.
	messages, records, notes := readWith(t, strings.Replace(old, `"firstKeptEntryIndex":3`, `"firstKeptEntryIndex":0`, 1))
	require.Len(t, messages, 4)
	require.Equal(t, uint32(3), records[0].GetCompaction().GetFirstKeptIndex())
	require.Equal(t, uint32(4), records[0].GetAfterMessages())
	require.Contains(t, notes, transcript.Note{Count: 1, Text: "1 compaction whose first kept message is unknown or missing keeps only what follows it"})
}

// Pi makes another id where one is in use. Where a file has an id twice anyway, the later entry counts. A circle is
// refused.
func TestCase139AnIDUsedTwiceNamesTheLaterEntry(t *testing.T) {
	t.Parallel()
	messages, records, _ := readWith(t, head+user("a", "null", "1")+user("a", "null", "2")+
		`{"type":"compaction","id":"c","parentId":"a","summary":"x","firstKeptEntryId":"a","tokensBefore":9}`+"\n"+user("d", "c", "3"))
	require.Len(t, messages, 2)
	require.Equal(t, "2", textOf(messages[0]))
	require.Len(t, records, 1)
	require.Zero(t, records[0].GetCompaction().GetFirstKeptIndex())
	_, _, err := read(head+user("a", "null", "1")+user("b", "a", "2")+user("a", "b", "3"), transcript.Strict())
	require.EqualError(t, err, "line 4: parentId: is its own ancestor")
}

// Seed case 127: a compaction whose first kept entry is not on the path keeps only the messages after it.
func TestCase127FirstKeptEntryThatIsNotOnThePath(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]string{
		"missing": "x", "after the compaction": "d", "the compaction itself": "c", "on another branch": "o",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, records, notes := readWith(t, head+user("a", "null", "1")+user("o", "a", "other")+user("b", "a", "2")+
				`{"type":"compaction","id":"c","parentId":"b","summary":"x","firstKeptEntryId":"`+kept+`","tokensBefore":9}`+"\n"+
				user("d", "c", "3")+user("e", "d", "4"))
			require.Len(t, messages, 4)
			require.Len(t, records, 1)
			require.Equal(t, uint32(2), records[0].GetCompaction().GetFirstKeptIndex())
			require.Equal(t, uint32(3), records[0].GetAfterMessages())
			require.Contains(t, notes, transcript.Note{Count: 1, Text: "1 compaction whose first kept message is unknown or missing keeps only what follows it"})
		})
	}
}

func TestCompactionsOfPiTellFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		details string
		want    *compactordv1.FileLists
	}{
		"none":      {`null`, nil},
		"empty":     {`{"readFiles":[],"modifiedFiles":[]}`, nil},
		"both":      {`{"readFiles":["b","a","c","a"],"modifiedFiles":["c"]}`, &compactordv1.FileLists{Read: []string{"a", "b"}, Modified: []string{"c"}}},
		"by UTF-16": {`{"readFiles":["\uffee","\ud83d\ude00"]}`, &compactordv1.FileLists{Read: []string{"\U0001f600", "\uffee"}}},
		"malformed": {`{"readFiles":"a","modifiedFiles":[1,null,"b"]}`, &compactordv1.FileLists{Modified: []string{"b"}}},
		"no object": {`"hush"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, records, _ := readWith(t, list+`{"type":"message","message":{"role":"user","content":"a"}}`+"\n"+
				`{"type":"compaction","summary":"s","firstKeptEntryIndex":2,"tokensBefore":1,"details":`+c.details+`}`)
			require.Len(t, records, 1)
			have := records[0].GetCompaction().GetFiles()
			require.Equal(t, c.want.GetRead(), have.GetRead())
			require.Equal(t, c.want.GetModified(), have.GetModified())
		})
	}
}

// Seed cases 56 to 58: a command that the user ran in the shell starts a turn. The text of an extension, and the
// summary of an abandoned branch, are shown as the user's and start none.
func TestCases056To058WhichMessagesOfPiStartATurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entry  string
		starts bool
	}{
		"user":              {`"type":"message","message":{"role":"user","content":"x"}`, true},
		"shell":             {`"type":"message","message":{"role":"bashExecution","command":"ls","output":"x","exitCode":0}`, true},
		"extension message": {`"type":"message","message":{"role":"custom","content":"x"}`, false},
		"extension entry":   {`"type":"custom_message","content":"x"`, false},
		"branch summary":    {`"type":"branch_summary","summary":"x"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, _, err := read(list + "{" + c.entry + "}\n")
			require.NoError(t, err)
			require.Len(t, messages, 1)
			require.Equal(t, compactordv1.Role_ROLE_USER, messages[0].GetRole())
			require.Equal(t, c.starts, session.StartsTurn(messages[0]))
		})
	}
}
