package redaction_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/redaction"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// maxMissed is how many secrets of a hundred may be missed in texts that were written without a look at the rules. Some
// of them are words, which only their reader can know for passwords.
const maxMissed = 2

func TestHeldOutSecrets(t *testing.T) {
	missed, all := 0, 0
	for _, h := range redactiontest.HeldOutSecrets(1) {
		redacted := redaction.New("session").Text(t.Context(), h.Text)
		require.Equal(t, redacted, redaction.New("session").Text(t.Context(), redacted), "redacting it again changes it")
		for _, secret := range h.Secrets {
			all++
			if h.Leaks(secret, redacted) {
				missed++
				t.Logf("missed %s: %q in %q", h.Kind, secret, redacted)
			}
		}
	}
	t.Logf("%d of %d missed", missed, all)
	require.GreaterOrEqual(t, all, 4800)
	require.LessOrEqual(t, missed*100, all*maxMissed)
}

func TestHeldOutLookAlikes(t *testing.T) {
	alike := redactiontest.HeldOutAlike(1)
	require.GreaterOrEqual(t, len(alike), 1300)
	for _, h := range alike {
		if redacted := redaction.New("session").Text(t.Context(), h.Text); redacted != h.Text {
			t.Errorf("%q became %q", h.Text, redacted)
		}
	}
}
