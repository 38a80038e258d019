package extractive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/internal/planted"
)

// The amounts per round whose facts fit into 2,000 tokens after five rounds: about 4,500 of 8,000 UTF-16 code units.
var fiveRounds = planted.Amounts{
	User: 1, Developer: 1, System: 1, Decisions: 1, Paths: 2, Codes: 1, Todos: 1, Turns: 3, Steps: 3, OutputBytes: 6000,
}

// The amounts whose constraints and last request fit into 500 tokens: with the headings about 1,200 of 2,000 UTF-16
// code units.
var smallBudget = planted.Amounts{
	User: 3, Developer: 2, System: 2, Decisions: 3, Paths: 4, Codes: 3, Todos: 3, Turns: 5, Steps: 4, OutputBytes: 6000,
}

// The amounts for one compaction at 2,000 tokens.
var oneRound = planted.Amounts{
	User: 5, Developer: 3, System: 3, Decisions: 6, Paths: 8, Codes: 5, Todos: 5, Turns: 12, Steps: 5, OutputBytes: 12000,
}

// seeds is how many conversations of each kind are tried.
const seeds = 40

var languages = map[string]planted.Language{"english": planted.English, "chinese": planted.Chinese}

func TestPlantedFactsAreFound(t *testing.T) {
	t.Parallel()
	for name, lang := range languages {
		for _, c := range []struct {
			name    string
			rounds  int
			amounts planted.Amounts
			budget  uint32
			rest    bool
		}{
			{"2000 tokens", 1, oneRound, 2000, true},
			{"2000 tokens, five compactions", 5, fiveRounds, 2000, true},
			{"500 tokens", 1, smallBudget, 500, false},
		} {
			t.Run(name+" "+c.name, func(t *testing.T) {
				t.Parallel()
				found, wanted := map[planted.Kind]int{}, map[planted.Kind]int{}
				for seed := range uint64(seeds) {
					text := ""
					var earlier []*compactordv1.LoggedMessage
					for i, round := range planted.Rounds(seed, lang, c.rounds, c.amounts) {
						text = summarize(t, &summarizers.Request{
							Messages: round.Messages, Earlier: earlier, PreviousSummary: text, MaxTokens: c.budget,
						})
						earlier = append(earlier, round.Messages...)
						requirePlanted(t, fmt.Sprintf("seed %d round %d", seed, i+1), text, round.Facts, c.rest, found, wanted)
					}
				}
				t.Logf("found %v of %v", found, wanted)
			})
		}
	}
}

// requirePlanted requires all constraints and the last request, and 90 % of the rest, each on a line that cites it.
func requirePlanted(
	t *testing.T, where, text string, facts []planted.Fact, rest bool, found, wanted map[planted.Kind]int,
) {
	t.Helper()
	lines := strings.Split(text, "\n")
	var missing []string
	all, have := 0, 0
	for _, f := range facts {
		wanted[f.Kind]++
		ok := slices.ContainsFunc(lines, func(line string) bool {
			return strings.Contains(line, f.Text) && cites(line, f.Index)
		})
		if ok {
			found[f.Kind]++
		} else {
			missing = append(missing, fmt.Sprintf("%s (%v) #%d: %s", f.Kind, f.By, f.Index, f.Text))
		}
		if f.Kind == planted.Constraint || f.Kind == planted.LastRequest {
			require.True(t, ok, "%s: missing: %s #%d: %s\n%s", where, f.Kind, f.Index, f.Text, text)
			continue
		}
		all++
		if ok {
			have++
		}
	}
	if rest {
		require.GreaterOrEqual(t, 10*have, 9*all, "%s: missing: %s\n%s", where, strings.Join(missing, "\n"), text)
	}
}

// cites says whether a line cites a message, by itself or within a run.
func cites(line string, index uint32) bool {
	all := summarizers.Citations(line)
	if _, length := summarizers.CitationAt(strings.TrimPrefix(line, "- ")); length > 0 && len(all) == 2 && strings.Contains(line[:length], " to ") {
		return all[0] <= index && index <= all[1]
	}
	return slices.Contains(all, index)
}

func TestEveryKindIsPlanted(t *testing.T) {
	t.Parallel()
	for name, lang := range languages {
		by := map[string]int{}
		for seed := range uint64(seeds) {
			for _, round := range planted.Rounds(seed, lang, 2, fiveRounds) {
				for _, f := range round.Facts {
					by[string(f.Kind)+" by "+f.By.String()]++
				}
			}
		}
		for _, k := range []string{
			"constraint by ROLE_USER", "constraint by ROLE_DEVELOPER", "constraint by ROLE_SYSTEM", "last request by ROLE_USER", "decision by ROLE_ASSISTANT",
			"path by ROLE_ASSISTANT", "error code by ROLE_ASSISTANT", "error code by ROLE_TOOL", "to-do by ROLE_ASSISTANT",
		} {
			require.Greater(t, by[k], seeds/4, "%s: %s is rare", name, k)
		}
	}
}
