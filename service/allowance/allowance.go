// Package allowance says which callers may use a summarizer, how, and how much of it their tenants may use in a day.
//
// The models of the configuration are paid by the operator. So a caller's own prompt, and texts with their secrets, reach
// one only where the operator allows that:
//
//	if err := allowances.Check(ctx, policy.GetSummary()); err != nil {
//		return err
//	}
//	use, err := allowances.Begin(ctx, "fast", allowance.Amount{Requests: 1, Tokens: 9000})
//	if err != nil {
//		return err // a *LimitError: the day's limit is reached
//	}
//	defer func() { use.End(spent) }()
package allowance

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/tenant"
)

// Profile says who may use a summarizer, and how. The zero Profile allows all tenants, without limits, neither a prompt of
// their own nor texts with secrets.
type Profile struct {
	// Tenants may use it. Nil: all.
	Tenants []string
	// PromptOverride allows policies with prompt_override, and Unredacted those with redact false.
	PromptOverride, Unredacted bool
	// Daily is what each tenant may use from midnight to midnight, UTC.
	Daily Amount
}

// Amount is how much of a summarizer is used. As a limit, 0 is none.
type Amount struct {
	// Requests are those to the provider, also repeated ones.
	Requests uint64 `json:"requests"`
	// Tokens are those of input and output that the provider reports.
	Tokens uint64 `json:"tokens"`
	// USD are US dollars by the price of the configuration.
	USD float64 `json:"usd"`
}

func (a Amount) plus(b Amount) Amount {
	return Amount{Requests: a.Requests + b.Requests, Tokens: a.Tokens + b.Tokens, USD: a.USD + b.USD}
}

// Options configure Allowances.
type Options struct {
	// Profiles are those of the summarizers, by name. A summarizer without one is allowed to all.
	Profiles map[string]Profile
	// Own are the operator's policies: everybody may use the prompts in them.
	Own []*compactordv1.Policy
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Spent is where what tenants have used is kept. Nil: only in memory, so that a restart begins the day anew.
	Spent Spent
}

// Spent keeps what tenants have used when the daemon is not running.
type Spent interface {
	// Load returns what Save was given last; nil where there is nothing.
	Load() ([]byte, error)
	Save(content []byte) error
}

// Allowances decide for all summarizers. A nil *Allowances allows everything.
type Allowances struct {
	profiles map[string]Profile
	// own are the operator's policies, now and earlier: sessions may keep these.
	own  atomic.Pointer[[]*compactordv1.Policy]
	now  func() time.Time
	keep Spent

	mu sync.Mutex
	// day is the day of used and reserved, which have what each tenant has used of each summarizer, and what running
	// requests may use still.
	day            string
	used, reserved map[account]Amount
	// changes counts those of used.
	changes uint64

	// saving is held while the changes up to saved become saved ones. It is locked before mu.
	saving sync.Mutex
	saved  uint64
}

// account is a tenant's use of a summarizer.
type account struct{ Tenant, Summarizer string }

// New returns Allowances with what was used today. Its error is that of Spent.
func New(o Options) (*Allowances, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &Allowances{profiles: o.Profiles, now: o.Now, keep: o.Spent, reserved: map[account]Amount{}}
	a.own.Store(&o.Own)
	if err := a.load(); err != nil {
		return nil, err
	}
	return a, nil
}

// MayUse says whether the tenant of the context may use a summarizer.
func (a *Allowances) MayUse(ctx context.Context, summarizer string) bool {
	if a == nil {
		return true
	}
	profile, limited := a.profiles[summarizer]
	return !limited || profile.Tenants == nil || slices.Contains(profile.Tenants, tenant.Of(ctx))
}

// Check returns PERMISSION_DENIED where the caller of the context must not have a summary written by a resolved policy.
func (a *Allowances) Check(ctx context.Context, policy *compactordv1.SummaryPolicy) error {
	if a == nil {
		return nil
	}
	name := policy.GetSummarizer()
	profile, limited := a.profiles[name]
	switch {
	case !limited:
		return nil
	case !a.MayUse(ctx, name):
		// The caller has not named it, and is not told that there is one with this name.
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_PERMISSION_DENIED, map[string]string{"field": "policy.summary.summarizer"},
			"policy.summary.summarizer: this tenant may not use the daemon's default summarizer; name another one")
	case isOperator(ctx):
		return nil
	case policy.GetPromptOverride() != "" && !profile.PromptOverride && !a.isOwnPrompt(policy.GetPromptOverride()):
		return denied("policy.summary.prompt_override", name, "summarizer %s takes no prompts of callers", name)
	case policy.Redact != nil && !policy.GetRedact() && !profile.Unredacted && !a.isUnredacted(name):
		return denied("policy.summary.redact", name, "summarizer %s is sent no secrets: redact must be true", name)
	default:
		return nil
	}
}

// AddOwn adds policies of the operator to those that there are. Only one goroutine may call it at a time.
func (a *Allowances) AddOwn(own []*compactordv1.Policy) {
	if a == nil {
		return
	}
	all := slices.Clone(*a.own.Load())
	for _, p := range own {
		if !slices.ContainsFunc(all, func(known *compactordv1.Policy) bool { return proto.Equal(known, p) }) {
			all = append(all, p)
		}
	}
	a.own.Store(&all)
}

// isOperator says whether the caller could change the configuration as well: it has the token of the daemon's user, or one
// with the same rights.
func isOperator(ctx context.Context) bool {
	caller := access.CallerOf(ctx)
	return caller.Role == access.Admin && caller.Tenant == tenant.Default
}

// isOwnPrompt says whether a prompt is the operator's.
func (a *Allowances) isOwnPrompt(prompt string) bool {
	return slices.ContainsFunc(*a.own.Load(), func(p *compactordv1.Policy) bool { return p.GetSummary().GetPromptOverride() == prompt })
}

// isUnredacted says whether a policy of the operator sends secrets to this summarizer.
func (a *Allowances) isUnredacted(summarizer string) bool {
	return slices.ContainsFunc(*a.own.Load(), func(p *compactordv1.Policy) bool {
		s := p.GetSummary()
		return s.GetSummarizer() == summarizer && s.Redact != nil && !s.GetRedact()
	})
}

func denied(field, summarizer, format string, args ...any) error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_PERMISSION_DENIED,
		map[string]string{"field": field, "summarizer": summarizer}, field+": "+format, args...)
}
