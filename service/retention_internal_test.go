package service

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/audit"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/retention"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// keeping is a service with a policy of retention, without a server.
type keeping struct {
	*testing.T
	service *Service
	metrics *prometheus.Registry
	audit   string
}

func keepingBy(t *testing.T, policy retention.Policy) *keeping {
	t.Helper()
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	writers, err := summarizers.NewRegistry(extractive.New())
	require.NoError(t, err)
	k := &keeping{T: t, metrics: prometheus.NewRegistry(), audit: filepath.Join(t.TempDir(), "audit.log")}
	log, err := audit.Open(k.audit, slog.New(slog.DiscardHandler), audit.NewFailures(), nil)
	require.NoError(t, err)
	k.service, err = New(Options{
		Store: memory.New(), Strategies: registry, Summarizers: writers, Logger: slog.New(slog.DiscardHandler), Metrics: k.metrics,
		Retention: policy, Audit: log,
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		k.service.Close()
		require.NoError(t, log.Close())
	})
	return k
}

// of is the context of a tenant.
func (k *keeping) of(name string) context.Context { return tenant.With(k.Context(), name) }

func (k *keeping) create(owner, id string) {
	k.Helper()
	_, err := k.service.CreateSession(k.of(owner), &compactordv1.CreateSessionRequest{SessionId: id})
	require.NoError(k, err)
}

func (k *keeping) child(owner, id, parent string) {
	k.Helper()
	_, err := k.service.ForkSession(k.of(owner), &compactordv1.ForkSessionRequest{
		SessionId: parent, NewSessionId: id, Child: &compactordv1.ChildContext{Sees: compactordv1.ChildSees_CHILD_SEES_NOTHING},
	})
	require.NoError(k, err)
}

func (k *keeping) change(owner, id string) {
	k.Helper()
	_, err := k.service.AppendMessages(k.of(owner), &compactordv1.AppendMessagesRequest{
		SessionId: id, Messages: []*compactordv1.Message{{
			Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: "x"}}}},
		}},
	})
	require.NoError(k, err)
}

// left are the ids of a tenant's sessions, sorted.
func (k *keeping) left(owner string) (ids []string) {
	k.Helper()
	list := &compactordv1.ListSessionsRequest{}
	for {
		page, err := k.service.ListSessions(k.of(owner), list)
		require.NoError(k, err)
		for _, s := range page.GetSessions() {
			ids = append(ids, s.GetSessionId())
		}
		if list.PageToken = page.GetNextPageToken(); list.GetPageToken() == "" {
			slices.Sort(ids)
			return ids
		}
	}
}

// lines are the sessions that the audit log has as deleted, with those below them.
func (k *keeping) lines() (entries []audit.Entry) {
	k.Helper()
	content, err := os.ReadFile(k.audit)
	require.NoError(k, err)
	for line := range strings.Lines(string(content)) {
		var e audit.Entry
		require.NoError(k, json.Unmarshal([]byte(line), &e))
		entries = append(entries, e)
	}
	return entries
}

// counted is the metric of what was deleted by a rule.
func (k *keeping) counted(rule retention.Rule) float64 {
	k.Helper()
	families, err := k.metrics.Gather()
	require.NoError(k, err)
	for _, family := range families {
		if family.GetName() == "compactord_retention_deleted_total" {
			for _, m := range family.GetMetric() {
				if m.GetLabel()[0].GetValue() == string(rule) {
					return m.GetCounter().GetValue()
				}
			}
		}
	}
	k.Errorf("no metric of %s", rule)
	return 0
}

// during runs the sweeper while a test goes on, within the bubble of synctest.
func (k *keeping) during(test func()) {
	k.Helper()
	ctx, end := context.WithCancel(k.Context())
	done := make(chan struct{})
	go func() {
		k.service.sweeper.Run(ctx)
		close(done)
	}()
	test()
	end()
	<-done
}

// pass waits in the time of a bubble of synctest, in which only the sweeper works meanwhile.
func pass(span time.Duration) { <-time.After(span) }

// sweep is more than the time from one sweep to the end of the next.
const sweep = 15 * time.Minute

