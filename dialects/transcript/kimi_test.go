package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	kimiStart   = `{"role":"_system_prompt","content":"be"}` + "\n" + `{"role":"_checkpoint","id":0}` + "\n"
	kimiSummary = `{"role":"user","content":[{"type":"text","text":"<system>Previous context has been compacted.</system>"},{"type":"text","text":"sum"}]}` + "\n"
)

func kimiSays(role string, texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString(`{"role":"` + role + `","content":"` + text + `"}` + "\n")
	}
	return b.String()
}

// kimiFiles writes files and reads the one without a number.
func kimiFiles(t *testing.T, files map[string]string) ([]string, []*compactordv1.ImportedRecord, []transcript.Note) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	r, err := transcript.OpenFile(filepath.Join(folder, "context.jsonl"))
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	messages, err := r.ReadAll()
	require.NoError(t, err)
	return outline(messages), r.Records(), r.Notes()
}

func TestKimiRotations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files    map[string]string
		want     []string
		kept     []uint32
		leftOver bool
	}{
		"alone": {map[string]string{"context.jsonl": kimiStart + kimiSays("user", "a")}, []string{"system be", "user a"}, nil, false},
		"a compaction": {map[string]string{
			"context_1.jsonl": kimiStart + kimiSays("user", "a") + kimiSays("assistant", "b") + kimiSays("user", "c"),
			"context.jsonl":   kimiStart + kimiSummary + kimiSays("assistant", "b") + kimiSays("user", "c") + kimiSays("assistant", "d"),
		}, []string{"system be", "user a", "assistant b", "user c", "assistant d"}, []uint32{2}, false},
		"a compaction that kept nothing": {map[string]string{
			"context_1.jsonl": kimiStart + kimiSays("user", "a"),
			"context.jsonl":   kimiStart + kimiSummary + kimiSays("user", "b"),
		}, []string{"system be", "user a", "user b"}, []uint32{2}, false},
		"a compaction and nothing more": {map[string]string{
			"context_1.jsonl": kimiStart + kimiSays("user", "a") + kimiSays("user", "b"),
			"context.jsonl":   kimiStart + kimiSummary,
		}, []string{"system be", "user a", "user b"}, []uint32{2}, false},
		"a clearing": {map[string]string{
			"context_1.jsonl": kimiStart + kimiSays("user", "a"),
			"context.jsonl":   kimiStart + kimiSays("user", "b"),
		}, []string{"system be", "user b"}, nil, true},
		"a revert after a compaction": {map[string]string{
			"context_1.jsonl": kimiStart + kimiSays("user", "a") + kimiSays("assistant", "b"),
			"context_2.jsonl": kimiStart + kimiSummary + kimiSays("assistant", "b") + kimiSays("user", "gone"),
			"context.jsonl":   kimiStart + kimiSummary + kimiSays("assistant", "b") + kimiSays("user", "c"),
		}, []string{"system be", "user a", "assistant b", "user c"}, []uint32{2}, true},
		"numbers as numbers": {map[string]string{
			"context_2.jsonl":   kimiStart + kimiSays("user", "a"),
			"context_010.jsonl": kimiStart + kimiSummary + kimiSays("user", "b"),
			"context.jsonl":     kimiStart + strings.Replace(kimiSummary, "sum", "sum2", 1) + kimiSays("user", "b", "c"),
		}, []string{"system be", "user a", "user b", "user c"}, []uint32{2, 2}, false},
		"other files": {map[string]string{
			"context.jsonl":       kimiStart + kimiSummary + kimiSays("user", "b"),
			"context_x.jsonl":     "hush",
			"context_1.jsonl.bak": "hush",
			"wire_1.jsonl":        "hush",
		}, []string{"system be", "user <system>Previous context has been compacted.</system>\nsum", "user b"}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages, records, notes := kimiFiles(t, c.files)
			require.Equal(t, c.want, messages)
			var kept []uint32
			for _, record := range records {
				if compaction := record.GetCompaction(); compaction != nil {
					kept = append(kept, compaction.GetFirstKeptIndex())
					require.Equal(t, "kimi", compaction.GetTool())
					require.Contains(t, compaction.GetSummary(), "sum")
				}
			}
			require.Equal(t, c.kept, kept)
			told := false
			for _, n := range notes {
				told = told || strings.Contains(n.Text, "rotated file")
			}
			require.Equal(t, c.leftOver, told)
		})
	}
}

func TestKimiCheckpointsStandWhereTheyWere(t *testing.T) {
	t.Parallel()
	_, records, _ := readWith(t, kimiStart+kimiSays("user", "a")+`{"role":"_checkpoint","id":1}`+"\n"+kimiSays("assistant", "b")+`{"role":"_checkpoint","id":2}`)
	var after []uint32
	var titles []string
	for _, record := range records {
		after = append(after, record.GetAfterMessages())
		titles = append(titles, record.GetCheckpoint().GetTitle())
	}
	require.Equal(t, []uint32{1, 2, 3}, after)
	require.Equal(t, []string{"checkpoint 0", "checkpoint 1", "checkpoint 2"}, titles)
}

func TestWhatIsWrongInAFileOfKimiIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, want string }{
		"record":  {`{"role":"_hush"}`, "line 3: role: unknown kind of record; known are _system_prompt, _checkpoint and _usage"},
		"role":    {`{"role":"hush"}`, "line 3: role: unknown role; known are system, user, assistant and tool"},
		"usage":   {`{"role":"_usage","token_count":"hush"}`, "line 3: token_count: must be a number, is a string"},
		"content": {`{"role":"user","content":[{"type":"think","think":"x"}]}`, "line 3: content[0].type: unknown kind of content, or one that this role may not hold"},
		"image":   {`{"role":"user","content":[{"type":"image_url"}]}`, "line 3: content[0].image_url: is missing"},
		"call":    {`{"role":"assistant","tool_calls":[{"function":{}}]}`, "line 3: tool_calls[0].function.name: is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := read(kimiStart+c.line, transcript.Strict())
			require.EqualError(t, err, c.want)
		})
	}
}

func TestOpenFileTellsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	_, err := transcript.OpenFile(filepath.Join(t.TempDir(), "none.jsonl"))
	require.ErrorIs(t, err, os.ErrNotExist)
	path := filepath.Join(t.TempDir(), "hush.txt")
	require.NoError(t, os.WriteFile(path, []byte("hush"), 0o600))
	_, err = transcript.OpenFile(path)
	require.ErrorIs(t, err, transcript.ErrUnknownFormat)
	r, err := transcript.Open(strings.NewReader(hello))
	require.NoError(t, err)
	require.NoError(t, r.Close())
}
