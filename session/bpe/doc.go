// Package bpe counts tokens of the byte pair encodings o200k_base and cl100k_base.
//
// The counts are those of OpenAI's own tokenizer, for every text. The pre-tokenizer is a scanner that follows its
// regular expressions, and the merges are made in the same order. For a long run of one kind of character, other
// libraries take time proportional to the square of its length. This package merges such a run in windows, whose tokens
// it proves to be those of the whole run, so that no input stalls the daemon. Texts such as <|endoftext|> count as
// ordinary text, which they are in a message.
//
// Two differences are known. A run of one kind of character of more than 1 MiB is cut there, to bound the memory. And
// the Go release's version of Unicode decides which characters are letters and numbers: for characters of a later
// version the count can be off by one or two.
package bpe
