package torture_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
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
	{"RevertToCheckpoint with a summary", func(t *testing.T, d *daemon, messages uint32) {
		t.Helper()
		back, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
			SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 1}, Summarize: true,
		})
		require.NoError(t, err)
		require.Equal(t, messages-1, back.GetMessagesPutAside())
	}},
}

// withLong returns a daemon with further flags and a session of so many MiB, and how many messages that has.
func withLong(t *testing.T, mib int, flags ...string) (d *daemon, messages uint32) {
	t.Helper()
	const each, bytes = 16, 64 << 10
	d = serve(t, flags...)
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

// Compactions by a model take hardly more memory for six times as many bytes, also where the policy wants them on the agent's
// own prompt, which does not fit the model's window then.
func TestMemoryOfModels(t *testing.T) {
	if testing.Short() {
		t.Skip("starts four daemons, and appends a hundred megabytes to two of them")
	}
	lines := slices.Repeat([]string{"The import goes on with the next file, as it did before."}, 20)
	compact := func(mib int, cachedPrefix bool) int {
		model := llmtest.New(t)
		model.Handle(func(*llmtest.Request) llmtest.Reply { return llmtest.Summary(llmtest.Written{Lines: lines}) })
		config := filepath.Join(t.TempDir(), "compactord.yaml")
		require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `summarizers:
  model: {kind: openai, api: chat, model: m, base_url: %q, api_key_env: TORTURE_KEY, context_window: 400000, max_output_tokens: 8000}
`, model.BaseURL(llmtest.Chat)), 0o600))
		d, _ := withLong(t, mib, "--config", config)
		policy := daemontest.By("model", compactordv1.SummaryFallback_SUMMARY_FALLBACK_FAIL, 20_000)
		policy.GetSummary().CachedPrefix = &cachedPrefix
		stream, err := d.compactions.Compact(t.Context(), &compactordv1.CompactRequest{
			Target: &compactordv1.CompactRequest_SessionId{SessionId: "s"}, Policy: policy,
		})
		require.NoError(t, err)
		most, calls := 0, uint32(0)
		for {
			answer, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				require.Positive(t, calls)
				return most
			}
			require.NoError(t, err)
			most = max(most, d.memoryMiB(anonymousMemory))
			calls = max(calls, answer.GetEvent().GetCompleted().GetCompaction().GetProvenance().GetSummarizerCalls())
		}
	}
	t.Setenv("TORTURE_KEY", "key")
	for _, cachedPrefix := range []bool{false, true} {
		few, many := compact(16, cachedPrefix), compact(96, cachedPrefix)
		t.Logf("cached_prefix %t: %d MiB with 16 MiB of texts, %d MiB with 96", cachedPrefix, few, many)
		require.LessOrEqual(t, many, 2*few)
	}
}
