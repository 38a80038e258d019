package session

import (
	"cmp"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// ViewOptions are what a request can set for one view.
type ViewOptions struct {
	// Thinking overrides the thinking policy; UNSPECIFIED leaves it.
	Thinking compactordv1.ThinkingPolicy
	// Dialect is the dialect that the view will be rendered in. Where that provider made its own item for what the
	// summary covers, the view shows the item. UNSPECIFIED: the view shows the summary as text.
	Dialect compactordv1.Dialect
}

// View is the LLM view: what the model sees.
type View struct {
	Messages []*compactordv1.ViewMessage
	// Tokens is the estimate of Messages, Bytes their size in protobuf encoding.
	Tokens, Bytes uint32
	// MediaTokens and MediaBytes are the estimate of the media in Messages, and the bytes of those whose content is
	// sent along.
	MediaTokens, MediaBytes uint32
	// Media is the number of media in Messages.
	Media uint32
	// ToolGroups is the number of tool groups in Messages.
	ToolGroups uint32
	Report     *compactordv1.ViewReport
}

// View builds the whole view.
func (s *State) View(opts ViewOptions) *View { return s.draw(opts).view() }

// Sized returns the messages of the view by the policy alone, with their sizes.
func (s *State) Sized() []SizedMessage { return s.draw(ViewOptions{}).sized() }

// draw draws the whole view.
func (s *State) draw(opts ViewOptions) *viewBuilder { return s.drawFrom(opts, 0) }

// drawFrom draws the view without the leading and the kept messages before an index.
func (s *State) drawFrom(opts ViewOptions, from uint32) *viewBuilder {
	b := s.newViewBuilder(opts)
	kept := s.Kept[firstAt(s.Kept, from):]
	b.messages = make([]*compactordv1.ViewMessage, 0, len(s.Lead)+len(s.OutOfPlace)+len(kept))
	b.sizes = make([]*SizedMessage, 0, cap(b.messages))
	b.instructions()
	for _, l := range s.Lead[firstAt(s.Lead, from):] {
		b.leading(l)
	}
	b.blocks(compactordv1.BlockPlace_BLOCK_PLACE_LEADING)
	if s.Entry != nil {
		if providerItem(s.Entry, opts.Dialect) != nil {
			b.item(s.Entry)
		} else {
			b.summary(s.Entry, s.Policy.GetSummary().GetPlacement(), s.assistantFollowsSummary())
		}
	}
	b.outOfPlace(inViewOrder(s.OutOfPlace, lateResults(s.OutOfPlace)))
	b.kept(kept)
	if b.latestAt == s.Head.GetNextIndex() {
		b.blocks(compactordv1.BlockPlace_BLOCK_PLACE_LATEST)
	}
	return b
}

// firstAt returns the position of the first message that is not before an index.
func firstAt(messages []*compactordv1.LoggedMessage, index uint32) int {
	at, _ := slices.BinarySearchFunc(messages, index, func(l *compactordv1.LoggedMessage, i uint32) int {
		return cmp.Compare(l.GetIndex(), i)
	})
	return at
}

func (s *State) newViewBuilder(opts ViewOptions) *viewBuilder {
	return &viewBuilder{
		counter:  s.Counter,
		known:    s.Known,
		head:     s.Head,
		thinking: thinkingPolicy(s.Policy, opts.Thinking),
		keptFrom: KeptFrom(s.Head),
		edits:    s.Edits,
		report:   &compactordv1.ViewReport{},
		contents: s.shownBlocks(),
		replaced: s.Instructions,
		latestAt: LatestPlace(s.Head),
	}
}

// assistantFollowsSummary reports whether an ASSISTANT message comes directly after the summary. Only a record can
// change that, so the answer is the same as long as the prefix is unchanged.
func (s *State) assistantFollowsSummary() bool {
	for _, l := range slices.Concat(s.OutOfPlace, s.Kept) {
		if !s.emptied(l) {
			return l.GetMessage().GetRole() == compactordv1.Role_ROLE_ASSISTANT
		}
	}
	return false
}

// viewBuilder is a view while it is built.
type viewBuilder struct {
	counter  Counter
	known    *Known
	head     *storagev1.Head
	thinking compactordv1.ThinkingPolicy
	keptFrom uint32
	edits    map[uint32][]*compactordv1.Edit
	// late are the calls whose results came late, so that no repair is needed for them.
	late map[callKey]bool
	// contents are the contents of the head's context blocks, replaced those of the instructions. latestAt is the index of
	// the message that the LATEST blocks come before.
	contents []*compactordv1.ContextBlock
	replaced []*compactordv1.Message
	latestAt uint32

	messages []*compactordv1.ViewMessage
	// sizes are the sizes of the first messages; nil for one whose size is not known.
	sizes  []*SizedMessage
	groups uint32
	report *compactordv1.ViewReport
}

// sized returns the messages with their sizes.
func (b *viewBuilder) sized() []SizedMessage {
	all := make([]SizedMessage, len(b.messages))
	for i, vm := range b.messages {
		if i < len(b.sizes) && b.sizes[i] != nil {
			all[i] = *b.sizes[i]
		} else {
			all[i] = sized(b.counter, vm)
		}
	}
	return all
}

func (b *viewBuilder) view() *View {
	v := b.viewOf(b.sized())
	v.Messages = b.messages
	return v
}

// viewOf returns the view of these messages, which are those that were drawn, without them.
func (b *viewBuilder) viewOf(messages []SizedMessage) *View {
	v := &View{ToolGroups: b.groups, Report: b.report}
	for i := range messages {
		m := &messages[i]
		v.Tokens, v.Bytes = plus(v.Tokens, m.GetTokens()), v.Bytes+m.Bytes
		v.MediaTokens, v.MediaBytes = plus(v.MediaTokens, m.mediaTokens), plus(v.MediaBytes, m.mediaBytes)
		v.Media += m.media
	}
	b.report.Tokens, b.report.Bytes = v.Tokens, v.Bytes
	b.report.DisableThinking = disablesThinking(b.head, b.thinking)
	return v
}

func (b *viewBuilder) add(vm *compactordv1.ViewMessage) {
	b.messages = append(b.messages, vm)
}

// kept adds messages of the kept part.
func (b *viewBuilder) kept(messages []*compactordv1.LoggedMessage) {
	b.late = lateResults(messages)
	for _, l := range inViewOrder(messages, b.late) {
		b.inPlace(l)
	}
}

// inPlace adds a message at its place in the view, after the repairs that come before it.
func (b *viewBuilder) inPlace(l *compactordv1.LoggedMessage) {
	for _, call := range l.GetCloses() {
		// A call that the view does not show needs no repair: a compaction covers it, or an edit removes its group.
		if call.GetIndex() >= b.keptFrom && !b.late[keyOf(call)] && !b.removed(call.GetIndex()) {
			b.missingResult(call)
		}
	}
	if l.GetIndex() == b.latestAt {
		b.blocks(compactordv1.BlockPlace_BLOCK_PLACE_LATEST)
	}
	b.message(l, false)
}

// instructions adds the instructions in force, if they replace leading messages.
func (b *viewBuilder) instructions() {
	for _, m := range b.replaced {
		origin := &compactordv1.ViewMessage_Instructions{Instructions: b.head.GetInstructions().GetSequence()}
		b.add(&compactordv1.ViewMessage{Message: m, Origin: origin, Tokens: MessageTokens(b.counter, m)})
	}
}

// leading adds a leading message, unless instructions replace it.
func (b *viewBuilder) leading(l *compactordv1.LoggedMessage) {
	if l.GetIndex() >= b.head.GetInstructions().GetReplaced() {
		b.inPlace(l)
	}
}

// outOfPlace adds the covered messages that the view shows after the summary. A pinned group is complete here, so a
// call without a result here never got one.
func (b *viewBuilder) outOfPlace(messages []*compactordv1.LoggedMessage) {
	missing := missingInGroups(messages)
	for i, l := range messages {
		b.message(l, true)
		for _, call := range missing[i] {
			b.missingResult(call)
		}
	}
}

// message adds one message of the log, unless a repair or an edit leaves it out. A message that is pinned follows the text
// of the fold that it carries.
func (b *viewBuilder) message(l *compactordv1.LoggedMessage, outOfPlace bool) {
	if f := foldIn(b.edits[l.GetIndex()]); f != nil && !outOfPlace {
		b.fold(l, f)
		if !Pinned(b.head, l.GetIndex()) {
			return
		}
	}
	if shown := b.drawn(l, outOfPlace); shown != nil {
		b.addSized(shown)
		return
	}
	m := l.GetMessage()
	switch {
	case Failed(m), l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_VOID:
		return
	case l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_STRAY:
		b.strayResult(l, outOfPlace)
		return
	case answersCall(l) && b.removed(l.GetAnswers().GetIndex()):
		return
	}
	e := editedMessage{counter: b.counter, logged: l, sizes: l.GetPartSizes()}
	// This comes first: a generated id contains the part's position in the log, and edits can drop parts.
	e.nameCalls()
	if !Pinned(b.head, l.GetIndex()) {
		e.apply(withoutFolds(editsOf(l, b.edits[l.GetIndex()])))
	}
	if outOfPlace && Replayed(b.head, l.GetIndex()) {
		e.replay()
	}
	dropped := b.dropsThinking(l) && e.dropThinking()
	shown := e.message()
	if len(shown.GetParts()) == 0 && e.emptied() {
		return
	}
	if dropped {
		b.report.ThinkingDropped = append(b.report.ThinkingDropped, l.GetIndex())
	}
	if hasCalls(shown) {
		b.groups++
	}
	vm := ofLog(l.GetIndex())
	vm.Message, vm.Edits, vm.Tokens, vm.OutOfPlace = shown, e.kinds, e.tokens(), outOfPlace
	b.add(vm)
}

// ofLog returns a message of a view whose origin is the log's message with an index, which is allocated with it.
func ofLog(index uint32) *compactordv1.ViewMessage {
	made := new(struct {
		vm     compactordv1.ViewMessage
		origin compactordv1.ViewMessage_Index
	})
	made.origin.Index = index
	made.vm.Origin = &made.origin
	return &made.vm
}

// drawn returns what the view shows of a message, where it is known that nothing but the edits of records changes it;
// otherwise nil.
func (b *viewBuilder) drawn(l *compactordv1.LoggedMessage, outOfPlace bool) *SizedMessage {
	if b.known == nil || outOfPlace || answersCall(l) && b.removed(l.GetAnswers().GetIndex()) {
		return nil
	}
	known := b.known.drawn(b.counter, l, b.edits[l.GetIndex()])
	if known == nil || known.thinks && b.dropsThinking(l) || known.edited && Pinned(b.head, l.GetIndex()) {
		return nil
	}
	return &known.shown
}

func (b *viewBuilder) addSized(shown *SizedMessage) {
	for len(b.sizes) < len(b.messages) {
		b.sizes = append(b.sizes, nil)
	}
	b.sizes = append(b.sizes, shown)
	b.add(shown.ViewMessage)
	if shown.HasCalls {
		b.groups++
	}
}

// removed reports whether the view shows no calls of the ASSISTANT message with this index: its tool group is collapsed or
// folded.
func (b *viewBuilder) removed(index uint32) bool {
	if Pinned(b.head, index) {
		return false
	}
	for _, e := range b.edits[index] {
		if e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP || e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD {
			return true
		}
	}
	return false
}

func (b *viewBuilder) summary(
	e *compactordv1.CompactionEntry, placement compactordv1.SummaryPlacement, assistantNext bool,
) {
	role, text := compactordv1.Role_ROLE_USER, wording.Summary(e)
	if placement == compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM {
		role, text = compactordv1.Role_ROLE_SYSTEM, wording.OperatorsSummary(e)
	}
	b.addSummaryText(role, text, &compactordv1.ViewMessage_SummaryOf{SummaryOf: e.GetId()})
	if placement == compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR && !assistantNext {
		b.addSummaryText(compactordv1.Role_ROLE_ASSISTANT, wording.SummaryReply,
			&compactordv1.ViewMessage_SummaryOf{SummaryOf: e.GetId()})
	}
}

// addSummaryText adds a message with this text as part of the summary.
func (b *viewBuilder) addSummaryText(role compactordv1.Role, text string, origin *compactordv1.ViewMessage_SummaryOf) {
	b.addSummaryMessage(&compactordv1.Message{Role: role, Parts: []*compactordv1.Part{TextPart(text)}}, origin)
}

func (b *viewBuilder) addSummaryMessage(m *compactordv1.Message, origin *compactordv1.ViewMessage_SummaryOf) {
	b.add(&compactordv1.ViewMessage{Message: m, Origin: origin, Tokens: MessageTokens(b.counter, m)})
}

// item adds the provider's own item in place of the summary.
func (b *viewBuilder) item(e *compactordv1.CompactionEntry) {
	for _, m := range ItemMessages(e) {
		b.addSummaryMessage(m, &compactordv1.ViewMessage_SummaryOf{SummaryOf: e.GetId()})
	}
}
