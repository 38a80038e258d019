package transcript

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var (
	errOpenHandsEvent = errors.New("is neither an action nor an observation of OpenHands")
	errNoAnswer       = errors.New("a response holds a message of role assistant")

	controlEvent = leftOut("event that is no message (state, settings, retrieval)",
		"events that are no messages (state, settings, retrieval)")
	retrieved  = leftOut("text that OpenHands adds about the repository", "texts that OpenHands adds about the repository")
	screenshot = leftOut("screenshot of a browser", "screenshots of a browser")
)

// openHands makes messages from events. An action of the agent has the whole response of the model beside it. Old files
// have only the action, which becomes a tool call.
type openHands struct {
	notes *noteCounter
	names callNames
	// answered holds the ids of responses that already have a message. A response with several calls has several actions.
	answered map[string]bool
	// last is the role of the last message. unnamed reports that this message has a call without an id.
	last    compactordv1.Role
	unnamed bool
	// begun holds the events that the messages so far came from, for the condensations.
	begun []begunMessage
	// The following fields are for events of the software-agent-sdk: their numbers by their ids, and a message that waits
	// for more calls.
	numbers map[string]uint32
	pending *pendingAction
	// from is the source of the events.
	from *elementSource
}

type begunMessage struct {
	event uint32
	role  compactordv1.Role
}

const systemRole = compactordv1.Role_ROLE_SYSTEM

func newOpenHands(r *noteCounter) *openHands {
	return &openHands{notes: r, names: callNames{}, answered: make(map[string]bool)}
}

// read makes the messages of an event, or of a pair of an action and its observation.
func (s *openHands) read(raw json.RawMessage) ([]entry, error) {
	if rawjson.KindOf(raw) != rawjson.Array {
		return s.event(raw)
	}
	pair, err := rawjson.ParseArray(raw)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for i, raw := range pair {
		some, err := s.event(raw)
		if err != nil {
			return nil, rawjson.InElement(i, err)
		}
		entries = append(entries, some...)
	}
	return entries, nil
}

func (s *openHands) event(raw json.RawMessage) ([]entry, error) {
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case isSDKEvent(o):
		return s.sdkEvent(o)
	case o.IsText("action", "condensation"):
		return s.condensation(o)
	}
	// The id and the time are read first: an action records its response, which is then not read a second time.
	id, err := o.Count("id")
	if err != nil {
		return nil, err
	}
	at, err := writtenAt(o, time.Second)
	if err != nil {
		return nil, err
	}
	var m *compactordv1.Message
	switch {
	case rawjson.KindOf(o["action"]) == rawjson.String:
		m, err = s.action(o)
	case rawjson.KindOf(o["observation"]) == rawjson.String:
		m, err = s.observation(o)
	default:
		err = errOpenHandsEvent
	}
	if m == nil || err != nil {
		return nil, err
	}
	m.WrittenAt = at
	s.remember(m, id)
	return one(m, nil)
}

// remember records what the next messages need to know of a message.
func (s *openHands) remember(m *compactordv1.Message, id uint32) {
	if m.GetOrigin() == compactordv1.Origin_ORIGIN_UNSPECIFIED {
		m.Origin = compactordv1.Origin_ORIGIN_IMPORT
	}
	s.begun = append(s.begun, begunMessage{event: id, role: m.GetRole()})
	s.last = m.GetRole()
	s.names.see(m)
}

// openHandsFields returns the fields of an action or an observation. They are in an inner object, or in old files
// beside its kind.
func openHandsFields(o rawjson.Object, key string) (rawjson.Object, error) {
	if !o.Has(key) {
		return o, nil
	}
	return o.Sub(key)
}

// textMessage returns a message with one text, or without parts where the text is empty.
func textMessage(role compactordv1.Role, text string) (*compactordv1.Message, error) {
	m := &compactordv1.Message{Role: role}
	if len(text) > maxText {
		return nil, rawjson.TooLarge(len(text), maxText)
	}
	if text != "" {
		m.Parts = []*compactordv1.Part{textPart(text)}
	}
	return m, nil
}

// imageParts returns images from a list of their addresses.
func imageParts(o rawjson.Object, field string, notes *noteCounter) ([]*compactordv1.Part, error) {
	raws, err := o.Elements(field)
	if err != nil {
		return nil, err
	}
	if len(raws) >= maxParts {
		return nil, rawjson.In(field, errManyParts)
	}
	parts := make([]*compactordv1.Part, 0, len(raws))
	for i, raw := range raws {
		part := mediaPart(&compactordv1.MediaPart{})
		address, err := rawjson.Object{"url": raw}.DemandText("url")
		if err == nil {
			err = dialect.FillFromURL(part.GetMedia(), address, "image/*")
		}
		if err != nil {
			part, err = notes.part(raw, err)
		}
		if err != nil {
			return nil, rawjson.In(field, rawjson.InElement(i, err))
		}
		parts = append(parts, part)
	}
	return parts, nil
}
