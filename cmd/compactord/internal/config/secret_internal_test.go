package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/cmd/compactord/internal/sample"
)

func TestSecretsAreNotPrinted(t *testing.T) {
	s, err := newSecret(sample.NotAKey + "\n")
	require.NoError(t, err)
	require.Equal(t, sample.NotAKey, s.reveal())
	inJSON, err := json.Marshal(map[string]any{"a": s, "b": &s})
	require.NoError(t, err)
	inYAML, err := yaml.Marshal(map[string]any{"a": s})
	require.NoError(t, err)
	p := &profile{}
	p.key.Store(&s)
	require.Equal(t, sample.NotAKey, p.currentKey())
	var log strings.Builder
	for _, logger := range []*slog.Logger{slog.New(slog.NewTextHandler(&log, nil)), slog.New(slog.NewJSONHandler(&log, nil))} {
		logger.Info("x", "a", s, "b", &s, "c", p)
	}
	all := string(inJSON) + string(inYAML) + log.String() + fmt.Sprint(s, &s, p, []secret{s}) +
		fmt.Sprintf("%s %v %+v %#v %q %x %d %+v %#v", s, s, s, s, s, s, s, p, p)
	require.NotContains(t, all, sample.NotAKey)
	require.NotContains(t, all, fmt.Sprintf("%x", sample.NotAKey))
	require.Contains(t, all, hiddenSecret)
}

func TestKeysThatNoHeaderHolds(t *testing.T) {
	for text, says := range map[string]string{
		"\ufeff" + sample.NotAKey: "begins with a byte order mark", sample.NotAKey + "é": "beyond ASCII", "a b": "blanks",
	} {
		_, err := newSecret(text)
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), sample.NotAKey)
	}
}

func TestKeyFileThatIsNone(t *testing.T) {
	_, err := secretFromFile(t.TempDir())
	require.ErrorContains(t, err, "it is not a regular file")
	_, err = secretFromFile(sample.File(t, "key", strings.Repeat("a", maxSecretBytes+1)))
	require.ErrorContains(t, err, "too large")
	s, err := secretFromFile(sample.File(t, "key", sample.NotAKey+"\n"))
	require.NoError(t, err)
	require.Equal(t, sample.NotAKey, s.reveal())
}
