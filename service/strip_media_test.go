package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// strip changes the policy so that the last usage report does not hold any more, and everything is estimated.
func (d *daemon) strip(id string, policy *compactordv1.Policy) {
	d.t.Helper()
	policy.Thinking = compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP.Enum()
	_, err := d.sessions.UpdateSession(d.t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: id, UpdateMask: mask("policy"), Policy: policy,
	})
	require.NoError(d.t, err)
}

// Providers refuse requests for their megabytes at a tenth of their tokens. So bytes are their own trigger, and a
// compaction for it makes the view smaller in bytes.
func TestARequestTooLargeInBytes(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := small(100)
	policy.ContextWindow = proto.Uint32(1_000_000)
	policy.Trigger = &compactordv1.Trigger{MaxViewBytes: proto.Uint32(4 << 20)}
	d.create("s", policy)
	var r *compactordv1.ContextReport
	for range 6 {
		shown := user("Look at this.")
		shown.Parts = append(shown.Parts, picture(1<<20))
		d.append("s", shown)
		r = d.append("s", assistant("I see a ship at the pier.")).GetReport()
	}
	require.Less(t, r.GetTokens(), uint32(10_000))
	require.True(t, r.GetShouldCompact())
	require.Equal(t, uint32(6<<20), r.GetMediaBytes())
	req := compactRequest("s", nil)
	req.Reason = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
	events, err := d.compact(req)
	require.NoError(t, err)
	after := last(t, events).GetCompleted().GetReport()
	require.Less(t, after.GetViewBytes(), uint32(2<<20))
	require.LessOrEqual(t, after.GetMediaBytes(), uint32(1<<20))
	require.False(t, after.GetShouldCompact())
}

// Images are in the log once, and no record of a compaction has a copy.
func TestRecordsHoldNoMedia(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(50))
	for range 4 {
		shown := user(strings.Repeat("Look at this ship. ", 20))
		shown.Parts = append(shown.Parts, picture(1<<18))
		d.append("s", shown, assistant(strings.Repeat("I see a ship at the pier. ", 20)), user("Go on."), assistant("Yes."))
		_, err := d.compact(compactRequest("s", nil))
		require.NoError(t, err)
	}
	answer, err := d.sessions.ListRecords(t.Context(), &compactordv1.ListRecordsRequest{SessionId: "s"})
	require.NoError(t, err)
	require.Greater(t, len(answer.GetRecords()), 3)
	for _, r := range answer.GetRecords() {
		require.Less(t, proto.Size(r), 1<<14)
	}
}

// Seed case 95: media of kept messages stay as they are; the summarizer gets a line of text for the others.
func TestCase095MediaOfKeptMessagesStay(t *testing.T) {
	t.Parallel()
	image := func(name string) *compactordv1.Message {
		m := user("Look at " + name)
		m.Parts = append(m.Parts, &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: &compactordv1.MediaPart{
			MimeType: "image/png", Name: name, Source: &compactordv1.MediaPart_Data{Data: []byte("\x89PNG " + name)},
		}}})
		return m
	}
	kept := image("kept.png")
	d, writer := caseDaemon(t, 400, image("covered.png"), assistant(long(3000)), kept, assistant("Seen."))
	entry := d.completed(nil)
	require.Equal(t, uint32(2), entry.GetFirstKeptIndex())
	require.Len(t, writer.seen(), 1)
	view := d.view("s")
	require.True(t, proto.Equal(kept.GetParts()[1], view[1].GetMessage().GetParts()[1]), "%v", view[1])
}
