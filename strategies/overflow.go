package strategies

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// allMedia is the strategy that replaces all media in the view.
var allMedia = &compactordv1.Strategy{Kind: &compactordv1.Strategy_StripMedia{
	StripMedia: &compactordv1.StripMediaStrategy{KeepNewest: proto.Uint32(0)},
}}

// PlanOverflow plans for a context that the provider refused as too long. It replaces all media, since providers count
// more for them than we estimate, and then runs the strategy that parameters select on the state that this leaves.
func (r *Registry) PlanOverflow(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	if err := r.Supports(parameters); err != nil {
		return nil, err
	}
	whole := *in
	whole.registry = r
	media, err := guarded(ctx, StripMedia{refused: true}, &whole, allMedia)
	if err != nil {
		return nil, err
	}
	if !does(media) {
		return r.Plan(ctx, in, parameters)
	}
	left, err := simulate(ctx, in.State, media)
	if err != nil {
		return nil, err
	}
	rest, err := whole.nested(ctx, left, parameters)
	if err != nil {
		return nil, err
	}
	return merged(in.State, media, rest), nil
}
