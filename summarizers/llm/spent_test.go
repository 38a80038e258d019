package llm_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/prompts"
)

func priced() llm.Profile {
	p := small
	p.Price = &compactordv1.TokenPrice{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}
	return p
}

func using(r reply, u *compactordv1.Usage) reply {
	r.answer.Usage, r.answer.Model = u, "m-2026"
	return r
}

// Everything that was paid for is reported: refused answers, and requests that failed after they were charged.
func TestAllThatWasSpentIsTold(t *testing.T) {
	t.Parallel()
	u := &compactordv1.Usage{InputTokens: 1_000, OutputTokens: 200, CacheReadTokens: 10_000, CacheWriteTokens: 400}
	r := summarize(t, priced(), asking(summarizers.History, "hello"),
		using(fails(status(500)), u), fails(status(503)), using(says("no"), u), using(says(good), u))
	require.NoError(t, r.err)
	require.Equal(t, uint32(4), r.summary.Calls)
	require.Equal(t, "m-2026", r.summary.Model)
	require.Equal(t, uint32(prompts.Version), r.summary.PromptVersion)
	require.Empty(t, r.summary.Usage.GetTotalTokens())
	require.Equal(t, []uint32{3_000, 600, 30_000, 1_200}, []uint32{
		r.summary.Usage.GetInputTokens(), r.summary.Usage.GetOutputTokens(), r.summary.Usage.GetCacheReadTokens(),
		r.summary.Usage.GetCacheWriteTokens(),
	})
	// 3,000 at 3, 600 at 15, 30,000 at 0.3 and 1,200 at 3.75 dollars a million.
	require.InDelta(t, 0.009+0.009+0.009+0.0045, *r.summary.CostUSD, 1e-9)

	r = summarize(t, priced(), asking(summarizers.History, "hello"), using(says("no"), u))
	require.Error(t, r.err)
	require.Equal(t, uint32(2), r.summary.Calls)
	require.InDelta(t, 0.021, *r.summary.CostUSD, 1e-9)
}

// The total that one answer reported would override the sum, so the other answers are added to it.
func TestTotalsAreAddedUp(t *testing.T) {
	t.Parallel()
	r := summarize(t, small, asking(summarizers.History, "hello"),
		using(says("no"), &compactordv1.Usage{InputTokens: 100, OutputTokens: 10}),
		using(says(good), &compactordv1.Usage{InputTokens: 100, OutputTokens: 10, TotalTokens: 150}))
	require.NoError(t, r.err)
	require.Equal(t, uint32(260), r.summary.Usage.GetTotalTokens())
	require.Nil(t, r.summary.CostUSD, "no price is configured")
}

func TestNothingToldOfUsage(t *testing.T) {
	t.Parallel()
	r := summarize(t, priced(), asking(summarizers.History, "hello"), says(good))
	require.NoError(t, r.err)
	require.Nil(t, r.summary.Usage)
	require.Nil(t, r.summary.CostUSD)
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	p := priced()
	p.TryTimeout, p.TotalTimeout = time.Second, time.Minute
	s := llm.New(p, &model{dialect: compactordv1.Dialect_DIALECT_OPENAI_CHAT})
	want := &compactordv1.SummarizerInfo{
		Name: "small", Kind: "openai", Model: "m", ContextWindow: 32_000, MaxOutputTokens: 8_000,
		Dialect: compactordv1.Dialect_DIALECT_OPENAI_CHAT, Price: p.Price,
	}
	require.True(t, proto.Equal(want, s.Describe()))
	require.Equal(t, "small", s.Name())
	try, total := s.Timeouts()
	require.Equal(t, []time.Duration{time.Second, time.Minute}, []time.Duration{try, total})
	require.Nil(t, llm.New(small, &model{}).Describe().GetPrice())
}

// The estimate is the actual cost if nothing is repeated and all answers are as large as their budgets.
func TestEstimateOfAFold(t *testing.T) {
	t.Parallel()
	req := asking(summarizers.History, long(200)...)
	m := &model{}
	estimate, err := llm.New(priced(), m).Estimate(t.Context(), req)
	require.NoError(t, err)
	require.Empty(t, m.sent, "nothing is sent")
	r := summarize(t, priced(), req, says(good))
	require.NoError(t, r.err)
	require.Greater(t, len(r.sent), 2)
	require.Equal(t, uint32(len(r.sent)), estimate.Calls)
	var sent uint32
	for _, c := range r.sent {
		sent += exactly(t, c.System) + exactly(t, c.User)
	}
	require.GreaterOrEqual(t, estimate.InputTokens+50, sent)
	require.Less(t, estimate.InputTokens, sent+uint32(len(r.sent))*1_100)
	least := float64(sent)*3/1e6 + 1_000*15/1e6
	require.Greater(t, *estimate.CostUSD, least*0.99)
	require.Less(t, *estimate.CostUSD, least+float64(len(r.sent))*(1_000*15+1_100*3)/1e6)
}

func TestEstimateOnTheAgentsPrompt(t *testing.T) {
	t.Parallel()
	req := onAgentsPrompt(summarizers.History, "hello")
	estimate, err := llm.New(priced(), &model{}).Estimate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, uint32(1), estimate.Calls)
	closing := exactly(t, prompts.Closing(req).Text)
	fromCache := estimate.InputTokens - closing
	require.InDelta(t, (float64(closing)*3+float64(fromCache)*0.3+1_000*15)/1e6, *estimate.CostUSD, 1e-6)

	dear := priced()
	dear.Price.CacheRead = 0
	estimate, err = llm.New(dear, &model{}).Estimate(t.Context(), req)
	require.NoError(t, err)
	require.InDelta(t, (float64(closing+fromCache)*3+1_000*15)/1e6, *estimate.CostUSD, 1e-6)

	estimate, err = llm.New(small, &model{}).Estimate(t.Context(), req)
	require.NoError(t, err)
	require.Nil(t, estimate.CostUSD)
}

func TestEstimateEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx := stopped(t)
	for _, req := range []*summarizers.Request{asking(summarizers.History, long(50)...), onAgentsPrompt(summarizers.History, "hello")} {
		_, err := llm.New(small, &model{}).Estimate(ctx, req)
		require.ErrorIs(t, err, errStopped)
	}
}

// Retries and rejected texts are reported, except for the last one, which the error reports.
func TestRepeatedIsTold(t *testing.T) {
	t.Parallel()
	no := says("no")
	r := summarize(t, small, asking(summarizers.History, "hello"), fails(status(503)), fails(status(503)), no, fails(status(500)), says(good))
	require.NoError(t, r.err)
	require.Equal(t, uint32(3), r.summary.Retries)
	require.Equal(t, []string{summarizers.CheckSections}, r.summary.Rejected)

	r = summarize(t, small, asking(summarizers.History, "hello"), no, no)
	requireCheck(t, summarizers.CheckSections, r.err)
	require.Zero(t, r.summary.Retries)
	require.Equal(t, []string{summarizers.CheckSections}, r.summary.Rejected)
}
