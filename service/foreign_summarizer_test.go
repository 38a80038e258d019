package service_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/allowance"
	"github.com/compactord/compactord/service/policies"
)

// policied complete the requests of all RPCs that take a policy, except the policy. An RPC can take it in several ways.
var policied = map[protoreflect.Name][]string{
	"Compact":        {`{"session_id": "s", "reason": "COMPACTION_REASON_MANUAL"}`, `{"history": {"messages": [{"role": "ROLE_USER", "parts": [{"text": {"text": "x"}}]}]}, "reason": "COMPACTION_REASON_MANUAL"}`},
	"CreateSession":  {`{"session_id": "new"}`},
	"ForkSession":    {`{"session_id": "s", "new_session_id": "new", "child": {"sees": "CHILD_SEES_NOTHING"}}`},
	"GetLLMView":     {`{"history": {"messages": [{"role": "ROLE_USER", "parts": [{"text": {"text": "x"}}]}]}}`},
	"PlanCompaction": {`{"session_id": "s", "reason": "COMPACTION_REASON_MANUAL"}`},
	"Prune":          {`{"session_id": "s"}`, `{"history": {"messages": [{"role": "ROLE_USER", "parts": [{"text": {"text": "x"}}]}]}}`},
	"UpdateSession":  {`{"session_id": "s", "update_mask": "policy"}`},
}

// takesPolicy returns the field of an RPC's request that is a policy.
func takesPolicy(m protoreflect.MethodDescriptor) protoreflect.FieldDescriptor {
	for i := range m.Input().Fields().Len() {
		if f := m.Input().Fields().Get(i); f.Message() != nil && f.Message().FullName() == "compactord.v1.Policy" {
			return f
		}
	}
	return nil
}

// Where a model is not for a tenant, every RPC that takes a policy answers what it answers for a model that does not exist,
// and lists only what the tenant may use. The error used to name all models, and to say which of them are for others.
func TestNoAnswerTellsOfModelsOfOtherTenants(t *testing.T) {
	t.Parallel()
	model := paid()
	allowances, err := allowance.New(allowance.Options{Profiles: map[string]allowance.Profile{"paid": {Tenants: []string{"a"}}}})
	require.NoError(t, err)
	d := startCallers(t, map[string]access.Caller{
		"a": {Tenant: "a", Role: access.Admin}, "b": {Tenant: "b", Role: access.Admin}, "operator": {Role: access.Admin},
	}, withSummarizer(model), func(o *service.ServerOptions) { o.Allowances = allowances })
	var called []protoreflect.Name
	for _, caller := range []string{"b", "operator"} {
		d.full(t, caller, "s", withSummary(nil))
		for _, m := range methods(t) {
			field := takesPolicy(m)
			if field == nil {
				continue
			}
			require.Contains(t, policied, m.Name())
			called = append(called, m.Name())
			for _, text := range policied[m.Name()] {
				answer := func(summarizer string) string {
					req := dynamicpb.NewMessage(m.Input())
					require.NoError(t, protojson.Unmarshal([]byte(text), req))
					given, err := proto.Marshal(withSummary(&compactordv1.SummaryPolicy{Summarizer: proto.String(summarizer)}))
					require.NoError(t, err)
					policy := req.Mutable(field).Message().Interface()
					require.NoError(t, proto.Unmarshal(given, policy))
					err = callWith(d.as(t.Context(), caller), d.conn, m, req)
					info := requireReason(t, err, codes.InvalidArgument, "UNKNOWN_NAME")
					require.Equal(t, map[string]string{"field": "policy.summary.summarizer", "known": "extractive"}, info.GetMetadata())
					return answerOf(err, summarizer)
				}
				require.Equal(t, answer("none"), answer("paid"), "%s %s", m.Name(), text)
			}
		}
	}
	for name := range policied {
		require.True(t, slices.Contains(called, name), "%s takes no policy", name)
	}
	_, err = d.sessions.CreateSession(d.as(t.Context(), "a"), &compactordv1.CreateSessionRequest{
		SessionId: "s", Policy: withSummary(&compactordv1.SummaryPolicy{Summarizer: proto.String("none")}),
	})
	require.Equal(t, "extractive, paid", requireReason(t, err, codes.InvalidArgument, "UNKNOWN_NAME").GetMetadata()["known"])
	require.Empty(t, model.seen())
}

// A policy that the operator has named is there for the tenants that may use its summarizer. For others every RPC that takes a
// policy answers as for a name that does not exist, and no list has it: it would name the model.
func TestNoAnswerTellsOfPoliciesForOtherTenants(t *testing.T) {
	t.Parallel()
	allowances, err := allowance.New(allowance.Options{Profiles: map[string]allowance.Profile{"paid": {Tenants: []string{"a"}}}})
	require.NoError(t, err)
	named := func(summarizer string) *compactordv1.Policy {
		return &compactordv1.Policy{Preset: proto.String("pi"), Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String(summarizer)}}
	}
	d := startCallers(t, map[string]access.Caller{
		"a": {Tenant: "a", Role: access.Admin}, "b": {Tenant: "b", Role: access.Admin},
	}, withSummarizer(paid()), func(o *service.ServerOptions) {
		o.Allowances = allowances
		o.Policies = policies.Set{Named: map[string]*compactordv1.Policy{"research": named("paid"), "cheap": named("extractive")}}
	})
	d.full(t, "b", "s", withSummary(nil))
	for _, m := range methods(t) {
		field := takesPolicy(m)
		if field == nil {
			continue
		}
		for _, text := range policied[m.Name()] {
			answer := func(preset string) string {
				req := dynamicpb.NewMessage(m.Input())
				require.NoError(t, protojson.Unmarshal([]byte(text), req))
				given, err := proto.Marshal(&compactordv1.Policy{Preset: &preset})
				require.NoError(t, err)
				require.NoError(t, proto.Unmarshal(given, req.Mutable(field).Message().Interface()))
				err = callWith(d.as(t.Context(), "b"), d.conn, m, req)
				require.NotContains(t, requireReason(t, err, codes.InvalidArgument, "UNKNOWN_NAME").GetMetadata()["known"], "research")
				require.Contains(t, err.Error(), "cheap")
				return answerOf(err, preset)
			}
			require.Equal(t, answer("nobodys"), answer("research"), "%s %s", m.Name(), text)
		}
	}
	for caller, there := range map[string]bool{"a": true, "b": false} {
		list, err := d.compactions.ListStrategies(d.as(t.Context(), caller), &compactordv1.ListStrategiesRequest{})
		require.NoError(t, err)
		var names []string
		for _, p := range list.GetPresets() {
			names = append(names, p.GetName())
		}
		require.Contains(t, names, "cheap")
		require.Equal(t, there, slices.Contains(names, "research"), caller)
		require.Equal(t, there, strings.Contains(list.String(), "research"), caller)
		require.Equal(t, there, strings.Contains(list.String(), "paid"), caller)
	}
	created, err := d.sessions.CreateSession(d.as(t.Context(), "a"), &compactordv1.CreateSessionRequest{
		SessionId: "s", Policy: &compactordv1.Policy{Preset: proto.String("research")},
	})
	require.NoError(t, err)
	require.Equal(t, "paid", created.GetSession().GetResolvedPolicy().GetSummary().GetSummarizer())
}
