package secrets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRules(t *testing.T) {
	require.Len(t, loaded().ids, len(loaded().rules))
	require.Greater(t, len(loaded().rules), 230, "of gitleaks and ours")
	for _, r := range loaded().rules {
		require.True(t, loaded().ids[r.ID], r.ID)
		require.True(t, placeholder().MatchString(PlaceholderStart+r.ID+":0a1b]"), r.ID)
		require.NotEmpty(t, r.Keywords, r.ID)
		for _, word := range r.Keywords {
			require.NotEmpty(t, word, r.ID)
			require.False(t, strings.ContainsFunc(word, func(c rune) bool { return c >= 'A' && c <= 'Z' }), r.ID)
		}
		require.LessOrEqual(t, r.SecretGroup, 7, r.ID)
		require.Len(t, r.allow(), len(r.Allowlists), r.ID)
	}
}

// A rule of ours replaces one with the same ID, and keeps nothing of it.
func TestLaterRulesCount(t *testing.T) {
	set := load([]Rule{
		{ID: "a", Regex: "x+", Keywords: []string{"x"}, Entropy: 3},
		{ID: "b", Regex: "y+", Keywords: []string{"y", "x"}},
		{ID: "a", Regex: "z+", Keywords: []string{"z"}},
	}, []Allowlist{{Regexes: []string{"^zz$"}}, {All: true, Target: Match, Regexes: []string{"^yyy"}, StopWords: []string{"yyyy"}}})
	require.Len(t, set.rules, 2)
	for text, want := range map[string][]Secret{
		"xxx": nil, "zz": nil, "zzz": {{0, 3, "zzz", "a"}}, "yyy": {{0, 3, "yyy", "b"}}, "yyyy": nil,
		"x y ZZZ zzz": {{2, 3, "y", "b"}, {8, 11, "zzz", "a"}},
	} {
		require.Equal(t, want, set.find(t.Context(), text), text)
	}
}

// All 231 rules and their allowlists were compiled for every text, which used most of the program's memory.
func TestRulesThatNoWordAsksForAreNotCompiled(t *testing.T) {
	set := load(slices.Concat(Gitleaks, Own), Everywhere)
	compiled, excepted := make(map[string]bool), make(map[string]bool)
	for i := range set.rules {
		r := &set.rules[i]
		first, allow := r.matcher, r.allow
		r.matcher = func() *matcher { compiled[r.ID] = true; return first() }
		r.allow = func() []*CompiledAllowlist { excepted[r.ID] = true; return allow() }
	}
	require.Empty(t, set.find(t.Context(), "Nothing of this kind is in here."))
	require.Empty(t, compiled)
	require.NotEmpty(t, set.find(t.Context(), "use ghp_"+"R7kPq2Zt9LmX4vBn8YcD3sWf6HgJ1aQe5TuV"))
	require.True(t, compiled["github-pat"])
	require.Less(t, len(compiled), 10, "%v", compiled)
	require.Equal(t, map[string]bool{"github-pat": true}, excepted)
}

// bytesPerFinding is in how much of the recorded conversations, from which secrets were removed, one secret may be found.
const bytesPerFinding = 10 << 20

func TestCorpusIsLeftAlone(t *testing.T) {
	dir := os.Getenv("COMPACTORD_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "..", "shared", "corpus")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no corpus of recorded conversations: set COMPACTORD_CORPUS to its folder")
	}
	size, found := 0, make(map[string]int)
	total := 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		size += len(content)
		for _, s := range loaded().find(t.Context(), string(content)) {
			found[s.Rule]++
			total++
		}
	}
	t.Logf("%d found in %d bytes: %v", total, size, found)
	require.LessOrEqual(t, total, size/bytesPerFinding, "%v", found)
}

// A group that repeats contains the last part of a secret. The whole secret is replaced.
func TestGroupsThatRepeatAreNotTheSecret(t *testing.T) {
	uuid := func(digit string) string {
		return strings.Repeat(digit, 8) + strings.Repeat("-"+strings.Repeat(digit, 4), 3) + "-" + strings.Repeat(digit, 12)
	}
	hook := "https://example" + "org.webhook.office.com/webhookb2/" + uuid("4") + "@" + uuid("5") +
		"/IncomingWebhook/" + strings.Repeat("a1", 16) + "/" + uuid("6")
	found := loaded().find(t.Context(), hook)
	require.Len(t, found, 1)
	require.Equal(t, Secret{0, len(hook), hook, "microsoft-teams-webhook"}, found[0])
	var repeating []string
	for _, r := range loaded().rules {
		if r.find == nil && holdsGroup(parsed(r.Regex), false) {
			repeating = append(repeating, r.ID)
			require.Equal(t, wholeMatch, groupOf(r.Rule), r.ID)
		}
	}
	require.Contains(t, repeating, "microsoft-teams-webhook")
	t.Log(repeating)
}
