package summaries

import (
	"context"
	"log/slog"

	"github.com/compactord/compactord/service/allowance"
	"github.com/compactord/compactord/summarizers"
)

// begin reserves what a request may take of what its tenant may use in a day. The error is an *allowance.LimitError.
func (d *draft) begin(ctx context.Context, by summarizers.Summarizer, req *summarizers.Request) (*allowance.Use, error) {
	allowances := d.writer.config.Allowances
	if !allowances.IsLimited(by.Name()) {
		return &allowance.Use{}, nil
	}
	// At least one request is sent, also where nobody knows more.
	most := allowance.Amount{Requests: 1}
	if estimator, can := by.(summarizers.Estimator); can {
		if e, err := estimator.Estimate(ctx, req); err == nil && e != nil {
			most.Requests = max(1, uint64(e.Calls))
			most.Tokens = uint64(e.InputTokens) + uint64(e.Calls)*uint64(req.MaxTokens)
			if e.CostUSD != nil {
				most.USD = *e.CostUSD
			}
		}
	}
	return allowances.Begin(ctx, by.Name(), most)
}

// end counts what the request took. What is not kept for a restart is kept in memory, so the text is as good.
func (d *draft) end(ctx context.Context, use *allowance.Use, by summarizers.Summarizer, summary *summarizers.Summary) {
	var used allowance.Amount
	if summary != nil {
		u := summary.Usage
		used.Requests = uint64(summary.Calls)
		used.Tokens = uint64(u.GetInputTokens()) + uint64(u.GetCacheReadTokens()) + uint64(u.GetCacheWriteTokens()) +
			uint64(u.GetOutputTokens())
		if summary.CostUSD != nil {
			used.USD = max(0, *summary.CostUSD)
		}
	}
	if err := use.End(used); err != nil {
		d.writer.config.Logger.LogAttrs(ctx, slog.LevelError, "what a tenant used of a summarizer is not kept for a restart",
			slog.String("summarizer", by.Name()), slog.Any("error", err))
	}
}
