package transcript_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestFormatIsRecognizedByContent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input string
		want  transcript.Format
		texts []string
	}{
		"lines":                {hello + hello, transcript.OpenAIChat, []string{"hush", "hush"}},
		"one line without end": {strings.TrimSpace(hello), transcript.OpenAIChat, []string{"hush"}},
		"byte order mark":      {"\ufeff" + hello, transcript.OpenAIChat, []string{"hush"}},
		"CRLF":                 {strings.ReplaceAll(hello+"\n"+hello, "\n", "\r\n"), transcript.OpenAIChat, []string{"hush", "hush"}},
		"blank lines first":    {"\n \r\n\t\n" + hello, transcript.OpenAIChat, []string{"hush"}},
		"a compaction first":   {`{"role":"_compaction"}` + "\n" + hello, transcript.OpenAIChat, []string{"hush"}},
		"array":                {"[" + hello + "," + hello + "]", transcript.OpenAIChat, []string{"hush", "hush"}},
		"array over lines":     {"\ufeff\n[\r\n" + hello + "\r\n]\r\n", transcript.OpenAIChat, []string{"hush"}},
		"empty array":          {"[]", transcript.OpenAIChat, nil},
		"body":                 {`{"messages":[` + hello + `]}`, transcript.OpenAIChat, []string{"hush"}},
		"body on one line":     {`{"model":"m","messages":[` + strings.TrimSpace(hello) + `],"n":1}` + "\n\n", transcript.OpenAIChat, []string{"hush"}},
		"body of no messages":  {`{"messages":[]}`, transcript.OpenAIChat, nil},
		"Pi without entries":   {head, transcript.Pi, nil},
		"Pi list":              {list + `{"type":"message","message":{"role":"user","content":"hi"}}`, transcript.Pi, []string{"hi"}},
		"Pi tree":              {head + `{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"hi"}}`, transcript.Pi, []string{"hi"}},
		"Pi tree, no version":  {`{"type":"session","id":"s"}` + "\n" + `{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"lost"}}` + "\n" + `{"type":"message","id":"b","parentId":null,"message":{"role":"user","content":"hi"}}`, transcript.Pi, []string{"hi"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := transcript.Open(iotest.OneByteReader(strings.NewReader(c.input)))
			require.NoError(t, err)
			require.Equal(t, c.want, r.Format())
			messages, err := r.ReadAll()
			require.NoError(t, err)
			var texts []string
			for _, m := range messages {
				texts = append(texts, textOf(m))
			}
			require.Equal(t, c.texts, texts)
			_, err = r.Next()
			require.ErrorIs(t, err, io.EOF)
		})
	}
}

func TestSourcePositionIsTheLineFromZero(t *testing.T) {
	t.Parallel()
	messages, notes, err := read("\n" + hello + "\r\n" + `{"role":"_compaction"}` + "\n" + hello)
	require.NoError(t, err)
	require.Len(t, messages, 2)
	require.Equal(t, uint32(1), messages[0].GetSourcePosition())
	require.Equal(t, uint32(4), messages[1].GetSourcePosition())
	require.Equal(t, []transcript.Note{{Count: 1, Text: "1 _compaction record that does not say what it kept left out"}}, notes)
}

func TestLinesAreReadAsTheyArrive(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	written := make(chan error, 1)
	next := make(chan struct{})
	go func() {
		for range 3 {
			// Only OpenAI's shape has messages of a tool, so the format is known without a further line.
			if _, err := io.WriteString(out, `{"role":"tool","content":"hush"}`+"\n"); err != nil {
				written <- err
				return
			}
			<-next
		}
		written <- out.Close()
	}()
	r, err := transcript.Open(in)
	require.NoError(t, err)
	for range 3 {
		m, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, "hush", textOf(m))
		next <- struct{}{}
	}
	_, err = r.Next()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, <-written)
}

func TestLargeLinesAreRead(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("a", 3<<20)
	messages, _, err := read(`{"role":"tool","content":"` + large + "\"}\n" + hello)
	require.NoError(t, err)
	require.Len(t, messages, 2)
	require.Len(t, textOf(messages[0]), len(large))
	require.Equal(t, "hush", textOf(messages[1]))
}

