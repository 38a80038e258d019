package quota_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/quota"
	"github.com/compactord/compactord/service/tenant"
)

// bounded are quotas at a time that the test sets.
type bounded struct {
	*quota.Quotas
	now time.Time
}

func bounding(t require.TestingT, limits quota.Limits, metrics prometheus.Registerer) *bounded {
	b := &bounded{now: time.Unix(1_000_000, 0)}
	var err error
	b.Quotas, err = quota.New(func(name string) quota.Limits {
		if name == "free" {
			return quota.Limits{}
		}
		return limits
	}, nil, func() time.Time { return b.now }, metrics)
	require.NoError(t, err)
	return b
}

const ours, probe = "/compactord.v1.SessionService/GetSession", "/grpc.health.v1.Health/Check"

func (b *bounded) call(ctx context.Context, method string) error {
	_, err := b.Unary(ctx, nil, &grpc.UnaryServerInfo{FullMethod: method}, func(context.Context, any) (any, error) { return nil, nil })
	return err
}

// stream is a stream of a context.
type stream struct {
	grpc.ServerStream
	context func() context.Context
}

func (s *stream) Context() context.Context { return s.context() }

func (b *bounded) stream(ctx context.Context, during func()) error {
	return b.Stream(nil, &stream{context: func() context.Context { return ctx }}, &grpc.StreamServerInfo{FullMethod: ours}, func(any, grpc.ServerStream) error {
		during()
		return nil
	})
}

func requireRefused(t *testing.T, err error, limit, value string, after time.Duration) {
	t.Helper()
	var e *apierror.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED, e.Reason)
	require.Equal(t, map[string]string{"limit": limit, "value": value}, e.Metadata)
	require.Equal(t, after, e.RetryAfter)
}

func TestRequestsPerSecond(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	b := bounding(t, quota.Limits{RequestsPerSecond: 4}, metrics)
	acme, other := tenant.With(t.Context(), "acme"), tenant.With(t.Context(), "other")
	for range 4 {
		require.NoError(t, b.call(acme, ours))
	}
	requireRefused(t, b.call(acme, ours), "requests_per_second", "4", 250*time.Millisecond)
	require.NoError(t, b.call(acme, probe), "probes do not count")
	require.NoError(t, b.call(other, ours), "each tenant has its own")
	for range 20 {
		require.NoError(t, b.call(tenant.With(t.Context(), "free"), ours))
	}
	b.now = b.now.Add(250 * time.Millisecond)
	require.NoError(t, b.call(acme, ours))
	require.Error(t, b.call(acme, ours))
	b.now = b.now.Add(time.Hour)
	for range 4 {
		require.NoError(t, b.call(acme, ours))
	}
	require.Error(t, b.call(acme, ours), "what was not used for an hour is not saved up")
	require.InDelta(t, 3, refusals(t, metrics), 0)
}

// refusals returns how many calls were refused.
func refusals(t *testing.T, metrics *prometheus.Registry) (n float64) {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			n += m.GetCounter().GetValue()
		}
	}
	return n
}

// A large request is taken, and makes the next ones wait.
func TestBytesPerSecond(t *testing.T) {
	t.Parallel()
	b := bounding(t, quota.Limits{BytesPerSecond: 1000}, nil)
	require.NoError(t, b.call(t.Context(), ours))
	b.Received(t.Context(), 3000)
	requireRefused(t, b.call(t.Context(), ours), "bytes_per_second", "1000", 2001*time.Millisecond)
	b.now = b.now.Add(2000 * time.Millisecond)
	require.Error(t, b.call(t.Context(), ours))
	b.now = b.now.Add(time.Millisecond)
	require.NoError(t, b.call(t.Context(), ours))
}

func TestStreamsAtOnce(t *testing.T) {
	t.Parallel()
	b := bounding(t, quota.Limits{Streams: 2}, nil)
	var third, other, unary error
	require.NoError(t, b.stream(t.Context(), func() {
		require.NoError(t, b.stream(t.Context(), func() {
			third = b.stream(t.Context(), func() {})
			other = b.stream(tenant.With(t.Context(), "other"), func() {})
			unary = b.call(t.Context(), ours)
		}))
	}))
	requireRefused(t, third, "streams", "2", 2*time.Second)
	require.NoError(t, other)
	require.NoError(t, unary)
	require.NoError(t, b.stream(t.Context(), func() {}))
}

func TestCompactionsAtOnce(t *testing.T) {
	t.Parallel()
	b := bounding(t, quota.Limits{Compactions: 1}, nil)
	leave, err := b.BeginCompaction(t.Context())
	require.NoError(t, err)
	_, err = b.BeginCompaction(t.Context())
	requireRefused(t, err, "compactions", "1", 2*time.Second)
	_, err = b.BeginCompaction(tenant.With(t.Context(), "other"))
	require.NoError(t, err)
	leave()
	_, err = b.BeginCompaction(t.Context())
	require.NoError(t, err)
}

func TestWithoutQuotas(t *testing.T) {
	t.Parallel()
	var none *quota.Quotas
	none.Received(t.Context(), 1)
	leave, err := none.BeginCompaction(t.Context())
	require.NoError(t, err)
	leave()
	b := &bounded{Quotas: none}
	require.NoError(t, b.call(t.Context(), ours))
	require.NoError(t, b.stream(t.Context(), func() {}))
}

// In any time, a tenant gets no more calls through than its rate allows for that time and for a second before it; and who
// waits as long as the refusal says is let through.
func TestNoTenantHasMoreThanItsRate(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.1, 50).Draw(t, "rate")
		b := bounding(t, quota.Limits{RequestsPerSecond: rate}, nil)
		began, through := b.now, 0
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			b.now = b.now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) * time.Millisecond)
			err := b.call(ctx, ours)
			if err == nil {
				through++
				continue
			}
			var e *apierror.Error
			require.ErrorAs(t, err, &e)
			if rapid.Bool().Draw(t, "waits") {
				b.now = b.now.Add(e.RetryAfter)
				require.NoError(t, b.call(ctx, ours))
				through++
			}
		}
		require.LessOrEqual(t, float64(through), max(1, rate)+rate*b.now.Sub(began).Seconds()+1e-3)
	})
}