func TestRetentionByEachRule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := keepingBy(t, retention.Policy{
			Default: retention.Rules{Age: 90 * 24 * time.Hour, Idle: 30 * 24 * time.Hour, Count: 2},
			Tenants: map[string]retention.Rules{"forever": {}},
		})
		for _, owner := range []string{"", "one", "forever"} {
			k.create(owner, "idle")
			k.create(owner, "old")
			k.child(owner, "old-child", "old")
		}
		k.during(func() {
			for range 4 {
				pass(20 * 24 * time.Hour)
				for _, owner := range []string{"", "one", "forever"} {
					k.change(owner, "old")
				}
			}
			require.Equal(t, []string{"old", "old-child"}, k.left("one"))
			pass(11 * 24 * time.Hour)
			require.Empty(t, k.left("one"))
			for i := range 4 {
				k.create("one", fmt.Sprint("many", i))
				pass(time.Second)
			}
			pass(sweep)
			require.Equal(t, []string{"many2", "many3"}, k.left("one"))
			require.Empty(t, k.left(""))
			require.Equal(t, []string{"idle", "old", "old-child"}, k.left("forever"))
		})
		require.InDelta(t, 2, k.counted(retention.ByIdle), 0)
		require.InDelta(t, 4, k.counted(retention.ByAge), 0)
		require.InDelta(t, 2, k.counted(retention.ByCount), 0)
		deleted := map[string]uint32{}
		for _, e := range k.lines() {
			require.Equal(t, []string{"retention", "SessionService/DeleteSession", "OK"}, []string{e.Subject, e.RPC, e.Code})
			deleted[e.Tenant+"/"+e.Session] = e.Children
		}
		require.Equal(t, map[string]uint32{"/idle": 0, "one/idle": 0, "/old": 1, "one/old": 1, "one/many0": 0, "one/many1": 0}, deleted)
	})
}

// Without rules nothing is deleted.
func TestNoRetention(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := keepingBy(t, retention.Policy{Tenants: map[string]retention.Rules{"a": {}}})
		k.create("", "s")
		k.during(func() { pass(sweep) })
		require.Equal(t, []string{"s"}, k.left(""))
	})
}

// Another policy counts at once, whether the one before it kept everything or not.
func TestRetentionIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := keepingBy(t, retention.Policy{})
		for i := range 5 {
			k.create("", fmt.Sprint(i))
			pass(time.Second)
		}
		by := func(policy retention.Policy, left ...string) {
			k.service.UseRetention(policy)
			pass(time.Second)
			require.Equal(t, left, k.left(""), "%+v", policy)
		}
		k.during(func() {
			by(retention.Policy{Default: retention.Rules{Count: 3}}, "2", "3", "4")
			by(retention.Policy{Default: retention.Rules{Count: 3}, Tenants: map[string]retention.Rules{"": {Count: 2}}}, "3", "4")
			by(retention.Policy{Default: retention.Rules{Age: time.Hour}}, "3", "4")
			by(retention.Policy{}, "3", "4")
			pass(2 * time.Hour)
			require.Equal(t, []string{"3", "4"}, k.left(""))
			by(retention.Policy{Default: retention.Rules{Age: time.Hour, Count: 1}}, []string(nil)...)
		})
	})
}

// A sweep that runs goes on by another policy.
func TestRetentionIsReplacedDuringASweep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := keepingBy(t, retention.Policy{})
		for i := range 20 {
			k.create("", fmt.Sprint(i))
		}
		k.during(func() {
			k.service.UseRetention(retention.Policy{Default: retention.Rules{Count: 1}})
			for len(k.left("")) == 20 {
				pass(time.Millisecond)
			}
			k.service.UseRetention(retention.Policy{})
			pass(sweep)
			require.Len(t, k.left(""), 19)
		})
	})
}

// watchStream is the stream of a client that reads what it is sent.
type watchStream struct {
	grpc.ServerStream
	context func() context.Context
}

func (w watchStream) Context() context.Context { return w.context() }

func (watchStream) Send(*compactordv1.WatchSessionResponse) error { return nil }

// A session that is compacted or watched stays, with those above it, until that has ended.
func TestRetentionKeepsWhatIsInUse(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(k *keeping, row *storagev1.Session) (end func()){
		"compacted": func(k *keeping, row *storagev1.Session) func() {
			_, op, err := k.service.operations.Start(k.Context(), row.GetUid(), operations.StartOptions{})
			require.NoError(k, err)
			return func() { k.service.operations.End(row.GetUid(), op, nil) }
		},
		"watched": func(k *keeping, row *storagev1.Session) func() {
			ctx, end := context.WithCancel(k.Context())
			done := make(chan error, 1)
			go func() {
				done <- k.service.WatchSession(&compactordv1.WatchSessionRequest{SessionId: row.GetSessionId()}, watchStream{context: func() context.Context { return ctx }})
			}()
			synctest.Wait()
			return func() {
				end()
				require.Error(k, <-done)
			}
		},
		"compacted by another daemon": func(k *keeping, row *storagev1.Session) func() {
			set := func(running ...*storagev1.RunningCompaction) {
				require.NoError(k, k.service.logs.Update(k.Context(), row.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
					w := k.service.logs.BeginInternal(row)
					w.Row().Running = running
					return w, nil
				}))
			}
			set(&storagev1.RunningCompaction{OperationId: "o", Opening: "other"})
			return func() { set() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				k := keepingBy(t, retention.Policy{Default: retention.Rules{Age: time.Hour, Idle: time.Hour, Count: 1}})
				k.create("", "s")
				k.child("", "c", "s")
				k.create("", "other")
				row, err := k.service.logs.Row(t.Context(), "c")
				require.NoError(t, err)
				end := use(k, row)
				k.during(func() {
					pass(10 * time.Hour)
					require.Equal(t, []string{"c", "s"}, k.left(""))
					end()
					pass(sweep)
					require.Empty(t, k.left(""))
				})
			})
		})
	}
}

