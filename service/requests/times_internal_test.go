package requests

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Times and spans outside of protobuf's range are refused with the path of their field, at every depth.
func TestTimesOutOfRange(t *testing.T) {
	t.Parallel()
	written := func(at *timestamppb.Timestamp) proto.Message {
		return &compactordv1.AppendMessagesRequest{Messages: []*compactordv1.Message{{}, {WrittenAt: at}}}
	}
	timeout := func(span *durationpb.Duration) proto.Message {
		return &compactordv1.CreateSessionRequest{Policy: &compactordv1.Policy{
			Summary: &compactordv1.SummaryPolicy{TotalTimeout: span},
		}}
	}
	for name, test := range map[string]struct {
		request proto.Message
		wrong   string
	}{
		"a time":              {written(timestamppb.Now()), ""},
		"before year 1":       {written(&timestamppb.Timestamp{Seconds: -62135596801}), "messages[1].written_at"},
		"nanoseconds of more": {written(&timestamppb.Timestamp{Nanos: 1e9}), "messages[1].written_at"},
		"a span":              {timeout(durationpb.New(-1)), ""},
		"longest span":        {timeout(&durationpb.Duration{Seconds: math.MaxInt64}), "policy.summary.total_timeout"},
		"signs of two kinds":  {timeout(&durationpb.Duration{Seconds: 1, Nanos: -1}), "policy.summary.total_timeout"},
	} {
		wire, err := proto.Marshal(test.request)
		require.NoError(t, err)
		err = decode(test.request, wire)
		if test.wrong == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, test.wrong, name)
	}
}
