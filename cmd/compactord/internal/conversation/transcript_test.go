package conversation_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

func TestChoosingASessionThatIsNotThere(t *testing.T) {
	sample.TemporaryFolder(t)
	programtest.Ran(t, "view", sample.TalkFile(t), "--nth", "2").Ends(t, terminal.ExitUsage).Says(t, "there is no session 2: the input holds 1")
	programtest.Ran(t, "view", sample.TalkFile(t), "--nth", "1").Ends(t, terminal.ExitDone)
	programtest.Ran(t, "view", "--session", "s", "--nth", "1").Ends(t, terminal.ExitUsage).Says(t, "need a file")
}

func TestStrictRefusesWhatIsMalformed(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "late.jsonl", sample.Talk(1)+`{"role":"tool","tool_call_id":"nobody","content":"late"}`+"\n")
	programtest.Ran(t, "view", path).Ends(t, terminal.ExitDone).Says(t, "input.result-without-call (1 time)")
	programtest.Ran(t, "view", path, "--strict").Ends(t, terminal.ExitFailed).Says(t, "input.result-without-call")
	store := anystore.Place(t)
	programtest.Ran(t, "import", path, "--session", "s", "--store", store, "--strict").Ends(t, terminal.ExitFailed)
	broken := sample.File(t, "broken.jsonl", sample.Talk(1)+`{"role":"user","cont`)
	programtest.Ran(t, "view", broken).Ends(t, terminal.ExitDone).Says(t, "line 5")
	programtest.Ran(t, "view", broken, "--strict").Ends(t, terminal.ExitFailed).Says(t, "line 5")
}

// An unreadable file in a folder used to be reported as a missing folder.
func TestTheFileOfAFolderThatCannotBeReadIsNamed(t *testing.T) {
	sample.TemporaryFolder(t)
	folder := t.TempDir()
	bad := filepath.Join(folder, "event-00000-a.json")
	require.NoError(t, os.Mkdir(bad, 0o700))
	programtest.Ran(t, "view", folder).Ends(t, terminal.ExitFailed).Says(t, "cannot read "+bad+": ")
}

func TestFilesThatMakeNoSense(t *testing.T) {
	sample.TemporaryFolder(t)
	for name, test := range map[string]struct{ content, says string }{
		"unknown role":     {`{"role":"robot","content":"hello"}`, "bad.jsonl, line 1: role: "},
		"no transcript":    {"hello", "the format is not recognized"},
		"empty":            {"", "bad.jsonl: the input is empty"},
		"another document": {`{"a":1}`, "the format is not recognized"},
		"only half a line": {`{"role":"user","content":"x`, "bad.jsonl, line 1: is not valid JSON: it breaks off at its end"},
	} {
		t.Run(name, func(t *testing.T) {
			path := sample.File(t, "bad.jsonl", test.content)
			for _, command := range []string{"compact", "view", "prune"} {
				r := programtest.Ran(t, command, path).Ends(t, terminal.ExitFailed).Says(t, test.says)
				require.Empty(t, r.Out)
			}
			programtest.Ran(t, "import", path, "--session", "s", "--store", filepath.Join(t.TempDir(), "s.db")).
				Ends(t, terminal.ExitFailed).Says(t, test.says)
		})
	}
	t.Run("missing", func(t *testing.T) {
		programtest.Ran(t, "compact", "there-is-none.jsonl").Ends(t, terminal.ExitFailed).
			Says(t, "compactord: cannot read there-is-none.jsonl: there is no such file\n")
	})
	t.Run("folder", func(t *testing.T) {
		programtest.Ran(t, "compact", t.TempDir()).Ends(t, terminal.ExitFailed).Says(t, "it is a folder")
	})
	t.Run("no messages", func(t *testing.T) {
		path := sample.File(t, "empty.jsonl", `{"type":"session","id":"x","version":3,"timestamp":"2026-01-01T00:00:00Z","cwd":"/"}`)
		programtest.Ran(t, "compact", path).Ends(t, terminal.ExitNothing).Says(t, "nothing to do: "+path+" has no messages")
	})
}

// A message of an unknown role used to make the whole file fail. It is now left out and reported; --strict refuses it.
func TestOneUnreadableRecordIsReported(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "bad.jsonl", sample.Talk(3)+"\n"+`{"role":"robot","content":"hello"}`)
	programtest.Ran(t, "view", path).Ends(t, terminal.ExitDone).Says(t, "1 record that cannot be read left out (line 14); the first: role: ")
	programtest.Ran(t, "view", path, "--strict").Ends(t, terminal.ExitFailed).Says(t, "bad.jsonl, line 14: role: ")
}

func TestBrokenLinesAreReported(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "bad.jsonl", sample.Talk(3)+`{"role":"user","content":`+"\n{\"role\":\"user\",\"content\":\"\xff\"}")
	programtest.Ran(t, "compact", path).Says(t, "2 broken lines left out (lines 13, 14)")
}
