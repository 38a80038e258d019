package summaries

import (
	"cmp"
	"math"
	"slices"
	"sync"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// order returns the numbers of the parts in the order in which they are written. `extractive` writes the smaller text
// first, since the larger one can use what that leaves of the budget. Texts of a client exist in the order of the parts.
func (w *Writer) order(parts []part) []int {
	order := make([]int, len(parts))
	for i := range parts {
		order[i] = i
	}
	if !w.asksModel() {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.input(parts[a]), w.input(parts[b])) })
	}
	return order
}

// input returns the stored tokens that are read for a part.
func (w *Writer) input(p part) uint32 {
	if p.request == nil {
		return 0
	}
	return session.StoredTokens(p.request.Messages) + session.TextTokens(w.op.State.Counter, p.request.PreviousSummary)
}

// sharedBudget passes what one text of a summary leaves of its budget to the next one, and shows it what that text says,
// so that no line stands in both.
type sharedBudget struct {
	mu sync.Mutex
	// left is what finished texts have left of their budgets.
	left uint32
	// said are the finished texts, which are to be shown to the next one.
	said []*compactordv1.LoggedMessage
}

// take adds to a request what is left, and the texts that are finished.
func (s *sharedBudget) take(req *summarizers.Request) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	req.MaxTokens += s.left
	req.Kept = slices.Concat(s.said, req.Kept)
	s.left, s.said = 0, nil
}

// finish adds what a text leaves of its request's budget.
func (s *sharedBudget) finish(req *summarizers.Request, text string) {
	if s == nil {
		return
	}
	used := req.Count(text)
	s.show(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left += req.MaxTokens - min(req.MaxTokens, used)
}

// noIndex is the index of a message that no log has, so that nothing is read from the log for it.
const noIndex = math.MaxUint32

// show adds a text that the next ones need not repeat.
func (s *sharedBudget) show(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, &compactordv1.LoggedMessage{Index: noIndex, Message: &compactordv1.Message{
		Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{session.TextPart(text)},
	}})
}
