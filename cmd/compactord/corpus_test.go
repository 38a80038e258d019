package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// corpusVariable names the folder with recorded conversations, which is not in the repository.
const corpusVariable = "COMPACTORD_CORPUS"

// corpus returns the folder, and skips the test where there is none.
func corpus(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(corpusVariable)
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no recorded conversations at %s; %s names their folder", folder, corpusVariable)
	}
	return folder
}

// transcriptsOf are the files of a corpus that the program is to make sense of.
func transcriptsOf(t *testing.T, folder string) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"*.jsonl", "malformed/*.jsonl", "native/pi/*.jsonl"} {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		require.NoError(t, err)
		paths = append(paths, found...)
	}
	require.NotEmpty(t, paths)
	return paths
}

func TestCorpusIsCompacted(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the program as others do, which a short run does often enough")
	}
	folder := corpus(t)
	temporaryFolder(t)
	paths := transcriptsOf(t, folder)
	codes := map[int]int{}
	for _, path := range paths {
		name, err := filepath.Rel(folder, path)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			r := ran(t, "compact", path, "--json")
			compactedWell(t, r)
			codes[r.code]++
		})
	}
	t.Logf("by exit code: %v", codes)
	require.Greater(t, codes[exitDone], codes[exitNothing]/2, "most long conversations can be compacted")
}

// compactedWell checks how the compaction of a file ended.
func compactedWell(t *testing.T, r answer) {
	t.Helper()
	require.Contains(t, []int{exitDone, exitNothing}, r.code, r.err)
	doc := document(t, r.out)
	if r.code == exitDone {
		// The default policy edits where that is enough.
		done := false
		for _, record := range []string{"entry", "prune"} {
			if _, ok := doc[record]; !ok {
				continue
			}
			before, _ := at(t, doc, record, "tokens_before").(float64)
			after, _ := at(t, doc, record, "tokens_after").(float64)
			require.Less(t, after, before)
			done = true
		}
		require.True(t, done, "neither an entry nor a prune")
	} else {
		require.Contains(t, doc, "skipped")
	}
}

func TestNoFileOfTheCorpusIsABug(t *testing.T) {
	folder := corpus(t)
	temporaryFolder(t)
	// Session files of other tools cannot be read yet, and that must be said in words.
	err := filepath.WalkDir(filepath.Join(folder, "native"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		r := ran(t, "compact", path, "-q")
		require.Contains(t, []int{exitDone, exitNothing, exitFailed}, r.code, "%s: %s", path, r.err)
		if r.code == exitFailed {
			require.True(t, strings.HasPrefix(r.err, "compactord: "), r.err)
			require.NotContains(t, r.err, "rpc error")
			require.NotContains(t, r.err, "INTERNAL")
		}
		return nil
	})
	require.NoError(t, err)
}

func TestCutsWherePiDoes(t *testing.T) {
	path := filepath.Join(corpus(t), "native", "pi", "pi-before-compaction.jsonl")
	temporaryFolder(t)
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
		r := ran(t, "compact", path, "--preset", "pi", "--keep-recent-tokens", fmt.Sprint(want.keep), "--json").
			ends(t, exitDone)
		var doc struct {
			Cut struct {
				FirstKept      position  `json:"first_kept"`
				SplitTurnStart *position `json:"split_turn_start"`
			} `json:"cut"`
		}
		require.NoError(t, json.Unmarshal([]byte(r.out), &doc))
		require.Equal(t, want.firstKept, doc.Cut.FirstKept.SourcePosition, "keeping %d tokens", want.keep)
		if want.turnStart == 0 {
			require.Nil(t, doc.Cut.SplitTurnStart, "keeping %d tokens", want.keep)
			continue
		}
		require.NotNil(t, doc.Cut.SplitTurnStart, "keeping %d tokens", want.keep)
		require.Equal(t, want.turnStart, doc.Cut.SplitTurnStart.SourcePosition, "keeping %d tokens", want.keep)
	}
}
