package service

import (
	"cmp"
	"context"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// ListStrategies implements CompactionService.
func (s *Service) ListStrategies(
	ctx context.Context, req *compactordv1.ListStrategiesRequest,
) (*compactordv1.ListStrategiesResponse, error) {
	set := s.policies.SetFor(ctx)
	catalogue, err := strategies.Catalogue(s.strategies, strategies.Limits{
		Window: req.GetContextWindow(), MaxOutput: req.GetMaxOutputTokens(), MaxInput: req.GetMaxInputTokens(),
	}, set.Named)
	if err != nil {
		return nil, err
	}
	described := describe(s.summarizers, cmp.Or(set.Default.GetSummary().GetSummarizer(), summaries.Fallback))
	catalogue.Summarizers = slices.DeleteFunc(described, func(by *compactordv1.SummarizerInfo) bool {
		return !s.policies.Allowances.MayUse(ctx, by.GetName())
	})
	return catalogue, nil
}

// describe returns the descriptions of the summarizers: `extractive` first, the others by name. byDefault is the one
// for policies that name none.
func describe(registry *summarizers.Registry, byDefault string) []*compactordv1.SummarizerInfo {
	var all []*compactordv1.SummarizerInfo
	for _, name := range registry.Names() {
		by, err := registry.Get(name)
		if err != nil {
			// Cannot happen: the name comes from the registry.
			continue
		}
		info := &compactordv1.SummarizerInfo{}
		if describer, ok := by.(summarizers.Describer); ok {
			info = describer.Describe()
		}
		info.Name, info.IsDefault = name, name == byDefault
		all = append(all, info)
	}
	slices.SortStableFunc(all, func(a, b *compactordv1.SummarizerInfo) int {
		switch {
		case (a.GetName() == summaries.Fallback) == (b.GetName() == summaries.Fallback):
			return strings.Compare(a.GetName(), b.GetName())
		case a.GetName() == summaries.Fallback:
			return -1
		default:
			return 1
		}
	})
	return all
}
