package service_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/memory"
)

// hurrying is a clock that stands, or goes on by a step each time that somebody looks.
type hurrying struct{ now, step atomic.Int64 }

func (h *hurrying) look() time.Time { return time.Unix(0, h.now.Add(h.step.Load())) }

// A call searches for a second. What it has not searched then, the next one does.
func TestSearchEndsAfterASecond(t *testing.T) {
	t.Parallel()
	clock := &hurrying{}
	s := direct(t, memory.New(), service.Hooks{Now: clock.look})
	add := func(messages ...*compactordv1.Message) {
		_, err := s.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: messages})
		require.NoError(t, err)
	}
	_, err := s.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	lines := strings.Repeat("hay, a needle and hay\n", 8)
	add(user(lines), user("a needle"), user("another needle"), user("hay"), user(strings.Repeat("hay ", 32<<10)+"pins"))

	// pages returns the number of hits on each page.
	pages := func(req *compactordv1.SearchMessagesRequest) (hits []int) {
		for {
			answer, err := s.SearchMessages(t.Context(), req)
			require.NoError(t, err)
			hits = append(hits, len(answer.GetHits()))
			if req.PageToken = answer.GetNextPageToken(); req.GetPageToken() == "" {
				return hits
			}
		}
	}
	slow := `([a-z]|\s){1,100}pins`
	matches := func(first uint32) *compactordv1.RecallContentResponse {
		req := recallOf(0)
		req.Range = &compactordv1.RecallContentRequest_Match{Match: &compactordv1.LineMatch{Pattern: "needle", FirstLine: first}}
		answer, err := s.RecallContent(t.Context(), req)
		require.NoError(t, err)
		return answer
	}
	require.Equal(t, []int{3}, pages(searchWords("needle")))
	require.Equal(t, []int{1}, pages(searchPattern(slow)))
	require.False(t, matches(1).GetHasMore())

	clock.step.Store(int64(400 * time.Millisecond))
	require.Equal(t, []int{3, 0}, pages(searchWords("needle")), "the third look is after a second")
	within := pages(searchPattern(slow))
	require.Greater(t, len(within), 3, "a call ends within a line")
	require.Equal(t, 1, within[len(within)-1], "and the last one finds what ends there")
	for _, hits := range within[:len(within)-1] {
		require.Zero(t, hits)
	}
	answer := matches(1)
	require.True(t, answer.GetHasMore())
	require.Equal(t, uint32(3), answer.GetNextLine())
	require.Equal(t, []uint32{1, 2}, answer.GetBlocks()[0].GetMatchingLines())
}
