package transcripts

// Parts of JSON documents, exported to external tests.
type (
	ReplayFigures = replayFigures
	SkippedJSON   = skippedJSON
)

// WindowFor exports windowFor to external tests.
var WindowFor = windowFor
