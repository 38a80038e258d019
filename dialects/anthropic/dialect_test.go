package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

func TestConformance(t *testing.T) { dialecttest.Run(t, anthropic.New()) }

func TestDocumentGivesBackTheSystemPromptAsItWas(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"system":"Be brief.","messages":[]}`,
		`{"system":"","messages":[]}`,
		`{"system":"half \ud83d","messages":[]}`,
		`{"system":[{"type":"text","text":"Be brief."}],"messages":[]}`,
		`{"messages":[{"role":"user","content":"x"}]}`,
	} {
		r := asWritten(t, parse(t, raw).Messages)
		require.True(t, rawjson.Equal(json.RawMessage(raw), anthropic.New().Document(&r.List)), "%s became %s", raw, list(r))
	}
}

func TestDocumentIsTheRequestBody(t *testing.T) {
	t.Parallel()
	raw := `{"messages":[` + hi + `],"system":[{"type":"text","text":"a"}]}`
	split, err := anthropic.New().Split([]byte(raw))
	require.NoError(t, err)
	require.True(t, rawjson.Equal(json.RawMessage(raw), anthropic.New().Document(split)))
}
