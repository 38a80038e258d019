package sessiontest

import (
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// Head returns the head at the point, without what only caches the way to it: the active ranges, the change marks, the
// usage and the computed overhead.
func (m *Model) Head() *storagev1.Head {
	h := &storagev1.Head{
		NextSequence: m.Point + 1, NextIndex: m.log.Messages(m.Point),
		ActiveMessages: uint32(len(m.Messages)), LeadOpen: len(m.Lead()) == len(m.Messages),
		ViewFormat: viewFormat(m.log, m.Point), Estimator: m.log.Estimator, Calibration: m.calibration(),
	}
	for sequence, item := range m.log.Items[:m.Point+1] {
		if item.ChangesViews() {
			h.LastViewChange = uint32(sequence)
		}
		h.LastCheckpoint = max(h.GetLastCheckpoint(), item.Record.GetCheckpoint().GetId())
		if item.Record.GetPolicyChange() != nil {
			h.PolicyChange = uint32(sequence)
		}
		if item.Record.GetRevert() != nil {
			h.LastRevert = uint32(sequence)
		}
		if item.Message != nil {
			h.AppendedTokens += m.appendedBy(uint32(sequence))
		}
	}
	h.SaidMeanwhile = m.SaidMeanwhile
	for _, a := range m.Messages {
		if !a.LeftOut() {
			h.Answering = a.is(compactordv1.Role_ROLE_ASSISTANT)
		}
		if a.Late {
			h.LastLateResult = a.Sequence
		}
	}
	h.RewrittenAtTokens = m.RewrittenAt()
	for _, a := range m.Messages {
		h.LastMessage = a.Sequence
	}
	for _, a := range m.Lead() {
		h.LeadEnd = a.Index + 1
	}
	m.contextFigures(h)
	if e := m.Entry; e != nil {
		h.Compaction = &storagev1.EffectiveCompaction{
			Sequence: e.GetSequence(), FirstKeptIndex: e.GetFirstKeptIndex(), Id: e.GetId(), ReplayedIndex: e.ReplayedIndex,
		}
	}
	for index := range m.pins {
		h.Pins = append(h.Pins, index)
	}
	slices.Sort(h.GetPins())
	for _, c := range m.Calls {
		ref := &compactordv1.CallRef{Index: c.Owner.Index, Part: c.Part, Id: c.ID, Name: c.Name}
		if c.Open {
			h.OpenCalls = append(h.OpenCalls, ref)
		}
		if c.Void {
			h.VoidCalls = append(h.VoidCalls, ref)
		}
	}
	m.loopFigures(h)
	m.viewFigures(h)
	h.Breaker = m.Breaker()
	return h
}

// contextFigures sets what the head has of context blocks and instructions, and the tokens of the leading messages.
func (m *Model) contextFigures(h *storagev1.Head) {
	instructions, lead := m.shownLead()
	for _, vm := range instructions {
		h.LeadTokens += vm.GetTokens()
	}
	for _, a := range lead {
		h.LeadTokens += m.tokens(a.Message)
	}
	if m.context.set {
		h.Instructions = &storagev1.InstructionsInForce{Sequence: m.context.sequence, Replaced: m.context.replaced}
	}
	for _, a := range m.Messages {
		if session.StartsTurn(a.Message) {
			h.TurnStart = proto.Uint32(a.Index)
		}
	}
	h.LastBlockExpiry = m.context.expired
	for _, b := range m.context.blocks {
		h.Blocks = append(h.Blocks, m.inForce(b))
		h.BlockTokens += h.GetBlocks()[len(h.GetBlocks())-1].GetShownTokens()
	}
}

func (m *Model) inForce(b Block) *storagev1.BlockInForce {
	message, _ := m.blockMessage(b)
	f := &storagev1.BlockInForce{
		Name: b.Content.GetName(), Sequence: b.Sequence, Place: b.Content.GetPlace(), Priority: b.Content.GetPriority(),
		Tokens: b.Content.GetTokens(), MaxTokens: b.Content.GetMaxTokens(),
		ShownTokens: m.tokens(message), ShownBytes: uint32(proto.Size(message)),
	}
	if f.GetPlace() == compactordv1.BlockPlace_BLOCK_PLACE_UNSPECIFIED {
		f.Place = compactordv1.BlockPlace_BLOCK_PLACE_LATEST
	}
	if b.TurnsLeft >= 0 {
		f.TurnsLeft = proto.Uint32(uint32(b.TurnsLeft))
	}
	if b.Limit >= 0 {
		f.LimitTokens = proto.Uint32(uint32(b.Limit))
	}
	f.MediaTokens, f.MediaBytes, f.Media = m.media([]*compactordv1.ViewMessage{{Message: message}})
	return f
}

// appendedBy returns the tokens of a message as views showed it at the append, apart from repairs.
func (m *Model) appendedBy(sequence uint32) uint32 {
	item := m.log.Items[sequence]
	if len(item.Arrival) == 0 {
		return m.tokens(item.Message)
	}
	then := NewModel(m.log, sequence, m.log.PolicyAt(sequence))
	return m.tokens(then.edited(then.Messages[len(then.Messages)-1]))
}

// RewrittenAt returns how many tokens had been appended before the newest compaction or prune in force, put aside or
// not. Those of policy.on_user_message do not count. It is nil where there is none.
func (m *Model) RewrittenAt() *uint32 {
	var at *uint32
	var appended uint32
	for sequence, item := range m.log.Items[:m.Point+1] {
		if item.Message != nil {
			appended += m.appendedBy(uint32(sequence))
		}
		_, inForce := m.Records[uint32(sequence)]
		reason := item.Record.GetCompaction().GetProvenance().GetReason() + item.Record.GetPrune().GetProvenance().GetReason()
		if inForce && (item.Record.GetCompaction() != nil || item.Record.GetPrune() != nil) &&
			reason != compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE {
			at = proto.Uint32(appended)
		}
	}
	return at
}

func (m *Model) loopFigures(h *storagev1.Head) {
	for _, a := range m.Messages {
		if m.live(a) && a.is(compactordv1.Role_ROLE_ASSISTANT) && !a.Failed() {
			first := m.Loop(a)[0]
			h.LoopStart, h.LoopViewPoint = proto.Uint32(first.Index), first.MadeFrom
			h.LoopThinking = h.GetLoopThinking() || slices.ContainsFunc(a.Message.GetParts(), isThinking)
		}
	}
}

func (m *Model) viewFigures(h *storagev1.Head) {
	v := m.View(session.ViewOptions{})
	h.ViewTokens, h.ViewBytes, h.ViewToolGroups = v.Tokens, v.Bytes, v.ToolGroups
	h.ViewMessages, h.ViewMediaTokens, h.ViewMediaBytes = uint32(len(v.Messages)), v.MediaTokens, v.MediaBytes
	h.ViewMedia = v.Media
	places := m.CutPlaces()
	if len(places) > 0 {
		h.TailIndex = proto.Uint32(places[len(places)-1])
	}
	// Where no cut is valid, all but the leading messages stay.
	inTail := false
	for _, vm := range v.Messages {
		index, ofLog := vm.GetOrigin().(*compactordv1.ViewMessage_Index)
		if vm.GetContextBlock() != nil || vm.GetInstructions() > 0 {
			continue
		}
		if vm.GetOutOfPlace() {
			if !ofLog || m.pins[index.Index] {
				h.PinnedTokens += vm.GetTokens()
			}
			continue
		}
		switch {
		case h.TailIndex == nil:
			inTail = !ofLog || index.Index >= h.GetLeadEnd()
		case ofLog && index.Index == h.GetTailIndex(),
			vm.GetFolded() != nil && vm.GetFolded().GetStart() == h.GetTailIndex():
			inTail = true
		}
		if inTail {
			h.TailTokens += vm.GetTokens()
		}
		switch {
		case !m.shownPinned(vm, h.GetLeadEnd()):
		case inTail:
			h.PinnedTailTokens += vm.GetTokens()
		default:
			h.PinnedKeptTokens += vm.GetTokens()
		}
		if ofLog && m.prunable(m.Find(index.Index)) {
			h.PrunableTokens += vm.GetTokens()
		}
	}
}

// shownPinned reports whether a message of the view is, or quotes, a pinned one after the leading messages.
func (m *Model) shownPinned(vm *compactordv1.ViewMessage, leadEnd uint32) bool {
	switch o := vm.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		return o.Index >= leadEnd && m.pins[o.Index]
	case *compactordv1.ViewMessage_LogRepair:
		return o.LogRepair.GetKind() == compactordv1.LogRepairKind_LOG_REPAIR_KIND_STRAY_RESULT && m.pins[o.LogRepair.GetIndex()]
	default:
		return false
	}
}

