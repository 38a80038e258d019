package service_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// asked returns a request and a list of to-dos with secrets, and work after them.
func asked(t *testing.T, request, todo string) []*compactordv1.Message {
	t.Helper()
	todos, err := json.Marshal(map[string]any{"todos": []map[string]string{{"content": todo, "status": "pending"}}})
	require.NoError(t, err)
	messages := []*compactordv1.Message{
		system("Be careful."), user(request), assistant("I plan.", call("plan", "TodoWrite", string(todos))), toolResult("plan", "ok"),
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		messages = append(messages, touching(id, "read", "/srv/"+id)...)
	}
	return messages
}

// stored returns the records of the session and its view as JSON.
func stored(t *testing.T, d *daemon) string {
	t.Helper()
	records, err := d.sessions.ListRecords(t.Context(), &compactordv1.ListRecordsRequest{SessionId: "s"})
	require.NoError(t, err)
	return protojson.Format(records) + shown(d)
}

// The request and the to-dos that stand beside a summary have no secrets either, in this round and in the next one,
// also where the request was shortened in the middle of a secret. Without redaction they stay as they are.
func TestSlotsAreRedacted(t *testing.T) {
	t.Parallel()
	said := redactiontest.Credentials(41, 1)[0]
	planned := redactiontest.Credentials(42, 1)[0]
	credentials := []redactiontest.Credential{said, planned}
	for _, redact := range []bool{true, false} {
		for _, name := range []string{"model", "extractive"} {
			d := start(t, withSummarizer(persisting(faithful)))
			policy := by(name, noFallback, small(700))
			policy.Summary.Redact = proto.Bool(redact)
			d.create("s", policy)
			d.append("s", asked(t, "Deploy it with "+said.Text, "try "+planned.Text)...)
			for round := range 2 {
				events, err := d.compact(compactRequest("s", nil))
				require.NoError(t, err)
				slots := last(t, events).GetCompleted().GetCompaction().GetSlots()
				require.Equal(t, uint32(1), slots.GetLastUserRequest().GetIndex(), "%s, round %d", name, round)
				require.Len(t, slots.GetOpenTodos(), 1)
				require.Equal(t, redact, strings.Contains(slots.GetLastUserRequest().GetText(), "[REDACTED:"), name)
				require.Equal(t, redact, strings.Contains(slots.GetOpenTodos()[0].GetText(), "[REDACTED:"), name)
				require.Equal(t, redact, len(leaked(stored(t, d), credentials)) == 0, "%s, round %d", name, round)
				d.append("s", touching("e"+name, "read", "/srv/e")...)
				d.append("s", touching("f"+name, "read", "/srv/f")...)
			}
			require.Contains(t, d.recall(recallOf(1)).GetText(), said.Secret, "the log keeps it")
		}
	}
}

// A request is redacted before it is shortened, which could leave half of a secret that no rule knows.
func TestShortenedRequestsAreRedactedAsAWhole(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "R7kPq2Zt9LmX4vBn8YcD3sWf6HgJ1aQe5TuV"
	for _, before := range []int{5300, 5312, 5318, 5322} {
		d := start(t, withSummarizer(persisting(faithful)))
		d.create("s", by("model", noFallback, small(700)))
		d.append("s", asked(t, strings.Repeat("y ", before/2)+token+strings.Repeat(" z", 4500), "go")...)
		events, err := d.compact(compactRequest("s", nil))
		require.NoError(t, err)
		request := last(t, events).GetCompleted().GetCompaction().GetSlots().GetLastUserRequest()
		require.True(t, request.GetShortened())
		for n := 0; n+8 <= len(token); n += 4 {
			require.NotContains(t, request.GetText(), token[n:n+8])
		}
	}
}

// So are the slots of an imported compaction.
func TestImportedSlotsAreRedacted(t *testing.T) {
	t.Parallel()
	said := redactiontest.Credentials(43, 1)[0]
	d := start(t)
	d.create("s", &compactordv1.Policy{ContextWindow: proto.Uint32(100_000)})
	messages := asked(t, "Deploy it with "+said.Text, "try "+said.Text)
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: messages,
		ImportedRecords: []*compactordv1.ImportedRecord{importedCompaction(10, 8, "What was done, in few words.")},
	})
	require.NoError(t, err)
	entry := d.listCompactions("s")[0]
	require.Contains(t, entry.GetSlots().GetLastUserRequest().GetText(), "[REDACTED:")
	require.Empty(t, leaked(stored(t, d), []redactiontest.Credential{said}))
}

// A private key whose lines stand in two parts of a message, or in two messages, is found in each by its first or its
// last line.
func TestKeysInTwoPartsAreRedacted(t *testing.T) {
	t.Parallel()
	var key redactiontest.Credential
	for _, c := range redactiontest.Credentials(44, 60) {
		if c.Kind == "RSA key" {
			key = c
		}
	}
	lines := strings.SplitAfter(key.Secret, "\n")
	first, second := strings.Join(lines[:len(lines)/2], ""), strings.Join(lines[len(lines)/2:], "")
	parts := &compactordv1.Message{Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{
		session.TextPart("Always use this key: " + first), session.TextPart(second + "\nand never another."),
	}}
	for name, messages := range map[string][]*compactordv1.Message{
		"two parts":    {system("Be careful."), parts},
		"two messages": {system("Be careful."), user("Always use this key: " + first), assistant("Is there more?"), user(second + "\nand never another.")},
	} {
		d := start(t)
		d.create("s", by("extractive", noFallback, small(700)))
		d.append("s", messages...)
		for _, id := range []string{"a", "b", "c", "d"} {
			d.append("s", touching(id, "read", "/srv/"+id)...)
		}
		events, err := d.compact(compactRequest("s", nil))
		require.NoError(t, err)
		require.NotNil(t, last(t, events).GetCompleted().GetCompaction(), name)
		require.Empty(t, leaked(stored(t, d), []redactiontest.Credential{key}), name)
	}
}
