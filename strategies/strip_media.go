package strategies

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// StripMedia replaces each medium by a line of text: an image is as large as a page of text, and an agent that has
// looked at it can say what it saw. Without parameters it replaces all media that the model has read.
type StripMedia struct {
	// refused says that the provider refused the view as too long. The last request may be the reason, so a note there
	// says why its media are gone.
	refused bool
}

// Name returns `strip_media`.
func (StripMedia) Name() string { return "strip_media" }

// Plan returns a plan with edits, or one that does nothing.
func (s StripMedia) Plan(
	ctx context.Context, in *Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	e := newEditing(in.State)
	unread := unreadMessages(in.State)
	giveWay := mediaGiveWay(in)
	if !giveWay {
		markUnreadResults(in.State, unread)
	}
	beyond := mediaBeyond(in.State, parameters.GetStripMedia().GetKeepNewest(), giveWay)
	refused := -1
	if s.refused {
		refused = lastRefused(in.State, beyond)
	}
	for i, m := range beyond {
		if unread[m.logged.GetIndex()] {
			continue
		}
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if i != refused || !e.try(m.editThatSaysWhy(), m.logged) {
			e.try(m.edit(), m.logged)
		}
		if e.full() {
			break
		}
	}
	return e.plan(in), nil
}

// lastRefused returns the position of the last part with media in the last request, or -1 if it has none. The last
// request is the user's last message with all that came since the answer before it: the provider refused that together.
func lastRefused(s *session.State, all []mediaPart) int {
	asked := false
	for _, l := range slices.Backward(s.Kept) {
		m := l.GetMessage()
		switch {
		case session.Failed(m):
			continue
		case m.GetRole() == compactordv1.Role_ROLE_ASSISTANT && asked:
			return -1
		case m.GetRole() == compactordv1.Role_ROLE_USER:
			asked = true
		}
		if at := lastPartOf(all, l.GetIndex()); asked && at >= 0 {
			return at
		}
	}
	return -1
}

// lastPartOf returns the position of the last of these parts in a message, or -1 if it has none of them.
func lastPartOf(all []mediaPart, index uint32) int {
	for i, m := range slices.Backward(all) {
		if m.logged.GetIndex() == index {
			return i
		}
	}
	return -1
}

// Resolved implements Resolver.
func (StripMedia) Resolved(_ *compactordv1.Policy, parameters *compactordv1.Strategy) *compactordv1.Strategy {
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_StripMedia{StripMedia: &compactordv1.StripMediaStrategy{
		KeepNewest: proto.Uint32(parameters.GetStripMedia().GetKeepNewest()),
	}}}
}

// mediaPart is a part that is a medium, or a result with media among its pieces.
type mediaPart struct {
	logged *compactordv1.LoggedMessage
	part   uint32
	media  []*compactordv1.MediaPart
}

func (m *mediaPart) edit() *compactordv1.Edit {
	lines := make([]string, len(m.media))
	for i, media := range m.media {
		lines[i] = wording.MediaLine(media)
	}
	return &compactordv1.Edit{
		Index:       m.logged.GetIndex(),
		Part:        m.part,
		Kind:        compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA,
		Replacement: strings.Join(lines, "\n"),
	}
}

// editThatSaysWhy returns the edit with a note after the line. It frees less, and may free nothing.
func (m *mediaPart) editThatSaysWhy() *compactordv1.Edit {
	edit := m.edit()
	edit.Replacement += "\n" + wording.MediaTooLargeNote
	return edit
}

// mediaBeyond returns the parts with media in the view, without the newest n media, the oldest first. All media of a
// part stay if one of them is among the newest; with atMost, only if all of them are. Parts before one that is returned
// are returned, too. Pinned media count but are not returned.
func mediaBeyond(s *session.State, newest uint32, atMost bool) []mediaPart {
	all := mediaOf(s)
	first := len(all)
	for left := uint64(newest); first > 0 && left > 0; first-- {
		size := uint64(len(all[first-1].media))
		if atMost && size > left {
			break
		}
		left -= min(left, size)
	}
	var beyond []mediaPart
	for _, m := range all[:first] {
		if !session.Pinned(s.Head, m.logged.GetIndex()) {
			beyond = append(beyond, m)
		}
	}
	return beyond
}

