package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// Counting ahead changes no size, for texts that were counted ahead and for others.
func TestCountAheadCountsTheSame(t *testing.T) {
	text := &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{
		MimeType: "text/plain", Source: &compactordv1.MediaPart_Data{Data: []byte("hello big world")},
	}}}
	messages := []*compactordv1.Message{
		sessiontest.EveryKind().GetMessage(), answering("a", resultText("hello world"), resultPicture("p")),
		{Parts: []*compactordv1.Part{text}},
	}
	for e := range compactordv1.Estimator_name {
		c := counterOf(t, compactordv1.Estimator(e))
		for n := range len(messages) + 1 {
			ahead, err := session.CountAhead(t.Context(), c, messages[:n]...)
			require.NoError(t, err)
			for _, m := range messages {
				require.Equal(t, session.PartSizes(c, m), session.PartSizes(ahead, m))
				require.Equal(t, session.MessageTokens(c, m), session.MessageTokens(ahead, m))
			}
		}
	}
}

// Exact counting ends soon after its context: within a text of many pieces, within one long piece, and between
// messages.
func TestCountAheadEndsWithItsContext(t *testing.T) {
	c := counterOf(t, compactordv1.Estimator_ESTIMATOR_O200K_BASE)
	many := make([]*compactordv1.Message, 100)
	for i := range many {
		many[i] = user("word")
	}
	for what, messages := range map[string][]*compactordv1.Message{
		"many pieces":   {user(strings.Repeat("some words of a text ", 1<<10))},
		"a long piece":  {user(strings.Repeat("a", 4<<20))},
		"many messages": many,
	} {
		ctx := sessiontest.EndsAfter(3)
		_, err := session.CountAhead(ctx, c, messages...)
		require.ErrorIs(t, err, sessiontest.ErrEnough, what)
	}
}