// user returns a user's message as an entry of a tree.
func user(id, parent, text string) string {
	if parent != "null" {
		parent = `"` + parent + `"`
	}
	return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"message":{"role":"user","content":"` + text + `"}}` + "\n"
}

func TestPiPathLeadsFromTheLastEntryUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input string
		texts []string
		notes []transcript.Note
	}{
		"a branch":        {head + user("a", "null", "1") + user("b", "a", "2") + user("c", "a", "3"), []string{"1", "3"}, []transcript.Note{{1, "1 entry that is not on the current path left out"}}},
		"a lost parent":   {head + user("a", "null", "1") + user("b", "x", "2") + user("c", "b", "3"), []string{"2", "3"}, []transcript.Note{{1, "the current path begins at an entry whose parent is not in the file"}, {1, "1 entry that is not on the current path left out"}}},
		"a new root":      {head + user("a", "null", "1") + user("b", "null", "2"), []string{"2"}, []transcript.Note{{1, "1 entry that is not on the current path left out"}}},
		"an id used anew": {head + user("a", "null", "1") + user("a", "null", "2") + user("b", "a", "3"), []string{"2", "3"}, []transcript.Note{{1, "1 entry that is not on the current path left out"}}},
		"parent behind":   {head + user("a", "b", "2") + user("b", "null", "1") + user("c", "a", "3"), []string{"1", "2", "3"}, []transcript.Note{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, notes, err := read(c.input)
			require.NoError(t, err)
			var texts []string
			for _, m := range messages {
				texts = append(texts, textOf(m))
			}
			require.Equal(t, c.texts, texts)
			require.Equal(t, c.notes, notes)
		})
	}
}

func TestPiShellEntries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fields, want string }{
		"plain":             {`"output":"a\nb\n","exitCode":0`, "$ ls -l\na\nb"},
		"without exit code": {`"output":"a"`, "$ ls -l\na"},
		"no output":         {`"output":"","exitCode":0`, "$ ls -l\n[no output]"},
		"failed":            {`"output":"a","exitCode":127`, "$ ls -l\na\n[exit code 127]"},
		"cancelled":         {`"output":"a","exitCode":130,"cancelled":true`, "$ ls -l\na\n[cancelled]"},
		"shortened":         {`"output":"a","exitCode":0,"truncated":true,"fullOutputPath":"C:\\Temp\\pi.log"`, "$ ls -l\na\n[shortened; all of it was in pi.log]"},
		"not shortened":     {`"output":"a","exitCode":0,"truncated":false,"fullOutputPath":"/tmp/pi.log"`, "$ ls -l\na"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, notes, err := read(list + `{"type":"message","message":{"role":"bashExecution","command":"ls -l",` + c.fields + `}}`)
			require.NoError(t, err)
			require.Len(t, messages, 1)
			require.Equal(t, c.want, textOf(messages[0]))
			require.Equal(t, compactordv1.Role_ROLE_USER, messages[0].GetRole())
			require.Equal(t, compactordv1.Origin_ORIGIN_IMPORT, messages[0].GetOrigin())
			require.Equal(t, []transcript.Note{{1, "1 label entry left out"}}, notes)
		})
	}
}

// Seed case 8: what the user excluded from the context is not imported.
func TestPiShellEntriesExcludedFromTheContextAreLeftOut(t *testing.T) {
	t.Parallel()
	excluded := `{"type":"message","message":{"role":"bashExecution","command":"env","output":"KEY=1","excludeFromContext":true}}` + "\n"
	messages, notes, err := read(list + excluded + excluded)
	require.NoError(t, err)
	require.Empty(t, messages)
	require.Contains(t, notes, transcript.Note{
		Count: 2,
		Text:  "2 shell commands that the user had excluded from the context left out",
	})
}

func TestLongErrorTextOfPiIsCut(t *testing.T) {
	t.Parallel()
	messages, notes, err := read(list + `{"type":"message","message":{"role":"assistant","stopReason":"error","errorMessage":"a` +
		strings.Repeat("é", 32<<10) + `"}}`)
	require.NoError(t, err)
	require.Equal(t, "a"+strings.Repeat("é", 32<<10-1), messages[0].GetErrorText())
	require.Contains(t, notes, transcript.Note{Count: 1, Text: "1 error text cut to 64 KiB"})
}
