package main

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// What view prints in a dialect is the JSON of a request, and passes the linter.
func TestViewInADialectIsARequest(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "talk.jsonl", talk(120)+`{"role":"user","content":"And the last one?"}`)
	fields := map[string]string{
		"openai_chat": "messages", "openai_responses": "input", "anthropic": "messages", "gemini": "contents",
	}
	for _, d := range dialects.All() {
		t.Run(d.Name(), func(t *testing.T) {
			for _, args := range [][]string{nil, {"--compact", "--context-window", "20000"}} {
				r := ran(t, append([]string{"view", path, "--dialect", d.Name(), "-q"}, args...)...).ends(t, exitDone)
				require.Empty(t, r.err)
				var body map[string]json.RawMessage
				require.NoError(t, json.Unmarshal([]byte(r.out), &body))
				require.Contains(t, body, fields[d.Name()])
				if args != nil {
					contains(t, r.out, "Earlier parts of this conversation were compacted")
					require.Less(t, len(r.out), 80_000)
				}
				checked := ranOn(t, strings.NewReader(r.out), "validate", "-", "--dialect", d.Name()).ends(t, exitDone)
				contains(t, checked.out, "no rule of "+d.Name()+" broken")
			}
		})
	}
}

func TestViewMarksBreakpoints(t *testing.T) {
	temporaryFolder(t)
	r := ran(t, "view", talkFile(t), "--dialect", "anthropic", "--mark-cache-breakpoints").ends(t, exitDone)
	require.Equal(t, 1, strings.Count(r.out, `"cache_control"`))
	ran(t, "view", talkFile(t), "--dialect", "gemini", "--mark-cache-breakpoints").ends(t, exitUsage)
	ran(t, "view", talkFile(t), "--mark-cache-breakpoints").ends(t, exitUsage).says(t, "goes with --dialect")
	ran(t, "view", talkFile(t), "--dialect", "anthropic", "--json").ends(t, exitUsage)
	ran(t, "view", talkFile(t), "--dialect", "latin").ends(t, exitUsage).says(t, "known are openai_chat, ")
}

func TestViewOfOpenCallsSaysWhatToDo(t *testing.T) {
	temporaryFolder(t)
	open := strings.SplitAfter(talk(1), "\n")[:2]
	ran(t, "view", file(t, "open.jsonl", strings.Join(open, "")), "--dialect", "openai_chat").
		ends(t, exitFailed).says(t, "1 tool call waits for its result").says(t, "a message of the user")
}

func TestValidateIsALinter(t *testing.T) {
	lines := `{"role":"user","content":"Go."}
{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}
{"role":"user","content":"Never mind the secret."}
`
	r := ran(t, "validate", file(t, "bad.jsonl", lines), "--dialect", "anthropic").ends(t, exitFailed)
	require.Regexp(t, `^\S+bad.jsonl: message 1, part 0: anthropic.results-follow-calls: `, r.out)
	require.NotContains(t, r.out, "secret")
	r.says(t, "breaks the rules of anthropic in 1 place")

	r = ran(t, "validate", file(t, "bad.jsonl", lines), "--dialect", "anthropic", "--json").ends(t, exitFailed)
	var document validateJSON
	require.NoError(t, json.Unmarshal([]byte(r.out), &document))
	require.Equal(t, "anthropic", document.Dialect)
	require.Equal(t, 3, document.Messages)
	require.Len(t, document.Violations, 1)
	require.Equal(t, 1, document.Violations[0].Message)

	ends := file(t, "ends.jsonl", `{"role":"user","content":"Go."}`+"\n"+`{"role":"assistant","content":"Gone."}`)
	ran(t, "validate", ends, "--dialect", "anthropic").ends(t, exitFailed)
	ran(t, "validate", ends, "--dialect", "anthropic", "--history").ends(t, exitDone)
	ran(t, "validate", file(t, "no.json", `{"role":`), "--dialect", "gemini").ends(t, exitFailed).says(t, "not valid JSON")
	ran(t, "validate", file(t, "no.json", " "), "--dialect", "gemini").ends(t, exitFailed).says(t, "it is empty")
	ran(t, "validate", file(t, "bytes.json", "[{\"role\":\"user\",\"content\":\"a\xff\"}]"), "--dialect", "openai_chat").
		ends(t, exitFailed).says(t, "not valid UTF-8")
	ran(t, "validate", file(t, "bom.json", "\xef\xbb\xbf"+`[{"role":"user","content":"a"}]`), "--dialect", "openai_chat").
		ends(t, exitDone)
}

