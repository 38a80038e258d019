package service_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
)

// The smallest budget that the contract accepts fits a summary by every estimator. So do budgets at which the two parts
// of a summary get little more.
func TestSmallestBudgetsOfSummaries(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(*daemon, *compactordv1.Policy){
		"chars4": filledBy(chars4), "o200k": filledBy(o200k), "cl100k": filledBy(cl100k), "calibrated": filledBy(calibrated),
		"calibrated, by two": func(d *daemon, policy *compactordv1.Policy) {
			d.createBy("s", calibrated, policy)
			var estimate uint32
			for range 10 {
				d.append("s", user("Please "+strings.Repeat("y", 3996-len("Please "))))
				estimate += 999
				d.append("s", reported("1234", estimate*2))
				estimate++
			}
			require.Equal(d.t, uint32(2000), d.reportOf("s").GetCalibrationPermille())
		},
	} {
		for _, keep := range []uint32{10, 500} {
			for _, budget := range []uint32{64, 67, 72, 130, 167, 180} {
				t.Run(fmt.Sprintf("%s, keeping %d, in %d", name, keep, budget), func(t *testing.T) {
					writer := &scripted{name: "writer", do: faithful}
					d := start(t, withSummarizer(writer))
					policy := by("writer", noFallback, small(keep))
					policy.OverheadTokens = proto.Uint32(0)
					policy.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(budget)
					fill(d, policy)
					events, err := d.compact(compactRequest("s", nil))
					require.NoError(t, err)
					entry := last(t, events).GetCompleted().GetCompaction()
					require.NotNil(t, entry, "%v", last(t, events))
					require.LessOrEqual(t, writer.seen()[0].Count(entry.GetSummary()), budget)
					require.Contains(t, entry.GetSummary(), "Please")
				})
			}
		}
	}
}

// filledBy returns a function that creates a session with this estimator, whose last turn is larger than what is kept.
func filledBy(e compactordv1.Estimator) func(*daemon, *compactordv1.Policy) {
	return func(d *daemon, policy *compactordv1.Policy) {
		d.createBy("s", e, policy)
		d.append("s", user("Please port the parser to the new grammar."), assistant(long(6000)))
		d.append("s", user("Please write the tests as well."), assistant(long(3000)), assistant(long(3000)), assistant(long(200)))
	}
}

// Where the fallback fails too, the error has its name and its reason.
func TestFailureNamesTheFallbackThatFailed(t *testing.T) {
	t.Parallel()
	registry, err := summarizers.NewRegistry(
		&scripted{name: "writer", do: func(
			context.Context, *summarizers.Request, summarizers.Progress,
		) (*summarizers.Summary, error) {
			return nil, errors.New("no route")
		}},
		&scripted{name: "extractive", do: func(
			context.Context, *summarizers.Request, summarizers.Progress,
		) (*summarizers.Summary, error) {
			return &summarizers.Summary{Text: "no sections"}, nil
		}})
	require.NoError(t, err)
	d := start(t, func(o *service.ServerOptions) { o.Summarizers = registry })
	d.create("s", by("writer", fallingBack, small(1000)))
	d.append("s", working(10, 2000)...)
	_, err = d.compact(compactRequest("s", nil))
	info := requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
	require.Equal(t, map[string]string{"summarizer": "extractive", "check": "sections"}, info.GetMetadata())
	require.ErrorContains(t, err, "no summary by extractive")
}
