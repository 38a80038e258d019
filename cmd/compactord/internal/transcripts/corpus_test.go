package transcripts_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestCorpusIsCompacted(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the program as others do, which a short run does often enough")
	}
	folder := sample.Corpus(t)
	sample.TemporaryFolder(t)
	paths := sample.TranscriptsOf(t, folder)
	codes := map[int]int{}
	for _, path := range paths {
		name, err := filepath.Rel(folder, path)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			r := programtest.Ran(t, "compact", path, "--json")
			compactedWell(t, r)
			codes[r.Code]++
		})
	}
	t.Logf("by exit code: %v", codes)
	require.Greater(t, codes[terminal.ExitDone], codes[terminal.ExitNothing]/2, "most long conversations can be compacted")
}

// compactedWell checks the result of a compaction of a file.
func compactedWell(t *testing.T, r programtest.Answer) {
	t.Helper()
	require.Contains(t, []int{terminal.ExitDone, terminal.ExitNothing}, r.Code, r.Err)
	doc := sample.Document(t, r.Out)
	if r.Code == terminal.ExitDone {
		// The default policy only edits if that is enough.
		done := false
		for _, record := range []string{"entry", "prune"} {
			if _, ok := doc[record]; !ok {
				continue
			}
			before, _ := sample.At(t, doc, record, "tokens_before").(float64)
			after, _ := sample.At(t, doc, record, "tokens_after").(float64)
			require.Less(t, after, before)
			done = true
		}
		require.True(t, done, "neither an entry nor a prune")
	} else {
		require.Contains(t, doc, "skipped")
	}
}

func TestNoFileOfTheCorpusIsABug(t *testing.T) {
	folder := sample.Corpus(t)
	sample.TemporaryFolder(t)
	// An unreadable format must be reported in words.
	err := filepath.WalkDir(filepath.Join(folder, "native"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		r := programtest.Ran(t, "compact", path, "-q")
		require.Contains(t, []int{terminal.ExitDone, terminal.ExitNothing, terminal.ExitFailed}, r.Code, "%s: %s", path, r.Err)
		if r.Code == terminal.ExitFailed {
			require.True(t, strings.HasPrefix(r.Err, "compactord: "), r.Err)
			require.NotContains(t, r.Err, "rpc error")
			require.NotContains(t, r.Err, "INTERNAL")
		}
		return nil
	})
	require.NoError(t, err)
}

func TestCutsWherePiDoes(t *testing.T) {
	path := filepath.Join(sample.Corpus(t), "native", "pi", "pi-before-compaction.jsonl")
	sample.TemporaryFolder(t)
	type position struct {
		SourcePosition uint32 `json:"source_position"`
	}
	for _, want := range []struct {
		keep, firstKept, turnStart uint32
	}{
		{5_000, 1000, 0},
		{20_000, 944, 939},
		{50_000, 790, 789},
		{100_000, 690, 677},
	} {
		r := programtest.Ran(t, "compact", path, "--preset", "pi", "--keep-recent-tokens", fmt.Sprint(want.keep), "--json").
			Ends(t, terminal.ExitDone)
		var doc struct {
			Cut struct {
				FirstKept      position  `json:"first_kept"`
				SplitTurnStart *position `json:"split_turn_start"`
			} `json:"cut"`
		}
		require.NoError(t, json.Unmarshal([]byte(r.Out), &doc))
		require.Equal(t, want.firstKept, doc.Cut.FirstKept.SourcePosition, "keeping %d tokens", want.keep)
		if want.turnStart == 0 {
			require.Nil(t, doc.Cut.SplitTurnStart, "keeping %d tokens", want.keep)
			continue
		}
		require.NotNil(t, doc.Cut.SplitTurnStart, "keeping %d tokens", want.keep)
		require.Equal(t, want.turnStart, doc.Cut.SplitTurnStart.SourcePosition, "keeping %d tokens", want.keep)
	}
}
