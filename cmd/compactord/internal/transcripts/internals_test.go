package transcripts

// SkippedJSON exports a part of JSON documents to external tests.
type SkippedJSON = skippedJSON
