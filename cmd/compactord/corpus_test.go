package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
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
	folder := corpus(t)
	temporaryFolder(t)
	codes := map[int]int{}
	for _, path := range transcriptsOf(t, folder) {
		name, err := filepath.Rel(folder, path)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			size, code := compactsInOwnProcess(t, path)
			codes[code]++
			_ = size
		})
	}
	t.Logf("by exit code: %v", codes)
	require.Greater(t, codes[exitDone], codes[exitNothing]/2, "most long conversations can be compacted")
	require.Zero(t, codes[exitFailed], "no file of the corpus makes no sense")
}

// compactsInOwnProcess compacts a file and checks how the process ended and how much memory it had at its peak.
func compactsInOwnProcess(t *testing.T, path string) (size int64, code int) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	var stdout, stderr strings.Builder
	command := exec.CommandContext(t.Context(), program, "compact", path, "--json")
	command.Stdout, command.Stderr = &stdout, &stderr
	_ = command.Run()
	code = command.ProcessState.ExitCode()
	doc := document(t, stdout.String())
	switch code {
	case exitDone:
		before, _ := at(t, doc, "entry", "tokens_before").(float64)
		after, _ := at(t, doc, "entry", "tokens_after").(float64)
		require.Less(t, after, before)
	case exitNothing:
		require.Contains(t, doc, "skipped")
	default:
		require.Failf(t, "unexpected end", "exit code %d: %s", code, stderr.String())
	}
	const megabyte = 1_000_000
	require.LessOrEqual(t, peakMemory(command.ProcessState), 5*info.Size()+100*megabyte, "bytes at the peak")
	return info.Size(), code
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
