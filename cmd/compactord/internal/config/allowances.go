package config

import (
	"time"

	"go.yaml.in/yaml/v3"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/allowance"
	"github.com/compactord/compactord/service/tenant"
)

// allowed are the settings of a model that say who may use it, how, and how much.
type allowed struct {
	tenants                    *[]string
	promptOverride, unredacted *bool
	requests, tokens           *uint64
	dollars                    *float64
	allow, daily               yaml.Node
}

// decode reads `allow` and `daily` of a model at a path.
func (a *allowed) decode(path string) []error {
	return append(decodeSettings(path+".allow", &a.allow, a.allowSettings()), decodeSettings(path+".daily", &a.daily, a.dailySettings())...)
}

func (a *allowed) allowSettings() []setting {
	return []setting{{"tenants", &a.tenants}, {"prompt_override", &a.promptOverride}, {"unredacted", &a.unredacted}}
}

func (a *allowed) dailySettings() []setting {
	return []setting{{"requests", &a.requests}, {"tokens", &a.tokens}, {"dollars", &a.dollars}}
}

func (a *allowed) check(check checking, priced bool) {
	if a.tenants != nil {
		check(len(*a.tenants) > 0, "allow.tenants", "must name a tenant, or \"\" for the default one; leave it out to allow all")
		for _, name := range *a.tenants {
			check(name == tenant.Default || tenant.Check(name) == nil, "allow.tenants",
				"has a name that no tenant can have: 1 to 63 lower-case letters, digits, '.', '_' and '-', or \"\" for the default tenant")
		}
	}
	check(a.requests == nil || *a.requests > 0, "daily.requests", "must be at least 1")
	check(a.tokens == nil || *a.tokens > 0, "daily.tokens", "must be at least 1")
	check(a.dollars == nil || *a.dollars > 0, "daily.dollars", "must be more than 0")
	check(a.dollars == nil || priced, "daily.dollars", "needs the price of the model")
}

// profile returns what is allowed. Where the operator's key pays, what is not allowed expressly is not.
func (a *allowed) profile(keyed bool) allowance.Profile {
	p := allowance.Profile{PromptOverride: !keyed, Unredacted: !keyed}
	if a.tenants != nil {
		p.Tenants = *a.tenants
	}
	if a.promptOverride != nil {
		p.PromptOverride = *a.promptOverride
	}
	if a.unredacted != nil {
		p.Unredacted = *a.unredacted
	}
	if a.requests != nil {
		p.Daily.Requests = *a.requests
	}
	if a.tokens != nil {
		p.Daily.Tokens = *a.tokens
	}
	if a.dollars != nil {
		p.Daily.USD = *a.dollars
	}
	return p
}

// Allowances says who may use which model, how, and how much. own are the operator's policies, and spent is where what
// tenants use is kept.
func (f *File) Allowances(own []*compactordv1.Policy, spent allowance.Spent) (*allowance.Allowances, error) {
	profiles := make(map[string]allowance.Profile, len(f.profiles))
	for _, p := range f.profiles {
		profiles[p.name] = p.allowed.profile(p.keyEnv != "" || p.keyFile != "")
	}
	return allowance.New(allowance.Options{Profiles: profiles, Own: own, Now: time.Now, Spent: spent})
}
