// Package futurereference measures future-reference recall: the share of what an agent went on to use that a compacted
// view still holds.
//
// A Cut is a compaction that could have happened: the messages before FirstKept are dropped, those up to End are kept, and
// those after End are what happened next. An entity is needed if the agent wrote it soon after the cut and could only know
// it from the dropped messages. Three figures judge what a view holds of the needed entities: how many occur in it; how
// many occur beside words that they stood beside in the conversation; and how many stand in a message that the view cites.
//
// Entities are names that can be found again literally: paths, URLs, identifiers, numbers and quotations. The package
// defines them itself and does not use those of the summarizers: a summarizer must not be measured by its own idea of
// what matters.
package futurereference
