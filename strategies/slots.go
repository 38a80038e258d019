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

// Slots are facts of the log that a summary must not get wrong. We copy them instead of having them summarized.

// maxSlotRunes limits the user's last request in a slot, so that one huge request cannot make every compaction useless.
const maxSlotRunes = 8000

// SlotsAfter returns the slots of a new summary, from the slots of the one before and what is newly covered. A message
// that the compaction before replayed is covered by both, and is in no slot of the one before. redact may be nil.
func SlotsAfter(
	ctx context.Context, s *session.State, covered, kept []*compactordv1.LoggedMessage, redact func(text string) string,
) (*compactordv1.Slots, error) {
	if again := s.ReplayedMessage(); again != nil {
		covered = slices.Insert(slices.Clone(covered), 0, again)
	}
	request := lastRequest(covered)
	if request != nil {
		var err error
		if request, err = s.Whole(ctx, request); err != nil {
			return nil, err
		}
	}
	return slotsOf(s, s.Entry.GetSlots(), covered, kept, request, redact), nil
}

// lastRequest returns the last message that starts a turn; nil where there is none.
func lastRequest(messages []*compactordv1.LoggedMessage) *compactordv1.LoggedMessage {
	for _, l := range slices.Backward(messages) {
		if session.StartsTurn(l.GetMessage()) {
			return l
		}
	}
	return nil
}

// SlotsOf returns the open to-dos and the user's last request from the newly covered messages. If these have none, it
// returns those of the previous entry. A request that is kept needs no slot. edits are the edits in effect. redact, where
// it is not nil, replaces the secrets in whole texts, before any of them is shortened.
func SlotsOf(
	before *compactordv1.Slots, covered, kept []*compactordv1.LoggedMessage, edits map[uint32][]*compactordv1.Edit,
	redact func(text string) string,
) *compactordv1.Slots {
	return slotsOf(&session.State{Edits: edits}, before, covered, kept, lastRequest(covered), redact)
}

// slotsOf is SlotsOf with the last request among the covered messages, which is whole.
func slotsOf(
	s *session.State, before *compactordv1.Slots, covered, kept []*compactordv1.LoggedMessage,
	last *compactordv1.LoggedMessage, redact func(text string) string,
) *compactordv1.Slots {
	if redact == nil {
		redact = func(text string) string { return text }
	}
	slots := &compactordv1.Slots{
		OpenTodos:       redactedTodos(hiddenTodos(s, before, covered, kept), redact),
		LastUserRequest: before.GetLastUserRequest(),
	}
	if last != nil {
		text := redact(requestText(last.GetMessage()))
		short := wording.Shorten(text, maxSlotRunes)
		slots.LastUserRequest = &compactordv1.UserRequest{Index: last.GetIndex(), Text: short, Shortened: short != text}
	} else if request := slots.GetLastUserRequest(); request != nil {
		slots.LastUserRequest = proto.CloneOf(request)
		slots.LastUserRequest.Text = redact(request.GetText())
	}
	if lastRequest(kept) != nil {
		slots.LastUserRequest = nil
	}
	return slots
}

// hiddenTodos returns the open items of the list in force, unless the view shows it itself: by a kept call that writes the
// whole list and whose arguments no edit has cleared, with the kept calls after it that only change it.
func hiddenTodos(
	s *session.State, before *compactordv1.Slots, covered, kept []*compactordv1.LoggedMessage,
) []*compactordv1.Todo {
	items, hidden := todoItemsOf(before), true
	for _, l := range covered {
		if list, ok := todosIn(s.Known, l); ok {
			items = list.after(items)
		}
	}
	for _, l := range kept {
		if list, ok := todosIn(s.Known, l); ok {
			items = list.after(items)
			hidden = cleared(s.Edits[l.GetIndex()]) || hidden && list.merge
		}
	}
	if !hidden {
		return nil
	}
	return openTodos(items)
}

func redactedTodos(todos []*compactordv1.Todo, redact func(text string) string) []*compactordv1.Todo {
	redacted := make([]*compactordv1.Todo, len(todos))
	for i, todo := range todos {
		redacted[i] = proto.CloneOf(todo)
		redacted[i].Text = redact(todo.GetText())
	}
	return redacted
}

// cleared says whether edits remove the arguments of a message's calls from the view.
func cleared(edits []*compactordv1.Edit) bool {
	return slices.ContainsFunc(edits, func(e *compactordv1.Edit) bool {
		return e.GetKind() == compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS ||
			e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP ||
			e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD
	})
}

func requestText(m *compactordv1.Message) string {
	var texts []string
	for _, p := range m.GetParts() {
		if t := p.GetText().GetText(); t != "" {
			texts = append(texts, t)
		}
		if media := p.GetMedia(); media != nil {
			texts = append(texts, wording.MediaLine(media))
		}
	}
	return strings.Join(texts, "\n")
}
