// Package transcript reads transcripts that other tools wrote into the messages and records of a log.
//
// Open recognizes the format by its content, and the Reader then gives one message at a time. Formats lists what can be
// read: session files of agents, and messages of the four dialects as JSON Lines, as an array, or in the body of a
// request or response. What holds several sessions is read one session at a time: see Select.
//
// Compactions and checkpoints that a tool made become records of the log. What is understood but has no place in a log is
// left out and counted in the Reader's notes; so is what a crash left of a line, unless Strict is asked for. What is not
// understood does not refuse the rest: a line of text stands in the place of a part, since a message that quietly lost a
// piece would mislead the model; a record of an unknown role or type is left out; and the notes tell of both. With Strict
// it is an error that names line and field. Errors and notes never quote the conversation, since they end up in logs and
// on screens.
//
// JSON Lines, arrays and the messages of OpenAI-style bodies are streamed: no more than a few messages are in memory.
// Files that are trees (Pi, Claude Code) must be known to their end before their first message is. Bodies of the other
// dialects are read whole, up to 64 MiB.
//
// format.go is the table of formats. The files of an importer begin with its name: in NAME.go it recognizes an input and goes
// through it, in NAME_message.go it makes messages of what stands there, in NAME_compaction.go it tells of compactions; what
// else it needs is called after what it reads, such as pi_tree.go. All else is shared by several.
package transcript
