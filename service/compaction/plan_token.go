package compaction

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// planTokenVersion is raised when the content of a token or its meaning changes.
const planTokenVersion = 2

// digest is a hash of what the token need not contain itself.
type digest [sha256.Size]byte

// planToken is what a commit needs to plan again. The daemon stores nothing of a plan: all that matters is in the
// token.
type planToken struct {
	uid string
	// point is the point of the snapshot.
	point uint32
	// cached says that the prompt for the summary follows the agent's own one.
	cached bool
	// plan is the hash of the plan and its options, own that of the client plan.
	plan, own digest
	// req holds the options of the request.
	req *compactordv1.CompactRequest
}

// planTokenFixed is the size of a token without the uid and the options.
const planTokenFixed = 1 + 1 + 4 + 2*sha256.Size + 1

func (t *planToken) encode() (string, error) {
	options, err := proto.MarshalOptions{Deterministic: true}.Marshal(t.req)
	if err != nil {
		return "", err
	}
	b := make([]byte, 0, planTokenFixed+len(t.uid)+len(options))
	b = append(b, planTokenVersion, 0)
	if t.cached {
		b[1] = 1
	}
	b = binary.BigEndian.AppendUint32(b, t.point)
	b = append(b, t.plan[:]...)
	b = append(b, t.own[:]...)
	b = append(b, byte(len(t.uid)))
	b = append(b, t.uid...)
	return base64.RawURLEncoding.EncodeToString(append(b, options...)), nil
}

// parsePlanToken decodes a token. Anyone can have written it, so its options are checked like a request's.
func parsePlanToken(ctx context.Context, s string, decode decodeRequest) (*planToken, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < planTokenFixed || b[0] != planTokenVersion || b[1] > 1 {
		return nil, session.ErrToken
	}
	t := &planToken{cached: b[1] == 1, point: binary.BigEndian.Uint32(b[2:]), req: &compactordv1.CompactRequest{}}
	b = b[6:]
	copy(t.plan[:], b)
	copy(t.own[:], b[sha256.Size:])
	b = b[2*sha256.Size:]
	size := int(b[0])
	if b = b[1:]; len(b) < size {
		return nil, session.ErrToken
	}
	t.uid = string(b[:size])
	if decode(ctx, b[size:], t.req) != nil || !plannable(t.req) || checkOptions(t.req) != nil {
		return nil, session.ErrToken
	}
	return t, nil
}

// plannable says whether PlanCompaction accepts the options.
func plannable(req *compactordv1.CompactRequest) bool {
	return proto.Equal(req, &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: req.GetSessionId()},
		Reason: req.GetReason(), Focus: req.GetFocus(), Policy: req.GetPolicy(), Replay: req.Replay, Fold: req.GetFold(),
	})
}

// planDigest hashes what the prompts depend on: the options, the plan, and the summary policy. Of these it leaves out
// who writes the summary, and figures that only inform.
func planDigest(
	req *compactordv1.CompactRequest, plan *compactordv1.CompactionPlan, policy *compactordv1.Policy,
) (digest, error) {
	plan = proto.CloneOf(plan)
	plan.TokensBefore, plan.Chunks, plan.SummarizerInputTokens, plan.EstimatedCostUsd = 0, 0, 0, nil
	summary := &compactordv1.SummaryPolicy{}
	if policy.GetSummary() != nil {
		summary = proto.CloneOf(policy.GetSummary())
	}
	summary.Summarizer, summary.TryTimeout, summary.TotalTimeout = nil, nil, nil
	summary.Fallback, summary.Placement = nil, nil
	return digestOf(req, plan, summary)
}

// ownDigest hashes a client plan; it is zero where there is none.
func ownDigest(own *compactordv1.ClientPlan) (digest, error) {
	if own == nil {
		return digest{}, nil
	}
	return digestOf(own)
}

func digestOf(messages ...proto.Message) (digest, error) {
	h := sha256.New()
	for _, m := range messages {
		encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			return digest{}, err
		}
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(encoded))))
		h.Write(encoded)
	}
	return digest(h.Sum(nil)), nil
}