// To the shape that it is written in, a transcript comes out as it was; to each other one as a list that is valid.
func TestConvert(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "talk.jsonl", `{"role":"system","content":"Be brief."}`+"\n"+talk(3))
	r := ran(t, "convert", path, "--to", "openai_chat", "-q").ends(t, exitDone)
	want := strings.Split(`{"role":"system","content":"Be brief."}`+"\n"+strings.TrimSpace(talk(3)), "\n")
	have := strings.Split(strings.TrimSpace(r.out), "\n")
	require.Len(t, have, len(want))
	for i := range want {
		require.JSONEq(t, want[i], have[i])
	}
	for _, d := range dialects.All() {
		converted := ran(t, "convert", path, "--to", d.Name(), "-q").ends(t, exitDone).out
		ranOn(t, strings.NewReader(converted), "validate", "-", "--dialect", d.Name(), "--history").ends(t, exitDone)
		back := ranOn(t, strings.NewReader(converted), "convert", "-", "--to", "openai_chat", "-q").ends(t, exitDone).out
		require.Equal(t, 1+4*3, strings.Count(back, "\n"), "%s: %s", d.Name(), back)
		contains(t, back, "Be brief.")
		contains(t, back, `"name":"read_file"`)
	}
	markdown := ran(t, "convert", path, "--to", "markdown").ends(t, exitDone).out
	contains(t, markdown, "## #0 system\n\nBe brief.\n")
	contains(t, markdown, "Calls `read_file`:\n\n```json\n{\"path\":\"pkg/parser_0.go\"}\n```\n")
	ran(t, "convert", path, "--to", "html").ends(t, exitUsage).says(t, "there is no dialect")
	ran(t, "convert", file(t, "empty.json", "[]"), "--to", "gemini").ends(t, exitNothing)
}

// A session comes out whole, and as its client wrote it.
func TestExport(t *testing.T) {
	store := storePath(t)
	ran(t, "import", talkFile(t), "--session", "s", "--store", store).ends(t, exitDone)
	ran(t, "compact", "--session", "s", "--store", store).ends(t, exitDone)
	r := ran(t, "export", "--session", "s", "--store", store, "--to", "openai_chat", "-q").ends(t, exitDone)
	want := strings.Split(strings.TrimSpace(talk(120)), "\n")
	have := strings.Split(strings.TrimSpace(r.out), "\n")
	require.Len(t, have, len(want), "what was compacted is there too")
	for i := range want {
		require.JSONEq(t, want[i], have[i])
	}
	r = ran(t, "export", "--session", "s", "--store", store, "--to", "markdown").ends(t, exitDone)
	contains(t, r.out, "## #479 assistant\n")
	ran(t, "export", "--session", "nobody", "--store", store, "--to", "gemini").ends(t, exitFailed).says(t, `no session "nobody"`)
}

func TestExportLeavesOutWhatWasPutAside(t *testing.T) {
	store := storePath(t)
	ran(t, "import", file(t, "talk.jsonl", talk(2)), "--session", "s", "--store", store).ends(t, exitDone)
	a := &app{terminal: terminal{stderr: io.Discard}}
	c, err := a.embed(t.Context(), store)
	require.NoError(t, err)
	_, err = c.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 4},
	})
	require.NoError(t, errors.Join(err, c.close()))
	r := ran(t, "export", "--session", "s", "--store", store, "--to", "openai_chat", "-q").ends(t, exitDone)
	require.Equal(t, 4, strings.Count(r.out, "\n"))
}

// The compactions of an imported session are in force, unless they are not wanted.
func TestImportedCompactions(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "compacted.jsonl",
		talk(10)+`{"role":"_compaction","summary":"Ten tests were mended, one after the other.","first_kept":36}`+"\n"+talk(2))
	r := ran(t, "view", path, "--messages").ends(t, exitDone)
	contains(t, r.out, "Ten tests were mended")
	require.NotContains(t, r.out, "#35 ")
	contains(t, r.out, "#36 ")
	converted := ran(t, "convert", path, "--to", "anthropic", "-q").ends(t, exitDone).out
	contains(t, converted, "parser_0.go")
	require.NotContains(t, converted, "Ten tests were mended")
	r = ran(t, "view", path, "--messages", "--without-compactions").ends(t, exitDone)
	require.NotContains(t, r.out, "Ten tests were mended")
	contains(t, r.out, "#35 ")
}

func TestChoosingASessionThatIsNotThere(t *testing.T) {
	temporaryFolder(t)
	ran(t, "view", talkFile(t), "--nth", "2").ends(t, exitUsage).says(t, "there is no session 2: the input holds 1")
	ran(t, "view", talkFile(t), "--nth", "1").ends(t, exitDone)
	ran(t, "view", "--session", "s", "--nth", "1").ends(t, exitUsage).says(t, "go with a file")
}

func TestStrictRefusesWhatIsMalformed(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "late.jsonl", talk(1)+`{"role":"tool","tool_call_id":"nobody","content":"late"}`+"\n")
	ran(t, "view", path).ends(t, exitDone).says(t, "input.result-without-call (1 time)")
	ran(t, "view", path, "--strict").ends(t, exitFailed).says(t, "input.result-without-call")
	store := storePath(t)
	ran(t, "import", path, "--session", "s", "--store", store, "--strict").ends(t, exitFailed)
	broken := file(t, "broken.jsonl", talk(1)+`{"role":"user","cont`)
	ran(t, "view", broken).ends(t, exitDone).says(t, "line 5")
	ran(t, "view", broken, "--strict").ends(t, exitFailed).says(t, "line 5")
}
