package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// `on_append: []` resolved to the preset's list: with opencode no model ever saw more than 2,000 characters of a
// result.
func TestEmptyOnAppendRemovesThePresets(t *testing.T) {
	t.Parallel()
	d := start(t)
	opencode := &compactordv1.Policy{Preset: proto.String("opencode"), ContextWindow: proto.Uint32(200_000)}
	d.create("preset", opencode)
	none := proto.CloneOf(opencode)
	none.OnAppend = listOf()
	require.NotNil(t, d.create("none", none).GetResolvedPolicy().GetOnAppend(), "it is told as given and empty")
	for session, whole := range map[string]bool{"preset": false, "none": true} {
		d.append(session, reads("a", 4000)...)
		require.Equal(t, whole, len(resultTextOf(d.view(session)[2].GetMessage())) == 4000, session)
	}
}

// The same for on_user_message.
func TestEmptyOnUserMessageRemovesThePresets(t *testing.T) {
	t.Parallel()
	d := start(t)
	xbot := &compactordv1.Policy{Preset: proto.String("xbot"), ContextWindow: proto.Uint32(200_000)}
	d.create("preset", xbot)
	none := proto.CloneOf(xbot)
	none.OnUserMessage = listOf()
	d.create("none", none)
	for session, shown := range map[string]int{"preset": 4, "none": 5} {
		d.append(session, append(reads("a", 4000), user("And now?"))...)
		require.Len(t, d.view(session), shown, session)
	}
}

// A request can remove what the daemon's default policy or the session gives to every summarizer.
func TestEmptyListOfARequestReplacesTheSessions(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := small(100)
	policy.Summary = &compactordv1.SummaryPolicy{
		ExtraContext: &compactordv1.TextList{Texts: []string{"The release is on Friday."}},
	}
	d.create("s", policy)
	d.append("s", working(6, 2000)...)
	prompts := func(given *compactordv1.Policy) string {
		plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", Policy: given})
		var all strings.Builder
		for _, p := range plan.GetPrompts() {
			all.WriteString(p.GetText())
		}
		return all.String()
	}
	require.Contains(t, prompts(nil), "on Friday")
	require.NotContains(t, prompts(&compactordv1.Policy{
		Summary: &compactordv1.SummaryPolicy{ExtraContext: &compactordv1.TextList{}},
	}), "on Friday")
}
