package compaction

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// planTokenVersion is raised when what a token holds changes, or what is to be made of it.
const planTokenVersion = 2

// digest is a hash of what a token need not hold itself.
type digest [sha256.Size]byte

// planToken is what a commit needs to make a plan again. Nothing of it is kept here: all that matters is in it.
type planToken struct {
	uid string
	// point is the snapshot's.
	point uint32
	// cached says that the plan's one prompt stands on the agent's own.
	cached bool
	// plan is a hash of the plan and the options, own of the client's part of it.
	plan, own digest
	// req are the options.
	req *compactordv1.CompactRequest
}

// planTokenFixed is the size of a token without uid and options.
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

// parsePlanToken reads a token, which anyone can have written: its options are as little to be trusted as any request's.
func parsePlanToken(s string, checkRequest func(proto.Message) error) (*planToken, error) {
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
	if err := proto.Unmarshal(b[size:], t.req); err != nil {
		return nil, errors.Join(session.ErrToken, err)
	}
	if !plannable(t.req) || checkRequest(t.req) != nil || checkReplay(t.req) != nil {
		return nil, session.ErrToken
	}
	return t, nil
}

// plannable says whether the options are ones that PlanCompaction takes.
func plannable(req *compactordv1.CompactRequest) bool {
	return proto.Equal(req, &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: req.GetSessionId()},
		Reason: req.GetReason(), Focus: req.GetFocus(), Policy: req.GetPolicy(), Replay: req.Replay,
	})
}

// planDigest hashes what prompts are made by: the options, the plan, and the policy of its summary. Who was to write it
// does not matter, nor do figures that are only told.
func planDigest(
	req *compactordv1.CompactRequest, p *compactordv1.CompactionPlan, policy *compactordv1.Policy,
) (digest, error) {
	p = proto.CloneOf(p)
	p.TokensBefore, p.Chunks, p.SummarizerInputTokens, p.EstimatedCostUsd = 0, 0, 0, nil
	summary := &compactordv1.SummaryPolicy{}
	if policy.GetSummary() != nil {
		summary = proto.CloneOf(policy.GetSummary())
	}
	summary.Summarizer, summary.TryTimeout, summary.TotalTimeout = nil, nil, nil
	summary.Fallback, summary.Placement = nil, nil
	return digestOf(req, p, summary)
}

// ownDigest hashes a client's plan; the zero digest stands for none.
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
