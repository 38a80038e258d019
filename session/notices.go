package session

import (
	"fmt"
	"strings"
	"unicode"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Notices are messages that the daemon writes into the log. Unlike what views make up, they are stored: a change of
// wording here changes no view of what is there.

// Marker announces a checkpoint to the model.
func Marker(id uint32) *compactordv1.Message {
	return notice(compactordv1.Origin_ORIGIN_MARKER,
		fmt.Sprintf("[Checkpoint %d: the conversation can be sent back to this place.]", id))
}

// Future is the message that a revert sends back, with a notice of where it comes from.
func Future(text string) *compactordv1.Message {
	return notice(compactordv1.Origin_ORIGIN_FUTURE,
		"The message below was sent back to here from the future of this very conversation. What came after this point was "+
			"put aside, and you no longer see it. "+worldStays+
			"\n\n<message_from_future>\n"+futureWrapper.escape(text)+"\n</message_from_future>")
}

// FutureSummary is the message by which a revert tells what it put aside: a summary, and the files that were touched.
func FutureSummary(summary string, files *compactordv1.FileLists) *compactordv1.Message {
	var b strings.Builder
	b.WriteString("The conversation went on from here once before. That part was put aside, and this summary tells what " +
		"happened in it. " + worldStays + " A number like [#12] is the index of the message that a line was taken from." +
		"\n\n<summary>\n")
	b.WriteString(summaryWrapper.escape(strings.TrimSpace(summary)))
	b.WriteString("\n</summary>")
	writeFiles(&b, "Files that it modified:", files.GetModified())
	writeFiles(&b, "Files that it read:", files.GetRead())
	return notice(compactordv1.Origin_ORIGIN_FUTURE, b.String())
}

// Continue tells the agent to go on after a compaction that it did not ask for; after an overflow it says what has changed
// beside.
func Continue(afterOverflow bool) *compactordv1.Message {
	text := "[The conversation was compacted. Go on with the next step, if there is one. If it is not clear what to do, stop " +
		"and ask.]"
	if afterOverflow {
		text = "[The provider refused the conversation as too long, so it was compacted, and attached media were taken out. " +
			"Where the work needs them, tell the user that they were too large. Go on with the next step, if there is one. If " +
			"it is not clear what to do, stop and ask.]"
	}
	return notice(compactordv1.Origin_ORIGIN_CONTINUE, text)
}

const worldStays = "Files and the outside world were not reverted: they are as the later work left them."

// Blank says whether a text shows nothing to anybody: all of it is white space, control and format characters.
func Blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r)
	})
}

func writeFiles(b *strings.Builder, heading string, paths []string) {
	if len(paths) == 0 {
		return
	}
	b.WriteString("\n\n" + heading)
	lines, more := pathLines(paths, nil)
	b.WriteString(lines)
	if more > 0 {
		fmt.Fprintf(b, "\n- and %d more", more)
	}
}

func notice(origin compactordv1.Origin, text string) *compactordv1.Message {
	return &compactordv1.Message{
		Role: compactordv1.Role_ROLE_USER, Origin: origin, Parts: []*compactordv1.Part{TextPart(text)},
	}
}
