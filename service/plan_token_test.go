package service_test

import (
	"encoding/base64"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// reencoded returns a plan token with its bytes changed.
func reencoded(t testing.TB, token string, change func(b []byte) []byte) string {
	t.Helper()
	b, err := base64.RawURLEncoding.DecodeString(token)
	require.NoError(t, err)
	return base64.RawURLEncoding.EncodeToString(change(b))
}

// A token that this daemon did not make for this session is refused, and nothing is written.
func TestPlanTokensOfOthers(t *testing.T) {
	t.Parallel()
	d, plan := withPlan(t)
	d.create("other", keepTurns(3))
	d.append("other", working(10, 2000)...)
	elsewhere := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "other"})
	view, err := d.compactions.GetLLMView(t.Context(), viewRequest())
	require.NoError(t, err)
	own := func(change func(b []byte) []byte) string { return reencoded(t, plan.GetPlanToken(), change) }
	for name, token := range map[string]string{
		"garbage":               "garbage",
		"no base64":             "!!!",
		"another session's":     elsewhere.GetPlanToken(),
		"a view's":              view.GetViewToken(),
		"of another daemon":     own(func(b []byte) []byte { b[0]++; return b }),
		"of a point to come":    own(func(b []byte) []byte { binary.BigEndian.PutUint32(b[2:], 1<<30); return b }),
		"cut off in the middle": own(func(b []byte) []byte { return b[:len(b)/2] }),
		"cut off in the uid":    own(func(b []byte) []byte { return b[:80] }),
		"with more behind it":   own(func(b []byte) []byte { return append(b, 0xff) }),
		"with unknown options":  own(func(b []byte) []byte { return append(b, 0xf8, 0x7f, 1) }),
		"with a bad reason":     own(func(b []byte) []byte { return append(b, 3<<3, 99) }),
		"with a replay":         own(func(b []byte) []byte { return append(b, 9<<3, 1) }),
		"with a history":        own(func(b []byte) []byte { return append(b, 2<<3|2, 0) }),
		"with preempt":          own(func(b []byte) []byte { return append(b, 6<<3, 1) }),
		"with detach":           own(func(b []byte) []byte { return append(b, 7<<3, 1) }),
		"with a dry run":        own(func(b []byte) []byte { return append(b, 8<<3, 1) }),
		"with another try":      own(func(b []byte) []byte { return append(b, 10<<3, 1) }),
		"with a request id":     own(func(b []byte) []byte { return append(b, 11<<3|2, 1, 'r') }),
	} {
		t.Run(name, func(t *testing.T) {
			req := commitment(plan, answersTo(plan)...)
			req.PlanToken = token
			d.requireUnchanged(t, func() {
				_, err := d.compactions.CommitCompaction(t.Context(), req)
				info := requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN")
				require.Equal(t, "plan_token", info.GetMetadata()["field"])
			})
		})
	}
	// Changed options lead to another plan.
	for name, change := range map[string]func(b []byte) []byte{
		"another hash":  func(b []byte) []byte { b[10]++; return b },
		"another point": func(b []byte) []byte { binary.BigEndian.PutUint32(b[2:], 20); return b },
		"another uid":   func(b []byte) []byte { b[75]++; return b },
		"THRESHOLD":     func(b []byte) []byte { return append(b, 3<<3, byte(threshold)) },
		"OVERFLOW":      func(b []byte) []byte { return append(b, 3<<3, byte(tooLong)) },
		"another focus": func(b []byte) []byte { return append(b, 4<<3|2, 1, 'x') },
		"a policy":      func(b []byte) []byte { return append(b, 5<<3|2, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			req := commitment(plan, answersTo(plan)...)
			req.PlanToken = own(change)
			d.requireUnchanged(t, func() {
				_, err := d.compactions.CommitCompaction(t.Context(), req)
				requireReason(t, err, codes.Aborted, "STATE_CHANGED")
			})
		})
	}
}

// Whatever a token says, no automatic compaction that the policy forbids is recorded.
func TestPlansThatAreNoLongerDue(t *testing.T) {
	t.Parallel()
	due := &compactordv1.Trigger{TriggerTokens: proto.Uint32(4000)}
	for name, trigger := range map[string]*compactordv1.Trigger{
		"disabled":            {TriggerTokens: proto.Uint32(4000), Enabled: proto.Bool(false)},
		"below the threshold": {TriggerTokens: proto.Uint32(400_000)},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			policy := keepTurns(3)
			policy.Trigger = due
			d.create("s", policy)
			d.append("s", working(10, 2000)...)
			plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", Reason: threshold})
			require.NotEmpty(t, plan.GetPlanToken())
			with := func(trigger *compactordv1.Trigger) {
				policy := keepTurns(3)
				policy.Trigger = trigger
				_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
					SessionId: "s", UpdateMask: mask("policy"), Policy: policy,
				})
				require.NoError(t, err)
			}
			with(trigger)
			d.requireUnchanged(t, func() {
				_, err := d.compactions.CommitCompaction(t.Context(), commitment(plan, answersTo(plan)...))
				requireReason(t, err, codes.Aborted, "STATE_CHANGED")
			})
			with(due)
			require.Equal(t, threshold, d.commitPlan(commitment(plan, answersTo(plan)...)).GetCompaction().GetProvenance().GetReason())
		})
	}
}

// Whatever a token says, the daemon returns an error of the contract, or commits what passes all checks.
func FuzzPlanToken(f *testing.F) {
	d := start(f)
	d.create("s", keepTurns(3))
	d.append("s", working(5, 500)...)
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	b, err := base64.RawURLEncoding.DecodeString(plan.GetPlanToken())
	require.NoError(f, err)
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Add([]byte{1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		// Without answers, even a valid token writes nothing.
		_, err := d.compactions.CommitCompaction(t.Context(), &compactordv1.CommitCompactionRequest{
			SessionId: "s", PlanToken: base64.RawURLEncoding.EncodeToString(b),
		})
		require.Contains(t, []codes.Code{codes.InvalidArgument, codes.Aborted, codes.FailedPrecondition}, status.Code(err), "%v", err)
	})
}
