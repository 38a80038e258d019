package config

import (
	"cmp"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/service/quota"
	"github.com/compactord/compactord/service/tenant"
)

// quotasKey is the key of the file that bounds what each tenant takes.
const quotasKey = "quotas"

// maxQuota is far more than any tenant takes, and small enough to be counted.
const maxQuota = 1_000_000_000_000

// quotas are the limits of the file.
type quotas struct {
	// each applies to every tenant, and tenants has the limits of those with others.
	each    quota.Limits
	tenants map[string]quota.Limits
}

// limits are limits as they are in the file: nil is not given.
type limits struct {
	requests, bytes      *float64
	streams, compactions *int
	sessions, logBytes   *int64
	// path is the key of the mapping that they are in.
	path string
}

// over returns the limits that are given, and the others of what they override.
func (l *limits) over(base quota.Limits) quota.Limits {
	if l.requests != nil {
		base.RequestsPerSecond = *l.requests
	}
	if l.bytes != nil {
		base.BytesPerSecond = *l.bytes
	}
	if l.streams != nil {
		base.Streams = *l.streams
	}
	if l.compactions != nil {
		base.Compactions = *l.compactions
	}
	if l.sessions != nil {
		base.Sessions, base.SessionsKey = *l.sessions, l.path+"."+quota.Sessions
	}
	if l.logBytes != nil {
		base.LogBytes, base.LogBytesKey = *l.logBytes, l.path+"."+quota.LogBytes
	}
	return base
}

// readQuotas reads the setting from its YAML value; nil means none.
func readQuotas(given any) (q quotas, err error) {
	if given == nil {
		return q, nil
	}
	node, err := nodeOf(quotasKey, given)
	if err != nil {
		return q, err
	}
	var each yaml.Node
	var tenants map[string]yaml.Node
	problems := decodeSettings(quotasKey, node, []setting{{"each", &each}, {"tenants", &tenants}})
	common, wrong := readLimits(quotasKey+".each", &each)
	problems = append(problems, wrong...)
	q.each, q.tenants = common.over(quota.Limits{}), make(map[string]quota.Limits, len(tenants))
	for name, node := range tenants {
		path := quotasKey + ".tenants." + cmp.Or(name, `""`)
		if name != tenant.Default && tenant.Check(name) != nil {
			problems = append(problems, fmt.Errorf("%s.tenants: %q cannot be the name of a tenant; \"\" is the default one", quotasKey, name))
			continue
		}
		own, wrong := readLimits(path, &node)
		problems = append(problems, wrong...)
		q.tenants[name] = own.over(q.each)
	}
	return q, errors.Join(problems...)
}

func (l *limits) settings() []setting {
	return []setting{
		{quota.RequestsPerSecond, &l.requests},
		{quota.BytesPerSecond, &l.bytes},
		{quota.Streams, &l.streams},
		{quota.Compactions, &l.compactions},
		{quota.Sessions, &l.sessions},
		{quota.LogBytes, &l.logBytes},
	}
}

func readLimits(path string, node *yaml.Node) (l limits, problems []error) {
	l.path = path
	problems = decodeSettings(path, node, l.settings())
	check := func(key string, within bool) {
		if !within {
			problems = append(problems, fmt.Errorf("%s.%s must be from 0, which is no limit, to %d", path, key, int64(maxQuota)))
		}
	}
	check(quota.RequestsPerSecond, l.requests == nil || *l.requests >= 0 && *l.requests <= maxQuota)
	check(quota.BytesPerSecond, l.bytes == nil || *l.bytes >= 0 && *l.bytes <= maxQuota)
	check(quota.Streams, l.streams == nil || *l.streams >= 0 && *l.streams <= maxQuota)
	check(quota.Sessions, l.sessions == nil || *l.sessions >= 0 && *l.sessions <= maxQuota)
	check(quota.LogBytes, l.logBytes == nil || *l.logBytes >= 0 && *l.logBytes <= maxQuota)
	check(quota.Compactions, l.compactions == nil || *l.compactions >= 0 && *l.compactions <= maxQuota)
	return l, problems
}

// Quota returns what a tenant may take.
func (f *File) Quota(name string) quota.Limits {
	if own, has := f.quotas.tenants[name]; has {
		return own
	}
	return f.quotas.each
}
