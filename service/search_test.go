package service_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

func searchWords(words string) *compactordv1.SearchMessagesRequest {
	return &compactordv1.SearchMessagesRequest{
		SessionId: "s", Query: &compactordv1.SearchMessagesRequest_Words{Words: words},
	}
}

func searchPattern(pattern string) *compactordv1.SearchMessagesRequest {
	return &compactordv1.SearchMessagesRequest{
		SessionId: "s", Query: &compactordv1.SearchMessagesRequest_Pattern{Pattern: pattern},
	}
}

// search returns the hits of all pages, and the number of pages.
func (d *daemon) search(req *compactordv1.SearchMessagesRequest) (hits []*compactordv1.SearchHit, pages int) {
	d.t.Helper()
	for req.PageToken = ""; ; {
		answer, err := d.sessions.SearchMessages(d.t.Context(), req)
		require.NoError(d.t, err)
		hits, pages = append(hits, answer.GetHits()...), pages+1
		require.Less(d.t, proto.Size(answer), 4<<20)
		if req.PageToken = answer.GetNextPageToken(); req.GetPageToken() == "" {
			return hits, pages
		}
	}
}

func indexesOf(hits []*compactordv1.SearchHit) []uint32 {
	var indexes []uint32
	for _, hit := range hits {
		indexes = append(indexes, hit.GetIndex())
	}
	return indexes
}

// Hidden, covered and put-aside content is found. The hit has its state and what a recall needs.
func TestSearchFindsWhatViewsDoNotShow(t *testing.T) {
	t.Parallel()
	d := recallDaemon(t)
	hits, _ := d.search(searchWords("LINE three"))
	require.Len(t, hits, 1)
	hit := hits[0]
	require.Equal(t, uint32(2), hit.GetIndex())
	require.Equal(t, []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_HIDE_RESULT}, hit.GetEdits())
	require.Equal(t, compactordv1.MessageState_MESSAGE_STATE_ACTIVE, hit.GetState())
	require.Equal(t, compactordv1.Role_ROLE_TOOL, hit.GetRole())
	require.Equal(t, "read", hit.GetTool())
	require.Equal(t, uint32(150), hit.GetMatches())
	require.Len(t, hit.GetSnippet(), 200)

	hits, _ = d.search(searchPattern(`ine t(.*)$`))
	at := recallOf(2)
	at.Range = &compactordv1.RecallContentRequest_Bytes{Bytes: &compactordv1.ByteRange{
		Offset: hits[0].GetOffset(), Length: hits[0].GetMatchEnd() - hits[0].GetMatchStart(),
	}}
	require.Equal(t, "ine two", d.recall(at).GetText())
	require.Equal(t, uint32(2), hits[0].GetLine())
	require.Equal(t, hits[0].GetLine(), d.recall(at).GetFirstLine())

	d.pin("s", 2)
	hits, _ = d.search(searchWords("three"))
	require.Empty(t, hits[0].GetEdits(), "no edit is in force while it is pinned")
	d.unpin("s", 2)
	d.append("s", working(8, 2000)[1:]...)
	point := d.append("s", user("three more")).GetPoint()
	d.completed(small(500))
	hits, _ = d.search(searchWords("three"))
	require.Equal(t, []uint32{2, 37}, indexesOf(hits))
	require.Equal(t, compactordv1.MessageState_MESSAGE_STATE_COVERED, hits[0].GetState())
	require.Equal(t, compactordv1.MessageState_MESSAGE_STATE_ACTIVE, hits[1].GetState())
	_, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 2},
	})
	require.NoError(t, err)
	require.Greater(t, point, uint32(2))
	aside := searchWords("three")
	aside.States = []compactordv1.MessageState{compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE}
	hits, _ = d.search(aside)
	require.Equal(t, []uint32{2, 37}, indexesOf(hits))
	require.Empty(t, hits[0].GetEdits(), "the edit was put aside too")
	aside.States = []compactordv1.MessageState{compactordv1.MessageState_MESSAGE_STATE_ACTIVE}
	hits, _ = d.search(aside)
	require.Empty(t, hits)
	aside.States, aside.Roles = nil, []compactordv1.Role{compactordv1.Role_ROLE_USER}
	hits, _ = d.search(aside)
	require.Equal(t, []uint32{37}, indexesOf(hits))
}

// Both stores return the same pages, in both directions, with each hit once.
func TestSearchPages(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]storage.Store{
		"memory": memory.New(), "bolt": openStore(t, filepath.Join(t.TempDir(), "s.db")),
	} {
		t.Run(name, func(t *testing.T) {
			// A slow machine would end pages after a second.
			still := &hurrying{}
			d := start(t, withStore(store), func(o *service.ServerOptions) { o.Hooks.Now = still.look })
			d.create("s", nil)
			var want []uint32
			messages := make([]*compactordv1.Message, 300)
			for i := range messages {
				messages[i] = user(fmt.Sprintf("message %d %s", i, strings.Repeat("x", i%7*3000)))
				if i%3 == 0 {
					messages[i] = user("needle " + messages[i].GetParts()[0].GetText().GetText())
					want = append(want, uint32(i))
				}
			}
			d.append("s", messages...)
			for _, size := range []uint32{0, 1, 7, 99, 100, 1000} {
				req := searchWords("Needle")
				req.PageSize = size
				hits, pages := d.search(req)
				require.Equal(t, want, indexesOf(hits))
				if size == 0 {
					size = 20
				}
				require.LessOrEqual(t, pages, 100/int(size)+1)
				req.NewestFirst = true
				hits, _ = d.search(req)
				newest := indexesOf(hits)
				slices.Reverse(newest)
				require.Equal(t, want, newest)
			}
			req := searchWords("nothing like it")
			hits, pages := d.search(req)
			require.Empty(t, hits)
			require.Equal(t, 1, pages)
		})
	}
}

