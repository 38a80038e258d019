package session

import (
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// Replayed reports whether the view shows the message with this index again after the summary that covers it, so that
// the model answers it. A pinned message does not count: the view shows it there anyway, word for word.
func Replayed(h *storagev1.Head, index uint32) bool {
	c := h.GetCompaction()
	return c != nil && c.ReplayedIndex != nil && c.GetReplayedIndex() == index && index < KeptFrom(h) && !Pinned(h, index)
}

// ReplayedMessage returns the message that the compaction in effect replays, also where it was pinned since; nil where
// there is none.
func (s *State) ReplayedMessage() *compactordv1.LoggedMessage {
	c := s.Head.GetCompaction()
	if c == nil || c.ReplayedIndex == nil {
		return nil
	}
	at := slices.IndexFunc(s.OutOfPlace, func(l *compactordv1.LoggedMessage) bool {
		return l.GetIndex() == c.GetReplayedIndex()
	})
	if at < 0 {
		return nil
	}
	return s.OutOfPlace[at]
}

// replay changes a message to the form in which the view shows it again: its media are replaced, and a note before it
// says why it is there.
func (e *editedMessage) replay() {
	for i, p := range e.message().GetParts() {
		if p.GetMedia() == nil {
			continue
		}
		e.setPart(i, TextPart(wording.MediaLine(p.GetMedia())))
		if !slices.Contains(e.kinds, compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA) {
			e.kinds = append(e.kinds, compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA)
		}
	}
	note := TextPart(wording.ReplayNote)
	m := e.change()
	m.Parts = slices.Insert(m.GetParts(), 0, note)
	e.sizes = slices.Insert(e.sizes, 0, partSize(e.counter, note))
}
