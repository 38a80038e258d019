package histories_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
)

// left is what a session holds in the end.
type left struct {
	session  *compactordv1.Session
	messages []*compactordv1.LoggedMessage
	records  []*compactordv1.Record
}

// log returns messages and records by sequence.
func (l *left) log() *sessiontest.Log {
	log := &sessiontest.Log{Items: make([]sessiontest.Item, len(l.messages)+len(l.records))}
	for _, m := range l.messages {
		item := sessiontest.Item{Message: m.GetMessage(), Arrival: m.GetArrivalEdits()}
		if m.GetMessage().GetRole() == compactordv1.Role_ROLE_ASSISTANT {
			item.MadeFrom = new(m.GetViewPoint())
		}
		log.Items[m.GetSequence()] = item
	}
	for _, r := range l.records {
		log.Items[r.GetSequence()] = sessiontest.Item{Record: r}
	}
	return log
}

// readAll reads all sessions.
func readAll(t *testing.T, d *daemon) map[string]*left {
	t.Helper()
	list, err := d.sessions.ListSessions(t.Context(), &compactordv1.ListSessionsRequest{PageSize: 1000})
	require.NoError(t, err)
	require.Empty(t, list.GetNextPageToken())
	all := make(map[string]*left)
	for _, s := range list.GetSessions() {
		l := &left{session: s}
		messages := &compactordv1.ListMessagesRequest{SessionId: s.GetSessionId(), PageSize: 1000}
		for more := true; more; more = messages.GetPageToken() != "" {
			answer, err := d.sessions.ListMessages(t.Context(), messages)
			require.NoError(t, err)
			l.messages = append(l.messages, answer.GetMessages()...)
			messages.PageToken = answer.GetNextPageToken()
		}
		records := &compactordv1.ListRecordsRequest{SessionId: s.GetSessionId(), PageSize: 1000}
		for more := true; more; more = records.GetPageToken() != "" {
			answer, err := d.sessions.ListRecords(t.Context(), records)
			require.NoError(t, err)
			l.records = append(l.records, answer.GetRecords()...)
			records.PageToken = answer.GetNextPageToken()
		}
		all[s.GetSessionId()] = l
	}
	return all
}

// markOf returns the mark of a message; empty where it has none.
func markOf(m *compactordv1.Message) string {
	if len(m.GetParts()) == 0 {
		return ""
	}
	text := m.GetParts()[0].GetText().GetText()
	if r := m.GetParts()[0].GetToolResult(); r != nil && len(r.GetParts()) > 0 {
		text = r.GetParts()[0].GetText().GetText()
	}
	mark, _, found := strings.Cut(text, ">")
	if !found || !strings.HasPrefix(mark, "<") {
		return ""
	}
	return mark + ">"
}
