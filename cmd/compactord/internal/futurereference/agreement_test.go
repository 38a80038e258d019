package futurereference_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/futurereference"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/dialects/transcript"
)

//go:embed testdata/agreement.py
var agreement string

// asked runs the tools' own functions on a question. It skips the test where they do not exist.
func asked(t *testing.T, question, answer any) {
	t.Helper()
	folder := sample.MeasuringTools(t)
	in, err := json.Marshal(question)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "python3", "-c", agreement, folder)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8")
	cmd.Stdin = bytes.NewReader(in)
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	require.NoError(t, err, failed.String())
	require.NoError(t, json.Unmarshal(out, answer))
}

// awkward are pieces that the random texts are made of.
var awkward = strings.Split("a|B|Z|é|ß|日|_|__|.|..|/|//|-|+|@|~|'|\"|`|\n| |\t|:|,|1|12|2345|٣|²|0x|deadbeef|ABCDEF1|E1234|SIGKILL|ENOENT|"+
	"https://|http://|example.org|main.go|test_parser|parseLine|src|.py|.tar.gz|CVE-|-2024|(|)|[|]|\\|\\n|\\\"|\\u0041|\\ud800|"+
	"123e4567-e89b-12d3-a456-426614174000|quoted words here|x x x x|\x1c|\u00a0|<|>|{|}|*|?|!|=", "|")

func TestEntitiesAgreeWithTheMeasuringTools(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 3000)
	for i := range texts {
		var b strings.Builder
		for range 1 + random.IntN(14) {
			b.WriteString(awkward[random.IntN(len(awkward))])
		}
		texts[i] = b.String()
	}
	var answer struct {
		Entities [][][2]string `json:"entities"`
	}
	asked(t, map[string]any{"texts": texts}, &answer)
	for i, text := range texts {
		require.Equal(t, answer.Entities[i], pairs(futurereference.Entities(text)), "%q", text)
	}
}

// pairs returns entities as the tools print them.
func pairs(entities []futurereference.Entity) [][2]string {
	all := make([][2]string, len(entities))
	for i, e := range entities {
		all[i] = [2]string{e.Kind, e.Value}
	}
	return all
}

// toolNames are the tools' names of baselines.
var toolNames = map[string]string{
	"names by frequency": "entity-ledger", "user messages": "user-messages", "masking": "masked", "previews": "previews",
	"head and tail": "head-tail",
}

// view is a text that the tools judge. Baseline is their name of it; empty for others.
type view struct {
	Cut      int    `json:"cut"`
	End      int    `json:"end"`
	Baseline string `json:"baseline"`
	Budget   int    `json:"budget"`
	Text     string `json:"text"`
}

func TestFiguresAgreeWithTheMeasuringTools(t *testing.T) {
	t.Parallel()
	folder := sample.Corpus(t)
	paths := []string{filepath.Join("..", "..", "..", "..", "examples", "transcript", "session.jsonl")}
	for _, name := range corpusSample(testing.Short()) {
		paths = append(paths, filepath.Join(folder, name))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			agreeOn(t, path)
		})
	}
}

// corpusSample returns recordings of several tools.
func corpusSample(short bool) []string {
	names := []string{"kimi-cli-14a06f45.jsonl", "entire-cli-163396cf.jsonl"}
	if !short {
		names = append(names, "entire-cli-44df7d08.jsonl", "gemini-cli-issue-17029.jsonl", "pi-before-compaction.jsonl",
			"mini-swe-agent-chat_dev_rerun-pylint-dev__astroid-1333.jsonl", "entire-skills-codex-019dc0d3-6b22.jsonl")
	}
	return names
}

func agreeOn(t *testing.T, path string) {
	t.Helper()
	reader, err := transcript.OpenFile(path)
	require.NoError(t, err)
	messages, err := reader.ReadAll()
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	log := futurereference.NewLog(messages)
	sampling := futurereference.DefaultSampling()
	cuts := log.Cuts(sampling)
	views := []view{}
	for _, cut := range cuts {
		for _, b := range futurereference.Baselines() {
			for _, budget := range []int{3, 500, 2000} {
				for _, text := range b.Views(log, cut, budget) {
					views = append(views, view{cut.FirstKept, cut.End, toolNames[b.Name], budget, text})
				}
			}
		}
		cited := fmt.Sprintf("- the old part [#0 to #%d]\n- one [#%d, #%d]; [recall #%d.0]", cut.FirstKept/3, cut.FirstKept-1,
			cut.FirstKept+5, cut.FirstKept-2)
		views = append(views, view{cut.FirstKept, cut.End, "", 0, cited})
	}
	var answer struct {
		Messages int           `json:"messages"`
		Cuts     [][2]int      `json:"cuts"`
		Needs    [][][2]string `json:"needs"`
		Scores   []toolScore   `json:"scores"`
		Texts    []string      `json:"texts"`
	}
	asked(t, map[string]any{"path": path, "views": views, "references": futurereference.CitationPattern}, &answer)
	require.Equal(t, answer.Messages, log.Len(), "messages are numbered alike")
	require.Len(t, cuts, len(answer.Cuts))
	needs := map[int][]futurereference.Need{}
	for i, cut := range cuts {
		require.Equal(t, [2]int{cut.FirstKept, cut.End}, answer.Cuts[i])
		needs[cut.End], err = log.Needs(cut, sampling.Horizon)
		require.NoError(t, err)
		entities := make([]futurereference.Entity, 0, len(needs[cut.End]))
		for _, n := range needs[cut.End] {
			entities = append(entities, n.Entity)
		}
		require.Equal(t, answer.Needs[i], pairs(entities), "cut %v", cut)
	}
	for i, v := range views {
		if v.Baseline != "" {
			require.Equal(t, inOrder(v.Baseline, answer.Texts[i]), inOrder(v.Baseline, v.Text), "%s at %d, cut at %d", v.Baseline, v.Budget, v.End)
		}
		s := log.Score(v.Text, futurereference.Cut{FirstKept: v.Cut, End: v.End}, needs[v.End])
		require.Equal(t, toolScore{
			s.Needed, s.Held, s.Bare, s.InContext, s.Reachable, s.Named, len(s.Absent), s.Tokens,
		}, answer.Scores[i], "%q at %d, cut at %d", v.Baseline, v.Budget, v.End)
	}
}

// inOrder sorts the lines of a list by weights: sums that differ in their last bit order two names differently.
func inOrder(baseline, text string) string {
	if baseline != toolNames["names by frequency"] {
		return text
	}
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// toolScore is a Score as the tools print it.
type toolScore struct {
	Need      int `json:"need"`
	Hits      int `json:"hits"`
	Bare      int `json:"bare"`
	Context   int `json:"ctx_hits"`
	Reachable int `json:"reachable"`
	Named     int `json:"view_entities"`
	Absent    int `json:"absent"`
	Tokens    int `json:"view_tokens"`
}
