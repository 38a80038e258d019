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
	missed := 0
	for _, c := range planted {
		redacted := redaction.New("session").Text(t.Context(), c.Text)
		if strings.Contains(redacted, c.Secret) {
			missed++
			t.Logf("missed: %s: %q", c.Kind, c.Text)
		}
		require.Equal(t, redacted, redaction.New("session").Text(t.Context(), redacted), c.Text)
	}
	t.Logf("%d of %d missed", missed, len(planted))
	require.LessOrEqual(t, missed*100, len(planted)*2)
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
