package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Seed case 95: media of messages that are kept stay as they are, and only the summarizer is told of the others by a line.
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

// Seed case 111: several SYSTEM messages at the head are no fault, and what cannot be summarized is refused before a model
// is asked.
func TestCase111RefusedBeforeAModelIsAsked(t *testing.T) {
	t.Parallel()
	d, writer := caseDaemon(t, 400, system("One."), system("Two."), user(long(2000)), assistant(long(2000)), user(long(1200)))
	refused := func(policy *compactordv1.Policy, code codes.Code, reason string) {
		t.Helper()
		_, err := d.compact(compactRequest("s", policy))
		requireReason(t, err, code, reason)
	}
	refused(&compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String("nobody")}},
		codes.InvalidArgument, "UNKNOWN_NAME")
	refused(&compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{ToolsJson: proto.String("{}")}},
		codes.InvalidArgument, "INVALID_FIELD")
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{toolResult("nobody asked", "x"), {}},
	})
	require.Equal(t, codes.InvalidArgument, statusCode(err))
	require.Empty(t, writer.seen())

	entry := d.completed(nil)
	require.Len(t, writer.seen(), 1)
	require.Len(t, writer.seen()[0].Lead, 2)
	require.Equal(t, uint32(2), entry.GetCovered().GetStart())
}
