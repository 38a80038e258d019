package recall_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
)

// searchTimed returns the indexes and offsets of all hits, by pages whose time is over at each so-manieth look at it.
func searchTimed(t require.TestingT, log *memoryLog, req *compactordv1.SearchMessagesRequest, looks int) (hits []string, pages int) {
	for req.PageToken = ""; ; {
		search, err := recall.NewSearch(req)
		require.NoError(t, err)
		looked := 0
		page, err := search.Page(context.Background(), log, func() bool { looked++; return looked >= looks })
		require.NoError(t, err)
		for _, hit := range page.GetHits() {
			hits = append(hits, fmt.Sprintf("%d at %d", hit.GetIndex(), hit.GetOffset()))
		}
		require.LessOrEqual(t, len(page.GetNextPageToken()), 1024, "the contract's limit")
		pages++
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			return hits, pages
		}
	}
}

// A search whose time is over within a line goes on there, and finds what package regexp finds.
func TestSearchGoesOnWithinLines(t *testing.T) {
	const expensive = "|~{1000}~{900}"
	haystack := strings.Repeat("hay é-", 500)
	for expression, exact := range map[string]bool{
		`needle` + expensive: true, `(\pL|\pN|\s){1,300}!`: true, `x.*y` + expensive: true, `\bneedle$` + expensive: true,
		`^hay` + expensive: true, `(x.*)?(\pL|-| ){1,300}!`: false, `nowhere` + expensive: true, `x.*(\pL{1,200}[!])`: true,
	} {
		log := &memoryLog{most: 9}
		var want []string
		texts := []string{
			haystack + "needle" + haystack, haystack + "é!" + haystack, "x" + haystack + "y", haystack + "\n" + haystack + "needle",
			haystack, "x" + haystack + "! y", "short", "needle\n" + haystack,
		}
		for i, text := range texts {
			l := said(text)
			l.Index = uint32(i)
			log.messages = append(log.messages, l)
			offset := 0
			for line := range strings.Lines(text) {
				if at := regexp.MustCompile(expression).FindStringIndex(strings.TrimSuffix(line, "\n")); at != nil {
					want = append(want, fmt.Sprintf("%d at %d", i, offset+at[0]))
					break
				}
				offset += len(line)
			}
		}
		req := &compactordv1.SearchMessagesRequest{Query: &compactordv1.SearchMessagesRequest_Pattern{Pattern: expression}}
		for _, looks := range []int{1, 3} {
			got, pages := searchTimed(t, log, req, looks)
			require.Greater(t, pages, 1, expression)
			if !exact {
				require.Equal(t, messagesOf(want), messagesOf(got), expression)
				continue
			}
			require.Equal(t, want, got, expression)
		}
		req.NewestFirst = true
		got, _ := searchTimed(t, log, req, 1)
		require.ElementsMatch(t, messagesOf(want), messagesOf(got), expression)
	}
}

// messagesOf returns hits without their offsets.
func messagesOf(hits []string) []string {
	var indexes []string
	for _, hit := range hits {
		index, _, _ := strings.Cut(hit, " ")
		indexes = append(indexes, index)
	}
	return indexes
}

// Whatever the expression and the text, a search in pieces finds the messages that a whole one finds.
func TestPiecesFindWhatTheWholeFinds(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", ".", "é", "a*", "(ab)?", "(a|b)+", "[ab]{1,12}", "\\b", "^", "$", ".*", "(x.*)?", "\\s"})
	rapid.Check(t, func(t *rapid.T) {
		expression := strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(t, "pieces"), "") + "|~{900}~{900}"
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aabé x\n")), 0, 60, -1).Draw(t, "text")
		text += strings.Repeat("é é ", rapid.IntRange(0, 400).Draw(t, "padding")) + rapid.StringOfN(rapid.RuneFrom([]rune("abx\n")), 0, 9, -1).Draw(t, "end")
		l := said(text)
		l.Index = 0
		log := &memoryLog{messages: []*compactordv1.LoggedMessage{l}, most: 1}
		req := &compactordv1.SearchMessagesRequest{Query: &compactordv1.SearchMessagesRequest_Pattern{Pattern: expression}}
		var want []string
		if text != "" {
			for line := range strings.Lines(text) {
				if regexp.MustCompile(expression).MatchString(strings.TrimSuffix(line, "\n")) {
					want = []string{"0"}
				}
			}
		}
		got, _ := searchTimed(t, log, req, 1)
		require.Equal(t, want, messagesOf(got))
	})
}
