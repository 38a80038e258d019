package session

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

// Marker returns the message that announces a checkpoint to the model.
func Marker(id uint32) *compactordv1.Message {
	return notice(compactordv1.Origin_ORIGIN_MARKER, wording.Checkpoint(id))
}

// Future returns the message that a revert sends back.
func Future(text string) *compactordv1.Message {
	return notice(compactordv1.Origin_ORIGIN_FUTURE, wording.Future(text))
}

// FutureSummary returns the message in which a revert describes what it put aside: a summary, and the files that were
// touched.
func FutureSummary(summary string, files *compactordv1.FileLists) *compactordv1.Message {
	return notice(compactordv1.Origin_ORIGIN_FUTURE, wording.FutureSummary(summary, files))
}

// Continue returns the message that tells the agent to go on after a compaction that it did not ask for. After an
// overflow it also says what else has changed.
func Continue(afterOverflow bool) *compactordv1.Message {
	text := wording.GoOn
	if afterOverflow {
		text = wording.GoOnAfterOverflow
	}
	return notice(compactordv1.Origin_ORIGIN_CONTINUE, text)
}

func notice(origin compactordv1.Origin, text string) *compactordv1.Message {
	return &compactordv1.Message{
		Role: compactordv1.Role_ROLE_USER, Origin: origin, Parts: []*compactordv1.Part{TextPart(text)},
	}
}
