package allowance_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/allowance"
	"github.com/compactord/compactord/service/apierror"
)

func as(ctx context.Context, tenant string, role access.Role) context.Context {
	return access.WithCaller(ctx, access.Caller{Subject: "x", Tenant: tenant, Role: role})
}

func policy(summarizer, prompt string, redact *bool) *compactordv1.SummaryPolicy {
	p := &compactordv1.SummaryPolicy{Summarizer: proto.String(summarizer), Redact: redact}
	if prompt != "" {
		p.PromptOverride = proto.String(prompt)
	}
	return p
}

// requireDenied requires PERMISSION_DENIED for a field, or nothing for "".
func requireDenied(t *testing.T, err error, field string) {
	t.Helper()
	if field == "" {
		require.NoError(t, err)
		return
	}
	var e *apierror.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_PERMISSION_DENIED, e.Reason)
	require.Equal(t, field, e.Metadata["field"])
}

func TestCheck(t *testing.T) {
	t.Parallel()
	off, on := proto.Bool(false), proto.Bool(true)
	own := []*compactordv1.Policy{
		{Summary: policy("local", "the operator's prompt", off)},
		nil,
	}
	a, err := allowance.New(allowance.Options{Own: own, Profiles: map[string]allowance.Profile{
		"paid":   {},
		"local":  {},
		"theirs": {Tenants: []string{"acme", ""}},
		"open":   {PromptOverride: true, Unredacted: true},
		"nobody": {Tenants: []string{}},
	}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		tenant string
		role   access.Role
		policy *compactordv1.SummaryPolicy
		field  string
	}{
		"no profile":                    {"b", access.Write, policy("extractive", "x", off), ""},
		"plain":                         {"b", access.Write, policy("paid", "", nil), ""},
		"redacts":                       {"b", access.Write, policy("paid", "", on), ""},
		"own prompt":                    {"b", access.Write, policy("paid", "x", nil), "policy.summary.prompt_override"},
		"own prompt of an admin":        {"b", access.Admin, policy("paid", "x", nil), "policy.summary.prompt_override"},
		"own prompt, default tenant":    {"", access.Write, policy("paid", "x", nil), "policy.summary.prompt_override"},
		"own prompt of the operator":    {"", access.Admin, policy("paid", "x", nil), ""},
		"the operator's prompt":         {"b", access.Write, policy("paid", "the operator's prompt", nil), ""},
		"unredacted":                    {"b", access.Write, policy("paid", "", off), "policy.summary.redact"},
		"unredacted by the operator":    {"", access.Admin, policy("paid", "", off), ""},
		"unredacted as in the policies": {"b", access.Write, policy("local", "", off), ""},
		"all allowed":                   {"b", access.Write, policy("open", "x", off), ""},
		"tenant":                        {"acme", access.Write, policy("theirs", "", nil), ""},
		"default tenant":                {"", access.Write, policy("theirs", "", nil), ""},
		"other tenant":                  {"b", access.Write, policy("theirs", "", nil), "policy.summary.summarizer"},
		"other tenant's admin":          {"b", access.Admin, policy("theirs", "", nil), "policy.summary.summarizer"},
		"the operator is a tenant too":  {"", access.Admin, policy("nobody", "", nil), "policy.summary.summarizer"},
	} {
		t.Run(name, func(t *testing.T) {
			requireDenied(t, a.Check(as(t.Context(), c.tenant, c.role), c.policy), c.field)
		})
	}
	requireDenied(t, a.Check(t.Context(), policy("paid", "x", nil)), "policy.summary.prompt_override")
	var none *allowance.Allowances
	require.NoError(t, none.Check(t.Context(), policy("paid", "x", off)))
	require.True(t, none.MayUse(t.Context(), "paid"))
}

// kept is what is left of what was spent, in memory.
type kept struct {
	content []byte
	err     error
}

func (k *kept) Load() ([]byte, error) { return k.content, k.err }

func (k *kept) Save(content []byte) error { k.content = content; return k.err }

// clock is a time that a test sets.
type clock struct{ now time.Time }

func (c *clock) time() time.Time { return c.now }

func limited(t require.TestingT, daily allowance.Amount, c *clock, spent allowance.Spent) *allowance.Allowances {
	a, err := allowance.New(allowance.Options{
		Profiles: map[string]allowance.Profile{"paid": {Daily: daily}, "free": {}}, Now: c.time, Spent: spent,
	})
	require.NoError(t, err)
	return a
}

func evening() *clock { return &clock{now: time.Date(2026, 3, 1, 22, 30, 0, 0, time.UTC)} }

func requireLimit(t *testing.T, err error, limit string) {
	t.Helper()
	var e *allowance.LimitError
	require.ErrorAs(t, err, &e)
	require.Equal(t, limit, e.Limit)
	require.Equal(t, 90*time.Minute, e.RetryAfter)
}

func TestLimitsAreReached(t *testing.T) {
	t.Parallel()
	for limit, c := range map[string]struct{ daily, use, rest allowance.Amount }{
		"requests": {allowance.Amount{Requests: 10}, allowance.Amount{Requests: 4}, allowance.Amount{Requests: 2}},
		"tokens":   {allowance.Amount{Tokens: 1000}, allowance.Amount{Tokens: 400}, allowance.Amount{Tokens: 200}},
		"dollars":  {allowance.Amount{USD: 1}, allowance.Amount{USD: 0.375}, allowance.Amount{USD: 0.25}},
	} {
		t.Run(limit, func(t *testing.T) {
			a := limited(t, c.daily, evening(), nil)
			ctx := as(t.Context(), "acme", access.Write)
			for range 2 {
				use, err := a.Begin(ctx, "paid", c.use)
				require.NoError(t, err)
				require.NoError(t, use.End(c.use))
			}
			_, err := a.Begin(ctx, "paid", c.use)
			requireLimit(t, err, limit)
			use, err := a.Begin(ctx, "paid", c.rest)
			require.NoError(t, err)
			require.NoError(t, use.End(c.rest))
			_, err = a.Begin(ctx, "paid", allowance.Amount{})
			requireLimit(t, err, limit)
			_, err = a.Begin(as(t.Context(), "other", access.Write), "paid", c.use)
			require.NoError(t, err, "each tenant has its own")
			_, err = a.Begin(ctx, "free", c.use)
			require.NoError(t, err)
		})
	}
}

// What runs at the same time cannot take more together than what was reserved for it.
func TestRunningUsesAreReserved(t *testing.T) {
	t.Parallel()
	a := limited(t, allowance.Amount{Requests: 3}, evening(), nil)
	first, err := a.Begin(t.Context(), "paid", allowance.Amount{Requests: 2})
	require.NoError(t, err)
	_, err = a.Begin(t.Context(), "paid", allowance.Amount{Requests: 2})
	requireLimit(t, err, "requests")
	require.NoError(t, first.End(allowance.Amount{Requests: 1}))
	second, err := a.Begin(t.Context(), "paid", allowance.Amount{Requests: 2})
	require.NoError(t, err, "what was reserved and not used is free again")
	require.NoError(t, second.End(allowance.Amount{Requests: 7}))
	_, err = a.Begin(t.Context(), "paid", allowance.Amount{})
	requireLimit(t, err, "requests")
}

func TestANewDayBeginsAtMidnight(t *testing.T) {
	t.Parallel()
	c := evening()
	a := limited(t, allowance.Amount{Requests: 2}, c, nil)
	late, err := a.Begin(t.Context(), "paid", allowance.Amount{Requests: 2})
	require.NoError(t, err)
	c.now = c.now.Add(90 * time.Minute)
	next, err := a.Begin(t.Context(), "paid", allowance.Amount{Requests: 1})
	require.NoError(t, err)
	require.NoError(t, late.End(allowance.Amount{Requests: 1}), "counts for the day on which it ends")
	_, err = a.Begin(t.Context(), "paid", allowance.Amount{Requests: 1})
	require.Error(t, err)
	require.NoError(t, next.End(allowance.Amount{}))
	_, err = a.Begin(t.Context(), "paid", allowance.Amount{Requests: 1})
	require.NoError(t, err)
}

func TestWhatWasSpentIsKeptForTheDay(t *testing.T) {
	t.Parallel()
	c, spent := evening(), &kept{}
	daily := allowance.Amount{Requests: 5, Tokens: 100, USD: 1}
	use, err := limited(t, daily, c, spent).Begin(as(t.Context(), "acme", access.Write), "paid", allowance.Amount{Requests: 1})
	require.NoError(t, err)
	require.NoError(t, use.End(allowance.Amount{Requests: 1, Tokens: 100, USD: 0.5}))
	require.JSONEq(t, `{"day": "2026-03-01", "used": [
		{"tenant": "acme", "summarizer": "paid", "requests": 1, "tokens": 100, "usd": 0.5}]}`, string(spent.content))

	again := limited(t, daily, c, spent)
	_, err = again.Begin(as(t.Context(), "acme", access.Write), "paid", allowance.Amount{Requests: 1})
	requireLimit(t, err, "tokens")
	_, err = again.Begin(t.Context(), "paid", allowance.Amount{Requests: 1})
	require.NoError(t, err)

	c.now = c.now.Add(24 * time.Hour)
	_, err = limited(t, daily, c, spent).Begin(as(t.Context(), "acme", access.Write), "paid", allowance.Amount{Requests: 1})
	require.NoError(t, err, "of an earlier day nothing counts")
}

func TestSpentThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, spent := range []*kept{{content: []byte("{")}, {err: errors.New("broken")}} {
		_, err := allowance.New(allowance.Options{Spent: spent})
		require.Error(t, err)
	}
	spent := &kept{}
	a := limited(t, allowance.Amount{Requests: 1}, evening(), spent)
	use, err := a.Begin(t.Context(), "paid", allowance.Amount{Requests: 1})
	require.NoError(t, err)
	spent.err = errors.New("no room")
	require.ErrorIs(t, use.End(allowance.Amount{Requests: 1}), spent.err)
	_, err = a.Begin(t.Context(), "paid", allowance.Amount{Requests: 1})
	require.Error(t, err, "it is counted nevertheless")
}

