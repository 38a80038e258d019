// Package wording holds every text that an agent's model sees and that we wrote: what stands around a summary, in place of
// what views leave out, and in the messages that the daemon adds to a log. Elsewhere are the prompts for models that
// summarize (summarizers/prompts), the words of other systems that presets show in place of results (strategies), and what
// importers say of transcripts (dialects/transcript).
//
// Some of it is stored, with the edit or the message that it belongs to: a change of wording changes no view of what is
// there. The rest is drawn anew with each view: a change of it is a change of session.ViewFormat.
package wording
