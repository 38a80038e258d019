package session

import (
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Link works out m's place in a log with this head: its index and sequence, its size, the call that it answers, and the
// calls that it closes. viewPoint is the point of the view that an ASSISTANT message was made from; nil means the log's
// newest point. The result never changes: whenever the message is active, the active messages before it are the same.
func Link(h *storagev1.Head, c Counter, m *compactordv1.Message, viewPoint *uint32) *compactordv1.LoggedMessage {
	l := &compactordv1.LoggedMessage{
		Index:     h.GetNextIndex(),
		Sequence:  h.GetNextSequence(),
		Message:   m,
		PartSizes: PartSizes(c, m),
	}
	l.Tokens = c.Tokens(sum(l.GetPartSizes()))
	switch m.GetRole() {
	case compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_DEVELOPER, compactordv1.Role_ROLE_SYSTEM:
		l.Closes = Awaited(h)
	case compactordv1.Role_ROLE_ASSISTANT:
		if closesCalls(h, m) {
			l.Closes = Awaited(h)
		}
		l.ViewPoint = Point(h)
		if viewPoint != nil {
			l.ViewPoint = min(*viewPoint, l.GetViewPoint())
		}
		l.LoopViewPoint = l.GetViewPoint()
		if h.LoopStart != nil {
			l.LoopViewPoint = h.GetLoopViewPoint()
		}
	case compactordv1.Role_ROLE_TOOL:
		linkResult(h, l)
	default:
	}
	return l
}

func linkResult(h *storagev1.Head, l *compactordv1.LoggedMessage) {
	id := result(l.GetMessage()).GetCallId()
	if i := nearestCall(h.GetOpenCalls(), id); i >= 0 {
		l.ResultPlace, l.Answers = compactordv1.ResultPlace_RESULT_PLACE_ANSWER, h.GetOpenCalls()[i]
		return
	}
	if i := nearestCall(h.GetVoidCalls(), id); i >= 0 {
		l.ResultPlace, l.Answers = compactordv1.ResultPlace_RESULT_PLACE_VOID, h.GetVoidCalls()[i]
		return
	}
	l.ResultPlace, l.Closes = compactordv1.ResultPlace_RESULT_PLACE_STRAY, Awaited(h)
}

// nearestCall returns the position of the call that a result with this id answers; -1 where there is none. Of the
// newest message that has such a call, it is the first one. A result without an id answers a call that came without an
// id too, and got a generated one.
func nearestCall(calls []*compactordv1.CallRef, id string) int {
	found := -1
	for i := len(calls) - 1; i >= 0; i-- {
		if found >= 0 && calls[i].GetIndex() != calls[found].GetIndex() {
			break
		}
		if calls[i].GetId() == id || (id == "" && isMadeID(calls[i])) {
			found = i
		}
	}
	return found
}

func isMadeID(c *compactordv1.CallRef) bool {
	return c.GetId() == CallID(nil, c.GetIndex(), c.GetPart())
}

// Advance adds a linked message to the head. policy decides which thinking the figures of the view count.
func Advance(h *storagev1.Head, c Counter, policy *compactordv1.Policy, l *compactordv1.LoggedMessage) {
	// The reported usage was for the view without this message.
	viewBefore := h.GetViewTokens()
	pointBefore, lastBefore := Point(h), h.GetLastMessage()
	leadBefore, latestBefore := h.GetLeadEnd(), LatestPlace(h)

	extendActive(h, l.GetSequence()+1, l.GetIndex()+1)
	h.NextSequence, h.NextIndex = l.GetSequence()+1, l.GetIndex()+1
	h.ActiveMessages++
	h.LastMessage = l.GetSequence()
	advanceCopied(h, l)
	advanceLead(h, l)
	advancePins(h, l)
	h.AppendedTokens = plus(h.GetAppendedTokens(), tokensOnArrival(h, l))

	shown := shownWhenAppended(h, c, policy, l)
	for _, vm := range shown {
		advanceView(h, c, vm)
	}
	advanceTail(h, l, shown)
	if isLateResult(h, l) {
		advanceLateResult(h, c, l)
	}
	advanceCalls(h, l)
	advanceBlocks(h, l, leadBefore, latestBefore)
	if l.GetMessage().GetRole() == compactordv1.Role_ROLE_ASSISTANT && !Failed(l.GetMessage()) {
		// A report for a view without the message before this one would not count that message.
		if l.GetViewPoint() >= lastBefore {
			advanceUsage(h, policy, l, viewBefore, pointBefore)
		}
	}
}

// advanceView adds a message at the end of the view to the figures of the view.
func advanceView(h *storagev1.Head, c Counter, vm *compactordv1.ViewMessage) {
	media, mediaBytes := MediaOf(c, vm.GetMessage())
	h.ViewMessages++
	h.ViewTokens = plus(h.GetViewTokens(), vm.GetTokens())
	h.ViewBytes += uint32(proto.Size(vm.GetMessage()))
	h.ViewMediaTokens = plus(h.GetViewMediaTokens(), media)
	h.ViewMediaBytes = plus(h.GetViewMediaBytes(), mediaBytes)
	h.ViewMedia += countMedia(vm.GetMessage())
	if u := h.GetUsage(); u != nil {
		u.MessagesAfter++
		u.TokensAfter = plus(u.GetTokensAfter(), vm.GetTokens())
		u.MediaTokensAfter = plus(u.GetMediaTokensAfter(), media)
	}
}

// shownWhenAppended returns the messages that the view gets when this message is appended now.
func shownWhenAppended(
	h *storagev1.Head, c Counter, policy *compactordv1.Policy, l *compactordv1.LoggedMessage,
) []*compactordv1.ViewMessage {
	b := &viewBuilder{
		counter:  c,
		head:     h,
		thinking: thinkingPolicy(policy, compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED),
		keptFrom: KeptFrom(h),
		report:   &compactordv1.ViewReport{},
	}
	b.inPlace(l)
	return b.messages
}

func extendActive(h *storagev1.Head, endSequence, endIndex uint32) {
	if len(h.GetActive()) == 0 {
		h.Active = []*storagev1.ActiveRange{{FirstSequence: h.GetNextSequence(), FirstIndex: h.GetNextIndex()}}
	}
	last := h.GetActive()[len(h.GetActive())-1]
	last.EndSequence, last.EndIndex = endSequence, endIndex
}

func advanceLead(h *storagev1.Head, l *compactordv1.LoggedMessage) {
	if !h.GetLeadOpen() {
		return
	}
	if Leads(l.GetMessage().GetRole()) {
		h.LeadEnd = l.GetIndex() + 1
		h.LeadTokens += l.GetTokens()
		return
	}
	h.LeadOpen = false
}

// advanceTail updates the smallest valid kept part, which begins at the last message where a cut is valid.
func advanceTail(h *storagev1.Head, l *compactordv1.LoggedMessage, shown []*compactordv1.ViewMessage) {
	if l.GetIndex() < h.GetLeadEnd() {
		return
	}
	role := l.GetMessage().GetRole()
	validPlace := !Failed(l.GetMessage()) && len(OpenAfter(h, l.GetMessage())) == 0 &&
		(role == compactordv1.Role_ROLE_USER || role == compactordv1.Role_ROLE_ASSISTANT)
	if validPlace {
		h.TailIndex = proto.Uint32(l.GetIndex())
		h.TailTokens = 0
		h.PinnedKeptTokens, h.PinnedTailTokens = plus(h.GetPinnedKeptTokens(), h.GetPinnedTailTokens()), 0
	}
	for _, vm := range shown {
		// Repairs before a USER message belong to the part that a cut at this message would cover.
		if !validPlace || vm.GetLogRepair() == nil {
			h.TailTokens += vm.GetTokens()
		}
	}
}

func advanceCalls(h *storagev1.Head, l *compactordv1.LoggedMessage) {
	if endsLoop(l) {
		h.LoopStart, h.LoopViewPoint, h.LoopThinking = nil, 0, false
	}
	switch role := l.GetMessage().GetRole(); {
	case isSaidToModel(l):
		h.SaidMeanwhile = hasUnansweredCalls(h)
		h.Answering = false
	case role == compactordv1.Role_ROLE_ASSISTANT:
		advanceAnswer(h, l)
	case role == compactordv1.Role_ROLE_TOOL:
		advanceResult(h, l)
	}
}

func advanceAnswer(h *storagev1.Head, l *compactordv1.LoggedMessage) {
	m := l.GetMessage()
	calls := Calls(m, l.GetIndex())
	if Failed(m) {
		h.VoidCalls = append(h.VoidCalls, calls...)
		return
	}
	h.OpenCalls = OpenAfter(h, m)
	if h.GetSaidMeanwhile() {
		h.VoidCalls, h.SaidMeanwhile = nil, false
	}
	h.Answering = true
	if h.LoopStart == nil {
		h.LoopStart, h.LoopViewPoint = proto.Uint32(l.GetIndex()), l.GetViewPoint()
	}
	h.LoopThinking = h.GetLoopThinking() || hasThinking(m)
	h.OpenCalls = append(h.OpenCalls, calls...)
	if len(calls) > 0 {
		h.ViewToolGroups++
	}
}

// advancePins pins a result whose tool group is pinned: a pin covers the whole group, also the results that come later.
func advancePins(h *storagev1.Head, l *compactordv1.LoggedMessage) {
	if l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_ANSWER && Pinned(h, l.GetAnswers().GetIndex()) {
		h.Pins = append(h.Pins, l.GetIndex())
	}
}

func advanceResult(h *storagev1.Head, l *compactordv1.LoggedMessage) {
	if l.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_VOID {
		h.Answering = false
	}
	switch l.GetResultPlace() {
	case compactordv1.ResultPlace_RESULT_PLACE_ANSWER:
		h.OpenCalls = without(h.GetOpenCalls(), l.GetAnswers())
		if Pinned(h, l.GetIndex()) {
			h.PinnedTailTokens = plus(h.GetPinnedTailTokens(), l.GetTokens())
		} else {
			h.PrunableTokens += prunableOnArrival(h, l)
		}
	case compactordv1.ResultPlace_RESULT_PLACE_VOID:
		h.VoidCalls = without(h.GetVoidCalls(), l.GetAnswers())
	default:
	}
}

func without(calls []*compactordv1.CallRef, gone *compactordv1.CallRef) []*compactordv1.CallRef {
	kept := make([]*compactordv1.CallRef, 0, len(calls))
	for _, c := range calls {
		if c.GetIndex() != gone.GetIndex() || c.GetPart() != gone.GetPart() {
			kept = append(kept, c)
		}
	}
	return kept
}