// Large messages among small ones are searched from either end, each call reads no more than it may, and no hit is
// lost.
func TestSearchReadsALimitedPartOfTheLog(t *testing.T) {
	inFull(t)
	t.Parallel()
	// A clock that stands, since a call also ends after a second.
	standing := time.Unix(0, 0)
	d := start(t, withStore(memory.New()), withHooks(service.Hooks{Now: func() time.Time { return standing }}))
	d.create("s", nil)
	large := strings.Repeat("hay ", 2<<20)
	var want []uint32
	var index uint32
	for range 12 {
		d.append("s", user("small needle"), user(large), user("a needle after it"), user("no"))
		want = append(want, index, index+2)
		index += 4
	}
	for _, newest := range []bool{false, true} {
		req := searchWords("needle")
		req.NewestFirst, req.PageSize = newest, 1000
		hits, pages := d.search(req)
		got := indexesOf(hits)
		if newest {
			slices.Reverse(got)
		}
		require.Equal(t, want, got)
		require.Greater(t, pages, 1, "96 MiB are more than one call reads")
		require.Less(t, pages, 6)
	}
}

// A page token is valid only for the search that it came from.
func TestSearchTokensAreBoundToTheQuery(t *testing.T) {
	t.Parallel()
	d := start(t)
	for _, id := range []string{"s", "other"} {
		d.create(id, nil)
		d.append(id, user("a needle"), user("a needle"), user("a needle"))
	}
	first := searchWords("needle")
	first.PageSize = 1
	answer, err := d.sessions.SearchMessages(t.Context(), first)
	require.NoError(t, err)
	token := answer.GetNextPageToken()
	require.NotEmpty(t, token)
	listed, err := d.sessions.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{SessionId: "s", PageSize: 1})
	require.NoError(t, err)
	for what, change := range map[string]func(req *compactordv1.SearchMessagesRequest){
		"words":   func(req *compactordv1.SearchMessagesRequest) { req.Query = searchWords("a").GetQuery() },
		"pattern": func(req *compactordv1.SearchMessagesRequest) { req.Query = searchPattern("needle").GetQuery() },
		"roles": func(req *compactordv1.SearchMessagesRequest) {
			req.Roles = []compactordv1.Role{compactordv1.Role_ROLE_USER}
		},
		"direction": func(req *compactordv1.SearchMessagesRequest) { req.NewestFirst = true },
		"session":   func(req *compactordv1.SearchMessagesRequest) { req.SessionId = "other" },
		"listing":   func(req *compactordv1.SearchMessagesRequest) { req.PageToken = listed.GetNextPageToken() },
		"nonsense":  func(req *compactordv1.SearchMessagesRequest) { req.PageToken = "!" },
		"cut":       func(req *compactordv1.SearchMessagesRequest) { req.PageToken = token[:len(token)-2] },
	} {
		req := searchWords("needle")
		req.PageToken = token
		change(req)
		_, err := d.sessions.SearchMessages(t.Context(), req)
		info := requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN")
		require.Equal(t, "page_token", info.GetMetadata()["field"], what)
	}
	d.append("s", user("a needle"))
	first.PageToken, first.PageSize, first.SnippetChars = token, 10, 5
	answer, err = d.sessions.SearchMessages(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, []uint32{1, 2, 3}, indexesOf(answer.GetHits()), "what was appended meanwhile is found")
	require.Equal(t, "needl", answer.GetHits()[0].GetSnippet())

	_, err = d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	d.create("s", nil)
	d.append("s", user("a needle"), user("a needle"), user("a needle"))
	_, err = d.sessions.SearchMessages(t.Context(), first)
	requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN")
}

func TestSearchErrors(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	for pattern, text := range map[string]string{"a(": "missing closing )", `\1`: "invalid escape", "a{1000}b{1000}c{1000}": "steps"} {
		_, err := d.sessions.SearchMessages(t.Context(), searchPattern(pattern))
		requireInvalid(t, err, "pattern", text)
	}
	for _, words := range []string{" \n", strings.Repeat("a ", 33)} {
		_, err := d.sessions.SearchMessages(t.Context(), searchWords(words))
		requireInvalid(t, err, "words", "1 to 32")
	}
	for _, req := range []*compactordv1.SearchMessagesRequest{searchWords(""), searchWords(strings.Repeat("a", 1025)), {SessionId: "s"}} {
		_, err := d.sessions.SearchMessages(t.Context(), req)
		requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	}
	req := searchWords("a")
	req.SessionId = "nobody"
	_, err := d.sessions.SearchMessages(t.Context(), req)
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
}

// Pages with long snippets are not larger than clients accept.
func TestSearchPagesAreBounded(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	messages := make([]*compactordv1.Message, 1000)
	for i := range messages {
		messages[i] = user(strings.Repeat("😀", 4000))
	}
	d.append("s", messages...)
	req := searchWords("😀")
	req.PageSize, req.SnippetChars = 1000, 4000
	hits, pages := d.search(req)
	require.Len(t, hits, 1000)
	require.Greater(t, pages, 4)
}
