// Package gemini is the dialect of Google's Gemini API: contents with the roles user and model, each a list of parts,
// and a systemInstruction apart from them.
//
// # From contents to messages
//
//	| content                            | messages                                                          |
//	|------------------------------------|-------------------------------------------------------------------|
//	| systemInstruction                  | SYSTEM, at the start                                              |
//	| model                              | ASSISTANT                                                         |
//	| user (or no role, or `function`)   | a TOOL message for each functionResponse, then USER for the rest  |
//
//	| part                               | neutral                                                           |
//	|------------------------------------|-------------------------------------------------------------------|
//	| text                               | text; with `thought: true`, thinking                              |
//	| functionCall                       | tool call; `args` unchanged                                       |
//	| functionResponse                   | tool result; its `response` as text, then its `parts` as media    |
//	| inlineData, fileData               | media, by value and by address                                    |
//	| everything else                    | opaque                                                            |
//
// A response of the form {"output": TEXT}, {"result": TEXT} or {"error": TEXT} becomes that text. Any other response
// becomes its JSON. Fields that the neutral part does not have are attachments under their names. Fields of the inner
// object are attachments under both names, such as `functionCall.willContinue`. Fields are known in both spellings,
// functionCall and function_call, and are written back in the original one.
//
// # Notes
//
//	| note        | on                | value                                                                         |
//	|-------------|-------------------|-------------------------------------------------------------------------------|
//	| `$snake`    | part, result part | the fields that are spelled with underscores                                  |
//	| `$parts`    | message           | `object`: the one part was not in a list                                      |
//	| `$system`   | SYSTEM message    | `text`: the instruction was a string                                          |
//	| `$content`  | TOOL, USER        | `new`: begins a content, although results come before; `same`: continues it   |
//	| `$at`       | TOOL message      | the position of the result among the parts of its content                     |
//	| `$response` | result            | `json`, `value`, `text` or `result`: the form of the response                 |
//	| `$unsigned` | call              | it came from Gemini without a thought signature                               |
//
// # Requests
//
// What Gemini would refuse is repaired, as the table of Rules says. Function responses have a content of their own,
// directly after their calls and in the order of the calls. What the user says after them is in the next content. In
// one content with the responses, Vertex AI refuses it, and some models do not answer it. Thoughts are left out. A list
// that grows keeps all its elements but the last.
package gemini
