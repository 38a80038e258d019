package service_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/access"
)

// BenchmarkAppendWithToken compares appends to a daemon that asks for a token with those to one that does not. They take
// turns, so that both see the same machine.
func BenchmarkAppendWithToken(b *testing.B) {
	token := access.NewToken()
	hash, err := access.HashOf(token)
	require.NoError(b, err)
	guard, err := access.New(access.Options{
		Files: []access.File{{Flag: "tokens", Read: func(string) ([]access.Entry, error) {
			return []access.Entry{{Subject: "x", Role: access.Write, Hash: hash}}, nil
		}}},
		Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	require.NoError(b, err)
	open, guarded := start(b), start(b, func(o *service.ServerOptions) { o.Access = guard })
	ctx := with(b.Context(), token)
	var took [2]time.Duration
	const each = 50
	number := 0
	for b.Loop() {
		number++
		for side, d := range []*daemon{open, guarded} {
			id := fmt.Sprintf("s-%d", number)
			begun := time.Now()
			_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: id})
			for n := 0; n < each && err == nil; n++ {
				_, err = d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
					SessionId: id, Messages: []*compactordv1.Message{user("a short message")},
				})
			}
			if err != nil {
				b.Fatal(err)
			}
			took[side] += time.Since(begun)
		}
	}
	calls := float64(number * (each + 1))
	b.ReportMetric(float64(took[0].Nanoseconds())/calls, "open-ns/call")
	b.ReportMetric(float64(took[1].Nanoseconds())/calls, "token-ns/call")
	b.ReportMetric(float64(took[1])/float64(took[0]), "ratio")
}
