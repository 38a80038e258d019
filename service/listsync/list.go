package listsync

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/intake"
	"github.com/compactord/compactord/session"
)

// digestSize is the size of the digest of an element.
const digestSize = 16

// list is the list of a request. Its elements are, in this order: those at the start whose content was sent although
// digests follow, which must be leading messages; those that were given by their digest; and the others.
type list struct {
	req     *compactordv1.SyncMessagesRequest
	digests [][]byte
	// named is where the digests alone begin, and content where they end.
	named, content int
	// system is the digest of the system prompt that stands apart.
	system []byte
	// leads and lead are the leading messages that were sent. leading is how many elements the list has of them: a system
	// prompt that stands apart is none.
	leads   []*intake.List
	lead    []*compactordv1.Message
	leading int
	// rest is the messages of the elements from content on, without leading ones.
	rest *intake.List
	sent *sent
}

func digestOf(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:digestSize]
}

// read reads the list of a request.
func (s *Syncer) read(ctx context.Context, req *compactordv1.SyncMessagesRequest) (*list, error) {
	l := &list{req: req, system: digestOfAll(req.GetSystemJson())}
	if err := l.takeDigests(req.GetElements(), req.GetDialect() != compactordv1.Dialect_DIALECT_UNSPECIFIED); err != nil {
		return nil, err
	}
	if err := s.readLeading(ctx, req, l); err != nil {
		return nil, err
	}
	rest, err := s.readPart(ctx, req, l.content, len(req.GetElements()), nil)
	if err != nil {
		return nil, err
	}
	at := 0
	if l.content == 0 {
		for at < len(rest.Messages()) && session.Leads(rest.Messages()[at].GetRole()) {
			at++
			l.leading = rest.Position(at-1) + 1
		}
		l.leads = append(l.leads, rest.To(at))
	}
	l.setRest(rest.From(at, 0))
	for _, lead := range l.leads {
		l.lead = append(l.lead, lead.Messages()...)
	}
	return l, nil
}

func (l *list) setRest(rest *intake.List) {
	l.rest, l.sent = rest, &sent{}
	for _, m := range rest.Messages() {
		l.sent.add(keysOf(m), callsOf(m))
	}
}

// readLeading reads the system prompt that stands apart, and the elements before those that were given by their digest.
func (s *Syncer) readLeading(ctx context.Context, req *compactordv1.SyncMessagesRequest, l *list) error {
	system, err := s.readPart(ctx, req, 0, 0, req.GetSystemJson())
	if err != nil {
		return err
	}
	first, err := s.readPart(ctx, req, 0, l.named, nil)
	if err != nil {
		return err
	}
	for i, m := range first.Messages() {
		if !session.Leads(m.GetRole()) {
			return apierror.InvalidField(fmt.Sprintf("elements[%d]", first.Position(i)),
				"comes with its content before elements given by their digest, so it must be a SYSTEM or DEVELOPER message")
		}
	}
	l.leads, l.leading = []*intake.List{system, first}, l.named
	return nil
}

// takeDigests takes the digests of the elements, and finds out which are given by nothing else.
func (l *list) takeDigests(elements []*compactordv1.ListElement, inDialect bool) error {
	for i, e := range elements {
		field := fmt.Sprintf("elements[%d]", i)
		switch content := e.GetContent().(type) {
		case *compactordv1.ListElement_Json:
			if !inDialect {
				return apierror.InvalidField(field+".json", "needs a dialect")
			}
			if !json.Valid([]byte(content.Json)) {
				return apierror.InvalidField(field+".json", "is no JSON")
			}
			l.digests = append(l.digests, digestOf([]byte(content.Json)))
		case *compactordv1.ListElement_Message:
			if inDialect {
				return apierror.InvalidField(field+".message", "goes with no dialect; send json")
			}
			encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(content.Message)
			if err != nil {
				return fmt.Errorf("encode the message: %w", err)
			}
			l.digests = append(l.digests, digestOf(encoded))
		case *compactordv1.ListElement_Digest:
			if l.content > 0 && l.content != i {
				return apierror.InvalidField(field+".digest",
					"comes after an element with its content that comes after one given by its digest; send its content")
			}
			if l.content == 0 {
				l.named = i
			}
			l.digests, l.content = append(l.digests, content.Digest), i+1
		}
	}
	return nil
}

// readPart reads elements from start to end, which have their content.
func (s *Syncer) readPart(
	ctx context.Context, req *compactordv1.SyncMessagesRequest, start, end int, system []string,
) (*intake.List, error) {
	part := &compactordv1.CountedMessages{}
	if start == end && len(system) == 0 {
		return s.Intake.ReadList(ctx, part, start, end)
	}
	if req.GetDialect() == compactordv1.Dialect_DIALECT_UNSPECIFIED {
		for _, e := range req.GetElements()[start:end] {
			part.Messages = append(part.Messages, e.GetMessage())
		}
		return s.Intake.ReadList(ctx, part, start, end)
	}
	shape, err := s.Intake.Dialect(req.GetDialect(), "dialect")
	if err != nil {
		return nil, err
	}
	raw := &dialect.List{System: rawOf(system)}
	for _, e := range req.GetElements()[start:end] {
		raw.Messages = append(raw.Messages, json.RawMessage(e.GetJson()))
	}
	return s.Intake.ReadList(ctx, providerJSON(req.GetDialect(), shape.Document(raw)), start, end)
}

func rawOf(texts []string) []json.RawMessage {
	raw := make([]json.RawMessage, 0, len(texts))
	for _, t := range texts {
		raw = append(raw, json.RawMessage(t))
	}
	return raw
}

func digestOfAll(texts []string) []byte {
	h := sha256.New()
	write(h, texts...)
	return h.Sum(nil)[:digestSize]
}

// hashed returns the hash of digests.
func hashed(digests ...[]byte) []byte {
	h := sha256.New()
	for _, d := range digests {
		_, _ = h.Write(d)
	}
	return h.Sum(nil)
}

// leadingHash returns the hash of the first elements and of the system prompt that stands apart.
func (l *list) leadingHash(leading int) []byte {
	return hashed(append([][]byte{l.system}, l.digests[:leading]...)...)
}

// synced returns what the session's row says once the log holds the list.
func (l *list) synced(h *storagev1.Head) *storagev1.SyncedList {
	return &storagev1.SyncedList{
		Elements: uint32(len(l.digests)), Leading: uint32(l.leading), LeadingHash: l.leadingHash(l.leading),
		Hash: hashed(l.digests[l.leading:]...), NextIndex: h.GetNextIndex(), Point: session.Point(h),
	}
}
