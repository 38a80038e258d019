package overflow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// In a long text both ends are searched.
func TestLongTexts(t *testing.T) {
	trace := strings.Repeat("at frame of the program\n", 40_000)
	require.True(t, said(t, 0, "prompt is too long\n"+trace).GetOverflow())
	require.True(t, said(t, 0, trace+"prompt is too long").GetOverflow())
	require.False(t, said(t, 0, trace+"prompt is too long\n"+trace).GetOverflow())
}

// JSON within JSON within JSON, as gateways pass errors on.
func TestEscapedBodies(t *testing.T) {
	body := `{"error":{"message":"{\n \"error\": {\n \"code\": 429,\n \"message\": \"too many tokens\"}}"}}`
	require.Equal(t, "text-429", said(t, 0, body).GetRule())
	require.Equal(t, "text-429", said(t, 0, strings.ReplaceAll(strings.ReplaceAll(body, `\`, `\\`), `"`, `\"`)).GetRule())
	require.True(t, said(t, 0, `{\"message\":\"The model\u2019s context window: exceeds the model\u2019s context window\"}`).GetOverflow())
}
