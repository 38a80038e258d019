// Package wording holds the daemon's own texts that an agent's model reads: around a summary, in place of what views
// leave out, and in the messages that the daemon adds to a log. Other texts are elsewhere: the prompts of summarizers
// in summarizers/prompts, the placeholders of other systems that presets reproduce in strategies, and the importers'
// texts about transcripts in dialects/transcript.
//
// Some texts are stored in an edit or a message: a change of their wording does not change existing views. The others
// are written anew in each view: a change of them needs a new session.ViewFormat.
package wording