// A child that goes on keeps its parent from being idle, and a child is never deleted without its parent.
func TestRetentionRespectsChildren(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := keepingBy(t, retention.Policy{Default: retention.Rules{Idle: 24 * time.Hour}})
		k.create("", "s")
		k.child("", "a", "s")
		k.child("", "b", "a")
		k.during(func() {
			for range 5 {
				pass(20 * time.Hour)
				k.change("", "b")
				require.Equal(t, []string{"a", "b", "s"}, k.left(""))
			}
			for range 5 {
				pass(20 * time.Hour)
				k.change("", "s")
				require.Equal(t, []string{"a", "b", "s"}, k.left(""))
			}
			// Where the parent was deleted alone, its children are sessions like others.
			_, err := k.service.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{
				SessionId: "s", Children: compactordv1.ChildrenOnDelete_CHILDREN_ON_DELETE_KEEP,
			})
			require.NoError(t, err)
			pass(sweep)
			require.Empty(t, k.left(""))
		})
	})
}

// remembered is what the test knows of a session.
type remembered struct {
	created, changed time.Time
	parent           string
}

// expired computes from what is known of a tenant's sessions what a sweep leaves of them, in another way than the sweeper.
func expired(rules retention.Rules, now time.Time, all map[string]*remembered) (left []string) {
	var roots []string
	newest := map[string]time.Time{}
	rootOf := func(id string) string {
		for all[id].parent != "" {
			id = all[id].parent
		}
		return id
	}
	for id, s := range all {
		if s.parent == "" {
			roots = append(roots, id)
		}
		if root := rootOf(id); s.changed.After(newest[root]) {
			newest[root] = s.changed
		}
	}
	slices.SortFunc(roots, func(a, b string) int { return all[b].changed.Compare(all[a].changed) })
	kept := map[string]bool{}
	for _, id := range roots {
		tooOld := rules.Age > 0 && now.Sub(all[id].created) > rules.Age
		unused := rules.Idle > 0 && now.Sub(newest[id]) > rules.Idle
		tooMany := rules.Count > 0 && len(kept) >= rules.Count && (rules.Idle == 0 || now.Sub(all[id].changed) <= rules.Idle)
		if !tooOld && !unused && !tooMany {
			kept[id] = true
		}
	}
	for id := range all {
		if kept[rootOf(id)] {
			left = append(left, id)
		}
	}
	slices.Sort(left)
	return left
}

// Over generated histories, exactly the sessions that break a rule are gone after each sweep.
func TestRetentionOfGeneratedHistories(t *testing.T) {
	t.Parallel()
	histories := 300
	if testing.Short() {
		histories = 30
	}
	gone, stayed := 0, 0
	for seed := range histories {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 1))
			some := func() time.Duration { return time.Duration(random.IntN(2)*(1+random.IntN(40))) * time.Hour }
			rules := retention.Rules{Age: some(), Idle: some(), Count: random.IntN(2) * (1 + random.IntN(8))}
			policy := retention.Policy{Tenants: map[string]retention.Rules{"one": rules, "two": {Count: 3}}, Default: retention.Rules{}}
			k := keepingBy(t, policy)
			owners := []string{"", "one", "two"}
			known := map[string]map[string]*remembered{"": {}, "one": {}, "two": {}}
			for step := range 40 {
				// No two changes have the same time, which would leave their order open.
				pass(time.Duration(1+random.IntN(180)) * time.Minute)
				owner := owners[random.IntN(len(owners))]
				all := known[owner]
				var ids []string
				for id := range all {
					ids = append(ids, id)
				}
				slices.Sort(ids)
				id := fmt.Sprint("s", step)
				switch what := random.IntN(10); {
				case what < 5 || len(ids) == 0:
					k.create(owner, id)
					all[id] = &remembered{created: time.Now(), changed: time.Now()}
				case what < 7:
					parent := ids[random.IntN(len(ids))]
					k.child(owner, id, parent)
					all[id] = &remembered{created: time.Now(), changed: time.Now(), parent: parent}
				default:
					id := ids[random.IntN(len(ids))]
					k.change(owner, id)
					all[id].changed = time.Now()
				}
				if random.IntN(6) > 0 {
					continue
				}
				// Half a minute, so that no rule ends within the time that a sweep takes.
				pass(time.Minute / 2)
				now := time.Now()
				k.during(func() { pass(time.Minute / 2) })
				for owner, all := range known {
					want := expired(policy.Of(owner), now, all)
					require.Equal(t, want, k.left(owner), "history %d, step %d, tenant %q, %+v", seed, step, owner, policy.Of(owner))
					gone, stayed = gone+len(all)-len(want), stayed+len(want)
					for id := range all {
						if !slices.Contains(want, id) {
							delete(all, id)
						}
					}
				}
			}
		})
	}
	require.Greater(t, gone, 5*histories)
	require.Greater(t, stayed, 5*histories)
}
