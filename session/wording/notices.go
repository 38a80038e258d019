package wording

import (
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/quotation"
)

// The texts of messages that the daemon writes into the log. They are stored, so a change of their wording does not
// change existing views.

const worldStays = "Files and the outside world were not reverted: they are as the later work left them."

// Checkpoint is the text that announces a checkpoint to the model.
func Checkpoint(id uint32) string {
	return fmt.Sprintf("[Checkpoint %d: tools take its number to name this place in the conversation.]", id)
}

// Future is the text of the message that a revert sends back, with a notice of where it comes from.
func Future(text string) string {
	return "The message below was sent back to here from the future of this very conversation. What came after this point was " +
		"put aside, and you no longer see it. " + worldStays +
		"\n\n<message_from_future>\n" + futureWrapper.escape(text) + "\n</message_from_future>"
}

// FutureSummary is the text that describes what a revert put aside: a summary, and the files that were touched.
func FutureSummary(summary string, files *compactordv1.FileLists) string {
	var b strings.Builder
	b.WriteString("The conversation went on from here once before. That part was put aside, and this summary tells what " +
		"happened in it. " + worldStays + " A number like [#12] is the index of the message that a line was taken from." +
		"\n\n<summary>\n")
	b.WriteString(summaryWrapper.escape(quotation.Defuse(strings.TrimSpace(summary))))
	b.WriteString("\n</summary>")
	writeFiles(&b, "Files that it modified:", files.GetModified())
	writeFiles(&b, "Files that it read:", files.GetRead())
	return b.String()
}

// GoOn tells the agent to go on after a compaction that it did not ask for.
const GoOn = "[The conversation was compacted. Go on with the next step, if there is one. If it is not clear what to do, stop " +
	"and ask.]"

// GoOnAfterOverflow is GoOn after the provider refused the conversation: it also says what else has changed.
const GoOnAfterOverflow = "[The provider refused the conversation as too long, so it was compacted, and attached media were " +
	"taken out. Where the work needs them, tell the user that they were too large. Go on with the next step, if there is one. " +
	"If it is not clear what to do, stop and ask.]"
