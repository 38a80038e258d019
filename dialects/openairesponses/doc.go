// Package openairesponses is the dialect of the items of OpenAI's Responses API.
//
// # What becomes of items
//
// A list is the field input of a request: items, or one text. The field instructions is a SYSTEM message in front of it.
// Messages of the roles system, developer and user are messages each. What the model says and does up to the next item
// of the client is one ASSISTANT message, since its items belong together: reasoning, texts, calls, and the provider's
// own items as opaque parts. Each output of a call is a TOOL message.
//
// Calls of functions and of custom tools keep their names. The provider's own kinds of calls that the client answers are
// calls of tools named local_shell, shell, apply_patch, computer and tool_search, with the JSON of what is wanted as
// arguments; a request for an approval is a call of the tool that asks for it, and its answer fails if it was denied.
// Calls that a response answers itself are opaque parts. An opaque part of type output is the whole output of a call in
// a form that is not known.
//
// # What becomes of messages in a request
//
// Texts are rendered in the easy form of a message, each text of the model as an item of its own. Results stand directly
// behind the calls of their message, so messages of the model that stand behind its calls are put before them, unless
// there is reasoning among them. Empty texts, instructions and messages of the model are left out. Reasoning is sent
// with an id or an encrypted content of this provider, and followed by what belongs to it. Where some of it is missing,
// or something that belonged to it, the items of that message, and of the tool loop behind it, are sent without their
// ids, and reasoning only if it is encrypted. An id that is not such as the provider makes, or that comes again, is left
// out likewise. A call of the provider's own kinds becomes one of a function where an edit left nothing of its form.
//
// # Notes
//
// Beside the fields of items, attachments hold notes:
//
//	$input         of a USER message: its text was the whole input
//	$instructions  of a SYSTEM message: it was the instructions
//	$content       parts: one text stood in a list; of a message, of a result, or of the first part of a message item
//	$item          of a part of an ASSISTANT message that begins a message item: the fields of that item, an object
//	$continued     of a part that belongs to the message item of the part before
//	$within        of an opaque part that is an element of content, and no item
//	$reasoning     of an ASSISTANT message: how many items of reasoning it had, and how many others with ids
//	$kind          the type of a call or an output that is not one of a function, or of a medium that usually has another
//	$field         the field of a call's input, where a kind has two
//	$link          the field by which an output names its call, where it is another than usual
//	$stream        stdout or stderr, of a text that a shell put out
//	$data          base64: a file's content was not written as a data URL
//	$text          the field that a reasoning's text was read from, if not from summary
//	$lengths       the lengths in bytes of the texts that a reasoning's text was joined of
package openairesponses
