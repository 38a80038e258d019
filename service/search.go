package service

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

const (
	defaultHits         = 20
	defaultSnippetChars = 200
	maxWords            = 32
	// searchBytes is how much of a log one call reads, and searchChunk how much of it at a time.
	searchBytes = 64 << 20
	searchChunk = 4 << 20
	// Messages are read in runs, shorter ones where they turn out to be large.
	firstRun, longestRun = 64, 4096
)

// SearchMessages implements SessionService.
func (s *Service) SearchMessages(
	ctx context.Context, req *compactordv1.SearchMessagesRequest,
) (*compactordv1.SearchMessagesResponse, error) {
	query, err := queryOf(req)
	if err != nil {
		return nil, err
	}
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	search := &search{
		service: s, row: row, req: req, query: query, run: firstRun, left: searchBytes,
		work: session.NewWork(session.CallSteps),
		hits: defaultHits, snippet: defaultSnippetChars, end: row.GetHead().GetNextIndex(),
	}
	if req.GetPageSize() > 0 {
		search.hits = int(req.GetPageSize())
	}
	if req.GetSnippetChars() > 0 {
		search.snippet = int(req.GetSnippetChars())
	}
	if err := search.resume(); err != nil {
		return nil, err
	}
	if err := search.page(ctx); err != nil {
		return nil, err
	}
	return search.answer()
}

func queryOf(req *compactordv1.SearchMessagesRequest) (*session.Query, error) {
	if _, ok := req.GetQuery().(*compactordv1.SearchMessagesRequest_Pattern); ok {
		pattern, err := session.CompilePattern(req.GetPattern(), false)
		if err != nil {
			return nil, apierror.InvalidField("pattern", err.Error())
		}
		return session.Matching(pattern), nil
	}
	words := strings.Fields(req.GetWords())
	if len(words) == 0 || len(words) > maxWords {
		return nil, apierror.InvalidField("words", "give 1 to 32 words")
	}
	return session.Words(words), nil
}

// search is a page of hits while it fills.
type search struct {
	service *Service
	row     *storagev1.Session
	req     *compactordv1.SearchMessagesRequest
	query   *session.Query
	hits    int
	snippet int

	// What is still to be searched lies from start to end; a search of the newest first takes it from its end.
	start, end uint32
	// run is how many messages are read at a time, left how many bytes of the log this call may still read.
	run  uint32
	left int
	// work is what this call may still do with what it has read.
	work *session.Work

	found []*compactordv1.SearchHit
	size  int
}

// page searches until the page is full, all has been read that one call reads, its work is done, or nothing is left. What
// it does is bounded by a call's work and that of one message more.
func (s *search) page(ctx context.Context) error {
	for s.start < s.end && s.left > 0 {
		messages, err := s.next(ctx)
		if err != nil {
			return err
		}
		for _, l := range messages {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			hit, err := s.look(ctx, l)
			if err != nil {
				return err
			}
			if hit != nil && !s.take(hit) {
				return nil
			}
			// From here on it is searched.
			if s.req.GetNewestFirst() {
				s.end = l.GetIndex()
			} else {
				s.start = l.GetIndex() + 1
			}
			if len(s.found) == s.hits || s.work.Left() <= 0 {
				return nil
			}
		}
	}
	return nil
}

// next reads some of the messages to be searched next, in the order of the search.
func (s *search) next(ctx context.Context) ([]*compactordv1.LoggedMessage, error) {
	for {
		start, end := s.start, s.start+min(s.run, s.end-s.start)
		if s.req.GetNewestFirst() {
			start, end = s.end-min(s.run, s.end-s.start), s.end
		}
		messages, err := s.service.logs.Messages(ctx, s.row, start, end, searchChunk)
		if err != nil {
			return nil, err
		}
		if len(messages) == 0 {
			return nil, fmt.Errorf("%w: no message %d", storage.ErrCorrupt, start)
		}
		for _, l := range messages {
			s.left -= proto.Size(l)
		}
		whole := len(messages) == int(end-start)
		if whole {
			s.run = min(2*s.run, longestRun)
		} else {
			s.run = max(uint32(len(messages))/2, 1)
		}
		switch {
		case !s.req.GetNewestFirst():
			return messages, nil
		case whole:
			slices.Reverse(messages)
			return messages, nil
		}
		// The newest of them are those that did not fit.
	}
}