// mediaGiveWay says whether media are replaced that would otherwise stay. A request that the provider refused as too
// long would be refused again. If compaction is due and nothing can be cut, nothing else would help.
func mediaGiveWay(in *Input) bool {
	switch in.Reason {
	case compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW:
		return true
	case compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD:
		places := in.State.CutPlaces()
		return len(places) == 0 ||
			!slices.ContainsFunc(in.State.Kept[:places[len(places)-1]], func(l *compactordv1.LoggedMessage) bool {
				return !session.Pinned(in.State.Head, l.GetIndex())
			})
	default:
		return false
	}
}

// markUnreadResults marks the results after the model's last answer. A failed answer does not count, since its request
// is sent again.
func markUnreadResults(s *session.State, marks map[uint32]bool) {
	for _, l := range slices.Backward(s.Kept) {
		m := l.GetMessage()
		if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT && !session.Failed(m) {
			return
		}
		if m.GetRole() == compactordv1.Role_ROLE_TOOL {
			marks[l.GetIndex()] = true
		}
	}
}

// mediaOf returns the parts with media that the view shows of the kept part, in the order of the log.
func mediaOf(s *session.State) []mediaPart {
	hidden := collapsedResults(s)
	var all []mediaPart
	for _, l := range s.Kept {
		if session.Failed(l.GetMessage()) || hidden[l.GetIndex()] ||
			l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_VOID {
			continue
		}
		for i, p := range l.GetMessage().GetParts() {
			m := mediaPart{logged: l, part: uint32(i), media: mediaIn(p)}
			if len(m.media) > 0 && !mediaReplaced(s, &m) {
				all = append(all, m)
			}
		}
	}
	return all
}

func mediaIn(p *compactordv1.Part) []*compactordv1.MediaPart {
	if m := p.GetMedia(); m != nil {
		return []*compactordv1.MediaPart{m}
	}
	var media []*compactordv1.MediaPart
	for _, rp := range p.GetToolResult().GetParts() {
		if m := rp.GetMedia(); m != nil {
			media = append(media, m)
		}
	}
	return media
}

// mediaReplaced says whether edits in effect have removed the media of a part from the view.
func mediaReplaced(s *session.State, m *mediaPart) bool {
	if session.Pinned(s.Head, m.logged.GetIndex()) {
		return false
	}
	return cutOrReplaced(s, m.logged) ||
		edited(s, m.logged.GetIndex(), m.part, compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA)
}

// cutOrReplaced says whether an edit has replaced all of a result by text.
func cutOrReplaced(s *session.State, l *compactordv1.LoggedMessage) bool {
	return s.ReplacedWhole(l) || slices.ContainsFunc(s.EditsOf(l), func(e *compactordv1.Edit) bool {
		return e.GetKind() == compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT
	})
}

// collapsedResults returns the indexes of results that collapsed groups have removed from the view.
func collapsedResults(s *session.State) map[uint32]bool {
	gone := make(map[uint32]bool)
	for _, g := range s.Groups() {
		if call := s.Kept[g.Call].GetIndex(); !session.Pinned(s.Head, call) && collapsed(s, g) {
			markResults(s, g, gone)
		}
	}
	return gone
}

// unreadMessages returns the indexes of messages in open groups, which the model has not completely seen.
func unreadMessages(s *session.State) map[uint32]bool {
	unread := make(map[uint32]bool)
	for _, g := range s.Groups() {
		if g.Open {
			unread[s.Kept[g.Call].GetIndex()] = true
			markResults(s, g, unread)
		}
	}
	return unread
}

func markResults(s *session.State, g session.Group, marks map[uint32]bool) {
	for _, pos := range g.Results {
		marks[s.Kept[pos].GetIndex()] = true
	}
}