// prunable reports whether a result still shows at least a part of what the tool returned.
func (m *Model) prunable(a *Active) bool {
	if a.Place != compactordv1.ResultPlace_RESULT_PLACE_ANSWER || m.pins[a.Index] {
		return false
	}
	for _, e := range m.editsOf(a) {
		if e.GetKind() != compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT &&
			e.GetKind() != compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA {
			return false
		}
	}
	return true
}

func (m *Model) tokens(message *compactordv1.Message) uint32 {
	return m.shown(message, &compactordv1.ViewMessage{}).GetTokens()
}

// Reported returns the last message with a usage report, and the report. Only messages count that did not fail and were
// made from a view of all messages before them. It returns nil where there is none.
func (m *Model) Reported() (*Active, uint32) {
	for _, a := range slices.Backward(m.Messages) {
		u := a.Message.GetUsage()
		total := u.GetTotalTokens()
		if total == 0 {
			total = u.GetInputTokens() + u.GetOutputTokens() + u.GetCacheReadTokens() + u.GetCacheWriteTokens()
		}
		outdated := slices.ContainsFunc(m.Messages, func(b *Active) bool {
			return a.MadeFrom < b.Sequence && b.Sequence < a.Sequence
		})
		if total > 0 && !a.Failed() && !outdated {
			return a, total - min(total, m.extraTokens(a))
		}
	}
	return nil, 0
}

