package listsync

import (
	"context"
	"encoding/json"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// maxEarlierViews is how many earlier views a list is compared with, beside the present one: those before the newest
// changes of the view. A framework that stores views takes the newest one soon.
const maxEarlierViews = 8

// shownView is a view as a list holds it.
type shownView struct {
	// lead is the keys of its leading messages.
	lead []key
	// pieces is the rest of it, and after it the messages of the log that came later.
	pieces []piece
}

// viewPoints returns the points whose views a list may begin with, the present one first.
func (s *Syncer) viewPoints(ctx context.Context, row *storagev1.Session) ([]uint32, error) {
	points := []uint32{session.Point(row.GetHead())}
	changed := row.GetHead().GetLastViewChange()
	for changed > 0 && len(points) <= maxEarlierViews {
		points = append(points, changed-1)
		before, err := s.Logs.RecordAtOrBefore(ctx, row, changed-1)
		if err != nil {
			return nil, err
		}
		changed = before.GetHead().GetLastViewChange()
	}
	return points, nil
}

// viewAt returns the view at a point. log has the pieces of the log.
func (s *Syncer) viewAt(
	ctx context.Context, row *storagev1.Session, point uint32, kind compactordv1.Dialect, log []piece,
) (*shownView, error) {
	point, head, err := s.answered(ctx, row, point)
	if err != nil {
		return nil, err
	}
	shown := &shownMessages{}
	if err := s.eachPage(ctx, row, point, compactordv1.Dialect_DIALECT_UNSPECIFIED, shown.add); err != nil {
		return nil, err
	}
	keys := &shownKeys{lead: shown.lead, keys: shown.keys()}
	if kind != compactordv1.Dialect_DIALECT_UNSPECIFIED {
		if keys, err = s.renderedKeys(ctx, row, point, kind); err != nil {
			return nil, err
		}
	}
	v := &shownView{lead: keys.lead, pieces: attributed(shown.messages, keys.keys, log)}
	for _, p := range log {
		if p.index >= head.GetNextIndex() {
			v.pieces = append(v.pieces, p)
		}
	}
	v.pieces = activePieces(v.pieces, row.GetHead(), log)
	return v, nil
}

// answered returns the newest point up to one at which no call waits for its result: no view in a dialect shows the newest
// tool group, nor what follows it. These are compared as they are in the log.
func (s *Syncer) answered(
	ctx context.Context, row *storagev1.Session, point uint32,
) (uint32, *storagev1.Head, error) {
	for {
		head, err := s.Logs.RequestedHead(ctx, row, point, "elements")
		if err != nil {
			return 0, nil, err
		}
		open := session.Awaited(head)
		if len(open) == 0 {
			return point, head, nil
		}
		if point, err = s.before(ctx, row, open[0].GetIndex()); err != nil {
			return 0, nil, err
		}
	}
}

// before returns the point before a message.
func (s *Syncer) before(ctx context.Context, row *storagev1.Session, index uint32) (uint32, error) {
	l, err := s.Logs.Message(ctx, row, index)
	if err != nil {
		return 0, err
	}
	return l.GetSequence() - 1, nil
}

// activePieces returns the pieces before the first one whose message a Revert has put aside since, and after them what the
// log has in their place.
func activePieces(pieces []piece, h *storagev1.Head, log []piece) []piece {
	for i, p := range pieces {
		if p.own || session.ActiveIndex(h, p.index) {
			continue
		}
		after := slices.IndexFunc(log, func(l piece) bool { return l.index > p.index })
		if after < 0 {
			return pieces[:i]
		}
		return append(pieces[:i:i], log[after:]...)
	}
	return pieces
}

// eachPage calls take with each page of a view.
func (s *Syncer) eachPage(
	ctx context.Context, row *storagev1.Session, point uint32, kind compactordv1.Dialect,
	take func(*compactordv1.GetLLMViewResponse) error,
) error {
	req := &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: row.GetSessionId()}, AsOf: proto.Uint32(point), Dialect: kind,
	}
	for {
		page, err := s.View(ctx, req)
		if err != nil {
			return err
		}
		if err := take(page); err != nil || !page.GetHasMore() {
			return err
		}
		req.ViewToken = page.GetViewToken()
	}
}

// shownMessage is a message of a neutral view, without its content.
type shownMessage struct {
	origin *compactordv1.ViewMessage
	keys   []key
}

// shownMessages are the messages of a neutral view, the leading ones apart.
type shownMessages struct {
	lead     []key
	messages []shownMessage
}

func (s *shownMessages) add(page *compactordv1.GetLLMViewResponse) error {
	for _, vm := range page.GetMessages() {
		keys := keysOf(vm.GetMessage())
		if len(s.messages) == 0 && session.Leads(vm.GetMessage().GetRole()) {
			s.lead = append(s.lead, keys...)
			continue
		}
		s.messages = append(s.messages, shownMessage{
			&compactordv1.ViewMessage{Origin: vm.GetOrigin(), OutOfPlace: vm.GetOutOfPlace()}, keys,
		})
	}
	return nil
}

func (s *shownMessages) keys() []key {
	var keys []key
	for _, m := range s.messages {
		keys = append(keys, m.keys...)
	}
	return keys
}

// shownKeys is the keys of a view, its leading messages apart.
type shownKeys struct {
	lead, keys []key
	said       bool
}

func (k *shownKeys) add(m *compactordv1.Message) {
	if !k.said && session.Leads(m.GetRole()) {
		k.lead = append(k.lead, keysOf(m)...)
		return
	}
	k.said = true
	k.keys = append(k.keys, keysOf(m)...)
}

// renderedKeys reads a rendered view as a list of a client is read.
func (s *Syncer) renderedKeys(
	ctx context.Context, row *storagev1.Session, point uint32, kind compactordv1.Dialect,
) (*shownKeys, error) {
	shape, err := s.Intake.Dialect(kind, "dialect")
	if err != nil {
		return nil, err
	}
	k := &shownKeys{}
	return k, s.eachPage(ctx, row, point, kind, func(page *compactordv1.GetLLMViewResponse) error {
		raw := &dialect.List{Messages: rawOf(page.GetMessagesJson())}
		if page.GetUnchangedPrefix() == 0 {
			raw.System = rawOf(page.GetSystemJson())
		}
		if len(raw.System)+len(raw.Messages) == 0 {
			return nil
		}
		read, err := s.Intake.ReadList(ctx, providerJSON(kind, shape.Document(raw)), 0, len(raw.Messages))
		if err != nil {
			return err
		}
		for _, m := range read.Messages() {
			k.add(m)
		}
		return nil
	})
}

func providerJSON(kind compactordv1.Dialect, raw json.RawMessage) *compactordv1.CountedMessages {
	return &compactordv1.CountedMessages{
		ProviderJson: &compactordv1.ProviderJson{Dialect: kind, Json: string(raw)},
	}
}
