package strategies

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// defaultOutcomeChars is how many characters of a result a digest shows.
const defaultOutcomeChars = 120

// DialogueOnly collapses the tool groups of finished turns: only the words of user and agent remain, and a line for
// each call. A turn is finished after the next one has begun.
type DialogueOnly struct{}

// Name returns `dialogue_only`.
func (DialogueOnly) Name() string { return "dialogue_only" }

// Plan returns a plan with edits, or one that does nothing.
func (DialogueOnly) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	p := DialogueOnly{}.Resolved(in.Policy, parameters).GetDialogueOnly()
	s, e := in.State, newEditing(in.State)
	newest := saturated(uint64(p.GetKeepTurns()) + 1)
	end := beforeTurns(s, newest)
	for _, g := range s.Groups() {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if g.Last() >= end || !settled(s, g) || hasPinned(s, g) {
			continue
		}
		if err := e.collapse(ctx, s, g, p); err != nil {
			return nil, err
		}
		if e.full() {
			break
		}
	}
	return e.plan(in), nil
}

// Resolved implements Resolver.
func (DialogueOnly) Resolved(_ *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	p := &compactordv1.DialogueOnlyStrategy{}
	if given := parameters.GetDialogueOnly(); given != nil {
		p = proto.CloneOf(given)
	}
	p.KeepTurns = proto.Uint32(p.GetKeepTurns())
	if p.GetToolDigest() == compactordv1.ToolDigest_TOOL_DIGEST_UNSPECIFIED {
		p.ToolDigest = compactordv1.ToolDigest_TOOL_DIGEST_LINE.Enum()
	}
	if p.OutcomeChars == nil {
		p.OutcomeChars = proto.Uint32(defaultOutcomeChars)
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_DialogueOnly{DialogueOnly: p}}
}

// collapse collapses a group. If the digest is not shorter than the group, it tries shorter digests. If replacing the
// group by nothing is not possible, it tries the digests, too.
func (e *editing) collapse(
	ctx context.Context, s *session.State, g session.Group, p *compactordv1.DialogueOnlyStrategy,
) error {
	members := make([]*compactordv1.LoggedMessage, 0, 1+len(g.Results))
	members = append(members, s.Kept[g.Call])
	for _, pos := range g.Results {
		members = append(members, s.Kept[pos])
	}
	texts, err := digests(ctx, s, members[0], members[1:], int(p.GetOutcomeChars()))
	if err != nil {
		return err
	}
	if p.GetToolDigest() == compactordv1.ToolDigest_TOOL_DIGEST_NOTHING {
		texts = append([]string{""}, texts...)
	}
	for _, text := range texts {
		collapsed := e.try(&compactordv1.Edit{
			Index: members[0].GetIndex(), Kind: compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP, Replacement: text,
		}, members...)
		if collapsed {
			break
		}
	}
	return nil
}

// hasPinned says whether a member of a group is pinned, which protects the whole group.
func hasPinned(s *session.State, g session.Group) bool {
	if session.Pinned(s.Head, s.Kept[g.Call].GetIndex()) {
		return true
	}
	for _, pos := range g.Results {
		if session.Pinned(s.Head, s.Kept[pos].GetIndex()) {
			return true
		}
	}
	return false
}
