package strategies

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
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
	of := ""
	if tool := r.tool(); tool != "" {
		of = " of " + tool
	}
	has := fmt.Sprintf("[The result%s has %d tokens (%d bytes) in all", of, r.logged.GetTokens(), bytesOf(r.result))
	// The only piece is what the part holds, be it text or a medium.
	media := mediaReferences(r)
	if len(media) == 0 || len(r.result.GetParts()) == 1 {
		return fmt.Sprintf("%s. To read the whole of it, recall index %d, part 0.]", has, r.logged.GetIndex())
	}
	if !hasText(r.result) {
		return fmt.Sprintf("%s: the media %s. To have one, recall it by its number.]", has, told(media))
	}
	return fmt.Sprintf("%s, the media %s among them. To read its text, recall index %d, part 0.]",
		has, told(media), r.logged.GetIndex())
}

// mediaReferences name the pieces of a result that are media: its text is recalled without them.
func mediaReferences(r *toolResult) []string {
	var all []string
	for i, rp := range r.result.GetParts() {
		if rp.GetMedia() != nil {
			all = append(all, pieceReference(r.logged.GetIndex(), i))
		}
	}
	return all
}

// pieceReference names a piece of the result that a message is.
func pieceReference(index uint32, piece int) string { return fmt.Sprintf("#%d.0.%d", index, piece) }

// maxTold bounds the references of one placeholder.
const maxTold = 20

func told(references []string) string {
	text := strings.Join(references[:min(len(references), maxTold)], ", ")
	if more := len(references) - maxTold; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func hasText(r *compactordv1.ToolResult) bool {
	return slices.ContainsFunc(r.GetParts(), func(rp *compactordv1.ResultPart) bool { return rp.GetText() != nil })
}
