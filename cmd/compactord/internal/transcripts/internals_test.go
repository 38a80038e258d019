package transcripts

// Parts of the documents, for tests from outside.
type (
	ReplayFigures = replayFigures
	SkippedJSON   = skippedJSON
)

// WindowFor is the window that is made up for a transcript.
var WindowFor = windowFor
