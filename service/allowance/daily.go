package allowance

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/compactord/compactord/service/tenant"
)

// LimitError says that a tenant has used up what it may use of a summarizer in a day.
type LimitError struct {
	Summarizer string
	// Limit is `requests`, `tokens` or `dollars`.
	Limit string
	// RetryAfter is how long it is until the next day begins.
	RetryAfter time.Duration
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the tenant's daily limit of %s for summarizer %s is reached", e.Limit, e.Summarizer)
}

// Use is one use of a summarizer.
type Use struct {
	of       *Allowances
	account  account
	day      string
	reserved Amount
}

// IsLimited says whether a summarizer has a daily limit, so that Begin needs to know how much a use may take.
func (a *Allowances) IsLimited(summarizer string) bool {
	return a != nil && a.profiles[summarizer].Daily != Amount{}
}

// Begin reserves what a use may take of a summarizer. It returns a *LimitError where the tenant of the context has no more
// today. What a use takes above that is counted, and not stopped. The caller must call End.
func (a *Allowances) Begin(ctx context.Context, summarizer string, most Amount) (*Use, error) {
	if !a.IsLimited(summarizer) {
		return &Use{}, nil
	}
	now := a.now().UTC()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turnTo(dayOf(now))
	u := &Use{of: a, account: account{tenant.Of(ctx), summarizer}, day: a.day, reserved: most}
	taken := a.used[u.account].plus(a.reserved[u.account])
	if limit := exceeded(a.profiles[summarizer].Daily, taken, taken.plus(most)); limit != "" {
		midnight := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
		return nil, &LimitError{Summarizer: summarizer, Limit: limit, RetryAfter: midnight.Sub(now)}
	}
	a.reserved[u.account] = a.reserved[u.account].plus(most)
	return u, nil
}

// exceeded returns the name of a limit that is reached by what is taken, or would be exceeded. An Amount of 0 is always
// let through until its limit is reached, since nobody knows what it will take.
func exceeded(limit, taken, after Amount) string {
	switch {
	case limit.Requests > 0 && (taken.Requests >= limit.Requests || after.Requests > limit.Requests):
		return "requests"
	case limit.Tokens > 0 && (taken.Tokens >= limit.Tokens || after.Tokens > limit.Tokens):
		return "tokens"
	case limit.USD > 0 && (taken.USD >= limit.USD || after.USD > limit.USD):
		return "dollars"
	default:
		return ""
	}
}

// End gives back what was reserved and counts what was used. Its error is that of Spent: the use is counted in memory.
func (u *Use) End(used Amount) error {
	a := u.of
	if a == nil {
		return nil
	}
	return a.save(a.count(u, used))
}

// count counts a use that ended, and returns which change of what is used that was.
func (a *Allowances) count(u *Use, used Amount) (change uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turnTo(dayOf(a.now().UTC()))
	if u.day == a.day {
		r := a.reserved[u.account]
		a.reserved[u.account] = Amount{
			Requests: r.Requests - u.reserved.Requests, Tokens: r.Tokens - u.reserved.Tokens, USD: r.USD - u.reserved.USD,
		}
	}
	// What ends after midnight counts for the new day.
	a.used[u.account] = a.used[u.account].plus(used)
	a.changes++
	return a.changes
}

func dayOf(t time.Time) string { return t.Format(time.DateOnly) }

// turnTo begins a new day where it has come.
func (a *Allowances) turnTo(day string) {
	if a.day != day {
		a.day, a.used, a.reserved = day, map[account]Amount{}, map[account]Amount{}
	}
}

// spentFile is what Spent keeps.
type spentFile struct {
	Day  string       `json:"day"`
	Used []spentEntry `json:"used"`
}

type spentEntry struct {
	Tenant     string `json:"tenant"`
	Summarizer string `json:"summarizer"`
	Amount
}

func (a *Allowances) load() error {
	a.turnTo(dayOf(a.now().UTC()))
	if a.keep == nil {
		return nil
	}
	content, err := a.keep.Load()
	if err != nil || content == nil {
		return err
	}
	var file spentFile
	if err := json.Unmarshal(content, &file); err != nil {
		return fmt.Errorf("what tenants have used today cannot be read: %w", err)
	}
	if file.Day != a.day {
		return nil
	}
	for _, e := range file.Used {
		a.used[account{e.Tenant, e.Summarizer}] = e.Amount
	}
	return nil
}

// save keeps a change of what is used, with all that came after it. Nobody who begins a use waits for it.
func (a *Allowances) save(change uint64) error {
	if a.keep == nil {
		return nil
	}
	a.saving.Lock()
	defer a.saving.Unlock()
	if a.saved >= change {
		return nil
	}
	content, newest, err := a.spent()
	if err == nil {
		err = a.keep.Save(content)
	}
	if err == nil {
		a.saved = newest
	}
	return err
}

// spent returns what Spent keeps now, and the newest change in it.
func (a *Allowances) spent() (content []byte, newest uint64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	file := spentFile{Day: a.day}
	for of, amount := range a.used {
		file.Used = append(file.Used, spentEntry{of.Tenant, of.Summarizer, amount})
	}
	content, err = json.Marshal(file)
	return content, a.changes, err
}
