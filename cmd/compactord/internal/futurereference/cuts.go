package futurereference

import (
	"fmt"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Cut is a place at which a conversation could have been compacted: messages before FirstKept are dropped, except the
// leading ones, and those up to End are kept.
type Cut struct {
	FirstKept int `json:"first_kept"`
	End       int `json:"end"`
}

// Sampling says where cuts are made.
type Sampling struct {
	// KeptTokens is the most that is kept. Trigger is the size of the log before the first cut, and Every the number of
	// messages between two cuts. Horizon is the number of messages after a cut that count as its future.
	KeptTokens, Trigger, Every, Horizon int
}

// DefaultSampling is what figures are compared at.
func DefaultSampling() Sampling {
	return Sampling{KeptTokens: 20_000, Trigger: 30_000, Every: 40, Horizon: 60}
}

// Cuts returns the cuts of a log, with more than Horizon messages after each. What is kept begins where a view may begin,
// and is as long as KeptTokens allows, or one step if that is longer.
func (l *Log) Cuts(s Sampling) []Cut {
	legal := legalCuts(l.messages)
	sizes := make([]int, len(l.messages))
	total, first := 0, -1
	for i, m := range l.messages {
		sizes[i] = messageTokens(m)
		total += sizes[i]
		if total > s.Trigger && first < 0 {
			first = i + 1
		}
	}
	var cuts []Cut
	for next := first; first >= 0 && next < len(l.messages); next += s.Every {
		end := next
		for end < len(l.messages) && !legal[end] {
			end++
		}
		if len(l.messages)-end <= s.Horizon {
			break
		}
		cut := Cut{l.firstKept(end, s.KeptTokens, sizes, legal), end}
		if cut.FirstKept > l.lead && !slices.Contains(cuts, cut) {
			cuts = append(cuts, cut)
		}
	}
	return cuts
}

// firstKept returns where the kept messages before an end begin.
func (l *Log) firstKept(end, tokens int, sizes []int, legal []bool) int {
	start, size := end, 0
	for start > l.lead && size+sizes[start-1] <= tokens {
		start--
		size += sizes[start]
	}
	for at := start; at < end; at++ {
		if legal[at] {
			return at
		}
	}
	// The last step alone is longer: keep it whole.
	at := min(start, end-1)
	for at > l.lead && !legal[at] {
		at--
	}
	return at
}

// legalCuts says of each message whether a view may begin with it: a USER or ASSISTANT message with no call before it
// that is answered after it.
func legalCuts(messages []*compactordv1.Message) []bool {
	answered := lastAnswers(messages)
	legal := make([]bool, len(messages))
	reach := -1
	for i, m := range messages {
		role := m.GetRole()
		legal[i] = reach < i && (role == compactordv1.Role_ROLE_USER || role == compactordv1.Role_ROLE_ASSISTANT)
		if last, is := answered[i]; is {
			reach = max(reach, last)
		}
	}
	return legal
}

// lastAnswers returns, by the index of a message with calls, the index of the last result.
func lastAnswers(messages []*compactordv1.Message) map[int]int {
	pending, answered := make(map[string]int), make(map[int]int)
	for i, m := range messages {
		for _, p := range m.GetParts() {
			if call := p.GetToolCall(); call != nil {
				pending[call.GetId()] = i
			}
			if result := p.GetToolResult(); result != nil {
				if at, is := pending[result.GetCallId()]; is {
					answered[at] = i
				}
			}
		}
	}
	return answered
}

// Need is an entity that the agent used after a cut and could only know from the dropped messages.
type Need struct {
	Entity
	// UsedAt is the message that first uses it. Sources are the dropped messages that have it, ascending.
	UsedAt  int   `json:"used_at"`
	Sources []int `json:"sources"`
}

// Needs returns what is needed of the messages that a cut drops, sorted by kind and value.
//
// An entity is needed if the agent writes it, in text or arguments, in the messages of the horizon; if it occurs in the
// dropped messages; and if neither the leading nor the kept messages have it, nor any message between the cut and its use.
// Thinking after the cut is neither a use nor a mention. Names of tools and arguments are never needed.
func (l *Log) Needs(cut Cut, horizon int) ([]Need, error) {
	if cut.FirstKept < 0 || cut.FirstKept > cut.End || cut.End > len(l.messages) {
		return nil, fmt.Errorf("cut: must satisfy 0 <= first_kept (%d) <= end (%d) <= %d messages", cut.FirstKept, cut.End, len(l.messages))
	}
	lead := min(l.lead, cut.FirstKept)
	judged := make(map[string]bool)
	var needs []Need
	for at := cut.End; at < min(cut.End+horizon, len(l.messages)); at++ {
		if l.messages[at].GetRole() != compactordv1.Role_ROLE_ASSISTANT {
			continue
		}
		for _, e := range l.entitiesOf(at) {
			if judged[e.Value] {
				continue
			}
			judged[e.Value] = true
			found := l.occurrencesOf(e.Value)
			if l.schema[e.Value] || found.within(0, lead) || found.within(cut.FirstKept, cut.End) ||
				anyWithin(found.visible, cut.End, at) {
				continue
			}
			if sources := l.sources(e, found, lead, cut.FirstKept); len(sources) > 0 {
				needs = append(needs, Need{Entity: e, UsedAt: at, Sources: sources})
			}
		}
	}
	slices.SortFunc(needs, func(a, b Need) int { return a.compare(b.Entity) })
	return needs, nil
}

// sources returns the dropped messages that have an entity. Words that merely stand together are no source of a
// quotation. Thinking counts where no text has the entity.
func (l *Log) sources(e Entity, found *occurrences, start, end int) []int {
	sources := between(found.visible, start, end)
	switch {
	case e.Kind == KindQuoted:
		sources = slices.DeleteFunc(slices.Clone(sources), func(i int) bool {
			return !slices.ContainsFunc(l.entitiesOf(i), func(other Entity) bool { return other.Value == e.Value })
		})
	case len(sources) == 0:
		sources = between(found.thinking, start, end)
	}
	return sources
}

// between returns the indexes from a start to an end.
func between(ascending []int, start, end int) []int {
	from, _ := slices.BinarySearch(ascending, start)
	to, _ := slices.BinarySearch(ascending, end)
	return ascending[from:max(from, to)]
}
