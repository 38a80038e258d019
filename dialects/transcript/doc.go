// Package transcript reads transcripts that other tools wrote into the messages of a log.
//
// Open recognizes the format by its content, and the Reader then gives one message at a time:
//
//   - JSON Lines of OpenAI-style messages, one message a line;
//   - one JSON document of such messages: an array, or a request body with `messages`;
//   - session files of Pi, of which the messages on the current path are read.
//
// What is understood but has no place in a log is left out and counted in the Reader's notes. What is not understood (an
// unknown role, an unknown kind of part) is an error that names line and field: a message that quietly lost a piece would
// mislead the model. Errors never quote the conversation, since they end up in logs and on screens.
package transcript
