package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Large appends are counted by the session's own estimator, like small ones.
func TestLargeAppendsAreCountedAsSmallOnesAre(t *testing.T) {
	t.Parallel()
	d := start(t)
	text := strings.Repeat("Some words, and 12345 more. ", 4<<10)
	appended := []*compactordv1.Message{
		user("small"), assistant("", call("c", "read", text)), toolResult("c", text), user(text + "other"),
	}
	for e := range compactordv1.Estimator_name {
		if e == 0 {
			continue
		}
		estimator := compactordv1.Estimator(e)
		id := estimator.String()
		d.createBy(id, estimator, &compactordv1.Policy{OnAppend: listOf()})
		d.append(id, appended...)
		messages := d.messages(id)
		counted := d.countTokens(countSession(id, 0)).GetMessages()
		for i, m := range appended {
			by := estimator
			if by == calibrated {
				by = chars4
			}
			want := d.countTokens(countMessages(by, m)).GetTokens()
			require.Equal(t, want, messages[i].GetTokens(), id)
			require.Equal(t, want, counted[i].GetTokens(), id)
		}
	}
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "nobody", Messages: []*compactordv1.Message{user(text)},
	})
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
}
