package secrets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/viper"
	"github.com/stretchr/testify/require"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// Gitleaks' own engine finds nothing that ours does not: what runs the rules is another program, and the rules are theirs.
func TestFindsWhatGitleaksFinds(t *testing.T) {
	engine, err := detect.NewDetectorDefaultConfig()
	require.NoError(t, err)
	engine.IgnoreGitleaksAllow = true
	set := loaded()
	rules := make(map[string]bool)
	texts := []string{"key: " + strings.Repeat("x", 40), "nothing here"}
	for _, c := range redactiontest.Credentials(11, 300) {
		texts = append(texts, c.Text, "let x = '"+c.Secret+"'", "token = \""+c.Secret+"\"; more", c.Secret)
	}
	for _, text := range texts {
		found := set.find(t.Context(), text)
		for _, theirs := range engine.DetectString(text) {
			rules[theirs.RuleID] = true
			at := strings.Index(text, strings.Trim(theirs.Secret, `"'`))
			require.True(t, slices.ContainsFunc(found, func(s Secret) bool {
				return s.Start <= at && s.End >= at+len(strings.TrimRight(strings.Trim(theirs.Secret, `"'`), `\`))
			}), "%s in %q", theirs.RuleID, text)
		}
	}
	require.Greater(t, len(rules), 20)
}

// All rules of gitleaks are there but those about files' names.
func TestRules(t *testing.T) {
	engine, err := detect.NewDetectorDefaultConfig()
	require.NoError(t, err)
	for id, r := range engine.Config.Rules {
		require.Equal(t, r.Regex != nil, loaded().ids[id], id)
	}
	require.Len(t, loaded().rules, 231, "of gitleaks and ours")
	for id := range loaded().ids {
		require.True(t, placeholder.MatchString(PlaceholderStart+id+":0a1b]"), id)
	}
}

// Each rule that is read alone, when it is needed, is the one that gitleaks reads with all others.
func TestRulesReadAloneAreThoseReadTogether(t *testing.T) {
	reader := viper.New()
	reader.SetConfigType("toml")
	require.NoError(t, reader.ReadConfig(strings.NewReader(config.DefaultConfig+"\n"+ownRules)))
	var raw config.ViperConfig
	require.NoError(t, reader.Unmarshal(&raw))
	together, err := raw.Translate()
	require.NoError(t, err)
	texts := []string{"", "EXAMPLE", "example", "token", "sk_live_example", "access_key", "a1b2c3"}
	same := func(want, got []*config.Allowlist, who string) {
		require.Len(t, got, len(want), who)
		for i := range want {
			require.Equal(t, want[i].MatchCondition, got[i].MatchCondition, who)
			require.Equal(t, want[i].RegexTarget, got[i].RegexTarget, who)
			require.ElementsMatch(t, want[i].StopWords, got[i].StopWords, who)
			require.Len(t, got[i].Regexes, len(want[i].Regexes), who)
			for n := range want[i].Regexes {
				require.Equal(t, want[i].Regexes[n].String(), got[i].Regexes[n].String(), who)
			}
			for _, text := range texts {
				word, _ := want[i].ContainsStopWord(text)
				found, _ := got[i].ContainsStopWord(text)
				require.Equal(t, word, found, who)
			}
		}
	}
	for _, r := range loaded().rules {
		want := together.Rules[r.id]
		require.Equal(t, want.Regex.String(), r.expression().String(), r.id)
		require.Equal(t, groupOf(&want), r.expression().group, r.id)
		require.InDelta(t, want.Entropy, r.entropy, 0, r.id)
		same(want.Allowlists, r.allow(), r.id)
	}
	same(together.Allowlists, loaded().allow(), "all")
}

// All 231 rules, and what they except, were compiled for every text, which is what most of the program's memory was for.
func TestRulesThatNoWordAsksForAreNotCompiled(t *testing.T) {
	set, err := load(config.DefaultConfig + "\n" + ownRules)
	require.NoError(t, err)
	compiled, excepted := make(map[string]bool), make(map[string]bool)
	for i := range set.rules {
		r := &set.rules[i]
		first, allow := r.expression, r.allow
		r.expression = func() *expression { compiled[r.id] = true; return first() }
		r.allow = func() []*config.Allowlist { excepted[r.id] = true; return allow() }
	}
	require.Empty(t, set.find(t.Context(), "Nothing of this kind is in here."))
	require.Empty(t, compiled)
	require.NotEmpty(t, set.find(t.Context(), "use ghp_"+"R7kPq2Zt9LmX4vBn8YcD3sWf6HgJ1aQe5TuV"))
	require.True(t, compiled["github-pat"])
	require.Less(t, len(compiled), 10, "%v", compiled)
	require.Equal(t, map[string]bool{"github-pat": true}, excepted)
}

func TestWrongRules(t *testing.T) {
	_, err := load("[[rules]]\nid = ")
	require.Error(t, err)
	_, err = load("[[rules]]\nid = \"a\"\n")
	require.Error(t, err)
}

// maxPerMegabyte is how many secrets are found at the most in a megabyte of recorded conversations, which were cleaned of
// them. It was 1 in 19 MB.
const maxPerMegabyte = 1

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
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		text := string(content[:min(len(content), 16<<10)])
		size += len(text)
		for _, s := range loaded().find(t.Context(), text) {
			found[s.Rule]++
		}
	}
	total := 0
	for _, n := range found {
		total += n
	}
	t.Logf("%d found in %d bytes: %v", total, size, found)
	require.LessOrEqual(t, total, maxPerMegabyte*(size>>20)+1, "%v", found)
}

// A group that repeats holds the last piece of a secret: the whole of it is replaced.
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
		if e := r.expression(); repeatsGroup(e.String()) {
			repeating = append(repeating, r.id)
			require.Equal(t, wholeMatch, e.group, r.id)
		}
	}
	require.Contains(t, repeating, "microsoft-teams-webhook")
	t.Log(repeating)
}
