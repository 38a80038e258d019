// Package gemini is the message shape of Google's Gemini API: contents of the roles user and model, each a list of parts,
// and a systemInstruction apart from them.
//
// # From contents to messages
//
//	| content                            | messages                                                          |
//	|------------------------------------|-------------------------------------------------------------------|
//	| systemInstruction                  | SYSTEM, in front                                                  |
//	| model                              | ASSISTANT                                                         |
//	| user (or no role, or `function`)   | a TOOL message for each functionResponse, then USER for the rest  |
//
//	| part                               | neutral                                                           |
//	|------------------------------------|-------------------------------------------------------------------|
//	| text                               | text; with `thought: true`, thinking                              |
//	| functionCall                       | tool call; `args` as they are written                             |
//	| functionResponse                   | tool result; its `response` as text, then its `parts` as media    |
//	| inlineData, fileData               | media, by value and by address                                    |
//	| all else                           | opaque                                                            |
//
// A response of the form {"output": TEXT}, {"result": TEXT} or {"error": TEXT} reads as that text, any other as its JSON.
// Fields that have no place in the neutral part are attachments under their names; those of the object within the part
// under its name and theirs, such as `functionCall.willContinue`. Fields are known in both spellings, functionCall and
// function_call, and come back in the one they came in.
//
// # Notes
//
//	| note        | on                | says                                                                          |
//	|-------------|-------------------|-------------------------------------------------------------------------------|
//	| `$snake`    | part, result part | which fields are spelled with underscores                                     |
//	| `$parts`    | message           | `object`: the one part stood without a list                                   |
//	| `$system`   | SYSTEM message    | `text`: the instruction was a string                                          |
//	| `$content`  | TOOL, USER        | `new`: begins a content, although results stand before; `same`: goes on in it |
//	| `$at`       | TOOL message      | the position of the result among the parts of its content                     |
//	| `$response` | result            | `json`, `value`, `text` or `result`: the form of the response                 |
//	| `$unsigned` | call              | it came from Gemini without a thought signature                               |
//
// # Requests
//
// What Gemini would refuse is repaired; the table of Rules says what that is. Function responses stand in a content of
// their own, directly behind their calls and in their order, and what the user says after them in a content that
// follows: mixed, they are refused by Vertex AI and left without an answer by some models. Thoughts are left out. A list
// that grows keeps all of its elements but the last.
package gemini
