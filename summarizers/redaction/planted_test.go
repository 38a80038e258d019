package redaction_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/redaction"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// gone checks that a text has no usable part of a secret: no long piece of it.
func gone(t *testing.T, text string, c redactiontest.Credential) {
	t.Helper()
	for _, secret := range []string{c.Secret, strings.ReplaceAll(c.Secret, `\n`, "\n")} {
		for line := range strings.FieldsSeq(secret) {
			if len(line) > 10 && !strings.HasPrefix(line, "-----") && strings.Contains(text, line) {
				t.Errorf("%s: still in %q", c.Kind, text)
				return
			}
		}
	}
	require.NotContains(t, text, c.Secret, c.Kind)
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	require.NoError(t, err)
	return string(b)
}

// Each credential is removed from every text: alone, among others, in JSON, and in JSON within JSON.
func TestTwoHundredPlantedCredentials(t *testing.T) {
	credentials := redactiontest.Credentials(1, 200)
	require.Len(t, credentials, 200)
	require.GreaterOrEqual(t, len(redactiontest.Kinds()), 20)
	r := redaction.New("session")
	for _, c := range credentials {
		require.Contains(t, c.Text, c.Secret)
		for _, text := range []string{
			c.Text, "Before that.\n" + c.Text + "\nAfter that.", "之前的内容\n" + c.Text + "\n之后",
			quoted(t, c.Text), `{"command":` + quoted(t, c.Text) + `,"timeout":5}`,
			`{"arguments":` + quoted(t, `{"command":`+quoted(t, c.Text)+`}`) + `}`,
		} {
			redacted := r.Text(t.Context(), text)
			gone(t, redacted, c)
			require.Contains(t, redacted, "[REDACTED:", c.Kind)
			require.Equal(t, redacted, r.Text(t.Context(), redacted))
			if json.Valid([]byte(text)) {
				require.True(t, json.Valid([]byte(redacted)), redacted)
			}
		}
	}
}

func TestTwoHundredPlantedCredentialsInOneText(t *testing.T) {
	credentials := redactiontest.Credentials(2, 200)
	var text strings.Builder
	for _, c := range credentials {
		text.WriteString(c.Text + "\n")
	}
	r := redaction.New("session")
	redacted := r.Text(t.Context(), text.String())
	for _, c := range credentials {
		gone(t, redacted, c)
	}
	require.Equal(t, redacted, r.Text(t.Context(), redacted))
	require.GreaterOrEqual(t, r.Count(), uint32(200))
	require.LessOrEqual(t, r.Count(), uint32(215), "what is beside the secrets is left")
}
