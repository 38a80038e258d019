package service_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/httpapi/httpapitest"
	"github.com/compactord/compactord/summarizers"
)

const (
	floodedText = 64 << 10
	// filling is how much a summarizer writes before it signals that its client does not read: more than the 16 events that
	// may wait for it, and little less than all that fits on the way.
	filling = 17 * floodedText
)

// flooding returns a summarizer that writes until its compaction ends.
func flooding(full chan<- struct{}) *scripted {
	first := true
	return &scripted{name: "chatty", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		if !first {
			return faithful(ctx, req, p)
		}
		first = false
		for written := 0; ctx.Err() == nil; written += floodedText {
			if written == filling {
				close(full)
			}
			p.Text(strings.Repeat("x", floodedText))
		}
		return nil, context.Cause(ctx)
	}}
}

// narrow returns a client that buffers little: 64 KiB of a stream.
func (w *web) narrow(t *testing.T, protocol httpapitest.Protocol) *httpapitest.Conn {
	t.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{
		Protocols: &protocols, HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10, MaxReceiveBufferPerConnection: 64 << 10},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return w.listener.DialContext(ctx) },
	}
	t.Cleanup(transport.CloseIdleConnections)
	return httpapitest.New("http://localhost", &http.Client{Transport: transport}, protocol)
}

// unread begins a compaction over HTTP that writes more than all buffers can hold, and reads none of it.
func unread(t *testing.T, protocol httpapitest.Protocol) *daemon {
	t.Helper()
	begun := make(chan struct{})
	d := start(t, withSummarizer(flooding(begun)), func(o *service.ServerOptions) { o.DrainTimeout = time.Millisecond })
	d.create("s", by("chatty", noFallback, small(1000)))
	d.append("s", working(10, 2000)...)
	_, err := compactordv1.NewCompactionServiceClient(d.web.narrow(t, protocol)).Compact(t.Context(), compactRequest("s", nil))
	require.NoError(t, err)
	<-begun
	return d
}

// A client that does not read its stream over HTTP delays nobody else: its compaction can be preempted, and the daemon
// stops.
func TestSlowReadersOverHTTP(t *testing.T) {
	t.Parallel()
	for _, protocol := range httpapitest.Protocols {
		t.Run("preempt "+string(protocol), func(t *testing.T) {
			t.Parallel()
			d := unread(t, protocol)
			req := compactRequest("s", nil)
			req.Preempt = true
			events, err := d.compact(req)
			require.NoError(t, err)
			require.NotNil(t, last(t, events).GetCompleted())
		})
		t.Run("stop "+string(protocol), func(t *testing.T) {
			t.Parallel()
			d := unread(t, protocol)
			d.shutdown()
			row, err := d.store.Session(t.Context(), "", "s")
			require.NoError(t, err)
			require.Equal(t, uint32(43), row.GetHead().GetNextSequence(), "one record for the policy and one for the attempt")
		})
	}
}

// The daemon stops at once though clients watch over HTTP, and tells them so.
func TestStopEndsWatchesOverHTTP(t *testing.T) {
	t.Parallel()
	for _, protocol := range httpapitest.Protocols {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			d := start(t)
			d.create("s", nil)
			watch, err := compactordv1.NewSessionServiceClient(d.web.conn(protocol)).WatchSession(t.Context(),
				&compactordv1.WatchSessionRequest{SessionId: "s"})
			require.NoError(t, err)
			_, err = watch.Recv()
			require.NoError(t, err)
			d.shutdown()
			for err == nil {
				_, err = watch.Recv()
			}
			require.Equal(t, codes.Unavailable, statusCode(err), "%v", err)
		})
	}
}
