package recall

import (
	"context"
	"errors"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

const (
	defaultHits         = 20
	defaultSnippetChars = 200
	maxWords            = 32
	// maxHitBytes is where a page ends, so that clients with the usual limit of gRPC, 4 MB, just work.
	maxHitBytes = 3 << 20
	// searchBytes is how much of a log one call reads, and searchChunk how much of it at a time.
	searchBytes = 64 << 20
	searchChunk = 4 << 20
	// Messages are read in runs, shorter ones where they turn out to be large.
	firstRun, longestRun = 64, 4096
)

// ErrPageToken says that a page token was not made by this search.
var ErrPageToken = errors.New("not a page token of this search")

// Log is the log of a session as a search reads it.
type Log interface {
	// UID tells the session from others of its name.
	UID() string
	// Head is the newest one.
	Head() *storagev1.Head
	// Messages returns the messages with indexes from start to end (exclusive) in order, as many as take so many bytes, and
	// at least one.
	Messages(ctx context.Context, start, end uint32, maxBytes int) ([]*compactordv1.LoggedMessage, error)
	// Edits returns the edits of records in force on the message with this index, the older first.
	Edits(ctx context.Context, index uint32) ([]*compactordv1.Edit, error)
}

// Search is a search for what a request asks for.
type Search struct {
	req   *compactordv1.SearchMessagesRequest
	query *Query
}

// NewSearch returns the search for what a request asks for, or a FieldError.
func NewSearch(req *compactordv1.SearchMessagesRequest) (*Search, error) {
	query, err := queryOf(req)
	if err != nil {
		return nil, err
	}
	return &Search{req, query}, nil
}

// Page returns the page of hits in a log that the request asks for. It returns ErrPageToken, and the errors of the log and
// the context.
func (s *Search) Page(ctx context.Context, log Log) (*compactordv1.SearchMessagesResponse, error) {
	p := &page{
		log: log, req: s.req, query: s.query, run: firstRun, left: searchBytes, work: NewWork(CallSteps),
		hits: defaultHits, snippet: defaultSnippetChars, end: log.Head().GetNextIndex(),
	}
	if s.req.GetPageSize() > 0 {
		p.hits = int(s.req.GetPageSize())
	}
	if s.req.GetSnippetChars() > 0 {
		p.snippet = int(s.req.GetSnippetChars())
	}
	if err := p.resume(); err != nil {
		return nil, err
	}
	if err := p.fill(ctx); err != nil {
		return nil, err
	}
	return p.answer()
}

func queryOf(req *compactordv1.SearchMessagesRequest) (*Query, error) {
	if _, ok := req.GetQuery().(*compactordv1.SearchMessagesRequest_Pattern); ok {
		pattern, err := CompilePattern(req.GetPattern(), false)
		if err != nil {
			return nil, &FieldError{"pattern", err.Error()}
		}
		return Matching(pattern), nil
	}
	words := strings.Fields(req.GetWords())
	if len(words) == 0 || len(words) > maxWords {
		return nil, &FieldError{"words", "give 1 to 32 words"}
	}
	return Words(words), nil
}

// page is a page of hits while it fills.
type page struct {
	log     Log
	req     *compactordv1.SearchMessagesRequest
	query   *Query
	hits    int
	snippet int

	// What is still to be searched lies from start to end; a search of the newest first takes it from its end.
	start, end uint32
	// run is how many messages are read at a time, left how many bytes of the log this call may still read.
	run  uint32
	left int
	// work is what this call may still do with what it has read.
	work *Work

	found []*compactordv1.SearchHit
	size  int
}

// fill searches until the page is full, all has been read that one call reads, its work is done, or nothing is left. What
// it does is bounded by a call's work and that of one message more.
func (p *page) fill(ctx context.Context) error {
	for p.start < p.end && p.left > 0 {
		messages, err := p.next(ctx)
		if err != nil {
			return err
		}
		for _, l := range messages {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			hit, err := p.look(ctx, l)
			if err != nil {
				return err
			}
			if hit != nil && !p.take(hit) {
				return nil
			}
			// From here on it is searched.
			if p.req.GetNewestFirst() {
				p.end = l.GetIndex()
			} else {
				p.start = l.GetIndex() + 1
			}
			if len(p.found) == p.hits || p.work.Left() <= 0 {
				return nil
			}
		}
	}
	return nil
}

// next reads some of the messages to be searched next, in the order of the search.
func (p *page) next(ctx context.Context) ([]*compactordv1.LoggedMessage, error) {
	for {
		start, end := p.start, p.start+min(p.run, p.end-p.start)
		if p.req.GetNewestFirst() {
			start, end = p.end-min(p.run, p.end-p.start), p.end
		}
		messages, err := p.log.Messages(ctx, start, end, searchChunk)
		if err != nil {
			return nil, err
		}
		for _, l := range messages {
			p.left -= proto.Size(l)
		}
		whole := len(messages) == int(end-start)
		if whole {
			p.run = min(2*p.run, longestRun)
		} else {
			p.run = max(uint32(len(messages))/2, 1)
		}
		switch {
		case !p.req.GetNewestFirst():
			return messages, nil
		case whole:
			slices.Reverse(messages)
			return messages, nil
		}
		// The newest of them are those that did not fit.
	}
}

// look returns the hit in a message; nil where there is none.
func (p *page) look(ctx context.Context, l *compactordv1.LoggedMessage) (*compactordv1.SearchHit, error) {
	state := session.StateOf(p.log.Head(), l.GetIndex())
	if !among(p.req.GetRoles(), l.GetMessage().GetRole()) || !among(p.req.GetStates(), state) {
		return nil, nil
	}
	hit, err := p.query.Find(ctx, l, p.snippet, p.work)
	if hit == nil {
		return nil, err
	}
	hit.State = state
	hit.Edits, err = p.edits(ctx, l)
	return hit, err
}

func among[E comparable](wanted []E, is E) bool {
	return len(wanted) == 0 || slices.Contains(wanted, is)
}

// edits are the kinds of edits in force on a message, and of the one that collapses its group.
func (p *page) edits(ctx context.Context, l *compactordv1.LoggedMessage) ([]compactordv1.EditKind, error) {
	const collapse = compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP
	kinds, err := p.editsOf(ctx, l.GetIndex(), l.GetArrivalEdits())
	if err != nil || l.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_ANSWER {
		return kinds, err
	}
	ofGroup, err := p.editsOf(ctx, l.GetAnswers().GetIndex(), nil)
	if slices.Contains(ofGroup, collapse) {
		kinds = append(kinds, collapse)
	}
	return kinds, err
}

// editsOf are the kinds of edits in force on the message with an index, which arrived with some already.
func (p *page) editsOf(
	ctx context.Context, index uint32, onArrival []*compactordv1.Edit,
) (kinds []compactordv1.EditKind, err error) {
	head := p.log.Head()
	if session.Pinned(head, index) || !session.ActiveIndex(head, index) {
		return nil, nil
	}
	edits, err := p.log.Edits(ctx, index)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Concat(onArrival, edits) {
		if !slices.Contains(kinds, e.GetKind()) {
			kinds = append(kinds, e.GetKind())
		}
	}
	return kinds, nil
}

// take adds a hit to the page; false where it would pass the size of an answer.
func (p *page) take(hit *compactordv1.SearchHit) bool {
	size := proto.Size(hit)
	if len(p.found) > 0 && p.size+size > maxHitBytes {
		return false
	}
	p.found = append(p.found, hit)
	p.size += size
	return true
}
