package summaries_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

func redacting(op *summaries.Operation) { op.Policy.Summary.Redact = proto.Bool(true) }

// No secret in the Writer's input or in the texts is shown or stored.
func TestSecretsStayInside(t *testing.T) {
	leak := redactiontest.Credentials(1, 1)[0]
	require.Equal(t, 1, strings.Count(leak.Text, leak.Secret))
	for name, by := range map[string]summarizers.Summarizer{
		"a model": says(goal(leak.Text)), "the fallback": extractive.New(),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWriter(t, by, redacting, func(op *summaries.Operation) {
				op.Focus = leak.Text
				op.Policy.Summary.ExtraContext = &compactordv1.TextList{Texts: []string{leak.Text}}
			})
			task := conversation()
			task.History[0].Message.Parts[0].GetText().Text = "Mend the parser. " + leak.Text
			task.MaxTokens, task.Replaces = 2000, 5000
			written, err := w.Write(t.Context(), task)
			require.NoError(t, err)
			require.NotContains(t, written.Text, leak.Secret)
			if by.Name() == summaries.Fallback {
				require.NotContains(t, w.listener.text(), leak.Secret, "a model has seen no secrets, this one has")
			}
			require.Positive(t, w.Redactions())
			w.Finish()
			require.Equal(t, 100*int(w.Redactions()), w.counted(t)["redactions_total"])

			req := w.WriteRequests(task)[0]
			require.NotContains(t, req.Focus, leak.Secret)
			require.NotContains(t, req.ExtraContext[0], leak.Secret)
			require.NotContains(t, req.Redact(leak.Text), leak.Secret)
			require.NotContains(t, w.Redact(leak.Text), leak.Secret)
		})
	}
}

// Without redaction in the policy, everything stays as it is.
func TestWithoutRedaction(t *testing.T) {
	leak := redactiontest.Credentials(1, 1)[0]
	w := newWriter(t, says(""))
	require.Equal(t, leak.Text, w.Redact(leak.Text))
	require.Zero(t, w.Redactions())
	text, redactions := summaries.Redact(t.Context(), w.op.Policy.GetSummary(), "session", leak.Text)
	require.Equal(t, leak.Text, text)
	require.Zero(t, redactions)
}

// A secret has the same replacement in all texts of a session, and another one in other sessions. After the context has
// ended, texts are empty.
func TestRedactATextOfASession(t *testing.T) {
	leak := redactiontest.Credentials(1, 1)[0]
	policy := &compactordv1.SummaryPolicy{Redact: proto.Bool(true)}
	text, redactions := summaries.Redact(t.Context(), policy, "session", leak.Text)
	require.NotContains(t, text, leak.Secret)
	require.Equal(t, uint32(1), redactions)
	w := newWriter(t, says(""), redacting)
	require.Equal(t, text, w.Redact(leak.Text))
	other, _ := summaries.Redact(t.Context(), policy, "another", leak.Text)
	require.NotEqual(t, text, other)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	text, _ = summaries.Redact(ended, policy, "session", leak.Text)
	require.Empty(t, text)
}
