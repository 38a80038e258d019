package sessiontest

import (
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// View returns the LLM view: the leading messages, the summary, the pinned or replayed messages, and the kept part.
func (m *Model) View(opts session.ViewOptions) *session.View {
	v := &session.View{Report: &compactordv1.ViewReport{}}
	instructions, lead := m.shownLead()
	v.Messages = append(v.Messages, instructions...)
	for _, a := range lead {
		v.Messages = append(v.Messages, m.show(a, false, opts, v.Report)...)
	}
	v.Messages = append(v.Messages, m.blocks(compactordv1.BlockPlace_BLOCK_PLACE_LEADING)...)
	v.Messages = append(v.Messages, m.summary()...)
	outOfPlace := inViewOrder(m.OutOfPlace())
	for i, a := range outOfPlace {
		v.Messages = append(v.Messages, m.show(a, true, opts, v.Report)...)
		v.Messages = append(v.Messages, m.repairAfter(outOfPlace, i)...)
	}
	for _, a := range inViewOrder(m.Kept()) {
		v.Messages = append(v.Messages, m.repairBefore(a)...)
		if a == m.latestBefore() {
			v.Messages = append(v.Messages, m.blocks(compactordv1.BlockPlace_BLOCK_PLACE_LATEST)...)
		}
		v.Messages = append(v.Messages, m.show(a, false, opts, v.Report)...)
	}
	if m.latestBefore() == nil {
		v.Messages = append(v.Messages, m.blocks(compactordv1.BlockPlace_BLOCK_PLACE_LATEST)...)
	}
	for _, vm := range v.Messages {
		v.Tokens += vm.GetTokens()
		v.Bytes += uint32(proto.Size(vm.GetMessage()))
		if slices.ContainsFunc(vm.GetMessage().GetParts(), isCall) {
			v.ToolGroups++
		}
	}
	v.MediaTokens, v.MediaBytes, v.Media = m.media(v.Messages)
	v.Report.Tokens, v.Report.Bytes = v.Tokens, v.Bytes
	v.Report.DisableThinking = m.thinking(opts) == compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_VALID &&
		m.currentLoopLostThinking()
	return v
}

// inViewOrder moves each late result before everything that was said since its call.
func inViewOrder(messages []*Active) []*Active {
	var ordered []*Active
	for _, a := range messages {
		at := len(ordered)
		if a.Late {
			for i, b := range slices.Backward(ordered) {
				if b == a.Answers.Owner {
					break
				}
				if said(b) {
					at = i
				}
			}
		}
		ordered = slices.Insert(ordered, at, a)
	}
	return ordered
}

// said reports whether a message is neither the model's nor a result that answers it.
func said(a *Active) bool {
	return a.Place == compactordv1.ResultPlace_RESULT_PLACE_STRAY ||
		!a.is(compactordv1.Role_ROLE_ASSISTANT, compactordv1.Role_ROLE_TOOL)
}

func isCall(p *compactordv1.Part) bool { return p.GetToolCall() != nil }

func isThinking(p *compactordv1.Part) bool { return p.GetThinking() != nil }

func (m *Model) shown(message *compactordv1.Message, vm *compactordv1.ViewMessage) *compactordv1.ViewMessage {
	vm.Message, vm.Tokens = message, session.MessageTokens(m.counter, message)
	return vm
}

func text(s string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: s}}}
}

func (m *Model) summary() []*compactordv1.ViewMessage {
	if m.Entry == nil {
		return nil
	}
	say := func(role compactordv1.Role, words string) *compactordv1.ViewMessage {
		return m.shown(&compactordv1.Message{Role: role, Parts: []*compactordv1.Part{text(words)}},
			&compactordv1.ViewMessage{Origin: &compactordv1.ViewMessage_SummaryOf{SummaryOf: m.Entry.GetId()}})
	}
	words := wording.Summary(m.Entry)
	switch m.Policy.GetSummary().GetPlacement() {
	case compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM:
		return []*compactordv1.ViewMessage{say(compactordv1.Role_ROLE_SYSTEM, wording.OperatorsSummary(m.Entry))}
	case compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR:
		next := slices.DeleteFunc(append(m.OutOfPlace(), m.Kept()...), m.Emptied)
		if len(next) == 0 || !next[0].is(compactordv1.Role_ROLE_ASSISTANT) {
			return []*compactordv1.ViewMessage{
				say(compactordv1.Role_ROLE_USER, words),
				say(compactordv1.Role_ROLE_ASSISTANT, wording.SummaryReply),
			}
		}
	default:
	}
	return []*compactordv1.ViewMessage{say(compactordv1.Role_ROLE_USER, words)}
}

// Collapsed reports whether the text of a collapsed tool group replaces a message.
func (m *Model) Collapsed(a *Active) bool {
	leader := a.leader()
	return leader != nil && m.collapsed(leader)
}

// collapsed reports whether the group of this leader is collapsed.
func (m *Model) collapsed(leader *Active) bool {
	return !m.pins[leader.Index] && slices.ContainsFunc(m.edits[leader.Index], func(e *compactordv1.Edit) bool {
		return e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP
	})
}

// repairBefore returns the missing results before a kept message: those of the shown calls that were given up when it
// was said, and got no result since.
func (m *Model) repairBefore(a *Active) []*compactordv1.ViewMessage {
	var repairs []*compactordv1.ViewMessage
	for _, c := range a.Closes {
		if c.Result == nil && slices.Contains(m.Kept(), c.Owner) && !m.collapsed(c.Owner) && !m.Folded(c.Owner) {
			repairs = append(repairs, m.missing(c))
		}
	}
	return repairs
}

