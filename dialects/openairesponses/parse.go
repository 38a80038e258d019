package openairesponses

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errRole     = errors.New("must be user, assistant, system or developer")
	errNotReply = errors.New("a response holds only what the model says and does")
	// errEventAlone is what events are refused with that are no whole stream.
	errEventAlone = errors.New("is an event of a stream: a list holds all of its events, or none")
)

// reader makes messages of items. The items of the model up to the next one of the client become one message.
type reader struct {
	parsed dialect.Parsed
	// reply is set in a response body: all that it holds is one message.
	reply bool
	// settled are the calls that the same response body answers: they are the provider's own business.
	settled map[string]bool

	atom *compactordv1.Message
	// reasonings and others count the items of the atom: its reasoning, and what else has an id.
	reasonings, others int
}

func (r *reader) item(at int, raw json.RawMessage) error {
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return err
	}
	typ, err := typeOf(o)
	if err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(typ, eventPrefix):
		return errEventAlone
	case typ == typeMessage:
		return r.message(at, raw, o)
	case typ == typeReasoning:
		return r.reasoning(at, o)
	case r.settled[linkOf(o, typ)]:
		return r.opaque(at, raw, o, typ)
	}
	if k := kindOfCall(typ); k != nil && k.reads(o, k.id) {
		return r.call(at, o, k)
	}
	if k := kindOfOutput(typ); k != nil && k.reads(o, k.linkIn(o)) {
		return r.output(at, raw, o, k)
	}
	if fromClient[typ] {
		return r.clientItem(at, raw, typ)
	}
	return r.opaque(at, raw, o, typ)
}

// typeOf returns an item's type, which messages can leave out.
func typeOf(o rawjson.Object) (string, error) {
	if _, there := o["type"]; !there && o.Has("role") {
		return typeMessage, nil
	}
	return o.DemandText("type")
}

// add begins a message of the client, and ends what the model had to say.
func (r *reader) add(at int, m *compactordv1.Message) error {
	if r.reply {
		return errNotReply
	}
	r.endAtom()
	return r.append(at, m)
}

func (r *reader) append(at int, m *compactordv1.Message) error {
	if len(r.parsed.Messages) == dialect.MaxMessages {
		return fmt.Errorf("%w: more than %d messages", dialect.ErrLimit, dialect.MaxMessages)
	}
	r.parsed.Messages = append(r.parsed.Messages, m)
	r.parsed.Positions = append(r.parsed.Positions, at)
	return nil
}

// say adds a part to what the model says.
func (r *reader) say(at int, parts ...*compactordv1.Part) error {
	if r.atom == nil {
		m := &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT}
		if err := r.append(at, m); err != nil {
			return err
		}
		r.atom = m
	}
	r.atom.Parts = append(r.atom.Parts, parts...)
	if n := len(r.atom.GetParts()); n > dialect.MaxParts {
		return fmt.Errorf("%w: more than %d parts in one message", dialect.ErrLimit, dialect.MaxParts)
	}
	return nil
}

// endAtom notes how many items the model's reasoning belongs to. When one of them is missing later, the provider does
// not take the others by their ids.
func (r *reader) endAtom() {
	if r.reasonings > 0 {
		r.atom.Attachments = append(r.atom.GetAttachments(), note(noteReasoning, tally(r.reasonings, r.others)))
	}
	r.atom, r.reasonings, r.others = nil, 0, 0
}

func tally(reasonings, others int) string {
	return strconv.Itoa(reasonings) + "/" + strconv.Itoa(others)
}

func (r *reader) countID(o rawjson.Object) {
	if _, has := idOf(o); has {
		r.others++
	}
}

// idOf returns an item's own id.
func idOf(o rawjson.Object) (string, bool) {
	id, err := o.Text("id")
	return id, err == nil && id != ""
}

func (r *reader) opaque(at int, raw json.RawMessage, o rawjson.Object, typ string) error {
	part, err := opaqueOf(raw, typ)
	if err != nil {
		return err
	}
	r.countID(o)
	return r.say(at, piece{opaque: part}.part())
}

func (r *reader) clientItem(at int, raw json.RawMessage, typ string) error {
	part, err := opaqueOf(raw, typ)
	if err != nil {
		return err
	}
	return r.add(at, &compactordv1.Message{
		Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{piece{opaque: part}.part()},
	})
}

func (r *reader) find(rule string, at int, text string) {
	r.parsed.Findings = append(r.parsed.Findings, dialect.Finding{Rule: rule, Message: at, Text: text})
}
