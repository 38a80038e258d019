// Package openaichat is the dialect of OpenAI Chat Completions, as OpenAI and the many servers that copy it speak it.
//
// One message is one neutral message. System and developer messages stay where they are, and no neighbours are merged.
// The parts of an ASSISTANT message stand in the order reasoning, content, refusal, recording, calls:
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
// All else is kept in attachments: a message's own fields with the message, those of a content part, a call or the
// reasoning with that part. Keys with a `$` hold what stands within an inner object (`$function`, `$custom`,
// `$function_call`, `$image_url`, `$input_audio`, `$file`), or note the form:
//
//   - content: `array`, the one text of the content stands in a list of parts.
//   - field: the field of the message that the part stands in: `reasoning_content`, `reasoning` or `reasoning_details` for
//     thinking (none: it came from elsewhere), `refusal`, `audio`, `function_call`, and `tool_calls` for an opaque part.
//   - role: `function`, for a result that has this role instead of tool.
//   - type: `custom` for a call; for a medium the type of its part, where the medium alone suggests another.
//   - arguments: `missing`, `null`, or `value` where they are JSON instead of a string.
//   - image: `string`, the address stands where an object with it should.
//   - file_data: `base64`, the content is no data URL.
package openaichat
