package strategies

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// Defaults of Offload. 2,000 tokens are xbot's.
const (
	defaultOffloadTokens = 2_000
	defaultPreviewChars  = 500
)

// Offload replaces long tool results by a preview and a reference by which the agent can recall the whole.
type Offload struct{}

// Name returns `offload`.
func (Offload) Name() string { return "offload" }

// Plan returns a plan with edits, or one that does nothing.
func (Offload) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	return planResults(ctx, in, newOffloading(parameters, in.Policy, in.State.Stored))
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

// offloading offloads results by these parameters.
type offloading struct {
	parameters *compactordv1.OffloadStrategy
	// over is in stored tokens.
	over    uint32
	preview int
	files   *compactordv1.FileTools
}

// newOffloading fills in the defaults; stored turns tokens of the model into those of messages.
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
	// An error is what the agent has to act on.
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

// preview is the beginning of a text, up to the end of a line where one is near.
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

// reference says what was there and how to have it. An agent can hand it as it stands to the tool that recalls.
func reference(r *toolResult) string {
	what := wording.OffloadedResult{
		Index: r.logged.GetIndex(), Tool: r.tool(), Tokens: r.logged.GetTokens(), Bytes: bytesOf(r.result), Text: hasText(r.result),
	}
	// The only piece is what the part holds, be it text or a medium.
	if len(r.result.GetParts()) > 1 {
		what.Media = mediaReferences(r)
	}
	return what.Placeholder()
}

// mediaReferences name the pieces of a result that are media: its text is recalled without them.
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
