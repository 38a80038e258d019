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
	// maxHitBytes ends a page, so that clients with gRPC's usual limit of 4 MB can receive it.
	maxHitBytes = 3 << 20
	// searchBytes is the most of a log that one call reads, searchChunk the most that it reads at a time.
	searchBytes = 64 << 20
	searchChunk = 4 << 20
	// Messages are read in runs. Runs get shorter where messages are large.
	firstRun, longestRun = 64, 4096
)

// ErrPageToken means that a page token is not from this search.
var ErrPageToken = errors.New("not a page token of this search")

// Log is a session's log, for a search.
type Log interface {
	// SessionID returns the id of the session, and UID the uid of its incarnation.
	SessionID() string
	UID() string
	// Head returns the newest head.
	Head() *storagev1.Head
	// Messages returns the messages with indexes from start to end (exclusive) in order, up to maxBytes but at least
	// one.
	Messages(ctx context.Context, start, end uint32, maxBytes int) ([]*compactordv1.LoggedMessage, error)
	// Edits returns the edits of records in force on the message with this index, oldest first.
	Edits(ctx context.Context, index uint32) ([]*compactordv1.Edit, error)
}

// Search is the search that a request asks for. It is for one call.
type Search struct {
	req   *compactordv1.SearchMessagesRequest
	query *Query
	// token is where the search goes on in the next log; empty at its beginning.
	token string
	// snippet is the characters of a snippet, hits how many more hits the answer may have, and size its bytes so far.
	snippet, hits, size int
	// left is how many bytes this call may still read, and work the work that it may still do.
	left int
	work *Work
}

// NewSearch returns the search that a request asks for, or a FieldError.
func NewSearch(req *compactordv1.SearchMessagesRequest) (*Search, error) {
	query, err := queryOf(req)
	if err != nil {
		return nil, err
	}
	s := &Search{
		req: req, query: query, token: req.GetPageToken(), snippet: defaultSnippetChars, hits: defaultHits,
		left: searchBytes, work: NewWork(CallSteps),
	}
	if req.GetPageSize() > 0 {
		s.hits = int(req.GetPageSize())
	}
	if req.GetSnippetChars() > 0 {
		s.snippet = int(req.GetSnippetChars())
	}
	return s, nil
}

// Page returns the page of hits in a log that the request asks for, or as much of it as there is when over says that
// the time of the call is over; nil where it never is. It returns ErrPageToken, and errors of the log and the context.
func (s *Search) Page(ctx context.Context, log Log, over func() bool) (*compactordv1.SearchMessagesResponse, error) {
	s.work.Until(over)
	return s.pageOf(ctx, log)
}

// pageOf is Page within the bounds that are left of the call.
func (s *Search) pageOf(ctx context.Context, log Log) (*compactordv1.SearchMessagesResponse, error) {
	p := &page{Search: s, log: log, run: firstRun, end: log.Head().GetNextIndex()}
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

// page is a page of hits of one log while it is filled.
type page struct {
	*Search

	log Log
	// The messages from start to end are still to be searched; where the newest come first, the search goes back from
	// the end.
	start, end uint32
	// run is the number of messages read at a time.
	run uint32
	// place is where the search goes on within the next message; nil at its beginning.
	place *place

	found []*compactordv1.SearchHit
}

// fill searches until the page is full, the call's limits of bytes and work are reached, or nothing is left. It can
// exceed the limit of steps by one message, and that of time for words.
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
			if p.place != nil {
				return nil
			}
			if hit != nil && !p.add(hit) {
				return nil
			}
			// This message is searched now.
			if p.req.GetNewestFirst() {
				p.end = l.GetIndex()
			} else {
				p.start = l.GetIndex() + 1
			}
			if p.over() {
				return nil
			}
		}
	}
	return nil
}

// next reads some of the messages that are to be searched next, in the order of the search.
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
		// The newest messages did not fit: read a shorter run.
	}
}

// look returns the hit in a message; nil where there is none.
func (p *page) look(ctx context.Context, l *compactordv1.LoggedMessage) (*compactordv1.SearchHit, error) {
	state := session.StateOf(p.log.Head(), l.GetIndex())
	if !among(p.req.GetRoles(), l.GetMessage().GetRole()) || !among(p.req.GetStates(), state) {
		p.place = nil
		return nil, nil
	}
	from := p.place
	hit, stopped, err := p.query.findFrom(ctx, l, from, p.snippet, p.work)
	p.place = stopped
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

// edits returns the kinds of edits in force on a message, including the one that collapses its group.
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

// editsOf returns the kinds of edits in force on the message with this index. onArrival are its arrival edits.
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

// add adds a hit to the page; false where the page would become too large.
func (p *page) add(hit *compactordv1.SearchHit) bool {
	size := proto.Size(hit)
	if p.size > 0 && p.size+size > maxHitBytes {
		return false
	}
	p.found = append(p.found, hit)
	p.size += size
	p.hits--
	return true
}

// over reports that this call may not search any further.
func (s *Search) over() bool { return s.hits == 0 || s.left <= 0 || s.work.done() }
