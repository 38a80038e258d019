package strategies

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// Defaults of Offload. The 2,000 tokens are those of xbot.
const (
	defaultOffloadTokens = 2_000
	defaultPreviewChars  = 500
)

// Offload replaces long tool results by a preview and a reference with which the agent can recall the whole.
type Offload struct{}

// Name returns `offload`.
func (Offload) Name() string { return "offload" }

// Plan returns a plan with edits, or one that does nothing.
func (Offload) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	return planResults(ctx, in, in.State.Groups(), newOffloading(parameters, in.Policy, in.State.Stored))
}

// Resolved implements Resolver.
func (Offload) Resolved(_ *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	p := &compactordv1.OffloadStrategy{}
	if given := parameters.GetOffload(); given != nil {
		p = proto.CloneOf(given)
	}
	if p.OverTokens == nil {
		p.OverTokens = proto.Uint32(defaultOffloadTokens)
	}
	if p.PreviewChars == nil {
		p.PreviewChars = proto.Uint32(defaultPreviewChars)
	}
	p.PartialReads = proto.Bool(p.GetPartialReads())
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Offload{Offload: p}}
}

// offloading offloads results with these parameters.
type offloading struct {
	parameters *compactordv1.OffloadStrategy
	// over is measured in stored tokens.
	over    uint32
	preview int
	files   *compactordv1.FileTools
}

// newOffloading fills in the defaults. stored converts tokens of the model to stored tokens.
func newOffloading(
	parameters *compactordv1.Strategy, policy *compactordv1.Policy, stored func(uint32) uint32,
) *offloading {
	p := Offload{}.Resolved(policy, parameters).GetOffload()
	return &offloading{
		parameters: p,
		over:       stored(p.GetOverTokens()),
		preview:    int(p.GetPreviewChars()),
		files:      FileTools(policy),
	}
}

func (o *offloading) edit(r *toolResult) *compactordv1.Edit {
	long := r.tokens > o.over ||
		o.parameters.OverBytes != nil && bytesOf(r.shown) > int(o.parameters.GetOverBytes())
	// The agent must act on an error, so it stays.
	if !long || r.result.GetIsError() || r.stays(o.parameters.GetProtectedTools()) ||
		!o.parameters.GetPartialReads() && readsPart(o.files, r.call) {
		return nil
	}
	return &compactordv1.Edit{
		Index:       r.logged.GetIndex(),
		Kind:        compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT,
		Replacement: preview(resultText(r.result), o.preview) + reference(r),
	}
}

// preview returns the beginning of a text. It ends at a line end if one is near.
func preview(text string, characters int) string {
	head := firstCharacters(text, characters)
	if len(head) < len(text) {
		if end := strings.LastIndexByte(head, '\n'); end >= len(head)*4/5 {
			head = head[:end]
		}
	}
	if head == "" {
		return ""
	}
	return strings.TrimSuffix(head, "\n") + "\n"
}

// reference says what was replaced and how to recall it. An agent can copy the arguments for the recall tool from it.
func reference(r *toolResult) string {
	what := wording.OffloadedResult{
		Index: r.logged.GetIndex(), Tool: r.tool(), Tokens: r.logged.GetTokens(), Bytes: bytesOf(r.result), Text: hasText(r.result),
	}
	// A single piece is recalled with the part, be it text or a medium.
	if len(r.result.GetParts()) > 1 {
		what.Media = mediaReferences(r)
	}
	return what.Placeholder()
}

// mediaReferences returns references to a result's media, since its text is recalled without them.
func mediaReferences(r *toolResult) []string {
	var all []string
	for i, rp := range r.result.GetParts() {
		if rp.GetMedia() != nil {
			all = append(all, wording.PieceReference(r.logged.GetIndex(), i))
		}
	}
	return all
}

func hasText(r *compactordv1.ToolResult) bool {
	return slices.ContainsFunc(r.GetParts(), func(rp *compactordv1.ResultPart) bool { return rp.GetText() != nil })
}
