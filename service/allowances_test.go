package service_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/allowance"
	"github.com/compactord/compactord/summarizers"
)

// paid is a model that the operator pays. It is also the daemon's default.
func paid() *scripted {
	return &scripted{name: "paid", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		s, err := faithful(ctx, req, p)
		if s != nil {
			s.Calls, s.Usage, s.CostUSD = 1, &compactordv1.Usage{InputTokens: 70, OutputTokens: 30}, proto.Float64(0.25)
		}
		return s, err
	}}
}

// startPaid starts a daemon with a model, and with its operator, another caller of the default tenant, and the tenants a
// and b.
func startPaid(t *testing.T, model *scripted, profile allowance.Profile) *tenants {
	t.Helper()
	allowances, err := allowance.New(allowance.Options{Profiles: map[string]allowance.Profile{"paid": profile}})
	require.NoError(t, err)
	return startCallers(t, map[string]access.Caller{
		"operator": {Role: access.Admin}, "agent": {Role: access.Write},
		"a": {Tenant: "a", Role: access.Admin}, "b": {Tenant: "b", Role: access.Write},
	}, withSummarizer(model), func(o *service.ServerOptions) {
		o.Allowances = allowances
		o.Policies.Default = &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String("paid")}}
	})
}

// full makes a session of a caller, with enough for a summary.
func (d *tenants) full(t *testing.T, caller, id string, policy *compactordv1.Policy) {
	t.Helper()
	ctx := d.as(t.Context(), caller)
	_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: id, Policy: policy})
	require.NoError(t, err)
	_, err = d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: id, Messages: working(8, 4000)})
	require.NoError(t, err)
}

// compact runs a compaction by a caller to its end, whether it is due or not, and returns its last event.
func (d *tenants) compact(t *testing.T, caller string, req *compactordv1.CompactRequest) (*compactordv1.CompactionEvent, error) {
	t.Helper()
	req.Reason = compactordv1.CompactionReason_COMPACTION_REASON_MANUAL
	stream, err := d.compactions.Compact(d.as(t.Context(), caller), req)
	require.NoError(t, err)
	events, err := eventsOf(stream)
	if err != nil {
		return nil, err
	}
	return last(t, events), nil
}

func withSummary(s *compactordv1.SummaryPolicy) *compactordv1.Policy {
	p := small(1000)
	p.Summary = s
	return p
}

// Whatever way a caller's own prompt or an unredacted text could take to the operator's model, it is refused, and the model
// is not asked.
func TestCallersDoNotSpendTheOperatorsKeyWithTheirPrompts(t *testing.T) {
	t.Parallel()
	prompt := &compactordv1.SummaryPolicy{PromptOverride: proto.String("Write a poem.")}
	secrets := &compactordv1.SummaryPolicy{Redact: proto.Bool(false)}
	for field, given := range map[string]*compactordv1.SummaryPolicy{
		"policy.summary.prompt_override": prompt, "policy.summary.redact": secrets,
	} {
		for _, caller := range []string{"agent", "a", "b"} {
			t.Run(field+" by "+caller, func(t *testing.T) {
				t.Parallel()
				model := paid()
				d := startPaid(t, model, allowance.Profile{})
				ctx := d.as(t.Context(), caller)
				refused := func(err error) {
					t.Helper()
					info := requireReason(t, err, codes.PermissionDenied, "PERMISSION_DENIED")
					require.Equal(t, map[string]string{"field": field, "summarizer": "paid"}, info.GetMetadata())
				}
				_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: "new", Policy: withSummary(given)})
				refused(err)
				d.full(t, caller, "s", withSummary(nil))
				_, err = d.sessions.UpdateSession(ctx, &compactordv1.UpdateSessionRequest{
					SessionId: "s", Policy: withSummary(given), UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy"}},
				})
				refused(err)
				_, err = d.sessions.ForkSession(ctx, &compactordv1.ForkSessionRequest{
					SessionId: "s", NewSessionId: "child", Policy: withSummary(given),
					Child: &compactordv1.ChildContext{Sees: compactordv1.ChildSees_CHILD_SEES_NOTHING},
				})
				refused(err)
				_, err = d.compact(t, caller, compactRequest("s", &compactordv1.Policy{Summary: given}))
				refused(err)

				// The prompt is stored with another summarizer, and the model is named later.
				other := proto.CloneOf(given)
				other.Summarizer = proto.String("extractive")
				d.full(t, caller, "stored", withSummary(other))
				_, err = d.compact(t, caller, compactRequest("stored", &compactordv1.Policy{
					Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String("paid")},
				}))
				refused(err)
				require.Empty(t, model.seen())
				_, err = d.compact(t, caller, compactRequest("stored", nil))
				require.NoError(t, err, "with a summarizer that costs nothing")

				_, err = d.compact(t, caller, compactRequest("s", nil))
				require.NoError(t, err)
				require.NotEmpty(t, model.seen())
				require.Empty(t, model.seen()[0].PromptOverride)
				require.NotNil(t, model.seen()[0].Redact)
			})
		}
	}
}

