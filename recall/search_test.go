package recall_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
)

// memoryLog is a log of messages without edits. It returns a limited number of messages at a time.
type memoryLog struct {
	messages []*compactordv1.LoggedMessage
	most     int
}

func (l *memoryLog) SessionID() string { return "id" }

func (l *memoryLog) UID() string { return "a" }

func (l *memoryLog) Head() *storagev1.Head {
	n := uint32(len(l.messages))
	return &storagev1.Head{
		NextIndex: n, NextSequence: n, Active: []*storagev1.ActiveRange{{EndSequence: n, EndIndex: n}},
	}
}

func (l *memoryLog) Messages(_ context.Context, start, end uint32, _ int) ([]*compactordv1.LoggedMessage, error) {
	return slices.Clone(l.messages[start:min(end, start+uint32(l.most))]), nil
}

func (l *memoryLog) Edits(context.Context, uint32) ([]*compactordv1.Edit, error) { return nil, nil }

// The pages of a search together are all hits, each once and in order, whatever number of messages the log returns.
func TestPagesPutTogetherAreAllHits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := &memoryLog{most: rapid.IntRange(1, 9).Draw(t, "at a time")}
		var want []uint32
		for i := range rapid.IntRange(0, 200).Draw(t, "messages") {
			l := said("nothing")
			if rapid.Bool().Draw(t, "hit") {
				l = said("a word")
				want = append(want, uint32(i))
			}
			l.Index = uint32(i)
			log.messages = append(log.messages, l)
		}
		newest := rapid.Bool().Draw(t, "newest first")
		if newest {
			slices.Reverse(want)
		}
		req := &compactordv1.SearchMessagesRequest{
			Query:       &compactordv1.SearchMessagesRequest_Words{Words: "word"},
			NewestFirst: newest, PageSize: rapid.Uint32Range(1, 50).Draw(t, "page"),
		}
		var got []uint32
		for {
			search, err := recall.NewSearch(req)
			require.NoError(t, err)
			page, err := search.Page(t.Context(), log, nil)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page.GetHits()), int(req.GetPageSize()))
			for _, hit := range page.GetHits() {
				got = append(got, hit.GetIndex())
			}
			if page.GetNextPageToken() == "" {
				break
			}
			req.PageToken = page.GetNextPageToken()
		}
		require.Equal(t, want, got)
	})
}

// A page token is valid for its own search.
func TestPageTokenOfAnotherSearch(t *testing.T) {
	log := &memoryLog{most: 9}
	for i := range 3 {
		l := said("word")
		l.Index = uint32(i)
		log.messages = append(log.messages, l)
	}
	req := &compactordv1.SearchMessagesRequest{
		Query: &compactordv1.SearchMessagesRequest_Words{Words: "word"}, PageSize: 1,
	}
	search, err := recall.NewSearch(req)
	require.NoError(t, err)
	page, err := search.Page(t.Context(), log, nil)
	require.NoError(t, err)
	for _, token := range []string{"nope", page.GetNextPageToken() + "A", page.GetNextPageToken()} {
		other := proto.CloneOf(req)
		other.PageToken, other.Query = token, &compactordv1.SearchMessagesRequest_Words{Words: "other"}
		search, err := recall.NewSearch(other)
		require.NoError(t, err)
		_, err = search.Page(t.Context(), log, nil)
		require.ErrorIs(t, err, recall.ErrPageToken)
	}
}

func TestSearchesThatAreRefused(t *testing.T) {
	for field, req := range map[string]*compactordv1.SearchMessagesRequest{
		"words":   {Query: &compactordv1.SearchMessagesRequest_Words{Words: " "}},
		"pattern": {Query: &compactordv1.SearchMessagesRequest_Pattern{Pattern: "("}},
	} {
		_, err := recall.NewSearch(req)
		var named *recall.FieldError
		require.ErrorAs(t, err, &named)
		require.Equal(t, field, named.Field)
	}
}
