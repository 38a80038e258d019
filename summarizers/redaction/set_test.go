package redaction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/redaction"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// Of secrets as people and tools write them at most two in a hundred are missed.
func TestPlantedSecrets(t *testing.T) {
	planted := redactiontest.Planted(1, 3)
	require.GreaterOrEqual(t, len(planted), 900)
	missed, all, ofKind := 0, make(map[string]int), make(map[string]int)
	for _, c := range planted {
		redacted := redaction.New("session").Text(t.Context(), c.Text)
		all[c.Kind]++
		if strings.Contains(redacted, c.Secret) {
			missed++
			ofKind[c.Kind]++
			t.Logf("missed: %s: %q", c.Kind, c.Text)
		}
		require.Equal(t, redacted, redaction.New("session").Text(t.Context(), redacted), c.Text)
	}
	t.Logf("%d of %d missed", missed, len(planted))
	require.LessOrEqual(t, missed*100, len(planted)*2)
	for kind, n := range ofKind {
		require.LessOrEqual(t, n*100, all[kind]*8, "%s: a whole kind may not be lost among the others", kind)
	}
}

// What only looks like a secret stays.
func TestLookAlikes(t *testing.T) {
	for seed := range uint64(3) {
		alike := redactiontest.Alike(seed)
		require.GreaterOrEqual(t, len(alike), 500)
		for _, text := range alike {
			if redacted := redaction.New("session").Text(t.Context(), text); redacted != text {
				t.Errorf("%q became %q", text, redacted)
			}
		}
	}
}
