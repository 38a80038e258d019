package service_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/service/sessionlog"
)

// I1 to I8 and I13 for generated sessions, with all strategies.
func TestInvariantsOverGeneratedLogs(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		w := newCheckedService(t, counts, func(low, high int, label string) int { return between(t, low, high, label) })
		defer w.service.Close()
		w.policy()
		for range between(t, 10, 80, "steps") {
			switch n := between(t, 0, 99, "step"); {
			case n < 70:
				w.message(t)
			case n < 82:
				w.compact(func() { w.message(t) })
			case n < 90:
				w.prune()
			case n < 94:
				w.revert()
			case n < 98:
				w.besideMessages()
			default:
				w.policy()
			}
			w.check()
		}
		problems, err := sessionlog.Check(t.Context(), w.store, "")
		require.NoError(t, err)
		require.Empty(t, problems)
	})
	t.Log(describe(counts))
	if !fullRun() {
		return
	}
	for _, class := range []string{
		"compaction", "compaction that splits a turn", "summary whose facts are bounded", "prune", "revert", "revert of a revert", "policy",
		"append during compaction", "rendering refused while calls are open", "rendered in openai_chat",
		"rendered in openai_responses", "rendered in anthropic", "rendered in gemini", "repaired",
		"rendered view is a prefix of the next", "edited on arrival", "shortened on a user's message",
		"replay", "told to go on", "edits by a compaction", "edits beside a cut", "hidden by dialogue_only",
		"context block set", "instructions replaced", "extra blocks in openai_chat", "extra blocks in openai_responses",
		"extra blocks in anthropic", "extra blocks in gemini",
	} {
		require.GreaterOrEqual(t, counts[class], 5, "too rare to mean anything: %s", class)
	}
}

// fullRun says whether rapid makes its default number of checks. A short run, or a replay of one failure, shows nothing
// about frequencies.
func fullRun() bool {
	checks := flag.Lookup("rapid.checks")
	replay := flag.Lookup("rapid.failfile")
	return !testing.Short() && (checks == nil || checks.Value.String() == checks.DefValue) && (replay == nil || replay.Value.String() == "")
}

func describe(counts map[string]int) string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s: %d\n", name, counts[name])
	}
	return b.String()
}