// look returns the hit in a message; nil where there is none.
func (s *search) look(ctx context.Context, l *compactordv1.LoggedMessage) (*compactordv1.SearchHit, error) {
	state := session.StateOf(s.row.GetHead(), l.GetIndex())
	if !among(s.req.GetRoles(), l.GetMessage().GetRole()) || !among(s.req.GetStates(), state) {
		return nil, nil
	}
	hit, err := s.query.Find(ctx, l, s.snippet, s.work)
	if hit == nil {
		return nil, err
	}
	hit.State = state
	hit.Edits, err = s.edits(ctx, l)
	return hit, err
}

func among[E comparable](wanted []E, is E) bool {
	return len(wanted) == 0 || slices.Contains(wanted, is)
}

// edits are the kinds of edits in force on a message, and of the one that collapses its group.
func (s *search) edits(ctx context.Context, l *compactordv1.LoggedMessage) ([]compactordv1.EditKind, error) {
	const collapse = compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP
	kinds, err := s.editsOf(ctx, l.GetIndex(), session.ArrivalKinds(l))
	if err != nil || l.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_ANSWER {
		return kinds, err
	}
	ofGroup, err := s.editsOf(ctx, l.GetAnswers().GetIndex(), nil)
	if slices.Contains(ofGroup, collapse) {
		kinds = append(kinds, collapse)
	}
	return kinds, err
}

// editsOf are the kinds of edits in force on the message with an index, which arrived with some already.
func (s *search) editsOf(
	ctx context.Context, index uint32, kinds []compactordv1.EditKind,
) ([]compactordv1.EditKind, error) {
	head := s.row.GetHead()
	if session.Pinned(head, index) || !session.ActiveIndex(head, index) {
		return nil, nil
	}
	edits, err := s.service.logs.Edits(ctx, s.row, index, index+1)
	if err != nil {
		return nil, err
	}
	for _, of := range edits {
		if !session.InForce(head, of.Sequence) {
			continue
		}
		for _, e := range of.Edits {
			if !slices.Contains(kinds, e.GetKind()) {
				kinds = append(kinds, e.GetKind())
			}
		}
	}
	return kinds, nil
}

// take adds a hit to the page; false where it would pass the size of an answer.
func (s *search) take(hit *compactordv1.SearchHit) bool {
	size := proto.Size(hit)
	if len(s.found) > 0 && s.size+size > DefaultMaxAnswerBytes {
		return false
	}
	s.found = append(s.found, hit)
	s.size += size
	return true
}

// A page token is a kind, the index where what is still to be searched begins or ends, and the beginning of a digest of
// the query, so that the pages of one search are not taken for those of another.
const (
	pageOfHits      = 's'
	queryDigestSize = 16
)

func (s *search) answer() (*compactordv1.SearchMessagesResponse, error) {
	answer := &compactordv1.SearchMessagesResponse{Hits: s.found}
	if s.start >= s.end {
		return answer, nil
	}
	digest, err := s.digest()
	if err != nil {
		return nil, err
	}
	edge := s.start
	if s.req.GetNewestFirst() {
		edge = s.end
	}
	token := append(binary.BigEndian.AppendUint32([]byte{pageOfHits}, edge), digest...)
	answer.NextPageToken = base64.RawURLEncoding.EncodeToString(token)
	return answer, nil
}

// resume goes on where the page before ended.
func (s *search) resume() error {
	if s.req.GetPageToken() == "" {
		return nil
	}
	digest, err := s.digest()
	if err != nil {
		return err
	}
	token, err := base64.RawURLEncoding.DecodeString(s.req.GetPageToken())
	if err != nil || len(token) != 5+queryDigestSize || token[0] != pageOfHits || !slices.Equal(token[5:], digest) {
		return apierror.InvalidToken("page_token")
	}
	edge := binary.BigEndian.Uint32(token[1:])
	if edge > s.end {
		return apierror.InvalidToken("page_token")
	}
	if s.req.GetNewestFirst() {
		s.end = edge
	} else {
		s.start = edge
	}
	return nil
}

// digest stands for what is searched for, and in which life of which session.
func (s *search) digest() ([]byte, error) {
	same := proto.CloneOf(s.req)
	same.PageToken, same.PageSize, same.SnippetChars = "", 0, 0
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(same)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write([]byte(s.row.GetUid()))
	h.Write([]byte{0})
	h.Write(encoded)
	return h.Sum(nil)[:queryDigestSize], nil
}