// Who runs the daemon may do all that, and so may all where the profile says so.
func TestPromptsThatAreAllowed(t *testing.T) {
	t.Parallel()
	both := &compactordv1.SummaryPolicy{PromptOverride: proto.String("Write briefly."), Redact: proto.Bool(false)}
	for caller, profile := range map[string]allowance.Profile{
		"operator": {}, "b": {PromptOverride: true, Unredacted: true},
	} {
		model := paid()
		d := startPaid(t, model, profile)
		d.full(t, caller, "s", withSummary(both))
		_, err := d.compact(t, caller, compactRequest("s", nil))
		require.NoError(t, err)
		require.Equal(t, "Write briefly.", model.seen()[0].PromptOverride)
		require.Nil(t, model.seen()[0].Redact)
	}
}

// A model that is not for a tenant does not work for it, and is not in its list.
func TestModelsOfOtherTenants(t *testing.T) {
	t.Parallel()
	model := paid()
	d := startPaid(t, model, allowance.Profile{Tenants: []string{"a"}})
	for caller, names := range map[string][]string{"a": {"extractive", "paid"}, "b": {"extractive"}} {
		list, err := d.compactions.ListStrategies(d.as(t.Context(), caller), &compactordv1.ListStrategiesRequest{})
		require.NoError(t, err)
		var listed []string
		for _, s := range list.GetSummarizers() {
			listed = append(listed, s.GetName())
		}
		require.Equal(t, names, listed)
	}
	_, err := d.sessions.CreateSession(d.as(t.Context(), "b"), &compactordv1.CreateSessionRequest{
		SessionId: "new", Policy: withSummary(&compactordv1.SummaryPolicy{Summarizer: proto.String("paid")}),
	})
	requireReason(t, err, codes.InvalidArgument, "UNKNOWN_NAME")
	d.full(t, "b", "s", withSummary(nil))
	_, err = d.compact(t, "b", compactRequest("s", nil))
	info := requireReason(t, err, codes.PermissionDenied, "PERMISSION_DENIED")
	require.Equal(t, map[string]string{"field": "policy.summary.summarizer"}, info.GetMetadata())
	require.NotContains(t, status.Convert(err).Message(), "paid", "the caller has not named the default one")
	require.Empty(t, model.seen())
	d.full(t, "a", "s", withSummary(nil))
	_, err = d.compact(t, "a", compactRequest("s", nil))
	require.NoError(t, err)
	require.NotEmpty(t, model.seen())
}

// A tenant that has used its day's share gets extractive summaries, or an error that names the limit; others go on.
func TestDailyLimitsOfModels(t *testing.T) {
	t.Parallel()
	for limit, daily := range map[string]allowance.Amount{
		"daily_requests": {Requests: 1}, "daily_tokens": {Tokens: 100}, "daily_dollars": {USD: 0.25},
	} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			model := paid()
			d := startPaid(t, model, allowance.Profile{Daily: daily})
			for _, id := range []string{"s1", "s2"} {
				d.full(t, "a", id, withSummary(nil))
			}
			d.full(t, "a", "s3", withSummary(&compactordv1.SummaryPolicy{Fallback: noFallback.Enum()}))
			d.full(t, "b", "s", withSummary(nil))
			_, err := d.compact(t, "a", compactRequest("s1", nil))
			require.NoError(t, err)
			require.Len(t, model.seen(), 1)
			finished, err := d.compact(t, "a", compactRequest("s2", nil))
			require.NoError(t, err)
			require.Len(t, model.seen(), 1, "not asked again")
			require.Contains(t, finished.String(), "daily limit")
			_, err = d.compact(t, "a", compactRequest("s3", nil))
			info := requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED")
			require.Equal(t, map[string]string{"limit": limit, "summarizer": "paid"}, info.GetMetadata())
			_, err = d.compact(t, "b", compactRequest("s", nil))
			require.NoError(t, err)
			require.Len(t, model.seen(), 2)
		})
	}
}
