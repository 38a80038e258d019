package transcripts

import (
	"cmp"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// share is the size of one kind of content.
type share struct {
	// Kind is the name for programs, label the one for people.
	Kind  string `json:"kind"`
	label string

	// Messages is how many messages have such content.
	Messages uint32 `json:"messages"`
	Tokens   uint32 `json:"tokens"`
}

// The kinds of content in a view.
const (
	ofSystem = iota
	ofSummary
	ofUser
	ofAssistant
	ofThinking
	ofCalls
	ofResults
	ofMedia
	kinds
)

// Reasons why the view does not show something of the log.
const (
	isCovered = iota
	isHidden
	isThinking
	isVoid
	isPutAside
)

// figures describe what fills the window, and what the view does not show.
type figures struct {
	inView [kinds]share
	// notShown has a share for each reason; nil where it was not counted.
	notShown []share
	// tokens is the estimate of the view, viewMessages the number of its messages, messages that of the log.
	tokens, viewMessages, messages uint32
	report                         *compactordv1.ContextReport
	// viewToken is the token of the view that was counted, pages how many pages it had, and firstPage its messages where that is one.
	viewToken string
	pages     int
	firstPage []*compactordv1.ViewMessage
	// summary is the compaction whose summary the view shows, or nil.
	summary *compactordv1.CompactionEntry

	estimator compactordv1.Estimator
	counter   session.Counter
	// added are the sizes of the log's messages, in its order.
	added []size
	// shown are the messages of the view that come from the log, by index.
	shown map[uint32]shownMessage
	// summaryOf is the id of the compaction whose summary the view shows; empty where it shows none.
	summaryOf string
}

// shownMessage is what is kept of a message of the view.
type shownMessage struct {
	tokens uint32
	edited bool
}

// newFigures returns figures of no view yet. As a conversation.ViewReader they count one; logged adds what it does not show.
func newFigures(estimator compactordv1.Estimator) (*figures, error) {
	counter, err := session.CounterFor(estimator)
	if err != nil {
		return nil, err
	}
	f := &figures{estimator: estimator, counter: counter}
	f.Begin(nil)
	return f, nil
}

// Begin begins to count a view, and forgets what was counted before.
func (f *figures) Begin(report *compactordv1.ContextReport) {
	*f = figures{
		inView: [kinds]share{
			ofSystem:    {Kind: "system", label: "system"},
			ofSummary:   {Kind: "summary", label: "summary"},
			ofUser:      {Kind: "user", label: "user"},
			ofAssistant: {Kind: "assistant", label: "assistant"},
			ofThinking:  {Kind: "thinking", label: "thinking"},
			ofCalls:     {Kind: "tool_calls", label: "tool calls"},
			ofResults:   {Kind: "tool_results", label: "tool results"},
			ofMedia:     {Kind: "media", label: "media"},
		},
		notShown: []share{
			isCovered:  {Kind: "covered", label: "covered by the summary"},
			isHidden:   {Kind: "hidden", label: "hidden or shortened"},
			isThinking: {Kind: "thinking_dropped", label: "thinking left out"},
			isVoid:     {Kind: "failed", label: "failed or aborted answers"},
			isPutAside: {Kind: "put_aside", label: "put aside by a revert"},
		},
		report: report, estimator: f.estimator, counter: f.counter, shown: make(map[uint32]shownMessage),
	}
}

// Add counts a page of the view.
func (f *figures) Add(messages []*compactordv1.ViewMessage) {
	f.firstPage = nil
	if f.pages++; f.pages == 1 {
		f.firstPage = messages
	}
	for _, vm := range messages {
		f.viewed(vm)
	}
}

// viewed counts a message of the view.
func (f *figures) viewed(vm *compactordv1.ViewMessage) {
	shown := shownMessage{tokens: vm.GetTokens(), edited: len(vm.GetEdits()) > 0}
	switch o := vm.GetOrigin().(type) {
	case *compactordv1.ViewMessage_Index:
		f.shown[o.Index] = shown
	case *compactordv1.ViewMessage_LogRepair:
		if o.LogRepair.GetKind() == compactordv1.LogRepairKind_LOG_REPAIR_KIND_STRAY_RESULT {
			f.shown[o.LogRepair.GetIndex()] = shown
		}
	case *compactordv1.ViewMessage_SummaryOf:
		f.summaryOf = cmp.Or(f.summaryOf, o.SummaryOf)
	default:
	}
	f.viewMessages++
	whole := f.scaled(vm.GetTokens())
	f.tokens += whole
	sizes := f.sizes(vm)
	for kind, tokens := range divide(whole, sizes) {
		if sizes[kind] > 0 {
			f.inView[kind].Messages++
			f.inView[kind].Tokens += tokens
		}
	}
}

// scaled applies the session's calibration factor to an estimate.
func (f *figures) scaled(tokens uint32) uint32 {
	factor := f.report.GetCalibrationPermille()
	if factor == 0 {
		return tokens
	}
	return uint32((uint64(tokens)*uint64(factor) + 500) / 1000)
}

// sizes returns the sizes of a message's kinds of content, in the counter's unit.
func (f *figures) sizes(vm *compactordv1.ViewMessage) [kinds]uint32 {
	var sizes [kinds]uint32
	m := vm.GetMessage()
	parts := session.PartSizes(f.counter, m)
	for i, p := range m.GetParts() {
		media := f.mediaSize(p)
		sizes[ofMedia] += media
		sizes[kindOf(vm, p)] += parts[i] - min(media, parts[i])
	}
	return sizes
}

func (f *figures) mediaSize(p *compactordv1.Part) uint32 {
	if p.GetMedia() != nil {
		return f.counter.MediaSize(p.GetMedia())
	}
	var size uint32
	for _, rp := range p.GetToolResult().GetParts() {
		if rp.GetMedia() != nil {
			size += f.counter.MediaSize(rp.GetMedia())
		}
	}
	return size
}

// kindOf returns the kind of a part, apart from its media.
func kindOf(vm *compactordv1.ViewMessage, p *compactordv1.Part) int {
	role := vm.GetMessage().GetRole()
	switch {
	case vm.GetSummaryOf() != "", vm.GetFolded() != nil:
		return ofSummary
	case vm.GetLogRepair() != nil, p.GetToolResult() != nil:
		// A repair is in place of a missing result, or quotes a late one.
		return ofResults
	case p.GetToolCall() != nil:
		return ofCalls
	case p.GetThinking() != nil:
		return ofThinking
	case role == compactordv1.Role_ROLE_SYSTEM, role == compactordv1.Role_ROLE_DEVELOPER:
		return ofSystem
	case role == compactordv1.Role_ROLE_USER:
		return ofUser
	default:
		return ofAssistant
	}
}

// divide divides tokens in proportion to sizes. The tokens that rounding leaves go to the largest remainders.
func divide(tokens uint32, sizes [kinds]uint32) [kinds]uint32 {
	var whole uint64
	for _, size := range sizes {
		whole += uint64(size)
	}
	var shares [kinds]uint32
	if whole == 0 {
		return shares
	}
	left := tokens
	byRemainder := make([]int, kinds)
	for kind, size := range sizes {
		shares[kind] = uint32(uint64(tokens) * uint64(size) / whole)
		left -= shares[kind]
		byRemainder[kind] = kind
	}
	slices.SortStableFunc(byRemainder, func(a, b int) int {
		return cmp.Compare(uint64(tokens)*uint64(sizes[b])%whole, uint64(tokens)*uint64(sizes[a])%whole)
	})
	for _, kind := range byRemainder[:left] {
		shares[kind]++
	}
	return shares
}

// logged counts what the view does not show of a message of the log.
func (f *figures) logged(l *compactordv1.LoggedMessage) {
	f.messages++
	f.added = append(f.added, size{l.GetSequence(), f.scaled(l.GetTokens())})
	vm, isShown := f.shown[l.GetIndex()]
	switch {
	case l.GetState() == compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE:
		f.absent(isPutAside, l.GetTokens())
	case !isShown && l.GetState() == compactordv1.MessageState_MESSAGE_STATE_COVERED:
		f.absent(isCovered, l.GetTokens())
	case !isShown && void(l):
		f.absent(isVoid, l.GetTokens())
	case !isShown && len(l.GetMessage().GetParts()) > 0:
		// Its tool group is collapsed, or edits removed all of it.
		f.absent(isHidden, l.GetTokens())
	case vm.tokens >= l.GetTokens():
	case vm.edited:
		f.absent(isHidden, l.GetTokens()-vm.tokens)
	default:
		f.absent(isThinking, l.GetTokens()-vm.tokens)
	}
}

// void says whether views leave a message out because it, or the call that it answers, ended in an error or was
// aborted.
func void(l *compactordv1.LoggedMessage) bool {
	return session.Failed(l.GetMessage()) || l.GetResultPlace() == compactordv1.ResultPlace_RESULT_PLACE_VOID
}

func (f *figures) absent(why int, tokens uint32) {
	f.notShown[why].Messages++
	f.notShown[why].Tokens += f.scaled(tokens)
}
