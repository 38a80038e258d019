package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// messagesOf reads messages strictly, as compactord does.
func messagesOf(t *testing.T, content []byte) []*compactordv1.Message {
	t.Helper()
	r, err := transcript.Open(bytes.NewReader(content), transcript.Strict())
	require.NoError(t, err)
	require.Equal(t, transcript.OpenAIChat, r.Format())
	messages, err := r.ReadAll()
	require.NoError(t, err)
	return messages
}

func TestARunIsReadByCompactord(t *testing.T) {
	path := filepath.Join("testdata", "runs.json")
	var out bytes.Buffer
	require.NoError(t, convert(path, 2, &out))
	want, err := os.ReadFile(filepath.Join("testdata", "runs.json.2.golden"))
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
	require.Len(t, messagesOf(t, out.Bytes()), 5)
}

func TestWhichRun(t *testing.T) {
	path := filepath.Join("testdata", "runs.json")
	for number, says := range map[int]string{
		0: "holds 2 runs: choose one with -run", 3: "there is no run 3: the file holds 2", -1: "there is no run -1: the file holds 2",
	} {
		var out bytes.Buffer
		require.EqualError(t, convert(path, number, &out), says)
		require.Empty(t, out.String())
	}
	one := filepath.Join(t.TempDir(), "one.json")
	require.NoError(t, os.WriteFile(one, []byte(`[{"task_id":1,"traj":[{"role":"user","content":"<a>","thinking_blocks":null}]}]`), 0o600))
	var out bytes.Buffer
	require.NoError(t, convert(one, 0, &out))
	require.JSONEq(t, `{"content":"<a>","role":"user"}`, out.String())
	require.Contains(t, out.String(), "<a>", "no escapes that only a page of HTML needs")
	for _, content := range []string{`[]`, `{}`, `[{"traj":"a"}]`, `[`} {
		require.NoError(t, os.WriteFile(one, []byte(content), 0o600))
		require.Error(t, convert(one, 0, &out), content)
	}
}

// corpus returns the folder of recorded conversations, which is not in the repository.
func corpus(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("COMPACTORD_CORPUS")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no recorded conversations at %s; COMPACTORD_CORPUS names their folder", folder)
	}
	return folder
}

// said returns a message without differences of notation: the corpus has an empty text as the content of messages with
// calls.
func said(m *compactordv1.Message) *compactordv1.Message {
	m.Attachments = nil
	m.Parts = slices.DeleteFunc(m.GetParts(), func(p *compactordv1.Part) bool {
		return p.GetText() != nil && p.GetText().GetText() == ""
	})
	return m
}

// Every recorded run becomes its OpenAI form in the corpus.
func TestRecordedRunsEqualTheirCounterparts(t *testing.T) {
	folder := corpus(t)
	path := filepath.Join(folder, "native", "tau-bench", "gpt-4o-airline.subset.json")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var runs []struct {
		Task  int `json:"task_id"`
		Trial int `json:"trial"`
	}
	require.NoError(t, json.Unmarshal(content, &runs))
	require.NotEmpty(t, runs)
	for i, run := range runs {
		name := fmt.Sprintf("tau-bench-gpt4o-airline-t%02d-r%d.jsonl", run.Task, run.Trial)
		t.Run(name, func(t *testing.T) {
			counterpart, err := os.ReadFile(filepath.Join(folder, name))
			if os.IsNotExist(err) {
				counterpart, err = os.ReadFile(filepath.Join(folder, "malformed", name))
			}
			require.NoError(t, err)
			var out bytes.Buffer
			require.NoError(t, convert(path, i+1, &out))
			want, have := messagesOf(t, counterpart), messagesOf(t, out.Bytes())
			require.Len(t, have, len(want))
			for n := range want {
				require.True(t, proto.Equal(said(want[n]), said(have[n])), "message %d\n%v\n%v", n, said(want[n]), said(have[n]))
			}
		})
	}
}
