package sessiontest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Class is a kind of thing in logs that states can get wrong.
type Class string

// The classes that a Generator makes. A test that needs one says how often it must occur.
const (
	LeadingDeveloper     Class = "leading DEVELOPER message"
	LaterSystem          Class = "SYSTEM or DEVELOPER message in mid-conversation"
	NoLead               Class = "log without leading messages"
	UserInARow           Class = "USER message after a USER message"
	OddOrigin            Class = "USER message that starts no turn"
	EmptyMessage         Class = "message without parts"
	OpaqueInResult       Class = "result with an opaque part"
	ParallelCalls        Class = "message with several calls"
	NamelessCall         Class = "call without an id"
	IDReusedWithin       Class = "id used again within a message"
	IDReusedOpen         Class = "id used again while the earlier call is open"
	IDReusedLater        Class = "id used again after its call was closed"
	FailedWithCalls      Class = "aborted or failed message with calls"
	FailedWithout        Class = "aborted or failed message without calls"
	AnswerInOrder        Class = "result of the first open call"
	AnswerInterleaved    Class = "result out of the order of its calls"
	AnswerNameless       Class = "result without an id"
	AnswerLate           Class = "result after something else was said, and before the model's next message"
	LateResult           Class = "result after its call was closed by the model's next message"
	SecondResult         Class = "second result of a call"
	OrphanResult         Class = "result with an id that no call has had"
	VoidResult           Class = "result of an aborted or failed message"
	ArrivalEdited        Class = "result with an arrival edit"
	ArrivalPinned        Class = "result with an arrival edit in a pinned group"
	ArrivalUnpinned      Class = "unpin of a result with an arrival edit"
	EditOverArrival      Class = "edit of a result with an arrival edit"
	MissingResult        Class = "call closed without a result"
	StaleView            Class = "ASSISTANT message made from an older view"
	SawExtra             Class = "usage of a view with extra blocks"
	ThinkingParts        Class = "thinking"
	UsageReported        Class = "usage reported"
	UsageZero            Class = "usage reported as zero"
	FirstCompaction      Class = "compaction"
	LaterCompaction      Class = "compaction over a compaction"
	CompactionInTurn     Class = "compaction that splits a turn"
	ReplayMade           Class = "compaction that replays a message"
	PinnedCovered        Class = "compaction that covers a pinned message"
	EditMade             Class = "edit"
	EditOverEdit         Class = "edit of edited content"
	StrayHidden          Class = "edit of a stray result"
	EditedThenPinned     Class = "pin of an edited message"
	GroupCollapsed       Class = "collapsed group"
	CollapsedMissing     Class = "collapsed group that lacks a result"
	FoldMade             Class = "fold"
	FoldOfTurns          Class = "fold of whole turns"
	FoldInTurn           Class = "fold within a turn"
	FoldOverFold         Class = "fold over smaller ones"
	FoldMissing          Class = "fold of a call given up"
	FoldAtEnd            Class = "fold up to the end of the log"
	FoldedThenPinned     Class = "pin of a folded message"
	FoldTextPinned       Class = "pin of the message that carries a fold"
	FoldedUnpinned       Class = "unpin of a folded message"
	FoldCovered          Class = "compaction that covers a fold"
	RevertFold           Class = "revert to before a fold"
	PinMade              Class = "pin"
	PinOpenGroup         Class = "pin of an open group"
	UnpinMade            Class = "unpin"
	RevertMade           Class = "revert"
	RevertOfRevert       Class = "revert of a revert"
	RevertToRevert       Class = "revert to the point of a revert"
	RevertToEmpty        Class = "revert to the empty session"
	RevertCompaction     Class = "revert to before a compaction"
	RevertAgain          Class = "revert to the same point again"
	RevertIntoLoop       Class = "revert to a point with open calls"
	ThinkingChanged      Class = "change of the thinking policy"
	PlacementChanged     Class = "change of the summary placement"
	PolicyUnrelated      Class = "change of policy that changes no view"
	AttemptMade          Class = "attempt"
	CheckpointMade       Class = "checkpoint"
	CheckpointAnnounced  Class = "checkpoint that is announced"
	RevertWithFuture     Class = "revert that sends a message back"
	Cleared              Class = "clear"
	ThinkingDropped      Class = "view with thinking dropped as no longer valid"
	AttemptCounted       Class = "attempt of an automatic compaction"
	AttemptInterrupted   Class = "attempt of an automatic compaction that was interrupted"
	PrunedByUser         Class = "edits of policy.on_user_message"
	PruneCounted         Class = "edits of an automatic compaction without a cut"
	DueNow               Class = "report that says to compact"
	BreakerOpen          Class = "report with the breaker open"
	BreakerBlocks        Class = "report whose only reason not to compact is the breaker"
	CalibrationLearnt    Class = "report calibrated by earlier ones"
	BreakerClosed        Class = "report with the breaker closed by appended tokens"
	TargetUnreachable    Class = "report whose target is unreachable"
	NothingToCut         Class = "report with compaction due and nothing to cut"
	TriggerDisabled      Class = "report with the trigger disabled, and compaction due"
	PinnedInPlace        Class = "pinned message before the smallest kept part"
	BlockLeading         Class = "LEADING context block"
	BlockLatest          Class = "LATEST context block"
	BlockReplaced        Class = "context block that replaces another"
	BlockOfOperator      Class = "context block with the operator's voice"
	BlocksRemoved        Class = "context block removed"
	BlocksInLoop         Class = "context blocks changed in a tool loop"
	BlockCut             Class = "context block that is cut"
	BlockExpired         Class = "context block whose last turn has ended"
	BlockMoved           Class = "context blocks moved before a new turn"
	BlockLimitChanged    Class = "change of the limit of context blocks"
	InstructionsReplaced Class = "instructions replaced"
	CopiedThinking       Class = "thinking that a child has copied"
	ChildEnded           Class = "end of a child"
	LiveLoopLostItsOwn   Class = "view whose live loop lost its thinking"
)

// Counts is how often each class occurred.
type Counts map[Class]int

// Rare returns the names of the classes that occurred less often than required, sorted.
func (c Counts) Rare(least map[Class]int) string {
	var rare []string
	for class, n := range least {
		if c[class] < n {
			rare = append(rare, fmt.Sprintf("%s: %d of %d", class, c[class], n))
		}
	}
	slices.Sort(rare)
	return strings.Join(rare, "\n")
}

// String returns all classes with their counts.
func (c Counts) String() string {
	var b strings.Builder
	for _, class := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "%6d %s\n", c[class], class)
	}
	return b.String()
}
