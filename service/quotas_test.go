package service_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/quota"
	"github.com/compactord/compactord/summarizers"
)

// A tenant that takes all that it may is refused, for requests, bytes, streams and compactions; others are not, and so is
// who has no quota.
func TestQuotasOfTenants(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}, 2), make(chan struct{})
	model := &scripted{name: "held", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		started <- struct{}{}
		<-release
		return faithful(ctx, req, p)
	}}
	limits := map[string]quota.Limits{
		// So slow that nothing comes back while the test runs.
		"requests": {RequestsPerSecond: 1e-9}, "bytes": {BytesPerSecond: 1e-9}, "streams": {Streams: 1}, "compactions": {Compactions: 1},
	}
	callers := map[string]access.Caller{"operator": {Role: access.Admin}}
	for name := range limits {
		callers[name] = access.Caller{Tenant: name, Role: access.Admin}
	}
	d := startCallers(t, callers, withSummarizer(model), func(o *service.ServerOptions) {
		o.Quotas = func(tenant string) quota.Limits { return limits[tenant] }
	})
	refused := func(err error, limit string) {
		t.Helper()
		info := requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED")
		require.Equal(t, limit, info.GetMetadata()["limit"])
	}
	lists := func(caller string) error {
		_, err := d.sessions.ListSessions(d.as(t.Context(), caller), &compactordv1.ListSessionsRequest{PageSize: 1})
		return err
	}

	require.NoError(t, lists("requests"))
	refused(lists("requests"), "requests_per_second")
	require.NoError(t, lists("bytes"))
	refused(lists("bytes"), "bytes_per_second")
	for range 10 {
		require.NoError(t, lists("operator"))
	}

	for _, id := range []string{"s", "t"} {
		d.full(t, "compactions", id, by("held", noFallback, small(1000)))
	}
	forced := compactRequest("s", nil)
	forced.Reason = compactordv1.CompactionReason_COMPACTION_REASON_MANUAL
	first, err := d.compactions.Compact(d.as(t.Context(), "compactions"), forced)
	require.NoError(t, err)
	<-started
	_, err = d.compact(t, "compactions", compactRequest("t", nil))
	refused(err, "compactions")
	close(release)
	require.NoError(t, drained(first))
	_, err = d.compact(t, "compactions", compactRequest("t", nil))
	require.NoError(t, err)

	d.full(t, "streams", "s", nil)
	watch := func() (context.CancelFunc, error) {
		ctx, cancel := context.WithCancel(d.as(t.Context(), "streams"))
		stream, err := d.sessions.WatchSession(ctx, &compactordv1.WatchSessionRequest{SessionId: "s"})
		require.NoError(t, err)
		_, err = stream.Recv()
		return cancel, err
	}
	end, err := watch()
	require.NoError(t, err)
	defer end()
	_, err = watch()
	refused(err, "streams")
	require.NoError(t, lists("streams"))
}
