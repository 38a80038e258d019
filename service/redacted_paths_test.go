package service_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// told returns all that a request told a summarizer.
func told(t *testing.T, requests []*summarizers.Request) string {
	t.Helper()
	var all strings.Builder
	for _, req := range requests {
		all.WriteString(req.PreviousSummary + "\n" + req.Focus + "\n" + strings.Join(req.ExtraContext, "\n") + "\n")
		for _, m := range req.Messages {
			for _, part := range m.GetMessage().GetParts() {
				text := part.GetText().GetText() + part.GetThinking().GetText() + part.GetToolCall().GetArguments()
				for _, piece := range part.GetToolResult().GetParts() {
					text += piece.GetText().GetText()
				}
				if req.Redact != nil {
					text = req.Redact(text)
				}
				all.WriteString(text + "\n")
			}
		}
	}
	return all.String()
}

// holding returns a conversation with credentials in what the user says and in results.
func holding(credentials []redactiontest.Credential) []*compactordv1.Message {
	messages := []*compactordv1.Message{system("Be careful.")}
	for i := 0; i+2 <= len(credentials); i += 2 {
		id := fmt.Sprintf("call-%d", i)
		messages = append(messages, user("Use this.\n"+credentials[i].Text), assistant("I see.", call(id, "bash", `{"command":"env"}`)),
			toolResult(id, "Output:\n"+credentials[i+1].Text+strings.Repeat("\nA line of no interest.", 40)), assistant("Done."))
	}
	return append(messages, working(4, 2000)[1:]...)
}

// shown returns the view of the session as JSON.
func shown(d *daemon) string {
	var all strings.Builder
	for _, m := range d.view("s") {
		all.WriteString(protojson.Format(m) + "\n")
	}
	return all.String()
}

// A summary that the fallback writes has no secrets, whatever the summarizer did with them.
func TestFallbacksAreRedacted(t *testing.T) {
	t.Parallel()
	credentials := redactiontest.Credentials(30, 40)
	d := start(t, withSummarizer(&scripted{name: "broken", do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		return nil, errors.New("no route")
	}}))
	d.create("s", by("broken", fallingBack, small(1000)))
	d.append("s", holding(credentials)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	entry := last(t, events).GetCompleted().GetCompaction()
	require.Equal(t, fallingBack, entry.GetProvenance().GetFallback())
	require.Contains(t, entry.GetSummary(), "[REDACTED:")
	var all strings.Builder
	for _, e := range events {
		all.WriteString(protojson.Format(e) + "\n" + e.GetSummaryDelta().GetText() + "\n")
	}
	require.Empty(t, leaked(all.String()+entry.GetSummary(), credentials))
}

// What a revert with a summary says of what is put aside has no secrets, from a model or not.
func TestRevertsWithASummaryAreRedacted(t *testing.T) {
	t.Parallel()
	for _, redact := range []bool{true, false} {
		for _, name := range []string{"model", "extractive"} {
			secret := redactiontest.Credentials(31, 1)[0]
			model := persisting(faithful)
			d := start(t, withSummarizer(model))
			policy := by(name, noFallback, small(1000))
			policy.Summary.Redact = proto.Bool(redact)
			d.create("s", policy)
			d.append("s", user("Begin."), assistant("Yes."))
			d.append("s", user("Please deploy it, always with "+secret.Text+", and never ask."), assistant("I will, with "+secret.Text+"."))
			d.revert(summarized(toPoint(2)))
			view := shown(d)
			require.Equal(t, redact, strings.Contains(view, "[REDACTED:"), "%s: %s", name, view)
			require.Equal(t, !redact, strings.Contains(view, secret.Secret), name)
			require.Equal(t, name == "model" && !redact, strings.Contains(told(t, model.seen()), secret.Secret))
		}
	}
}

// An inline history is redacted as a session is: what is sent, told and returned.
func TestInlineHistoriesAreRedacted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"model", "extractive"} {
		credentials := redactiontest.Credentials(32, 40)
		model := persisting(faithful)
		d := start(t, withSummarizer(model))
		events, err := d.compact(&compactordv1.CompactRequest{
			Target: &compactordv1.CompactRequest_History{History: &compactordv1.InlineHistory{Messages: holding(credentials)}},
			Policy: by(name, noFallback, small(1000)),
		})
		require.NoError(t, err)
		entry := last(t, events).GetCompleted().GetCompaction()
		require.Contains(t, entry.GetSummary(), "[REDACTED:", name)
		require.Empty(t, leaked(protojson.Format(entry)+entry.GetSummary()+told(t, model.seen()), credentials), name)
	}
}

// Names of files in the digest, in the entry's lists and in the view have no secrets, and neither has what a later
// round quotes of them.
func TestNamesOfFilesAreRedacted(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "R7kPq2Zt9LmX4vBn8YcD3sWf6HgJ1aQe5TuV"
	for _, name := range []string{"model", "extractive"} {
		d := start(t, withSummarizer(persisting(faithful)))
		d.create("s", by(name, noFallback, small(300)))
		d.append("s", user("Begin."))
		for round := range 2 {
			d.append("s", touching(string(rune('a'+round)), "read", "/srv/"+token+"/notes.txt")...)
			d.append("s", touching(string(rune('k'+round)), "edit", "/srv/"+token+"/main.go")...)
			d.append("s", user(long(900)), assistant(long(900)))
			events, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			entry := last(t, events).GetCompleted().GetCompaction()
			require.NotContains(t, entry.GetSummary(), token, name)
		}
		require.NotContains(t, shown(d), token, name)
	}
}
