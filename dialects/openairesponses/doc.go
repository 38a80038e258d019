// Package openairesponses is the dialect of the items of OpenAI's Responses API.
//
// # From items to messages
//
// A list is the field input of a request: items, or one text. The field instructions is a SYSTEM message before it. A
// message with the role system, developer or user is one message each. The items of the model up to the next one of the
// client are one ASSISTANT message, since they belong together: reasoning, texts, calls, and the provider's own items
// as opaque parts. Each output of a call is a TOOL message.
//
// Calls of functions and of custom tools keep their names. The provider's own kinds of calls that the client answers
// are calls of tools named local_shell, shell, apply_patch, computer and tool_search, with the JSON of their input as
// arguments. A request for an approval is a call of the tool that asks for it. Its answer is an error where approval
// was denied. Calls that a response answers itself are opaque parts. An opaque part of type output is the whole output
// of a call in an unknown form.
//
// # From messages to requests
//
// Texts are rendered in the short form of a message, and each text of the model is one item. Results come directly
// after the calls of their message. Messages of the model after its calls are moved before them, unless there is
// reasoning among them. Empty texts, instructions and messages of the model are left out. Reasoning is sent with an id
// or an encrypted content of this provider, followed by the items that belong to it. Where some of it is missing, or an
// item that belonged to it, the items of that message and of the tool loop after it are sent without their ids.
// Reasoning is then sent only if it is encrypted. An id is also left out where the provider would not make such an id,
// or where it is repeated. A call of the provider's own kinds becomes a function call where an edit broke its form.
//
// # Notes
//
// Attachments hold the other fields of items, and these notes:
//
//	$input         of a USER message: its text was the whole input
//	$instructions  of a SYSTEM message: it was the instructions
//	$content       parts: one text was in a list; of a message, of a result, or of the first part of a message item
//	$item          of a part of an ASSISTANT message that begins a message item: the fields of that item, an object
//	$continued     of a part that belongs to the message item of the part before
//	$within        of an opaque part that is an element of content, and no item
//	$reasoning     of an ASSISTANT message: how many items of reasoning it had, and how many others with ids
//	$kind          the type of a call or an output that is not one of a function, or of a medium that usually has another
//	$field         the field of a call's input, where a kind has two
//	$link          the field by which an output refers to its call, where it is not the usual one
//	$stream        stdout or stderr, of a text in the output of a shell
//	$data          base64: a file's content was not written as a data URL
//	$text          the field that a reasoning's text was read from, if not from summary
//	$lengths       the lengths in bytes of the texts that a reasoning's text was joined from
package openairesponses
