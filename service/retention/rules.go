// Package retention deletes sessions that are older, or longer unused, or more, than the operator wants to keep.
package retention

import "time"

// Rules say which sessions of a tenant are kept. Children are not looked at by themselves: they go with their parent.
type Rules struct {
	// Age is how long ago a session may have been created; 0 for any time.
	Age time.Duration
	// Idle is how long ago a session and all below it may have been changed; 0 for any time. Reads change nothing.
	Idle time.Duration
	// Count is how many sessions are kept, those that were changed last; 0 for any number.
	Count int
}

// Policy is the rules of all tenants. The zero Policy keeps everything.
type Policy struct {
	Default Rules
	// Tenants are the rules of tenants that have their own, in place of Default.
	Tenants map[string]Rules
}

// Of returns the rules of a tenant.
func (p Policy) Of(tenant string) Rules {
	if own, there := p.Tenants[tenant]; there {
		return own
	}
	return p.Default
}

// Keeps reports whether the policy keeps everything.
func (p Policy) Keeps() bool {
	for _, own := range p.Tenants {
		if own != (Rules{}) {
			return false
		}
	}
	return p.Default == Rules{}
}

// Rule is the rule by which a session is deleted.
type Rule string

// The rules, in the order in which they are looked at.
const (
	ByAge   Rule = "age"
	ByIdle  Rule = "idle"
	ByCount Rule = "count"
)

// broken returns the rule that a session breaks; empty where it breaks none. newer is how many sessions were changed after it.
func (r Rules) broken(now, created, changed time.Time, newer int) Rule {
	switch {
	case r.Age > 0 && now.Sub(created) > r.Age:
		return ByAge
	case r.Idle > 0 && now.Sub(changed) > r.Idle:
		return ByIdle
	case r.Count > 0 && newer >= r.Count:
		return ByCount
	default:
		return ""
	}
}