// Whatever begins and ends in whatever order: where uses take at most what was reserved, no tenant has more than the limit,
// and where all have ended, the rest can be used.
func TestNoTenantHasMoreThanItsLimit(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		const limit = 20
		a := limited(t, allowance.Amount{Requests: limit}, evening(), nil)
		used := map[string]uint64{}
		type running struct {
			use    *allowance.Use
			tenant string
			most   uint64
		}
		var uses []running
		end := func(r running) {
			took := rapid.Uint64Range(0, r.most).Draw(t, "took")
			used[r.tenant] += took
			require.NoError(t, r.use.End(allowance.Amount{Requests: took}))
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(uses) > 0 && rapid.Bool().Draw(t, "ends") {
				i := rapid.IntRange(0, len(uses)-1).Draw(t, "which")
				end(uses[i])
				uses = append(uses[:i], uses[i+1:]...)
				continue
			}
			r := running{
				tenant: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "tenant"), most: rapid.Uint64Range(0, 9).Draw(t, "most"),
			}
			var err error
			if r.use, err = a.Begin(as(ctx, r.tenant, access.Write), "paid", allowance.Amount{Requests: r.most}); err == nil {
				uses = append(uses, r)
			}
		}
		for _, r := range uses {
			end(r)
		}
		for tenant, n := range used {
			require.LessOrEqual(t, n, uint64(limit))
			if n < limit {
				_, err := a.Begin(as(ctx, tenant, access.Write), "paid", allowance.Amount{Requests: limit - n})
				require.NoError(t, err)
			}
		}
	})
}