// repairAfter returns the missing results of a pinned group after its last member in the list: the message before which
// they would be shown is covered.
func (m *Model) repairAfter(list []*Active, i int) []*compactordv1.ViewMessage {
	leader := list[i].leader()
	if leader == nil || leader.Failed() || !slices.Contains(list, leader) ||
		slices.ContainsFunc(list[i+1:], func(a *Active) bool { return a.leader() == leader }) {
		return nil
	}
	var repairs []*compactordv1.ViewMessage
	for _, c := range leader.calls {
		if c.Result == nil {
			repairs = append(repairs, m.missing(c))
		}
	}
	return repairs
}

func (m *Model) missing(c *Call) *compactordv1.ViewMessage {
	result := &compactordv1.ToolResult{
		CallId: c.ID, Name: c.Name, IsError: true,
		Parts: []*compactordv1.ResultPart{{
			Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: wording.MissingResult}},
		}},
	}
	return m.shown(
		&compactordv1.Message{
			Role:  compactordv1.Role_ROLE_TOOL,
			Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_ToolResult{ToolResult: result}}},
		},
		repair(compactordv1.LogRepairKind_LOG_REPAIR_KIND_MISSING_RESULT, c.Owner.Index, c.Part))
}

func repair(kind compactordv1.LogRepairKind, index, part uint32) *compactordv1.ViewMessage {
	return &compactordv1.ViewMessage{Origin: &compactordv1.ViewMessage_LogRepair{
		LogRepair: &compactordv1.LogRepair{Kind: kind, Index: index, Part: part},
	}}
}

// show returns the view message of one message, or nothing where it is left out.
func (m *Model) show(
	a *Active, outOfPlace bool, opts session.ViewOptions, report *compactordv1.ViewReport,
) []*compactordv1.ViewMessage {
	var fold []*compactordv1.ViewMessage
	if !outOfPlace {
		fold = m.foldText(a)
	}
	if !outOfPlace && m.Folded(a) {
		return fold
	}
	return append(fold, m.showUnfolded(a, outOfPlace, opts, report)...)
}

func (m *Model) showUnfolded(
	a *Active, outOfPlace bool, opts session.ViewOptions, report *compactordv1.ViewReport,
) []*compactordv1.ViewMessage {
	switch {
	case a.LeftOut():
		return nil
	case a.Place == compactordv1.ResultPlace_RESULT_PLACE_STRAY:
		vm := repair(compactordv1.LogRepairKind_LOG_REPAIR_KIND_STRAY_RESULT, a.Index, 0)
		vm.OutOfPlace, vm.Edits = outOfPlace, m.editKinds(a)
		return []*compactordv1.ViewMessage{m.shown(quote(m.edited(a).GetParts()[0].GetToolResult()), vm)}
	case a.Place == compactordv1.ResultPlace_RESULT_PLACE_ANSWER && m.collapsed(a.Answers.Owner):
		return nil
	}
	message := m.edited(a)
	dropped := false
	if a.is(compactordv1.Role_ROLE_ASSISTANT) && slices.ContainsFunc(message.GetParts(), isThinking) &&
		!m.showsThinking(a, opts) {
		message = proto.CloneOf(message)
		message.Parts = slices.DeleteFunc(message.GetParts(), isThinking)
		dropped = true
	}
	if len(message.GetParts()) == 0 && m.Emptied(a) {
		return nil
	}
	if dropped {
		report.ThinkingDropped = append(report.ThinkingDropped, a.Index)
	}
	kinds := m.editKinds(a)
	if m.replayed(a) {
		message, kinds = replayed(message, kinds)
	}
	vm := &compactordv1.ViewMessage{
		Origin: &compactordv1.ViewMessage_Index{Index: a.Index}, OutOfPlace: outOfPlace, Edits: kinds,
	}
	return []*compactordv1.ViewMessage{m.shown(message, vm)}
}

// replayed reports whether the view shows a covered message only because the compaction replays it.
func (m *Model) replayed(a *Active) bool {
	return slices.Contains(m.Covered(), a) && !m.pins[a.Index] &&
		m.Entry.ReplayedIndex != nil && m.Entry.GetReplayedIndex() == a.Index
}

// replayed returns a message in its replayed form: a note, then its parts with a line for each medium.
func replayed(
	message *compactordv1.Message, kinds []compactordv1.EditKind,
) (*compactordv1.Message, []compactordv1.EditKind) {
	again := proto.CloneOf(message)
	again.Parts = []*compactordv1.Part{text(wording.ReplayNote)}
	lines := 0
	for _, p := range message.GetParts() {
		if p.GetMedia() != nil {
			lines++
			p = text(wording.MediaLine(p.GetMedia()))
		}
		again.Parts = append(again.Parts, p)
	}
	if lines > 0 && !slices.Contains(kinds, compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA) {
		kinds = append(kinds, compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA)
	}
	return again, kinds
}

// quote returns a stray result as a USER message.
func quote(r *compactordv1.ToolResult) *compactordv1.Message {
	said := &compactordv1.Message{
		Role: compactordv1.Role_ROLE_USER, Parts: []*compactordv1.Part{text(wording.StrayResultHeading(r))},
	}
	for _, p := range r.GetParts() {
		if media := p.GetMedia(); media != nil {
			said.Parts = append(said.Parts, &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: media}})
		} else {
			said.Parts = append(said.Parts, text(p.GetText().GetText()+p.GetOpaque().GetJson()))
		}
	}
	return said
}
