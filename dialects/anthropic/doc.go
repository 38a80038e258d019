// Package anthropic is the dialect of Anthropic's Messages API.
//
// A list is `messages` and, apart from them, `system`. Neutral messages stand for it so:
//
//   - `system` is one SYSTEM message at the start, with a part for each block. For a request all SYSTEM and DEVELOPER
//     messages at the start are its blocks.
//   - A message of role user is a TOOL message for each of its tool_result blocks, and a USER message for the rest.
//   - A message of role assistant is an ASSISTANT message, one of role system a SYSTEM message.
//   - Blocks of text, thinking, tool_use, image and document are the neutral parts of that name; blocks of any other
//     type, such as those of server tools, of compaction or of search results, are opaque parts. So are images and
//     documents from a source that is not known.
//   - An image from a URL has the MIME type `image/*`, a document from a URL `application/pdf`; a document from a file id
//     has dialect.UnknownMime. File ids belong to this dialect.
//
// What a block or message has beyond that is in attachments under the fields' names. These notes tell of the form:
//
//	$form        `string`: the content, the result or the system prompt is a string, not a list of one text
//	$place       `messages`: the SYSTEM message is one of the messages, not `system`
//	$begin       `message`: the neutral message begins a message of its own, though the one before is a tool result
//	$at          the place of a result in its message, where results stood behind other content
//	$blocks      the blocks of a message of role system that are no text, by their position
//	$source.KEY  the field KEY of an image's or a document's source
//
// # Requests
//
// A request's list is made so that it breaks none of the Rules. Whatever could be decided by what stands before is
// decided by that, so a list that grows keeps all of its elements but the last. Two demands of the provider need what
// comes later, and can change an earlier element:
//
//   - A message of role system may be followed by an assistant's message only; if a user's comes, it becomes user text.
//   - The use of a server tool that a paused turn ended with is left out if the assistant does not go on next. A turn that
//     was nothing else is left out, too, and the user's messages around it become one.
//
// Of the client's marks for the cache the first three stay, and the newest if it is in the last message.
package anthropic
