// Package openaichat is the dialect of OpenAI Chat Completions, as OpenAI and the many servers that copy it use it.
//
// One message is one neutral message. System and developer messages stay in their place, and neighbours are not merged.
// The parts of an ASSISTANT message have the order reasoning, content, refusal, recording, calls:
//
//	| JSON                                          | neutral                                                   |
//	|-----------------------------------------------|-----------------------------------------------------------|
//	| content, a string or a list of parts          | text and media parts; parts of other types are opaque     |
//	| refusal, as a field or a part                 | a text part that is a refusal                             |
//	| reasoning_content, reasoning,                 | one thinking part, its text from the first that has one   |
//	| reasoning_details                             |                                                           |
//	| audio of the assistant                        | an opaque part; a request names only its id               |
//	| tool_calls of type function and custom        | tool calls, with arguments or input as the arguments      |
//	| tool_calls of other types                     | opaque parts, left out of requests                        |
//	| function_call, role function                  | a tool call without id and its result                     |
//	| usage, model, stop_reason, finish_reason,     | the neutral fields; kept, but left out of requests, as is |
//	| is_error, timestamp                           | index of a call                                           |
//
// All other fields are kept in attachments: those of a message with the message, and those of a content part, a call or
// the reasoning with that part. Keys with a `$` hold the fields of an inner object (`$function`, `$custom`,
// `$function_call`, `$image_url`, `$input_audio`, `$file`), or are notes on the form:
//
//   - content: `array` means that the one text of the content is in a list of parts.
//   - field: the field of the message that has the part: `reasoning_content`, `reasoning` or `reasoning_details` for
//     thinking (without the note it came from elsewhere), `refusal`, `audio`, `function_call`, and `tool_calls` for an
//     opaque part.
//   - role: `function` for a result that has this role instead of tool.
//   - type: `custom` for a call. For a medium the type of its part, where the medium alone suggests another.
//   - arguments: `missing`, `null`, or `value` where they are JSON instead of a string.
//   - image: `string` means that the address is a string and not an object.
//   - file_data: `base64` means that the content is no data URL.
package openaichat
