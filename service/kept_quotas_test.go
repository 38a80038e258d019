package service_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/quota"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// useOf counts what a tenant keeps by reading all of it.
func useOf(t require.TestingT, store storage.Store, name string) (use quota.Use) {
	ctx := context.Background()
	rows, next, err := store.Sessions(ctx, storage.SessionQuery{Tenant: name, Limit: 10_000})
	require.NoError(t, err)
	require.Empty(t, next)
	for _, row := range rows {
		use.Sessions++
		messages, err := store.Messages(ctx, storage.RefOf(row), 0, row.GetHead().GetNextIndex(), 0)
		require.NoError(t, err)
		for _, m := range messages {
			use.LogBytes += int64(proto.Size(m))
		}
		records, err := store.Records(ctx, storage.RefOf(row), 0, row.GetHead().GetNextSequence(), 0)
		require.NoError(t, err)
		for _, r := range records {
			use.LogBytes += int64(proto.Size(r))
		}
	}
	return use
}

// usedBy returns what a metric says that a tenant keeps.
func usedBy(t require.TestingT, metrics *prometheus.Registry, name string) (use quota.Use) {
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() != "compactord_quota_used" {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["tenant"] != name {
				continue
			}
			if value := int64(m.GetGauge().GetValue()); labels["limit"] == quota.Sessions {
				use.Sessions = value
			} else {
				use.LogBytes = value
			}
		}
	}
	return use
}

// A tenant that has all sessions, or all bytes of logs, that it may have is refused what adds to them, by the name of the
// limit and of its key; all else goes on, and so do other tenants.
func TestQuotasOfWhatTenantsKeep(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	limits := quota.Limits{Sessions: 2, SessionsKey: "quotas.each.sessions", LogBytes: 1 << 40, LogBytesKey: "quotas.tenants.acme.log_bytes"}
	store, metrics := memory.New(), prometheus.NewPedanticRegistry()
	callers := map[string]access.Caller{"acme": {Tenant: "acme", Role: access.Admin}, "other": {Tenant: "other", Role: access.Admin}}
	d := startCallers(t, callers, withStore(store), func(o *service.ServerOptions) {
		o.Metrics = metrics
		o.Quotas = func(name string) quota.Limits {
			mu.Lock()
			defer mu.Unlock()
			if name == "acme" {
				return limits
			}
			return quota.Limits{}
		}
	})
	ctx := d.as(t.Context(), "acme")
	create := func(ctx context.Context, id string) error {
		_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: id, Policy: small(1000)})
		return err
	}
	add := func(id string, messages ...*compactordv1.Message) error {
		_, err := d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: id, Messages: messages})
		return err
	}
	fork := func() error {
		_, err := d.sessions.ForkSession(ctx, &compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "fork"})
		return err
	}
	refused := func(err error, want map[string]string) {
		t.Helper()
		require.Equal(t, want, requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED").GetMetadata())
	}

	require.NoError(t, create(ctx, "s"))
	require.NoError(t, add("s", working(10, 2000)...))
	require.NoError(t, create(ctx, "gone"))
	tooMany := map[string]string{"limit": "sessions", "value": "2", "used": "2", "key": "quotas.each.sessions"}
	refused(create(ctx, "third"), tooMany)
	refused(fork(), tooMany)
	require.NoError(t, create(d.as(t.Context(), "other"), "third"))
	_, err := d.sessions.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{SessionId: "gone"})
	require.NoError(t, err)
	require.NoError(t, fork())
	require.Equal(t, useOf(t, store, "acme"), usedBy(t, metrics, "acme"))

	use := useOf(t, store, "acme")
	mu.Lock()
	limits.LogBytes = use.LogBytes + 10
	mu.Unlock()
	full := map[string]string{
		"limit": "log_bytes", "value": strconv.FormatInt(use.LogBytes+10, 10), "used": strconv.FormatInt(use.LogBytes, 10),
		"key": "quotas.tenants.acme.log_bytes",
	}
	err = add("s", user("one more"))
	refused(err, full)
	require.ErrorContains(t, err, fmt.Sprintf("log_bytes of %d (quotas.tenants.acme.log_bytes) is reached: it uses %d", use.LogBytes+10, use.LogBytes))
	_, err = d.sessions.CreateCheckpoint(ctx, &compactordv1.CreateCheckpointRequest{SessionId: "s", Title: "x"})
	refused(err, full)
	_, err = d.sessions.RevertToCheckpoint(ctx, &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 5}, MessageFromFuture: "a text of any length",
	})
	refused(err, full)
	require.Equal(t, use, useOf(t, store, "acme"))

	_, err = d.sessions.ListMessages(ctx, &compactordv1.ListMessagesRequest{SessionId: "s"})
	require.NoError(t, err)
	_, err = d.compact(t, "acme", compactRequest("s", nil))
	require.NoError(t, err)
	_, err = d.sessions.RevertToCheckpoint(ctx, &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 5},
	})
	require.NoError(t, err)
	_, err = d.sessions.ClearSession(ctx, &compactordv1.ClearSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	_, err = d.sessions.UpdateSession(ctx, updateOf("s", "title"))
	require.NoError(t, err)
	require.Equal(t, useOf(t, store, "acme"), usedBy(t, metrics, "acme"))
	_, err = d.sessions.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{SessionId: "fork"})
	require.NoError(t, err)
	require.NoError(t, add("s", user("room again")))
	require.Equal(t, useOf(t, store, "acme"), usedBy(t, metrics, "acme"))
}

