package torture_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// wholeReaders are calls that read all of a session, which has so many messages, or copy it.
var wholeReaders = []struct {
	name string
	read func(t *testing.T, d *daemon, messages uint32)
}{
	{"CountTokens", func(t *testing.T, d *daemon, messages uint32) {
		t.Helper()
		counted, err := d.compactions.CountTokens(t.Context(), &compactordv1.CountTokensRequest{
			What: &compactordv1.CountTokensRequest_SessionId{SessionId: "s"},
		})
		require.NoError(t, err)
		require.Len(t, counted.GetMessages(), int(messages))
	}},
	{"GetLLMView as of a point", func(t *testing.T, d *daemon, messages uint32) {
		t.Helper()
		_, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, AsOf: proto.Uint32(messages - 1),
		})
		require.NoError(t, err)
	}},
	{"ExportSession", func(t *testing.T, d *daemon, _ uint32) {
		t.Helper()
		conn, err := dial(d.address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		stream, err := compactordv1.NewStoreServiceClient(conn).ExportSession(t.Context(), &compactordv1.ExportSessionRequest{SessionId: "s"})
		for err == nil {
			_, err = stream.Recv()
		}
		require.ErrorIs(t, err, io.EOF)
	}},
	{"SearchMessages", func(t *testing.T, d *daemon, _ uint32) {
		t.Helper()
		_, err := d.sessions.SearchMessages(t.Context(), &compactordv1.SearchMessagesRequest{
			SessionId: "s", Query: &compactordv1.SearchMessagesRequest_Pattern{Pattern: "nowhere to be found"},
		})
		require.NoError(t, err)
	}},
	{"ForkSession", func(t *testing.T, d *daemon, messages uint32) {
		t.Helper()
		fork, err := d.sessions.ForkSession(t.Context(), &compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "fork"})
		require.NoError(t, err)
		require.Equal(t, messages, fork.GetSession().GetNextIndex())
	}},
}

// withLong returns a daemon with a session of so many MiB, and how many messages that has.
func withLong(t *testing.T, mib int) (d *daemon, messages uint32) {
	t.Helper()
	const each, bytes = 16, 64 << 10
	d = serve(t)
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	for i := range mib {
		var batch []*compactordv1.Message
		for n := range each {
			m := said(strings.Repeat(fmt.Sprintf("Line %d of import %d keeps its place in orders.go, as they want it.\n", n, i), bytes/64))
			if n%2 == 1 {
				m.Role = compactordv1.Role_ROLE_ASSISTANT
			}
			batch = append(batch, m)
		}
		_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: batch})
		require.NoError(t, err)
	}
	return d, uint32(each * mib)
}

// Calls that read all of a session take hardly more memory for eight times as many bytes.
func TestMemoryOfWholeSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two daemons, and appends a quarter of a gigabyte")
	}
	read := func(mib int) (most []int) {
		d, messages := withLong(t, mib)
		for _, r := range wholeReaders {
			r.read(t, d, messages)
			most = append(most, d.memoryMiB(anonymousMemory))
		}
		return most
	}
	few, many := read(25), read(200)
	for i, r := range wholeReaders {
		t.Logf("%-26s %d MiB with 25 MiB of texts, %d MiB with 200", r.name, few[i], many[i])
		require.LessOrEqual(t, many[i], 2*few[i], r.name)
	}
}
