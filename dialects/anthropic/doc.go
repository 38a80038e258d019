// Package anthropic is the dialect of Anthropic's Messages API.
//
// A list is `messages` and, apart from them, `system`. They correspond to neutral messages as follows:
//
//   - `system` is one SYSTEM message at the start, with a part for each block. In a request, all SYSTEM and DEVELOPER
//     messages at the start become its blocks.
//   - A message of role user is one TOOL message for each of its tool_result blocks, and a USER message for the rest.
//   - A message of role assistant is an ASSISTANT message. A message of role system is a SYSTEM message.
//   - Blocks of text, thinking, tool_use, image and document are the neutral parts of that name. Blocks of any other
//     type, such as those of server tools, of compaction or of search results, are opaque parts. Images and documents
//     with an unknown type of source are opaque parts, too.
//   - An image from a URL has the MIME type `image/*`, and a document from a URL `application/pdf`. A document from a
//     file id has dialect.UnknownMime. File ids belong to this dialect.
//
// All other fields of a block or message are in attachments under the fields' names. These notes describe the form:
//
//	$form        `string`: the content, the result or the system prompt is a string, not a list of one text
//	$place       `messages`: the SYSTEM message is one of the messages, not `system`
//	$begin       `message`: the neutral message begins a message of its own, though the one before is a tool result
//	$at          the position of a result in its message, where results came after other content
//	$blocks      the blocks of a message of role system that are no text, by their position
//	$source.KEY  the field KEY of an image's or a document's source
//
// # Requests
//
// A request's list breaks none of the Rules. Wherever possible, an element depends only on the elements before it. So a
// list that grows keeps all its elements but the last. Two demands of the provider depend on later messages, and can
// change an earlier element:
//
//   - A message of role system must be followed by a message of the assistant. Where a message of the user follows, it
//     becomes user text.
//   - A paused turn can end with the use of a server tool. The use is left out unless the next message is the
//     assistant's. A turn that has nothing else is left out, too, and the user's messages around it become one.
//
// Of the client's cache breakpoints the first three stay, and also the newest one if it is in the last message.
package anthropic
