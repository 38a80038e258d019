package sessions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// The compactions of an imported file are in effect, unless --without-compactions is given.
func TestImportedCompactions(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "compacted.jsonl",
		sample.Talk(10)+`{"role":"_compaction","summary":"Ten tests were mended, one after the other.","first_kept":36}`+"\n"+sample.Talk(2))
	r := programtest.Ran(t, "view", path, "--messages").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "Ten tests were mended")
	require.NotContains(t, r.Out, "#35 ")
	sample.Contains(t, r.Out, "#36 ")
	converted := programtest.Ran(t, "convert", path, "--to", "anthropic", "-q").Ends(t, terminal.ExitDone).Out
	sample.Contains(t, converted, "parser_0.go")
	require.NotContains(t, converted, "Ten tests were mended")
	r = programtest.Ran(t, "view", path, "--messages", "--without-compactions").Ends(t, terminal.ExitDone)
	require.NotContains(t, r.Out, "Ten tests were mended")
	sample.Contains(t, r.Out, "#35 ")
}

func TestImportedOnce(t *testing.T) {
	store, path := anystore.Place(t), sample.TalkFile(t)
	r := programtest.Ran(t, "import", path, "--session", "s", "--store", store, "--title", "Talk").Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "Imported 480 messages into session s, which has 480 now.\n")
	programtest.Ran(t, "import", path, "--session", "s", "--store", store).Ends(t, terminal.ExitNothing).
		Says(t, `nothing to do: session "s" has all messages of `+path+" already")
	other := sample.File(t, "other.jsonl", strings.Replace(sample.Talk(121), "test number 2 ", "test number two ", 1))
	r = programtest.Ran(t, "import", other, "--session", "s", "--store", store).Ends(t, terminal.ExitFailed).
		Says(t, `session "s" has 480 messages already, and they are not the first ones of `+other+
			": #8 differs from the message at line 9 of the file: part 0, a text\nImport into another session.\n")
	require.NotContains(t, r.Err, "WRONG_NEXT_INDEX")
	doc := sample.Document(t, programtest.Ran(t, "import", path, "--session", "t", "--store", store, "--json").Ends(t, terminal.ExitDone).Out)
	require.InDelta(t, 480, sample.At(t, doc, "imported"), 0)
	require.Equal(t, "t", sample.At(t, doc, "session", "session_id"))
}

// A file that grew was refused unless its new lines began a batch.
func TestImportAppendsWhatAFileHasGot(t *testing.T) {
	compacted := sample.Talk(10) + `{"role":"_compaction","summary":"Ten tests were mended, one after the other.","first_kept":36}` + "\n"
	for name, states := range map[string][]string{
		"a compaction with the old messages": {sample.Talk(3), sample.Talk(9), compacted, compacted + sample.Talk(1)},
		"a compaction after them":            {sample.Talk(10), compacted + sample.Talk(1), compacted + sample.Talk(2)},
	} {
		t.Run(name, func(t *testing.T) {
			store := anystore.Place(t)
			on := func(session string, command ...string) string {
				return programtest.Ran(t, append(command, "--session", session, "--store", store, "-q")...).Ends(t, terminal.ExitDone).Out
			}
			has := 0
			for i, content := range states {
				path := sample.File(t, "grown.jsonl", content)
				all := strings.Count(content, `"role"`) - strings.Count(content, `"_compaction"`)
				r := programtest.Ran(t, "import", path, "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
				require.NotContains(t, r.Err, "left out", "the compaction is not imported again")
				sample.Contains(t, r.Out, fmt.Sprintf("Imported %d messages into session s, which has %d now.\n", all-has, all))
				has = all
				once := fmt.Sprint("once-", i)
				on(once, "import", path)
				require.Equal(t, strings.ReplaceAll(on(once, "view", "--messages"), once, "s"), on("s", "view", "--messages"), "as if imported at once")
			}
			require.Equal(t, 1, strings.Count(on("s", "records", "--kind", "compaction"), "compaction: "))
		})
	}
}

func TestImportRefusesAMessageThatWentOn(t *testing.T) {
	store := anystore.Place(t)
	call := func(id string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"ls","arguments":"{}"}` + "\n"
	}
	begun := `{"role":"user","content":"List them."}` + "\n" + call("1")
	imported := func(content string) programtest.Answer {
		return programtest.Ran(t, "import", sample.File(t, "live.jsonl", content), "--format", "openai_responses", "--session", "s", "--store", store)
	}
	imported(begun).Ends(t, terminal.ExitDone)
	imported(begun+call("2")).Ends(t, terminal.ExitFailed).
		Says(t, "#1 was not complete when it was imported: it has 1 part in the session, 2 in the file\nImport the whole into another session")
}

func TestImportIntoADaemonThatTakesLittle(t *testing.T) {
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--max-message-bytes", "4194304")
	line := `{"role":"user","content":"` + strings.Repeat("x", 500_000) + `"}` + "\n"
	path := sample.File(t, "large.jsonl", strings.Repeat(line, 40))
	for _, code := range []int{terminal.ExitDone, terminal.ExitNothing} {
		programtest.Ran(t, "import", path, "--session", "s", "--addr", d.Addr, "-q").Ends(t, code)
	}
	require.Contains(t, programtest.Ran(t, "sessions", "--addr", d.Addr).Ends(t, terminal.ExitDone).Out, "s        40 ")
	require.Contains(t, programtest.Ran(t, "view", "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitDone).Out, "40 messages")
	tooLarge := sample.File(t, "huge.jsonl", strings.Replace(line, "x", strings.Repeat("x", 5_000_000), 1))
	programtest.Ran(t, "import", tooLarge, "--session", "t", "--addr", d.Addr).Ends(t, terminal.ExitFailed).
		Says(t, " bytes; at most 4194304 are accepted (LIMIT_EXCEEDED)\nTo raise the limit, start the daemon with")
	require.Equal(t, terminal.ExitDone, d.Stop())
}

// A repeated import says that it compares.
func TestImportSaysWhatItStores(t *testing.T) {
	store := anystore.Place(t)
	imported := func() programtest.Answer {
		return programtest.Ran(t, "import", sample.File(t, "talk.jsonl", sample.Talk(2)), "--session", "s", "--store", store)
	}
	imported().Ends(t, terminal.ExitDone).Says(t, "\nstoring 8 messages\n")
	again := imported().Ends(t, terminal.ExitNothing).Says(t, "\ncomparing 8 messages with those of the session\n")
	require.NotContains(t, again.Err, "storing")
}
