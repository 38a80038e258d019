package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/compactord/compactord/summarizers/redaction/internal/secrets"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// Gitleaks' own engine finds nothing that ours does not: the rules are theirs, but the engine is ours.
func TestFindsWhatGitleaksFinds(t *testing.T) {
	engine, err := detect.NewDetectorDefaultConfig()
	require.NoError(t, err)
	engine.IgnoreGitleaksAllow = true
	rules := make(map[string]bool)
	texts := []string{"key: " + strings.Repeat("x", 40), "nothing here"}
	for _, c := range redactiontest.Credentials(11, 300) {
		texts = append(texts, c.Text, "let x = '"+c.Secret+"'", "token = \""+c.Secret+"\"; more", c.Secret)
	}
	for _, text := range texts {
		found := secrets.Find(t.Context(), text)
		for _, theirs := range engine.DetectString(text) {
			rules[theirs.RuleID] = true
			at := strings.Index(text, strings.Trim(theirs.Secret, `"'`))
			require.True(t, slices.ContainsFunc(found, func(s secrets.Secret) bool {
				return s.Start <= at && s.End >= at+len(strings.TrimRight(strings.Trim(theirs.Secret, `"'`), `\`))
			}), "%s in %q", theirs.RuleID, text)
		}
	}
	require.Greater(t, len(rules), 20)
}

// The table has all rules of gitleaks except those about file names, each as gitleaks reads it.
func TestTableIsWhatGitleaksReads(t *testing.T) {
	engine, err := detect.NewDetectorDefaultConfig()
	require.NoError(t, err)
	table := make(map[string]secrets.Rule)
	for _, r := range secrets.Gitleaks {
		table[r.ID] = r
	}
	require.Len(t, secrets.Gitleaks, len(table), "each has a name of its own")
	require.Empty(t, slices.DeleteFunc(slices.Collect(maps.Keys(table)), func(id string) bool {
		_, theirs := engine.Config.Rules[id]
		return theirs
	}))
	for id, want := range engine.Config.Rules {
		r, found := table[id]
		require.Equal(t, want.Regex != nil, found, id)
		if !found {
			continue
		}
		require.Empty(t, want.RequiredRules, "%s: what a rule requires is not in the table", id)
		require.Equal(t, want.Regex.String(), r.Regex, id)
		require.Equal(t, want.SecretGroup, r.SecretGroup, id)
		require.InDelta(t, want.Entropy, r.Entropy, 0, id)
		require.Equal(t, want.Keywords, r.Keywords, id)
		sameAllowlists(t, want.Allowlists, r.Allowlists, id)
	}
	sameAllowlists(t, engine.Config.Allowlists, secrets.Everywhere, "everywhere")
}

// sameAllowlists compares allowlists, and what they decide for texts.
func sameAllowlists(t *testing.T, want []*config.Allowlist, have []secrets.Allowlist, who string) {
	t.Helper()
	texts := []string{"", "EXAMPLE", "example", "token", "sk_live_example", "access_key", "a1b2c3", "TRUE", "null", "$HOME", "$HoMe", "${HoMe}"}
	for _, c := range redactiontest.Credentials(5, 50) {
		texts = append(texts, c.Secret, c.Text)
	}
	next := 0
	for _, a := range want {
		all := a.MatchCondition == config.AllowlistMatchAnd
		if all && len(a.Paths)+len(a.Commits) > 0 || len(a.Regexes)+len(a.StopWords) == 0 {
			continue
		}
		require.Less(t, next, len(have), who)
		list := have[next]
		next++
		require.Equal(t, all, list.All, who)
		require.Equal(t, a.RegexTarget, string(list.Target), who)
		require.ElementsMatch(t, a.StopWords, list.StopWords, who)
		require.Len(t, list.Regexes, len(a.Regexes), who)
		for i := range a.Regexes {
			require.Equal(t, a.Regexes[i].String(), list.Regexes[i], who)
		}
		compiled := list.Compile()
		for _, text := range append(texts, list.StopWords...) {
			expected := a.RegexAllowed(text)
			word, _ := a.ContainsStopWord(text)
			allowed := expected || word
			if all {
				allowed = (len(a.Regexes) == 0 || expected) && (len(a.StopWords) == 0 || word)
			}
			require.Equal(t, allowed, compiled.Allows(text, text, text), "%s: %q", who, text)
		}
	}
	require.Len(t, have, next, who)
}
