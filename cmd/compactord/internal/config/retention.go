package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/compactord/compactord/service/retention"
	"github.com/compactord/compactord/service/tenant"
)

// retentionKey is the key of the file that says which sessions are deleted by themselves.
const retentionKey = "retention"

// Bounds of its times. A time below a minute is a typing error, and one above 100 years too.
const (
	day          = 24 * time.Hour
	minRetention = time.Minute
	maxRetention = 36_500 * day
)

// retentionRules are the rules of one tenant.
type retentionRules struct {
	Age   string `yaml:"age"`
	Idle  string `yaml:"idle"`
	Count *int   `yaml:"count"`
}

type retentionSettings struct {
	retentionRules `yaml:",inline"`

	Tenants map[string]retentionRules `yaml:"tenants"`
}

// readRetention reads the setting from its YAML value, and returns every problem; nil means that all is kept.
func readRetention(setting any) (retention.Policy, error) {
	var policy retention.Policy
	if setting == nil {
		return policy, nil
	}
	var s retentionSettings
	err := decodeStrictly(retentionKey, "age, idle, count and tenants", setting, &s)
	if err != nil {
		return policy, err
	}
	var problems []error
	if policy.Default, err = s.rules(retentionKey); err != nil {
		problems = append(problems, err)
	}
	policy.Tenants = make(map[string]retention.Rules, len(s.Tenants))
	for _, name := range slices.Sorted(maps.Keys(s.Tenants)) {
		path := retentionKey + ".tenants." + name
		if err := tenant.Check(name); err != nil && name != tenant.Default {
			problems = append(problems, fmt.Errorf("%s: %w", path, err))
			continue
		}
		if policy.Tenants[name], err = s.Tenants[name].rules(path); err != nil {
			problems = append(problems, err)
		}
	}
	return policy, errors.Join(problems...)
}

// rules returns the rules of a path in the file.
func (r retentionRules) rules(path string) (rules retention.Rules, err error) {
	var problems []error
	span := func(key, text string) time.Duration {
		if text == "" {
			return 0
		}
		value, err := readSpan(text)
		if err != nil || value < minRetention || value > maxRetention {
			problems = append(problems, fmt.Errorf("%s.%s: must be a time such as 90d or 12h, from 1m to 36500d", path, key))
		}
		return value
	}
	rules.Age, rules.Idle = span("age", r.Age), span("idle", r.Idle)
	if r.Count != nil {
		if rules.Count = *r.Count; rules.Count < 1 {
			problems = append(problems, fmt.Errorf("%s.count: must be at least 1", path))
		}
	}
	return rules, errors.Join(problems...)
}

// readSpan reads a time, also in days.
func readSpan(text string) (time.Duration, error) {
	days, is := strings.CutSuffix(text, "d")
	if !is {
		return time.ParseDuration(text)
	}
	count, err := strconv.ParseUint(days, 10, 16)
	return time.Duration(count) * day, err
}
