// Package transcript reads transcripts that other tools wrote into the messages and records of a log.
//
// Open recognizes the format by its content, and the Reader then returns one message at a time. Formats lists what can
// be read: session files of agents, and messages of the four dialects as JSON Lines, as an array, or in the body of a
// request or response. An input with several sessions is read one session at a time: see Select.
//
// Compactions and checkpoints that a tool made become records of the log. Content that is understood but that a log
// cannot hold is left out and counted in the Reader's notes. Lines that a crash left incomplete are treated the same,
// unless Strict is set. One unreadable piece does not make the whole input fail. A line of text replaces an unreadable
// part, since a message with a silently missing part would mislead the model. A record with an unknown role or type is
// left out. The notes mention both. With Strict they are errors with line and field. Errors and notes never quote the
// conversation, since they end up in logs and on screens.
//
// JSON Lines, arrays and the messages of OpenAI-style bodies are streamed: only a few messages are in memory at a time.
// Files that are trees (Pi, Claude Code) must be read to the end before their first message is known. Bodies of the
// other dialects are read whole, up to 64 MiB.
//
// format.go is the table of formats. The files of an importer begin with its name. NAME.go recognizes an input and
// reads through it, NAME_message.go makes messages, and NAME_compaction.go reads compactions. Other files have the name
// of what they read, such as pi_tree.go. All other files are used by several importers.
package transcript