// keeper is a service on a store that goes on when the service is started again.
type keeper struct {
	*rapid.T
	*service.Service
	// within returns the context of a call of the tenant.
	within  func() context.Context
	store   storage.Store
	limits  quota.Limits
	metrics *prometheus.Registry
}

func (k *keeper) start(t *testing.T) {
	t.Helper()
	o := optionsOf(t, withStore(k.store)).Options
	k.metrics = prometheus.NewRegistry()
	o.Metrics, o.Quotas = k.metrics, func(string) quota.Limits { return k.limits }
	var err error
	k.Service, err = service.New(o)
	require.NoError(k, err)
}

// step does something with a session, and returns its error.
func (k *keeper) step(id string) error {
	text := strings.Repeat("x", rapid.IntRange(1, 400).Draw(k.T, "length"))
	var err error
	switch rapid.SampledFrom([]string{"create", "append", "fork", "child", "delete", "clear", "revert", "checkpoint", "pin", "prune", "title"}).Draw(k.T, "do") {
	case "create":
		_, err = k.CreateSession(k.within(), &compactordv1.CreateSessionRequest{SessionId: id, Policy: small(1000)})
	case "append":
		_, err = k.AppendMessages(k.within(), &compactordv1.AppendMessagesRequest{
			SessionId: id, Messages: append(working(1, 10), user(text)), RequestId: rapid.StringMatching("[ab]?").Draw(k.T, "request"),
		})
	case "fork":
		_, err = k.ForkSession(k.within(), &compactordv1.ForkSessionRequest{SessionId: id})
	case "child":
		_, err = k.ForkSession(k.within(), &compactordv1.ForkSessionRequest{SessionId: id, Child: &compactordv1.ChildContext{
			Sees: compactordv1.ChildSees_CHILD_SEES_EVERYTHING,
		}})
	case "delete":
		_, err = k.DeleteSession(k.within(), &compactordv1.DeleteSessionRequest{SessionId: id, Children: compactordv1.ChildrenOnDelete_CHILDREN_ON_DELETE_DELETE})
	case "clear":
		_, err = k.ClearSession(k.within(), &compactordv1.ClearSessionRequest{SessionId: id})
	case "revert":
		_, err = k.RevertToCheckpoint(k.within(), &compactordv1.RevertToCheckpointRequest{
			SessionId: id, Target: &compactordv1.RevertToCheckpointRequest_Point{Point: rapid.Uint32Range(0, 6).Draw(k.T, "point")},
		})
	case "checkpoint":
		_, err = k.CreateCheckpoint(k.within(), &compactordv1.CreateCheckpointRequest{SessionId: id, Title: text})
	case "pin":
		_, err = k.PinMessages(k.within(), &compactordv1.PinMessagesRequest{SessionId: id, Indexes: []uint32{0}})
	case "prune":
		_, err = k.Prune(k.within(), &compactordv1.PruneRequest{Target: &compactordv1.PruneRequest_SessionId{SessionId: id}})
	case "title":
		_, err = k.UpdateSession(k.within(), updateOf(id, "title"))
	}
	return err
}

// What the daemon counts is what is stored, after all calls, restarts, and with limits that refuse.
func TestUseIsWhatIsStored(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ctx := tenant.With(t.Context(), "acme")
		k := &keeper{T: rt, within: func() context.Context { return ctx }, store: memory.New()}
		k.limits = quota.Limits{
			Sessions: rapid.Int64Range(1, 6).Draw(rt, "sessions"), LogBytes: rapid.Int64Range(2000, 60_000).Draw(rt, "bytes"),
		}
		k.start(t)
		defer func() { k.Close() }()
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			if rapid.IntRange(0, 9).Draw(rt, "restart") == 0 {
				k.Close()
				k.start(t)
			}
			before := useOf(rt, k.store, "acme")
			err := k.step(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "session"))
			use := useOf(rt, k.store, "acme")
			require.LessOrEqual(rt, use.Sessions, k.limits.Sessions)
			if apierror.Is(err, compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED) {
				require.Equal(rt, before, use, "nothing was written")
			}
			if counted := usedBy(rt, k.metrics, "acme"); counted != (quota.Use{}) {
				require.Equal(rt, use, counted)
			}
			problems, err := sessionlog.CheckAll(k.within(), k.store)
			require.NoError(rt, err)
			require.Empty(rt, problems)
		}
	})
}