// extraTokens returns the tokens of the extra blocks in the view of a message, as they were scaled when it came.
func (m *Model) extraTokens(a *Active) uint32 {
	if a.ExtraTokens == 0 {
		return 0
	}
	before := a.Sequence - 1
	return NewModel(m.log, before, m.log.PolicyAt(before)).Scaled(a.ExtraTokens)
}

// ContextTokens returns the tokens of the context without overhead, and whether a provider reported them. They are the
// last report and what the view shows after its message. Where a record has changed views since the view of the report,
// they are the estimate of the view. Estimates are calibrated.
func (m *Model) ContextTokens() (uint32, bool) {
	v := m.View(session.ViewOptions{})
	a, total := m.Reported()
	if a == nil {
		return m.Scaled(v.Tokens), false
	}
	if m.context.expired > a.MadeFrom {
		return m.Scaled(v.Tokens), false
	}
	for _, item := range m.log.Items[a.MadeFrom+1 : m.Point+1] {
		if item.ChangesViews() {
			return m.Scaled(v.Tokens), false
		}
	}
	at := slices.IndexFunc(v.Messages, func(vm *compactordv1.ViewMessage) bool {
		o, ok := vm.GetOrigin().(*compactordv1.ViewMessage_Index)
		return ok && o.Index == a.Index
	})
	var after uint32
	for _, vm := range v.Messages[at+1:] {
		// They were in the view of the report, too.
		if vm.GetContextBlock() == nil {
			after += vm.GetTokens()
		}
	}
	return total + m.Scaled(after), true
}

// Overhead returns the overhead: what the report for the smallest view counts beyond the view's estimate. Only reports
// of messages made from the newest view count, also of messages put aside; of views of the same size the newest. It is
// nil where there is none.
func (m *Model) Overhead() *uint32 {
	var overhead *uint32
	smallest := uint32(0)
	for sequence := uint32(1); sequence <= m.Point; sequence++ {
		input, reports := m.log.reportedInput(sequence)
		if !reports {
			continue
		}
		if estimate := m.log.estimateSeen(sequence); overhead == nil || estimate <= smallest {
			overhead, smallest = proto.Uint32(input-min(input, m.Scaled(estimate))), estimate
		}
	}
	return overhead
}

// viewFormat returns the view format in force at a point: that of the newest change, or of the point that it reverts to.
func viewFormat(log *Log, point uint32) uint32 {
	for at := int(point); at >= 0; at-- {
		if revert := log.Items[at].Record.GetRevert(); revert != nil {
			return viewFormat(log, revert.GetPoint())
		} else if log.Items[at].ChangesViews() {
			return session.ViewFormat
		}
	}
	return session.FirstViewFormat
}
