package strategies

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// defaultMaxChars is the number in opencode.
const defaultMaxChars = 2_000

// TruncateToolOutputs cuts each long tool result to its first and last characters.
type TruncateToolOutputs struct{}

// Name returns `truncate_tool_outputs`.
func (TruncateToolOutputs) Name() string { return "truncate_tool_outputs" }

// Plan returns a plan with edits, or one that does nothing.
func (TruncateToolOutputs) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	t := newTruncating(parameters)
	return planResults(ctx, in, allBut(in.State.Groups(), t.parameters.GetKeepGroups()), t)
}

// Resolved implements Resolver.
func (TruncateToolOutputs) Resolved(
	_ *compactordv1.Policy, parameters *compactordv1.Strategy,
) *compactordv1.Strategy {
	p := &compactordv1.TruncateToolOutputsStrategy{}
	if given := parameters.GetTruncateToolOutputs(); given != nil {
		p = proto.CloneOf(given)
	}
	if p.MaxChars == nil {
		p.MaxChars = proto.Uint32(defaultMaxChars)
	}
	fill(&p.TailChars, 0)
	fill(&p.KeepGroups, 0)
	if p.GetPlaceholder() == "" {
		p.Placeholder = proto.String(wording.TruncationMark)
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_TruncateToolOutputs{TruncateToolOutputs: p}}
}

// truncating cuts results with these parameters.
type truncating struct {
	parameters *compactordv1.TruncateToolOutputsStrategy
}

// newTruncating returns a truncating with the defaults filled in.
func newTruncating(parameters *compactordv1.Strategy) truncating {
	return truncating{TruncateToolOutputs{}.Resolved(nil, parameters).GetTruncateToolOutputs()}
}

func (t truncating) edit(r *toolResult) *compactordv1.Edit {
	if r.stays(t.parameters.GetProtectedTools()) {
		return nil
	}
	left, omitted := beginningOf(r, int(t.parameters.GetMaxChars()))
	tail := min(int(t.parameters.GetTailChars()), omitted)
	if omitted -= tail; omitted == 0 {
		return nil
	}
	what := r.replaced()
	what.omitted = &omitted
	left += "\n" + what.fill(t.parameters.GetPlaceholder())
	if tail > 0 {
		left += "\n" + endOf(r, tail)
	}
	return &compactordv1.Edit{
		Index:       r.logged.GetIndex(),
		Kind:        compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT,
		Replacement: left,
	}
}

// beginningOf returns the first characters (code points) of a result's text, and how many are left out. A medium counts
// no characters and becomes a line of text in its place, with the reference for recalling it.
func beginningOf(r *toolResult, characters int) (left string, omitted int) {
	var pieces []string
	for i, rp := range r.result.GetParts() {
		if media := rp.GetMedia(); media != nil {
			pieces = append(pieces, wording.MediaLine(media)+" "+wording.PieceReference(r.logged.GetIndex(), i))
			continue
		}
		text := rp.GetText().GetText() + rp.GetOpaque().GetJson()
		head := firstCharacters(text, characters)
		taken := utf8.RuneCountInString(head)
		characters -= taken
		if len(head) < len(text) {
			omitted += utf8.RuneCountInString(text[len(head):])
		}
		if head != "" {
			pieces = append(pieces, head)
		}
	}
	return strings.Join(pieces, "\n"), omitted
}

// endOf returns the last characters of a result's text. They are those of its last pieces of text. Media are not among
// them, since beginningOf names all media.
func endOf(r *toolResult, characters int) string {
	var pieces []string
	for _, rp := range slices.Backward(r.result.GetParts()) {
		tail := lastCharacters(rp.GetText().GetText()+rp.GetOpaque().GetJson(), characters)
		if characters -= utf8.RuneCountInString(tail); tail != "" {
			pieces = append(pieces, tail)
		}
	}
	slices.Reverse(pieces)
	return strings.Join(pieces, "\n")
}

// firstCharacters returns the first characters of a text.
func firstCharacters(text string, characters int) string {
	if len(text) <= characters {
		return text
	}
	for at := range text {
		if characters == 0 {
			return text[:at]
		}
		characters--
	}
	return text
}

// lastCharacters returns the last characters of a text.
func lastCharacters(text string, characters int) string {
	at := len(text)
	for ; at > 0 && characters > 0; characters-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return text[at:]
}
