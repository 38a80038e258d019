// Package evidence chooses what a summary quotes: the lines and names of a conversation that its agent is most likely
// to need again.
//
// What agents go on to use of messages that they no longer see is mostly names: paths, identifiers, values, quotations.
// So a line is worth the names that it shows, as far as neither a kept message nor a line before it shows them. A name
// is worth more the more often and the later it was said, if people or the agent said it and not only a tool, and if the
// kept messages are about similar names. Some lines say little for what they hold: commands that look something up, lists,
// reports of tools, imports, returned errors, pieces of something (nature.go). Some names are hardly ever used again, such
// as folders and patterns (usefulness.go). These rank lower, but what is said elsewhere, too, is quoted. Lines are
// taken greedily by their worth for their length. A name that no line is worth its length for is taken alone.
//
// A Collector first learns with Know what the agent still sees, then takes the other texts with Add, and then ranks
// their lines and names with Rank. Its work is linear in the texts, apart from sorting, and its memory is bounded: when its
// room is full, it keeps what ranks first and forgets the rest (room.go).
package evidence
