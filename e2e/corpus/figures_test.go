package corpus_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/e2e/corpus"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// figures describes in one line what was done to a recording, without a word of it. The digest covers all plans, so
// that a difference shows even where the sums are the same.
func figures(name string, r *corpus.Replay, plans []*compactordv1.CompactionPlan) string {
	cuts := 0
	edits := make(map[string]int)
	digest := sha256.New()
	for _, rewrite := range r.OnUserMessage {
		plans = append(plans, rewrite.Plan)
	}
	for _, plan := range plans {
		fmt.Fprintln(digest, planLine(plan))
		if plan.GetCut() != nil {
			cuts++
		}
		for _, e := range plan.GetEdits() {
			edits[short(e.GetKind(), "EDIT_KIND_")]++
		}
	}
	for _, l := range r.Writer.Messages {
		for _, e := range l.GetArrivalEdits() {
			fmt.Fprintln(digest, l.GetIndex(), "ARRIVAL_"+e.GetKind().String(), e.GetTokensFreed())
			edits["arriving "+short(e.GetKind(), "EDIT_KIND_")]++
		}
	}
	line := fmt.Sprintf("%s: window %d, %d rewrites, %d on user messages, %d cuts", name, r.Policy.GetContextWindow(),
		len(r.Rewrites), len(r.OnUserMessage), cuts)
	for _, kind := range slices.Sorted(maps.Keys(edits)) {
		line += fmt.Sprintf(", %d %s", edits[kind], kind)
	}
	return line + fmt.Sprintf("; %d tokens at the end; %x", r.Writer.Head.GetViewTokens(), digest.Sum(nil)[:4])
}

// requireLines compares lines with a file of testdata. In a short run it compares only the lines of the sample.
func requireLines(t *testing.T, name string, lines []string) {
	t.Helper()
	if !testing.Short() {
		requireGolden(t, name, strings.Join(lines, "\n")+"\n")
		return
	}
	require.False(t, *update, "a short run sees a sample only")
	golden, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	for _, line := range lines {
		recording, _, _ := strings.Cut(line, ": ")
		var want string
		for candidate := range strings.Lines(string(golden)) {
			if strings.HasPrefix(candidate, recording+": ") {
				want = strings.TrimSuffix(candidate, "\n")
			}
		}
		require.Equal(t, want, line)
	}
}
