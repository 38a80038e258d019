package service_test

import (
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Errors of rules that concern several fields name the one to fix.
func TestCrossFieldRulesNameAField(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	ctx := t.Context()
	wrongPart := user("x")
	wrongPart.Parts = assistant("x", call("1", "t", "")).GetParts()
	wrongUsage := user("x")
	wrongUsage.Usage = &compactordv1.Usage{InputTokens: 1}
	both := hideAllBut(1)
	both.GetPruneStrategy().GetPruneToolOutputs().KeepTurns = proto.Uint32(1)
	masksBoth := &compactordv1.Policy{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_MaskObservations{
		MaskObservations: &compactordv1.MaskObservationsStrategy{KeepGroups: proto.Uint32(1), KeepTurns: proto.Uint32(1)},
	}}}
	for rule, c := range map[string]struct {
		field string
		call  func() error
	}{
		"message.parts_of_role": {"messages[0].parts", func() error {
			_, err := d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
				SessionId: "s", Messages: []*compactordv1.Message{wrongPart},
			})
			return err
		}},
		"message.assistant_only": {"messages[0].role", func() error {
			_, err := d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
				SessionId: "s", Messages: []*compactordv1.Message{wrongUsage},
			})
			return err
		}},
		"append_messages.one_shape": {"messages", func() error {
			_, err := d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: "s"})
			return err
		}},
		"create_session.request_id_needs_session_id": {"request_id", func() error {
			_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{RequestId: "r"})
			return err
		}},
		"fork_session.request_id_needs_new_session_id": {"request_id", func() error {
			_, err := d.sessions.ForkSession(ctx, &compactordv1.ForkSessionRequest{SessionId: "s", RequestId: "r"})
			return err
		}},
		"revert.message_or_summary": {"message_from_future", func() error {
			req := summarized(toPoint(0))
			req.MessageFromFuture = "x"
			_, err := d.sessions.RevertToCheckpoint(ctx, req)
			return err
		}},
		"revert.focus_needs_summarize": {"focus", func() error {
			req := toPoint(0)
			req.Focus = "x"
			_, err := d.sessions.RevertToCheckpoint(ctx, req)
			return err
		}},
		"inline_history.one_shape": {"history.messages", func() error {
			_, err := d.compactions.GetLLMView(ctx, historyTarget(&compactordv1.InlineHistory{
				Messages:     []*compactordv1.Message{user("x")},
				ProviderJson: &compactordv1.ProviderJson{Dialect: compactordv1.Dialect_DIALECT_GEMINI, Json: "[]"},
			}))
			return err
		}},
		"client_plan.does_something": {"client_plan.first_kept_index", func() error {
			_, err := d.compactions.PlanCompaction(ctx, &compactordv1.PlanCompactionRequest{
				SessionId: "s", ClientPlan: &compactordv1.ClientPlan{Strategy: "mine"},
			})
			return err
		}},
		"commit_compaction.one_text": {"answers", func() error {
			_, err := d.compactions.CommitCompaction(ctx, &compactordv1.CommitCompactionRequest{
				SessionId: "s", PlanToken: "x", Answers: []string{"a"}, Summary: "b",
			})
			return err
		}},
		"prune_tool_outputs.one_unit": {"policy.prune_strategy.prune_tool_outputs.keep_groups", func() error {
			_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{Policy: both})
			return err
		}},
		"mask_observations.one_unit": {"policy.strategy.mask_observations.keep_groups", func() error {
			_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{Policy: masksBoth})
			return err
		}},
	} {
		t.Run(rule, func(t *testing.T) {
			err := c.call()
			requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
			require.True(t, namesField(status.Convert(err), c.field), "%v", status.Convert(err).Details())
			delete(unnamed, rule)
		})
	}
	require.Empty(t, unnamed, "rules of the contract that this test does not break")
}

// unnamed are the contract's rules that concern several fields.
var unnamed = crossFieldRules()

func crossFieldRules() map[string]bool {
	rules := make(map[string]bool)
	var visit func(m protoreflect.MessageDescriptor)
	visit = func(m protoreflect.MessageDescriptor) {
		found, err := protovalidate.ResolveMessageRules(m)
		if err != nil {
			panic(err)
		}
		for _, cel := range found.GetCel() {
			rules[cel.GetId()] = true
		}
		for i := range m.Messages().Len() {
			visit(m.Messages().Get(i))
		}
	}
	for _, file := range []protoreflect.FileDescriptor{
		compactordv1.File_compactord_v1_message_proto, compactordv1.File_compactord_v1_strategy_proto,
		compactordv1.File_compactord_v1_policy_proto, compactordv1.File_compactord_v1_record_proto,
		compactordv1.File_compactord_v1_point_proto,
		compactordv1.File_compactord_v1_session_service_proto, compactordv1.File_compactord_v1_compaction_service_proto,
		compactordv1.File_compactord_v1_store_service_proto,
	} {
		for i := range file.Messages().Len() {
			visit(file.Messages().Get(i))
		}
	}
	return rules
}