// However many write at once, no tenant passes its limits, and what is counted is what is stored. A limit that comes while
// they write counts what was written before.
func TestUseWithManyWriters(t *testing.T) {
	t.Parallel()
	store, metrics := memory.New(), prometheus.NewRegistry()
	const bytes, sessions = 60_000, 5
	var mu sync.Mutex
	var limits quota.Limits
	o := optionsOf(t, withStore(store)).Options
	o.Metrics, o.Quotas = metrics, func(string) quota.Limits {
		mu.Lock()
		defer mu.Unlock()
		return limits
	}
	s, err := service.New(o)
	require.NoError(t, err)
	defer s.Close()
	ctx := tenant.With(t.Context(), "acme")
	expected := []compactordv1.ErrorReason{
		compactordv1.ErrorReason_ERROR_REASON_SESSION_NOT_FOUND, compactordv1.ErrorReason_ERROR_REASON_SESSION_EXISTS,
		compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
	}
	var writers sync.WaitGroup
	for writer := range 8 {
		writers.Go(func() {
			for i := range 40 {
				if writer == 0 && i == 3 {
					mu.Lock()
					limits = quota.Limits{Sessions: sessions, LogBytes: bytes}
					mu.Unlock()
				}
				id := fmt.Sprint("s", (writer+i)%3)
				var err error
				switch i % 10 {
				case 0:
					_, err = s.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: id})
				case 5:
					_, err = s.ForkSession(ctx, &compactordv1.ForkSessionRequest{SessionId: id})
				case 9:
					_, err = s.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{SessionId: id})
				default:
					_, err = s.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: id, Messages: working(1, 100)})
				}
				if err != nil {
					// As a client gets it: where a session is deleted while it is copied, the error is one of the store.
					require.Contains(t, expected, apierror.From(err, "").Reason, err)
				}
			}
		})
	}
	writers.Wait()
	require.Equal(t, useOf(t, store, "acme"), usedBy(t, metrics, "acme"))
}

// older makes the rows of a store those of a version that did not measure logs.
func older(t *testing.T, store storage.Store, name string) {
	t.Helper()
	rows, _, err := store.Sessions(t.Context(), storage.SessionQuery{Tenant: name, Limit: 1000})
	require.NoError(t, err)
	for _, row := range rows {
		require.NotZero(t, row.GetLogBytes())
		row.LogBytes = 0
		row.Revision++
		require.NoError(t, store.Commit(t.Context(), &storage.Commit{Session: row}))
	}
}

// measuredStore tells of the commits that measure a log.
type measuredStore struct {
	failing
	measured chan string
}

func (s *measuredStore) Commit(ctx context.Context, c *storage.Commit) error {
	err := s.failing.Commit(ctx, c)
	if err == nil && len(c.Messages)+len(c.Records) == 0 && c.Session.GetLogBytes() > 0 {
		s.measured <- c.Session.GetSessionId()
	}
	return err
}

// Logs that an earlier version wrote are measured in the background. Until then they do not count, and their sessions do.
func TestLogsOfEarlierVersionsAreMeasured(t *testing.T) {
	t.Parallel()
	store := &measuredStore{failing: failing{Store: memory.New()}, measured: make(chan string, 10)}
	fill, err := service.New(optionsOf(t, withStore(store)).Options)
	require.NoError(t, err)
	ctx := tenant.With(t.Context(), "acme")
	for _, id := range []string{"a", "b"} {
		_, err := fill.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: id})
		require.NoError(t, err)
		_, err = fill.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: id, Messages: working(3, 1000)})
		require.NoError(t, err)
	}
	fill.Close()
	older(t, store, "acme")
	changed := func() (times []string) {
		rows, _, err := store.Sessions(t.Context(), storage.SessionQuery{Tenant: "acme", Limit: 10})
		require.NoError(t, err)
		for _, row := range rows {
			times = append(times, row.GetChangedAt().String())
		}
		return times
	}
	before := changed()

	limit, metrics := useOf(t, store, "acme").LogBytes, prometheus.NewRegistry()
	d := startCallers(t, map[string]access.Caller{"acme": {Tenant: "acme", Role: access.Admin}}, withStore(store), func(o *service.ServerOptions) {
		o.Metrics = metrics
		o.Quotas = func(string) quota.Limits { return quota.Limits{LogBytes: limit, Sessions: 2} }
	})
	_, err = d.sessions.CreateSession(d.as(t.Context(), "acme"), &compactordv1.CreateSessionRequest{SessionId: "c"})
	require.Equal(t, "sessions", requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED").GetMetadata()["limit"])
	require.ElementsMatch(t, []string{"a", "b"}, []string{<-store.measured, <-store.measured})
	for _, id := range []string{"a", "b"} {
		// An append waits for the session's lock, and so for the end of what measured it.
		_, err = d.sessions.AppendMessages(d.as(t.Context(), "acme"), &compactordv1.AppendMessagesRequest{
			SessionId: id, Messages: []*compactordv1.Message{user("x")},
		})
		require.Error(t, err)
	}
	info := requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED")
	require.Equal(t, strconv.FormatInt(limit, 10), info.GetMetadata()["used"])
	require.Equal(t, quota.Use{Sessions: 2, LogBytes: limit}, usedBy(t, metrics, "acme"))
	require.Equal(t, before, changed(), "measuring is no change of a session")
	problems, err := sessionlog.CheckAll(t.Context(), store)
	require.NoError(t, err)
	require.Empty(t, problems)
}
