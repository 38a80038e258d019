package openaichat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/openaichat"
)

func TestReasoningThatCannotBeReadIsKeptButNotSent(t *testing.T) {
	t.Parallel()
	d := openaichat.New()
	for _, reasoning := range []string{"[0]", `{"text":"As I see it."}`, "1.50", "true"} {
		parsed, err := d.Parse([]byte(`[{"role":"assistant","content":"Hello","reasoning":` + reasoning + `}]`))
		require.NoError(t, err)
		written, err := d.Render(parsed.Messages, dialect.RenderOptions{AsWritten: true})
		require.NoError(t, err)
		require.JSONEq(t, `{"role":"assistant","content":"Hello","reasoning":`+reasoning+`}`, string(written.Messages[0]))
		sent, err := d.Render(parsed.Messages, dialect.RenderOptions{})
		require.NoError(t, err)
		require.JSONEq(t, `{"role":"assistant","content":"Hello"}`, string(sent.Messages[0]))
	}
}
