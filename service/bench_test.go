package service_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/encoded"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// BenchmarkAppendTurn is a durable append of a finished turn with a result of 2 kB, by each kind of policy on append.
// The session is cleared every 50 turns, since on_user_message reads the view.
func BenchmarkAppendTurn(b *testing.B) {
	const size, turns = 2000, 50
	for _, each := range []struct {
		name   string
		policy *compactordv1.Policy
	}{
		{"without", nil},
		{"on_append", offloading(100)},
		{"on_user_message", hiding()},
	} {
		b.Run(each.name, func(b *testing.B) {
			d := start(b)
			d.create("s", each.policy)
			turn := reads("a", size)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				d.append("s", turn...)
				if i%turns == turns-1 {
					b.StopTimer()
					_, err := d.sessions.ClearSession(b.Context(), &compactordv1.ClearSessionRequest{SessionId: "s"})
					require.NoError(b, err)
					b.StartTimer()
				}
			}
		})
	}
}

// BenchmarkAppendUserMessage is a durable append of a finished turn behind no cut, with and without policy.on_user_message.
func BenchmarkAppendUserMessage(b *testing.B) {
	for _, each := range []struct {
		name   string
		policy *compactordv1.Policy
	}{
		{"without", &compactordv1.Policy{}},
		{"on_user_message", hiding()},
	} {
		for _, messages := range []int{1_000, 20_000} {
			b.Run(fmt.Sprintf("%s/messages=%d", each.name, messages), func(b *testing.B) {
				d := start(b)
				d.create("s", each.policy)
				turn := reads("a", 200)
				var batch []*compactordv1.Message
				for n := 0; n < messages; n += len(turn) {
					batch = append(batch, turn...)
					if len(batch) >= 400 {
						d.append("s", batch...)
						batch = nil
					}
				}
				d.append("s", turn...)
				b.ReportAllocs()
				for b.Loop() {
					d.append("s", turn...)
				}
			})
		}
	}
}

func viewRequest() *compactordv1.GetLLMViewRequest {
	return &compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}}
}

// BenchmarkPlan is a plan on the longest recorded conversation, by each preset. Target: 0.3 ms.
func BenchmarkPlan(b *testing.B) {
	var longest []*compactordv1.Message
	size := 0
	for _, path := range corpusFiles(b) {
		messages := readTranscript(b, path)
		bytes := 0
		for _, m := range messages {
			bytes += proto.Size(m)
		}
		if bytes > size {
			longest, size = messages, bytes
		}
	}
	d := start(b)
	d.create("s", nil)
	for len(longest) > 0 {
		n := min(200, len(longest))
		d.append("s", longest[:n]...)
		longest = longest[n:]
	}
	row, err := d.store.Session(b.Context(), "", "s")
	require.NoError(b, err)
	state, err := sessionlog.New(sessionlog.Options{Store: d.store}).State(b.Context(), row, row.GetHead())
	require.NoError(b, err)
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(b, err)
	for _, name := range strategies.PresetNames() {
		policy, err := strategies.Resolve(&compactordv1.Policy{
			Preset: proto.String(name), ContextWindow: proto.Uint32(200_000), MaxOutputTokens: proto.Uint32(20_000),
		})
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			under := *state
			under.Policy = policy
			in := &strategies.Input{State: &under, Policy: policy, Reason: compactordv1.CompactionReason_COMPACTION_REASON_MANUAL}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := registry.Plan(b.Context(), in, policy.GetStrategy()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(300_000, "limit-ns")
		})
	}
	b.Run("draw", func(b *testing.B) {
		for b.Loop() {
			state.View(session.ViewOptions{})
		}
	})
}

// BenchmarkWholeView draws and encodes a neutral view of 800 kB of a store on a disk: by protobuf, and with its messages as
// they are stored.
func BenchmarkWholeView(b *testing.B) {
	const turns, size = 100, 8000
	d := start(b, withStore(openStore(b, filepath.Join(b.TempDir(), "store.db"))))
	d.create("s", nil)
	for i := range turns {
		d.append("s", user(strings.Repeat("word ", size/4/5)))
		d.append("s", reads(fmt.Sprint(i), size/2)...)
		d.append("s", assistant(strings.Repeat("word ", size/4/5)))
	}
	logs := sessionlog.New(sessionlog.Options{Store: d.store})
	row, err := logs.Row(b.Context(), "s")
	require.NoError(b, err)
	r := &views.Request{Row: row, Head: row.GetHead(), MaxBytes: 4 << 20}
	buffer := make([]byte, 0, 4<<20)
	b.Run("by_protobuf", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			answer, err := views.Neutral(b.Context(), logs, r)
			require.NoError(b, err)
			b.SetBytes(int64(proto.Size(answer)))
			_, err = proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(buffer, answer)
			require.NoError(b, err)
		}
	})
	b.Run("as_stored", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctx, take := encoded.Expect(b.Context())
			answer, err := views.Neutral(ctx, logs, r)
			require.NoError(b, err)
			ready := take(answer)
			b.SetBytes(int64(ready.Size()))
			_, err = ready.AppendTo(buffer)
			require.NoError(b, err)
		}
	})
}
