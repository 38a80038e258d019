package torture_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// mostUnreadMiB is how much more memory than before a daemon may take for answers that nobody reads.
const mostUnreadMiB = 256

// Eight clients that each ask for 200 large answers and read none take little memory, and others are served beside them.
func TestMemoryOfUnreadAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("sends a daemon 3,200 requests for large answers")
	}
	const connections, calls = 8, 200
	for name, ask := range map[string]struct {
		method  string
		request proto.Message
	}{
		"views of 3 MiB": {
			compactordv1.CompactionService_GetLLMView_FullMethodName,
			&compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "large"}},
		},
		"lists of 100 KiB": {
			compactordv1.SessionService_ListMessages_FullMethodName,
			&compactordv1.ListMessagesRequest{SessionId: "large", MaxBytes: 100 << 10},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := serve(t)
			largeSession(t, d, true)
			d.create(t, "bystander")
			before := d.peakMiB()
			for range connections {
				conn, err := daemontest.Dial(d.address,
					grpc.WithInitialWindowSize(1<<16), grpc.WithInitialConnWindowSize(1<<16))
				require.NoError(t, err)
				t.Cleanup(func() { _ = conn.Close() })
				for range calls {
					stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{}, ask.method)
					require.NoError(t, err)
					require.NoError(t, stream.SendMsg(ask.request))
					require.NoError(t, stream.CloseSend())
				}
			}
			for i := range 200 {
				_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
					SessionId: "bystander", Messages: []*compactordv1.Message{said("one line")},
				})
				require.NoError(t, err, i)
			}
			peak := d.peakMiB()
			t.Logf("peak %d MiB before, %d MiB with unread answers", before, peak)
			require.LessOrEqual(t, peak, before+mostUnreadMiB)
		})
	}
}
